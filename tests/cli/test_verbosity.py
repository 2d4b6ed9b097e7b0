"""-q says nothing, -v says what the search does, and both leave the verdict as it is."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from ircert import certify
from ircert.data.networks import bundled
from ircert.engines.base import Progress
from tests.cli.commands import ROOT, ircert_command

NET = str(ROOT / "ircert" / "data" / "networks" / "vanderpol-2-16-16-2.onnx")
ASKED = ("certify", NET, "--center", "0,0", "--engine", "boxes")


def test_quiet_is_the_exit_code_and_what_was_asked_for(tmp_path: Path) -> None:
    run = ircert_command(*ASKED, "-q", cwd=tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    told = ircert_command(*ASKED, "-q", "--json", "-", cwd=tmp_path)
    assert json.loads(told.stdout)["verdict"] == "certified"
    wrong = ircert_command("certify", NET, "--center", "0", "-q", cwd=tmp_path)
    assert wrong.returncode == 2
    assert wrong.stderr
    assert ircert_command(*ASKED, cwd=tmp_path).stdout.startswith("certified: ")  # it does not stay quiet


def test_verbose_is_on_stderr_and_grows(tmp_path: Path) -> None:
    once, twice = (ircert_command(*ASKED, flag, cwd=tmp_path) for flag in ("-v", "-vv"))
    assert once.stdout.startswith("certified: ")
    lines = once.stderr.splitlines()
    assert "asked: local, the largest radius" in lines[0]
    assert "answered after" in lines[-1]
    assert any("radius between" in line for line in lines)
    assert len(twice.stderr.splitlines()) > len(lines)
    assert ircert_command(*ASKED, cwd=tmp_path).stderr == ""


def test_python_listens_to_the_same(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[Progress] = []
    with caplog.at_level(logging.INFO, logger="ircert"):
        found = certify(bundled("vanderpol-2-16-16-2"), [0, 0], engine="boxes", progress=seen.append)
    messages = [record.getMessage() for record in caplog.records]
    assert str(found) in messages[-1]
    brackets = [text for text in messages if text.startswith("radius between")]
    assert set(brackets) <= {str(each) for each in seen}
    assert len(brackets) < len(seen)  # steps without news are DEBUG
