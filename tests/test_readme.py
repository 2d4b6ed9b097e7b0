"""README.md and docs/guide.md are true: their Python is run, their command lines are parsed, their tables are whole."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ircert
from ircert import frontends
from ircert.cli import commands
from ircert.cli.main import _joined_negatives, _parser
from ircert.passes.base import GraphPass, Rewrite

ROOT = Path(__file__).parents[1]
README, GUIDE = ((ROOT / name).read_text() for name in ("README.md", "docs/guide.md"))
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README + GUIDE, re.MULTILINE | re.DOTALL)
PYTHON = [text for language, text in BLOCKS if language == "python"]
COMMANDS = [line[2:] for _, text in BLOCKS for line in text.splitlines() if line.startswith("$ ircert ")]
COMMANDS += re.findall(r"`(ircert plot [^`]*)`", README + GUIDE)


class MyPass(GraphPass):
    """The reader's pass."""

    name = "my-pass"

    def run(self, source: ircert.Graph) -> Rewrite[ircert.Graph]:
        """Nothing to do."""
        return Rewrite(source)


def small(inputs: int, outputs: int, seed: int) -> ircert.Graph:
    """A network that is quickly answered."""
    draw = np.random.default_rng(seed)
    first, last = draw.normal(size=(8, inputs)), draw.normal(size=(outputs, 8))
    return ircert.load([(first, draw.normal(size=8)), (last, None)])


def given_to(number: int) -> dict[str, Any]:
    """What a block speaks of without making it."""
    given: dict[int, dict[str, Any]] = {
        1: {"x": [0.5, 0.5], "h2": small(2, 2, 1)},
        7: {"g": small(3, 2, 2)},
        9: {"g": small(2, 2, 3)},
        10: {"MyPass": MyPass},
    }
    return given.get(number, {})


def test_python_blocks_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ircert.save(small(2, 2, 0), "net.onnx")
    names: dict[str, Any] = {}
    for number, text in enumerate(PYTHON):
        names |= given_to(number)
        exec(compile(text, f"README.md and docs/guide.md, Python block {number}", "exec"), names)
    names["test_my_pass"]()
    assert {path.name for path in tmp_path.iterdir()} >= {"net.ir", "q.lp"}
    assert len(PYTHON) == 11


@pytest.mark.parametrize("line", COMMANDS)
def test_command_lines_are_understood(line: str) -> None:
    words = shlex.split(line, comments=True)
    assert hasattr(_parser().parse_args(_joined_negatives(words[1:])), "command")


def test_command_lines_are_found() -> None:
    assert {line.split()[1] for line in COMMANDS} >= {
        "opt",
        "export",
        "plot",
        "replay",
        "certify",
        "check",
        "reproduce",
    }


def test_the_graph_is_read() -> None:
    (text,) = [text for _, text in BLOCKS if text.startswith("ircert.ir/1")]
    graph = ircert.parse(text)
    assert (graph.input_dim, str(graph)) == (2, text)


def table(heading: str) -> str:
    """The rows of the table below a heading of README.md."""
    return README[README.index(f"## {heading}") :].partition("|---|---|\n")[2].partition("\n\n")[0]


def test_every_command_is_in_the_table() -> None:
    listed = re.findall(r"^\| `([\w-]+)` \|", table("Commands"), re.MULTILINE)
    assert sorted(listed) == sorted(command.name for command in commands.COMMANDS)


def test_every_kind_of_file_is_in_the_table() -> None:
    kinds = [frontends.REGISTRY.get(name) for name in frontends.BUILT_IN if name != "pickles"]
    read = {suffix for kind in kinds for suffix in kind.suffixes}
    assert len(read) > 8
    assert {suffix for suffix in read if f"`{suffix}`" not in table("Files that are read")} == set()


def test_it_is_short() -> None:
    assert len(README) < 12_000
