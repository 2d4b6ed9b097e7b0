"""docs/how_do_i.md is true: every block of it runs."""

from __future__ import annotations

import re
import shlex
import warnings
from pathlib import Path

import matplotlib
import pytest

import ircert
from ircert.data.networks import bundled
from tests.cli.commands import ROOT, ircert_command

PAGE = (ROOT / "docs" / "how_do_i.md").read_text()
PARTS = dict(re.findall(r"^### (.*?)\n(.*?)(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL))
NETWORKS = {
    "net": "vanderpol-2-16-16-2",
    "twin": "vanderpol-2-16-16-2",
    "tanh": "vanderpol-tanh-2-32-32-2",
    "flow": "lorenz-3-16-16-3",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, network in NETWORKS.items():
        ircert.save(bundled(network), tmp_path / f"{name}.onnx")
    return tmp_path


def test_there_are_at_least_twenty_five() -> None:
    assert len(PARTS) >= 25
    assert all("```" in text for text in PARTS.values())


@pytest.mark.parametrize("question", PARTS)
def test_answers_run(question: str, folder: Path) -> None:
    matplotlib.use("agg")
    for kind, text in re.findall(r"^```(\w*)\n(.*?)^```$", PARTS[question], re.MULTILINE | re.DOTALL):
        if kind == "python":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(text, question, "exec"), {"ircert": ircert})
        else:
            for line in text.splitlines():
                command = shlex.split(line.removeprefix("$ ircert "), comments=True)
                run = ircert_command(*command, cwd=folder)
                assert run.returncode in (0, 1, 3), (line, run.stderr)
