"""README.md is true: its Python is run, its command lines are parsed, its graph is read, and its folders are there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.cli.main import _joined_negatives, _parser
from ircert.passes.base import GraphPass, Rewrite

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PYTHON = [text for language, text in BLOCKS if language == "python"]
COMMANDS = [line[2:] for _, text in BLOCKS for line in text.splitlines() if line.startswith("$ ircert ")]
COMMANDS += re.findall(r"`(ircert plot [^`]*)`", README)


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
        0: {"x": [0.5, 0.5], "h2": small(2, 2, 1)},
        5: {"g": small(3, 2, 2)},
        7: {"g": small(2, 2, 3)},
        8: {"MyPass": MyPass},
    }
    return given.get(number, {})


def test_python_blocks_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ircert.save(small(2, 2, 0), "net.onnx")
    names: dict[str, Any] = {}
    for number, text in enumerate(PYTHON):
        names |= given_to(number)
        exec(compile(text, f"README.md, Python block {number}", "exec"), names)
    names["test_my_pass"]()
    assert {path.name for path in tmp_path.iterdir()} >= {"net.ir", "q.lp"}
    assert len(PYTHON) == 10


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


def test_folders_are_there() -> None:
    rows = re.findall(r"^\| (`.*?) \|", README[README.index("## Where things are") :], re.MULTILINE)
    paths = [path for row in rows for path in re.findall(r"`([^`]+)`", row)]
    assert len(paths) > 15
    assert [path for path in paths if not (ROOT / path).exists()] == []
