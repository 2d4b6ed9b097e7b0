"""VNN-LIB from the shell, as the standard's chapter on solvers wants it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import ircert
from tests.cli.commands import ircert_command

FOLD = "ircert.ir/1\nx = input(length=2)\na = abs(x)\nreturn a\n"
BALL = ("fold.ir", "--center", "1,1", "--radius")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fold.ir").write_text(FOLD)
    return tmp_path


@pytest.mark.rule("V-4")
def test_from_question_to_answer(folder: Path) -> None:
    assert ircert_command("export", *BALL, "0.5", "-o", "q.vnnlib", cwd=folder).returncode == 0
    run = ircert_command("verify", "q.vnnlib", "--network", "f=q.f.onnx", cwd=folder)
    assert (run.returncode, run.stdout) == (0, "unsat\n")
    ircert_command("export", *BALL, "1.5", "-o", "q.vnnlib", cwd=folder)
    run = ircert_command("verify", "q.vnnlib", "--network", "f=q.f.onnx", "--timeout", "20", "-q", cwd=folder)
    lines = run.stdout.splitlines()
    assert lines[:2] == ["sat", "x real [1,2]"]
    assert [line for line in lines if "real" in line] == [f"{name} real [1,2]" for name in ("x", "f_x", "y", "f2_y")]
    assert len(lines) == 13
    assert not any("e" in line for line in lines if "real" not in line)


@pytest.mark.rule("V-4")
@pytest.mark.parametrize("norm", ["1", "2"])
def test_balls_from_question_to_answer(folder: Path, norm: str) -> None:
    for radius, word in (("0.9", "unsat"), ("1.1", "sat")):
        ircert_command("export", *BALL, radius, "--norm", norm, "-o", "q.vnnlib", cwd=folder)
        run = ircert_command("verify", "q.vnnlib", "--network", "f=q.f.onnx", cwd=folder)
        assert (run.returncode, run.stdout.splitlines()[0]) == (0, word)
    text = (folder / "q.vnnlib").read_text()
    old, new = ("(<= (+ x[0,0] x[0,1])", "(<= (+ x[0,0] x[0,0] x[0,1])") if norm == "1" else ("(* (-", "(* 2.0 (-")
    assert old in text
    (folder / "q.vnnlib").write_text(text.replace(old, new, 1))
    run = ircert_command("verify", "q.vnnlib", "--network", "f=q.f.onnx", cwd=folder)
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)


def test_assignments_as_tensors(folder: Path) -> None:
    ircert_command("export", *BALL, "1.5", "-o", "q.vnnlib", cwd=folder)
    asked = ("verify", "q.vnnlib", "--network", "f=q.f.onnx", "--serialise-assignments", "a/b")
    assert ircert_command(*asked, cwd=folder).stdout == "sat\n"
    tensors = {}
    for path in (folder / "a" / "b").iterdir():
        tensor = onnx.TensorProto()
        tensor.ParseFromString(path.read_bytes())
        tensors[path.stem] = numpy_helper.to_array(tensor)
    np.testing.assert_allclose(tensors["f_x"], np.abs(tensors["x"]))
    np.testing.assert_allclose(tensors["f_x"], tensors["f2_y"])
    assert tensors["x"].shape == (1, 2)


@pytest.mark.rule("V-3")
def test_merged_networks_are_written(folder: Path) -> None:
    asked = ("export", *BALL, "1.5", "--merged", "--separation", "0.25", "-o", "m.vnnlib")
    assert ircert_command(*asked, cwd=folder).returncode == 0
    both = ircert.load(folder / "m.onnx")
    assert (both.input_dim, both.output_dim) == (4, 4)
    assert "declare-const X_3 Real" in (folder / "m.vnnlib").read_text()


@pytest.mark.parametrize(
    ("capability", "first"),
    [
        ("onnx-opset-versions", "7"),
        ("onnx-element-types", "real"),
        ("onnx-operators", "Abs"),
        ("vnnlib-versions", "2.0"),
        ("multiple-network-theories", "MENET"),
        ("serialise-assignments", "true"),
        ("unsat-proofs", "false"),
    ],
)
def test_capabilities(folder: Path, capability: str, first: str) -> None:
    run = ircert_command("supports", f"--{capability}", cwd=folder)
    assert run.returncode == 0
    assert run.stdout.splitlines()[0] == first
    assert f"{capability}:\n{first}\n" in ircert_command("supports", "--all", cwd=folder).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["export", *BALL, "1", "--merged", "-o", "m.vnnlib"], "--merged needs a separation"),
        (["export", *BALL, "1", "--separation", "-1", "-o", "m.vnnlib"], "positive"),
        (["export", *BALL, "1", "--separation", "1", "-o", "m.lp"], "FILE.vnnlib"),
        (["verify", "fold.ir"], "no VNN-LIB 2.0 query"),
        (["verify", "missing.vnnlib"], "missing.vnnlib"),
        (["verify", "q.vnnlib"], "--network f=FILE"),
        (["verify", "q.vnnlib", "--network", "q.f.onnx"], "NAME=FILE once for each name, got 'q.f.onnx'; write for"),
        (["verify", "q.vnnlib", "--network", "f=fold.ir", "--timeout", "0"], "time limit"),
        (["supports"], "required"),
    ],
)
def test_refusals_are_one_line(folder: Path, arguments: list[str], words: str) -> None:
    ircert_command("export", *BALL, "0.5", "-o", "q.vnnlib", cwd=folder)
    before = sorted(folder.iterdir())
    run = ircert_command(*arguments, cwd=folder)
    assert (run.returncode, run.stdout) == (2, "")
    assert words in run.stderr
    assert run.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before
