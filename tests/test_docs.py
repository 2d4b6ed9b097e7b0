"""Pages for developers are true: commands run as written, pipelines parse, and what the pages name is there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import ircert
from ircert import passes
from tests.test_plugin import in_a_project_with

ROOT = Path(__file__).parents[1]
PAGES = {name: (ROOT / name).read_text() for name in ("docs/architecture.md", "CONTRIBUTING.md", "spec/passes.md")}
CODE = {
    name: re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))
    for name, text in PAGES.items()
}
COMMANDS = sorted({code for found in CODE.values() for code in found if re.match(r"ircert \w+ \S", code)})
SOURCES = [path for folder in ("ircert", "passes", "backends") for path in (ROOT / folder).rglob("*.py")]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run_as_written(command: str, tmp_path: Path) -> None:
    ircert.save(
        ircert.load([([[1.0, 0.5], [-0.5, 1.0]], [0.0, -0.25]), ([[1.0, -1.0], [0.5, 1.0]], None)]),
        tmp_path / "net.onnx",
    )
    run = in_a_project_with(tmp_path, "-m", "ircert", *shlex.split(command)[1:])
    assert run.returncode == 0, run.stderr
    assert run.stdout


def test_commands_are_found() -> None:
    assert {command.split()[1] for command in COMMANDS} == {"export", "opt", "reproduce"}


@pytest.mark.parametrize("code", [code for code in CODE["spec/passes.md"] if code.split("{")[0] in passes.names()])
def test_pipelines_parse(code: str) -> None:
    assert ircert.Pipeline.parse(code) if "{" in code else passes.get(code)


@pytest.mark.parametrize("page", PAGES)
def test_files_are_there(page: str) -> None:
    named = {code for code in CODE[page] if re.fullmatch(r"\.?\w+(/\w+)*/(\w+\.\w+)?|\.?\w+(/\w+)+(\.\w+)?", code)}
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_hops_are_there() -> None:
    """The last word of every function that the table of hops names is defined somewhere."""
    rows = re.findall(r"^\| \d+ \|(.*)\|$", PAGES["docs/architecture.md"], flags=re.M)
    words = {word.split(".")[-1] for row in rows for word in re.findall(r"`([\w.]+)`", row)}
    assert len(words) > 20
    text = "\n".join(path.read_text() for path in SOURCES)
    assert [word for word in sorted(words) if not re.search(rf"\b(def|class) {word}\b", text)] == []
