"""`ircert check` with the user's own model; tests/checker has what the checker itself says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import ircert_command

FOLD = "ircert.ir/1\nx = input(length=2)\na = abs(x)\nreturn a\n"
QUESTION = ("fold.ir", "--center", "0.25,2", "--radius", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fold.ir").write_text(FOLD)
    (tmp_path / "other.ir").write_text(FOLD.replace("abs(x)", "affine(x, weight=[[1, 0], [0, 1]])"))
    outputs = ("--certificate", "out.cert", "--json", "out.json")
    assert ircert_command("certify", *QUESTION, *outputs, cwd=tmp_path).returncode == 1
    return tmp_path


def test_a_certificate_of_another_network_is_rejected(folder: Path) -> None:
    run = ircert_command("check", "out.cert", "--model", "other.ir", cwd=folder)
    assert run.returncode == 4
    assert "is not the network that is named" in run.stdout
    assert json.loads((folder / "out.cert").read_text())["kind"] == "collision"


def test_a_certificate_of_this_network_passes(folder: Path) -> None:
    assert ircert_command("check", "out.cert", "--model", "fold.ir", cwd=folder).returncode == 0
    assert ircert_command("check", "out.cert", "--model", "fold.ir", "--explain", cwd=folder).returncode == 0


def test_results_are_told_from_certificates(folder: Path) -> None:
    assert ircert_command("check", "out.json", "--model", "fold.ir", cwd=folder).returncode == 0
    assert ircert_command("check", "out.json", "--model", "other.ir", cwd=folder).returncode == 4
    for arguments in (
        ["out.json"],
        ["out.json", "--model", "fold.ir", "--explain"],
        ["out.cert", "--other", "fold.ir"],
    ):
        run = ircert_command("check", *arguments, cwd=folder)
        assert run.returncode == 2
        assert run.stderr.count("\n") == 1


@pytest.mark.parametrize("more", [[], ["--model", "fold.ir"]])
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("script.sh", "script.sh: not a certificate: it is no JSON; `ircert certify --certificate FILE` writes one\n"),
        ("model.onnx", "not a certificate, and not a text file (byte 1 is not UTF-8); `ircert certify --certificate"),
        ("else.json", "`ircert certify --certificate FILE` writes one\n"),
        (".", ".: this is a folder, not a file; name a file in it\n"),
        ("none", "none: no such file; check the path\n"),
    ],
)
def test_what_is_no_certificate(folder: Path, name: str, says: str, more: list[str]) -> None:
    (folder / "script.sh").write_text("echo\n")
    (folder / "else.json").write_text("{}")
    (folder / "model.onnx").write_bytes(b"\x08\xff")
    run = ircert_command("check", name, *more, cwd=folder)
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert says in run.stderr


@pytest.mark.parametrize("option", ["--json", "--certificate"])
def test_results_are_not_written_to_folders(folder: Path, option: str) -> None:
    run = ircert_command("certify", *QUESTION, option, ".", cwd=folder)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "ircert: error: .: this is a folder, not a file; name a file in it\n"
