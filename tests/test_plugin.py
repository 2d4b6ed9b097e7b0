"""A pass and a writer of another package, installed for real: the files that CONTRIBUTING.md shows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ircert
from ircert import passes
from ircert.errors import PassError

ROOT = Path(__file__).parents[1]
PLUGIN = Path(__file__).parent / "plugin"


def in_a_project_with(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the plugin importable and its entry point visible, as pip would leave them."""
    info = folder / "toy_pass-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-pass\nVersion: 1.0\n")
    points = "[ircert.passes]\ndouble-negation = toy_pass:DoubleNegation\n"
    (info / "entry_points.txt").write_text(f"{points}[ircert.backends]\ntoy-json = toy_writer:ToyJson\n")
    for path in PLUGIN.glob("*.py"):
        (folder / path.name).write_text(path.read_text())
    environment = {"PYTHONPATH": f"{folder}:{ROOT}", "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, cwd=folder, check=False
    )


@pytest.mark.rule("P-9")
def test_a_plugin_passes_its_own_tests(tmp_path: Path) -> None:
    run = in_a_project_with(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", ".")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "3 passed" in run.stdout


@pytest.mark.rule("P-9")
def test_a_plugin_is_listed_and_runs_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "net.ir").write_text(
        "ircert.ir/1\nx = input(length=1)\na = affine(x, weight=[[-1]])\nb = affine(a, weight=[[-1]])\nreturn b\n"
    )
    run = in_a_project_with(tmp_path, "-m", "ircert", "opt", "net.ir", "-p", "double-negation")
    assert run.returncode == 0, run.stderr
    assert run.stdout == "ircert.ir/1\n\nx = input(length=1)\nreturn x\n"


@pytest.mark.rule("PR-17")
def test_a_writer_of_another_package_is_found_by_its_suffix(tmp_path: Path) -> None:
    (tmp_path / "net.ir").write_text("ircert.ir/1\nx = input(length=1)\na = abs(x)\nreturn a\n")
    question = ("net.ir", "--center", "0.25", "--radius", "1")
    run = in_a_project_with(tmp_path, "-m", "ircert", "export", *question, "-o", "q.TOY.json")
    assert run.returncode == 0, run.stderr
    found = json.loads((tmp_path / "q.TOY.json").read_text())
    program = ircert.program(ircert.load(tmp_path / "net.ir"), ircert.Query("local", [0.25], 1.0))
    assert found["objective"] == program.objective.tolist()
    command = [sys.executable, "-m", "ircert", "export", *question, "-o", "q.json"]
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "/usr/bin:/bin"}
    refused = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert refused.returncode == 2
    assert "q.json: unknown kind of file; use a name ending in .lp or .mps or .toy.json" in refused.stderr


class FakePoint:
    """An entry point that loads to something."""

    name = "fake"
    value = "fake:thing"
    dist = None

    def __init__(self, loaded: Any) -> None:
        self.loaded = loaded

    def load(self) -> Any:
        if isinstance(self.loaded, Exception):
            raise self.loaded
        return self.loaded


@pytest.mark.rule("P-9")
@pytest.mark.parametrize("loaded", [ImportError("no module named fake"), object, 5, "fake"])
def test_a_broken_plugin_is_named(loaded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(passes.REGISTRY), "plugins", lambda _: (FakePoint(loaded),))
    assert "fake" in passes.names()
    with pytest.raises(PassError, match="fake:thing"):
        passes.get("fake")


def test_contributing_shows_these_files_and_little_else_to_read() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for name in ("pyproject.toml", "toy_pass.py", "test_toy_pass.py", "toy_writer.py"):
        assert (PLUGIN / name).read_text().strip() in text, f"CONTRIBUTING.md does not show {name} as it is"
    to_read = ["passes/base.py", "passes/rebuilding.py", "passes/canonicalize.py", "ircert/ir/build.py"]
    assert all(f"`{path}`" in text for path in to_read)
    assert sum(len((ROOT / path).read_text().splitlines()) for path in to_read) <= 400
