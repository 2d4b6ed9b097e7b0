"""Options by which every command reads a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ircert.cli.main import run
from tests.frontends.test_fixtures import FIXTURES

ONNX = str(FIXTURES / "torch_files" / "mlp.onnx")
WEIGHTS = str(FIXTURES / "torch_files" / "mlp.safetensors")
NNET = str(FIXTURES / "nnet" / "mlp.nnet")
BALL = ("--center", "0,0,0", "--radius", "0.1")


def test_an_option_may_be_for_the_other_network_alone(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["certify", ONNX, *BALL, "--problem", "transform", "--other", WEIGHTS, "--activation", "relu"]
    assert run(asked) == 0  # the same network: its output is a function of itself
    assert capsys.readouterr().err == ""


def test_an_option_for_no_network_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["certify", ONNX, *BALL, "--activation", "relu"]) == 2
    assert capsys.readouterr().err == (
        "ircert: error: `activation` is for models that are weights alone, as in .npz and .safetensors; leave it out\n"
    )


def test_weights_need_their_activation(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["opt", WEIGHTS]) == 2
    assert "--activation relu" in capsys.readouterr().err
    assert run(["opt", WEIGHTS, "--activation", "rely"]) == 2
    assert "'rely' is not known" in capsys.readouterr().err
    assert run(["opt", WEIGHTS, "--activation", "relu", "--layers", "4,2,0"]) == 2
    assert "W has 8 columns but the layer before has 2 rows" in capsys.readouterr().err


@pytest.mark.rule("F-14")
def test_normalisation_in_both_spellings(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.ir", "b.ir", "c.ir")]
    assert run(["opt", NNET, "--normalisation", "affine", "-o", str(files[0])]) == 0
    assert run(["opt", NNET, "--normalization", "affine", "-o", str(files[1])]) == 0
    assert run(["opt", NNET, "-o", str(files[2])]) == 0
    assert files[0].read_text() == files[1].read_text() != files[2].read_text()


@pytest.mark.parametrize("command", ["certify", "export", "plot"])
def test_every_command_reads_every_kind(command: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "net.npz", W0=np.eye(2), W1=np.eye(2))
    fixed = ["--fix", "2=0.5", "--center", "0,0", "--activation", "relu", "--radius", "0.01"]
    output = {"certify": [], "export": ["-o", str(tmp_path / "q.lp")], "plot": ["-o", str(tmp_path / "p.png")]}[command]
    assert run([command, WEIGHTS, *fixed, *output]) in (0, 1)
