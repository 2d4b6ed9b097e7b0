"""One of each kind of another package, installed for real: the files that CONTRIBUTING.md shows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ircert
from ircert import passes
from ircert.errors import IrcertError, PassError, UnsupportedModel
from ircert.frontends.base import FrontEnd
from tests.entry_points import FakePoint

ROOT = Path(__file__).parents[1]
PLUGIN = Path(__file__).parent / "plugin"


POINTS = {
    "ircert.passes": "double-negation = toy_pass:DoubleNegation",
    "ircert.formulations": "first-gap = toy_formulation:FirstGap",
    "ircert.backends": "toy-json = toy_writer:ToyJson\nscipy-milp = toy_solver:ScipyMilp",
    "ircert.engines": "slopes = toy_engine:Slopes",
    "ircert.operations": "hat = toy_operation:Hat",
    "ircert.frontends": "toy-layers = toy_frontend:ToyLayers",
}


def in_a_project_with(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the plugin importable and its entry point visible, as pip would leave them."""
    info = folder / "toy_pass-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-pass\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("".join(f"[{group}]\n{points}\n" for group, points in POINTS.items()))
    for path in PLUGIN.glob("*.py"):
        (folder / path.name).write_text(path.read_text())
    environment = {"PYTHONPATH": f"{folder}:{ROOT}", "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, cwd=folder, check=False
    )


@pytest.mark.rule("P-9", "FO-1", "F-10", "IR-19", "AU-6")
def test_a_plugin_passes_its_own_tests(tmp_path: Path) -> None:
    run = in_a_project_with(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", ".")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "8 passed" in run.stdout


@pytest.mark.rule("P-9")
def test_a_plugin_is_listed_and_runs_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "net.ir").write_text(
        "ircert.ir/1\nx = input(length=1)\na = affine(x, weight=[[-1]])\nb = affine(a, weight=[[-1]])\nreturn b\n"
    )
    run = in_a_project_with(tmp_path, "-m", "ircert", "opt", "net.ir", "-p", "double-negation")
    assert run.returncode == 0, run.stderr
    assert run.stdout == "ircert.ir/1\n\nx = input(length=1)\nreturn x\n"


@pytest.mark.rule("FO-2")
@pytest.mark.parametrize(
    ("pipeline", "nodes"),
    [
        ("canonicalize,dual-copy,interval-bounds", ["a"]),
        ("canonicalize,dual-copy,double-negation,interval-bounds", []),
        ("canonicalize,double-negation,interval-bounds,dual-copy", []),
    ],
)
def test_a_plugin_stands_where_the_pipeline_of_a_program_names_it(
    tmp_path: Path, pipeline: str, nodes: list[str]
) -> None:
    (tmp_path / "net.ir").write_text(
        "ircert.ir/1\nx = input(length=1)\na = affine(x, weight=[[-1]])\nb = affine(a, weight=[[-1]])\n"
        "c = relu(b)\nreturn c\n"
    )
    question = ("net.ir", "--center", "0.25", "--radius", "1", "--pipeline", pipeline)
    run = in_a_project_with(tmp_path, "-m", "ircert", "export", *question, "-o", "q.lp")
    assert run.returncode == 0, run.stderr
    text = (tmp_path / "q.lp").read_text()
    assert [node for node in "ab" if f"v.{node}.x_0" in text] == nodes  # b has no variables: the relu reads it as it is
    assert "relu.c.x_0" in text
    assert "relu.c.y_0" in text


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
    assert "q.json: unknown kind of file; use a name ending in " in refused.stderr
    assert " or .toy.json" in refused.stderr


@pytest.mark.rule("P-9")
@pytest.mark.parametrize("loaded", [ImportError("no module named fake"), object, 5, "fake"])
def test_a_broken_plugin_is_named(loaded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(passes.REGISTRY), "plugins", lambda _: (FakePoint(loaded),))
    assert "fake" in passes.names()
    with pytest.raises(PassError, match="fake:thing"):
        passes.get("fake")


@pytest.mark.rule("F-10")
def test_front_ends_that_are_broken_or_not_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(passes.REGISTRY), "plugins", lambda _: (FakePoint(ImportError("no module")),))
    with pytest.warns(UserWarning, match="fake:thing"), pytest.raises(UnsupportedModel, match="cannot load an object"):
        ircert.load(object())
    assert ircert.load([([[1.0]], None)]).input_dim == 1

    class Greedy(FrontEnd):
        name = "fake"

        def accepts(self, model: object) -> bool:
            return True

        def read(self, model: Any, **options: Any) -> ircert.Graph:
            return ircert.load([([[2.0]], None)])

    monkeypatch.setattr(type(passes.REGISTRY), "plugins", lambda _: (FakePoint(Greedy),))
    assert ircert.load(object())([1.0]).tolist() == [2.0]
    assert ircert.load([([[1.0]], None)])([1.0]).tolist() == [1.0]
    monkeypatch.setattr(type(passes.REGISTRY), "plugins", lambda _: (FakePoint(Greedy), FakePoint(Greedy)))
    with pytest.raises(UnsupportedModel, match="such models are read by `fake` and `fake`"):
        ircert.load(object())


@pytest.mark.rule("IR-19")
def test_a_broken_operation_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(passes.REGISTRY), "plugins", lambda _: (FakePoint(ImportError("no module")),))
    with pytest.raises(
        IrcertError, match=r"line 3, column 5: operation `fake`: the plugin fake:thing .* cannot be loaded"
    ):
        ircert.parse("ircert.ir/1\nx = input(length=1)\na = fake(x)\nreturn a\n")


def test_contributing_shows_these_files_and_little_else_to_read() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    shown = sorted(path.name for path in PLUGIN.glob("toy_*.py"))
    assert len(shown) == 7
    for name in ("pyproject.toml", "test_toy_pass.py", *shown):
        assert (PLUGIN / name).read_text().strip() in text, f"CONTRIBUTING.md does not show {name} as it is"
    to_read = ["passes/base.py", "passes/rebuilding.py", "passes/canonicalize.py", "ircert/ir/build.py"]
    assert all(f"`{path}`" in text for path in to_read)
    assert sum(len((ROOT / path).read_text().splitlines()) for path in to_read) <= 400
