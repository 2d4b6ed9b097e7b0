"""`ircert replay` as JSON and as a certificate; `test_export.py` has its judgement."""

from __future__ import annotations

from pathlib import Path

import pytest

from ircert.result.result import Result
from tests.cli.commands import ircert_command
from tests.result.support import read

FOLD = "ircert.ir/1\nx = input(length=2)\na = abs(x)\nreturn a\n"
QUESTION = ("fold.ir", "--center", "0.25,2", "--radius", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fold.ir").write_text(FOLD)
    (tmp_path / "good.sol").write_text("x_0 0.75\nx_1 1\ny_0 -0.75\ny_1 1\n")
    (tmp_path / "bad.sol").write_text("x_0 0.75\nx_1 1\ny_0 1\ny_1 1\n")
    return tmp_path


@pytest.mark.rule("R-16")
def test_a_collision_is_a_result_and_a_certificate(folder: Path) -> None:
    outputs = ("--json", "out.json", "--certificate", "out.cert")
    run = ircert_command("replay", *QUESTION, "--solution", "good.sol", *outputs, cwd=folder)
    assert run.returncode == 1, run.stderr
    text = (folder / "out.json").read_text()
    found = read(text)
    assert (found["verdict"], found["engine"], found["radius"]["refuted"]) == ("refuted", "replay", 1.0)
    assert found["command"]["model"] == "fold.ir"
    assert Result.from_json(text).to_json() == text
    assert ircert_command("check", "out.cert", "--model", "fold.ir", cwd=folder).returncode == 0


@pytest.mark.parametrize("norm", ["1", "2"])
def test_the_refuted_ball_holds_the_pair(folder: Path, norm: str) -> None:
    asked = ("fold.ir", "--center", "0.25,1.25", "--radius", "2", "--norm", norm, "--json", "-")
    found = read(ircert_command("replay", *asked, "--solution", "good.sol", cwd=folder).stdout)
    assert found["radius"]["refuted"] == pytest.approx({"1": 1.25, "2": 17**0.5 / 4}[norm])


def test_without_a_collision_no_certificate_is_written(folder: Path) -> None:
    outputs = ("--json", "-", "--certificate", "out.cert")
    run = ircert_command("replay", *QUESTION, "--solution", "bad.sol", *outputs, cwd=folder)
    assert run.returncode == 3
    assert read(run.stdout)["verdict"] == "unresolved"
    assert "no certificate is written" in run.stderr
    assert not (folder / "out.cert").exists()


def test_the_model_is_not_overwritten(folder: Path) -> None:
    run = ircert_command("replay", *QUESTION, "--solution", "good.sol", "--json", "fold.ir", cwd=folder)
    assert run.returncode == 2
    assert (folder / "fold.ir").read_text() == FOLD
