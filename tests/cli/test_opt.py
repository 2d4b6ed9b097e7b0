"""`ircert opt`: graphs shown and written, and every wrong use in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import ircert
from ircert import passes
from ircert.cli.main import run
from tests.cli.commands import ircert_command
from tests.cli.test_main import NET
from tests.entry_points import FakePoint
from tests.frontends.support import model, node
from tests.structure.flows import couplings

TWO_OUTPUTS = model([node("Relu", "x", "r"), node("Tanh", "x", "t")], {"x": ["N", 2]}, outputs=["r", "t"])


@pytest.fixture
def net(tmp_path: Path) -> Path:
    (tmp_path / "net.ir").write_text(NET)
    return tmp_path / "net.ir"


def test_opt_shows_the_graph(net: Path) -> None:
    run = ircert_command("opt", "net.ir", cwd=net.parent)
    assert run.returncode == 0
    assert ircert.parse(run.stdout) == ircert.parse(NET)
    assert run.stderr == ""


def test_opt_runs_passes_and_writes(net: Path) -> None:
    run = ircert_command(
        "opt", "net.ir", "-p", "canonicalize,fold-residual", "-o", "out.ir", "--stats", "--check", cwd=net.parent
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""
    assert "canonicalize: 3 nodes, 0 neurons -> 6 nodes, 2 neurons" in run.stderr
    x = ["1/3", "-2/7"]
    assert ircert.load(net.parent / "out.ir").exact(x).tolist() == ircert.parse(NET).exact(x).tolist()


def test_opt_prints_notes(net: Path) -> None:
    net.write_text(NET.replace("m = max(x, x)", "m = affine(x, weight=[[0.3, 0.0], [0.0, 1.0]])"))
    run = ircert_command("opt", "net.ir", "-p", "fuse-affine", cwd=net.parent)
    assert run.stderr == "ircert: note: fuse-affine: kept `m` and `y` apart: their product might round\n"


def test_opt_chooses_among_the_outputs_of_an_onnx_model(tmp_path: Path) -> None:
    onnx.save(TWO_OUTPUTS, tmp_path / "two.onnx")
    run = ircert_command("opt", "two.onnx", "--outputs", "r", cwd=tmp_path)
    assert run.stdout == "ircert.ir/1\n\nx = input(length=2)\nr = relu(x)\nreturn r\n"
    assert run.returncode == 0


def test_opt_lists_passes(tmp_path: Path) -> None:
    run = ircert_command("opt", "--list", cwd=tmp_path)
    assert run.returncode == 0
    assert "fold-residual\n" in run.stdout
    assert "select-outputs{keep=…}\n" in run.stdout
    assert "\n      keep  a list of integers, such as [0, 2]\n" in run.stdout
    assert "domain  a list of two lists of finite numbers, such as [[0, 0], [1, 1]] (may be" in run.stdout
    assert "method  one of interval, symbolic, lp (by default symbolic)\n" in run.stdout
    assert "other    a Graph, which only Python can give (may be left out)\n" in run.stdout
    assert "values  a dictionary from integers to finite numbers, such as {0: 1.5} (may be left out)\n" in run.stdout
    assert "list of a " not in run.stdout
    assert "<class" not in run.stdout


def test_opt_lists_the_others_where_a_plugin_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(type(passes.REGISTRY), "plugins", lambda _: (FakePoint(ImportError("no module")),))
    assert run(["opt", "--list"]) == 0
    out, err = capsys.readouterr()
    assert "fold-residual\n" in out
    assert err.startswith("ircert: warning: pass `fake`: the plugin fake:thing")


def test_large_arrays_are_summarised_unless_asked_for(tmp_path: Path) -> None:
    np.savez(tmp_path / "net.npz", W0=np.random.default_rng(0).standard_normal((40, 30)))
    assert "weight=<40x30 dense>" in ircert_command("opt", "net.npz", cwd=tmp_path).stdout
    full = ircert_command("opt", "net.npz", "--full", cwd=tmp_path).stdout
    assert ircert.parse(full) == ircert.load(tmp_path / "net.npz")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["opt"], "no model is given"),
        (["opt", "missing.ir"], "missing.ir: no such file"),
        (["opt", "."], "does not say what it is"),
        (["opt", "net.xyz"], "use a name ending in .onnx, .pt2"),
        (["opt", "folder.ir"], "this is a folder"),
        (["opt", "garbage.ir"], "garbage.ir: line 1, column 1: this is not the text of a graph"),
        (["opt", "binary.ir"], "not a text file"),
        (["opt", "garbage.npz"], "not a readable .npz file"),
        (["opt", "cycle.ir"], "cycle"),
        (["opt", "nan.npz"], "layer 0: weight holds nan at [0, 0]"),
        (["opt", "net.ir", "-p", "nonsense"], "pass `nonsense`: there is no such pass"),
        (["opt", "net.ir", "-p", "fold-residual"], "run `canonicalize` before it"),
        (["opt", "net.ir", "-p", "select-outputs{keep=[5]}"], "there is no output 5"),
        (["opt", "net.ir", "-p", "canonicalize{"], "pipeline: line 1, column 14"),
        (["opt", "net.ir", "-o", "missing/out.ir"], "does not exist or cannot be written"),
        (["opt", "net.ir", "-o", "out.txt"], "use a name ending in .ir"),
        (["opt", "net.ir", "-o", "folder.ir"], "this is a folder"),
        (["opt", "net.ir", "-o", "net.ir"], "net.ir: this is the model itself; choose another place"),
        (["opt", "net.ir", "-p", "product"], "there is no such pass"),
        (["opt", "net.ir", "-p", "interval-bounds{center=[0], radius=1}"], "run `canonicalize` before it"),
        (
            ["opt", "net.ir", "-p", "canonicalize,interval-bounds{center=[0], radius=1}"],
            "it is about 1 inputs; the graph has",
        ),
        (["opt", "net.ir", "-p", "interval-bounds{domain=[[0, 0]]}"], "a list of two lists of finite"),
        (["opt", "net.ir", "-p", "dual-copy{problem=lokal}"], "`problem` must be one of local, pseudo, transform"),
        (["opt", "net.ir", "-p", "dual-copy{other=net}"], "a Graph, which only Python can give"),
        (["opt", "missing.onnx"], "missing.onnx: no such file"),
        (["opt", "garbage.onnx"], "garbage.onnx: "),
        (["opt", "net.ir", "--outputs", "y"], "`outputs` is for ONNX models"),
        (["opt", "two.onnx"], "several outputs: `r`, `t`"),
        (["opt", "two.onnx", "--outputs", "q"], "no value `q`"),
        (["opt", "two.onnx", "--shape", "1,x"], "--shape takes positive integers"),
        (["opt", "two.onnx", "--outputs", "t", "-p", "canonicalize"], "tanh is not piecewise linear"),
        (["frobnicate"], "there is no `frobnicate`"),
        (["opt", "net.ir", "--frobnicate"], "there is no option `--frobnicate`"),
    ],
)
def test_bad_input_is_one_line_exit_code_2_and_nothing_written(net: Path, arguments: list[str], says: str) -> None:
    folder = net.parent
    (folder / "folder.ir").mkdir()
    (folder / "garbage.ir").write_text("hello " * 1000)
    (folder / "binary.ir").write_bytes(bytes(range(256)))
    (folder / "garbage.npz").write_bytes(b"PK\x03\x04 nonsense")
    (folder / "cycle.ir").write_text("ircert.ir/1\nx = input(length=1)\na = add(x, b)\nb = relu(a)\nreturn b\n")
    np.savez(folder / "nan.npz", W0=np.array([[np.nan]]))
    (folder / "garbage.onnx").write_bytes(b"\xff" * 100)
    onnx.save(TWO_OUTPUTS, folder / "two.onnx")
    before = sorted(folder.rglob("*"))
    run = ircert_command(*arguments, cwd=folder)
    assert run.returncode == 2
    assert says in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""
    assert len(run.stderr.splitlines()) <= 4  # argparse adds its usage
    assert sorted(folder.rglob("*")) == before


@pytest.mark.rule("P-12")
def test_opt_shows_every_stage(net: Path) -> None:
    pipeline = (
        "canonicalize,fold-residual,eliminate-zeros,dual-copy,interval-bounds{center=[0, 0], radius=1.0, copies=2}"
    )
    run = ircert_command("opt", "net.ir", "-p", pipeline, "--stages", "--check", cwd=net.parent)
    assert run.returncode == 0, run.stderr
    stages = run.stdout.split("# after ")[1:]
    assert [stage.split("\n")[0].split("{")[0].split(" ")[0] for stage in stages] == [
        *("canonicalize", "fold-residual", "eliminate-zeros", "dual-copy", "interval-bounds"),
    ]
    graphs = [ircert.parse(stage[stage.index("\n") :].strip()) for stage in stages]
    assert graphs[-2].bounds is None
    assert graphs[-1].bounds is not None
    assert graphs[-1] == graphs[-2]


def test_opt_takes_another_network(net: Path) -> None:
    asked = ("opt", "net.ir", "-p", "dual-copy{problem=transform}")
    run = ircert_command(*asked, "--other", "net.ir", "--check", cwd=net.parent)
    assert run.returncode == 0, run.stderr
    assert ".y.d)" in run.stdout
    refused = ircert_command(*asked, cwd=net.parent)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "`transform` needs another network; other=… in Python, --other on the command line" in refused.stderr
    unused = ircert_command("opt", "net.ir", "-p", "dual-copy", "--other", "net.ir", cwd=net.parent)
    assert (unused.returncode, unused.stdout) == (2, "")
    assert "no pass takes another network" in unused.stderr


@pytest.mark.rule("ST-8")
def test_the_structure_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, spoilt, end in (("good", "", "all inputs follow"), ("bad", "relu", "nothing shown")):
        path = tmp_path / f"{name}.ir"
        path.write_text(str(couplings(np.random.default_rng(0), 4, 2, spoilt=spoilt)))
        assert run(["opt", str(path), "--explain-structure"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert sum(end in line for line in lines) == 1
        assert "what the network returns" in lines[0]
        assert len(lines) > 5
        assert any(line.startswith("part of input 3: relu[") for line in lines) == (spoilt == "relu")
        assert any("up to a cut: " in line for line in lines) == (spoilt == "relu")
