"""Pages for developers are true: commands run as written, pipelines parse, and what the pages name is there."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
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


def defined(hop: str, texts: dict[str, str]) -> bool:
    """Whether a hop is there: `word` anywhere, `Class.method` also inherited, `file.word` in a file of that name."""
    *before, word = hop.split(".")
    if not before:
        return any(re.search(rf"\b(def|class) {word}\b", text) for text in texts.values())
    if before[0][:1].isupper() or before[0][:2].strip("_").isupper():
        homes = [name for name, text in texts.items() if re.search(rf"^class {before[0]}\b", text, flags=re.M)]
        return any(hasattr(getattr(import_module(name), before[0]), word) for name in homes)
    homes = [name for name in texts if f".{name}".endswith(f".{'.'.join(before)}")]
    return any(re.search(rf"^(def|class) {word}\b", texts[name], flags=re.M) for name in homes)


def test_hops_are_there() -> None:
    """Every function that the table of hops and the sentences below it name is defined where they say."""
    (page,) = re.findall(r"^\| 1 \|.*?(?=^## )", PAGES["docs/architecture.md"], flags=re.M | re.S)
    rows = "\n".join(re.findall(r"^\| \d+ \|.*", page, flags=re.M))
    hops = {*re.findall(r"`([\w.]+)`", rows), *re.findall(r"`(\w+(?:\.\w+)+|[A-Z]\w+)`", page)}
    assert len(hops) > 20
    texts = {".".join(_parts(path)): path.read_text() for path in SOURCES}
    assert [hop for hop in sorted(hops) if not defined(hop, texts)] == []
    assert not defined("Cover.fly", texts)
    assert not defined("asking.certify", texts)


def _parts(path: Path) -> list[str]:
    parts = [part for part in path.relative_to(ROOT).with_suffix("").parts if part != "__init__"]
    return parts if parts[0] == "ircert" else ["ircert", *parts]
