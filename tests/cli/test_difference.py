"""`ircert difference`: exit codes, text, JSON and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ircert
from tests.cli.commands import ircert_command
from tests.relational.twins import layers, rounded

BALL = ("--center", "0.3,0.3,-0.1", "--radius", "0.5")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = layers(0, 3, 8, 8, 2)
    ircert.save(ircert.load(made), tmp_path / "a.onnx")
    ircert.save(ircert.load(rounded(made)), tmp_path / "b.ir")
    ircert.save(ircert.load(layers(0, 3, 4)), tmp_path / "wide.ir")
    return tmp_path


def test_a_bracket(folder: Path) -> None:
    run = ircert_command("difference", "a.onnx", "b.ir", *BALL, cwd=folder)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("certified: the networks differ by 0.0")
    assert run.stderr == ""


@pytest.mark.rule("DF-5")
def test_exit_codes(folder: Path) -> None:
    asked = ("difference", "a.onnx", "b.ir", *BALL)
    assert ircert_command(*asked, "--epsilon", "1", cwd=folder).returncode == 0
    assert ircert_command(*asked, "--epsilon", "1e-5", cwd=folder).returncode == 1
    assert ircert_command(*asked, "--time-limit", "1e-6", "--tol", "0", cwd=folder).returncode == 3
    assert ircert_command(*asked, "--top1", "--norm", "2", cwd=folder).returncode in (0, 1)


def test_json(folder: Path) -> None:
    run = ircert_command("difference", "a.onnx", "b.ir", *BALL, "--objective-norm", "1", "--json", "-", cwd=folder)
    told = json.loads(run.stdout)
    assert told["schema"] == "ircert.difference/1"
    assert told["difference"]["norm"] == "1"
    run = ircert_command("difference", "a.onnx", "b.ir", *BALL, "--json", "out.json", cwd=folder)
    assert json.loads((folder / "out.json").read_text())["verdict"] == "certified"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a.onnx", "wide.ir", *BALL), "outputs"),
        (("a.onnx", "b.ir", "--center", "0,0", "--radius", "1"), "centre"),
        (("a.onnx", "b.ir", "--center", "0,0,0", "--radius", "-1"), "radius"),
        (("a.onnx", "b.ir", *BALL, "--epsilon", "-2"), "epsilon"),
        (("a.onnx", "b.ir", *BALL, "--epsilon", "1", "--top1"), "not allowed"),
        (("a.onnx", "b.ir", *BALL, "--json", "a.onnx"), "the model itself"),
        (("a.onnx", "b.ir", *BALL, "--backend", "nobody"), "no solver"),
        (("a.onnx", "none.onnx", *BALL), "none.onnx"),
    ],
)
def test_refusals_are_one_line(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    run = ircert_command("difference", *arguments, cwd=folder)
    assert run.returncode == 2
    assert words in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""
