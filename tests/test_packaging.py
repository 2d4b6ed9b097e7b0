from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import ircert
from ircert.data import networks

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_every_package_on_disk_is_listed() -> None:
    def packages(folder: Path, name: str) -> set[str]:
        return {
            ".".join([name, *init.parent.relative_to(folder).parts])
            for init in folder.rglob("__init__.py")
            if not any(parent.is_symlink() for parent in init.relative_to(ROOT).parents if (ROOT / parent).is_symlink())
        }

    own = {".".join(p.parent.relative_to(ROOT).parts) for p in (ROOT / "ircert").rglob("__init__.py")}
    on_disk = own | packages(ROOT / "passes", "ircert.passes") | packages(ROOT / "backends", "ircert.backends")
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == on_disk


def test_versions_agree() -> None:
    assert PROJECT["project"]["version"] == ircert.__version__
    assert (
        f"## [{ircert.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
        or "## Unreleased" in (ROOT / "CHANGELOG.md").read_text()
    )
    assert f"version: {ircert.__version__}" in (ROOT / "CITATION.cff").read_text()


@pytest.mark.parametrize("folder", ["passes", "backends"])
def test_the_root_folders_are_no_packages_of_their_own(folder: str) -> None:
    assert (ROOT / "ircert" / folder).is_symlink()
    assert (ROOT / "ircert" / folder).readlink() == Path("..") / folder
    run = subprocess.run(
        [sys.executable, "-c", f"import {folder}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert f"import this package as `ircert.{folder}`" in run.stderr


def test_every_public_name_is_there() -> None:
    for name in ircert.__all__:
        assert getattr(ircert, name) is not None
    assert set(ircert.__all__) <= set(dir(ircert))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        ircert.nonsense  # noqa: B018


def test_bundled_networks_load() -> None:
    assert "vanderpol-2-10-10-2" in networks.names()
    for name in networks.names():
        graph = networks.bundled(name)
        assert graph([0.0] * graph.input_dim).shape == (graph.output_dim,)
    with pytest.raises(ircert.IrcertError, match="vanderpol"):
        networks.bundled("nonsense")


def test_readme_commands_are_single_lines_near_the_top() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    commands = [line for line in lines[:40] if line.startswith("python3 -m venv")]
    assert len(commands) == 2
    assert commands[0].endswith("ircert demo")
    assert commands[1].endswith("pytest -n auto"), "`.ci/run` looks for it"
