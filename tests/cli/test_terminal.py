"""`ircert certify` at a real terminal: size, progress, Ctrl-C; and nothing of it where nobody reads."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import ircert
from ircert.data.networks import bundled
from ircert.engines.base import Progress
from ircert.engines.estimate import Size

pty = pytest.importorskip("pty", reason="optional: pseudo-terminals")

SIZE = re.compile(r"(\d+) neurons, of which (\d+) may switch in the ball of radius 1 \((\d+) binaries\)")


@pytest.fixture
def model(tmp_path: Path) -> str:
    """Four inputs, 64 neurons: work enough for a while."""
    ircert.save(bundled("coupled-vanderpol-4-32-32-4"), tmp_path / "net.ir")
    return str(tmp_path / "net.ir")


@contextmanager
def at_terminal(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], Screen]]:
    """A running command whose stderr is a terminal and whose stdout is a pipe."""
    leader, follower = pty.openpty()
    # Whoever started the tests may ignore Ctrl-C, and children inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    command = [sys.executable, "-m", "ircert", "certify", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower, text=True)
    signal.signal(signal.SIGINT, before)
    os.close(follower)
    try:
        yield process, Screen(leader)
    finally:
        process.kill()
        process.wait()
        os.close(leader)


class Screen:
    """What a terminal has shown so far."""

    def __init__(self, leader: int) -> None:
        self.leader = leader
        self.text = ""

    def until(self, words: str = "") -> str:
        """Everything up to these words, or to the end."""
        while not words or words not in self.text:
            try:
                more = os.read(self.leader, 4096)
            except OSError:  # Linux says so when the last writer is gone
                return self.text
            if not more:
                return self.text
            self.text += more.decode(errors="replace")
        return self.text


def test_size_and_progress_on_stderr_and_json_alone_on_stdout(model: str) -> None:
    with at_terminal(model, "--center", "0,0,0,0", "--time-limit", "2", "--json", "-") as (process, screen):
        shown = screen.until()
        out, _ = process.communicate()
        assert process.returncode == 3
    result = json.loads(out)
    found = SIZE.search(shown)
    assert found is not None
    neurons, unstable, binaries = map(int, found.groups())
    assert neurons == 64
    assert binaries == 2 * unstable > 0
    assert "radius between" in shown
    assert "Traceback" not in shown
    assert shown.rstrip().endswith("\x1b[2K"), "the line is cleared at the end"
    assert result["verdict"] == "unresolved"


@pytest.mark.rule("E-7", "R-10")
@pytest.mark.parametrize(("engine", "number"), [("auto", signal.SIGINT), ("boxes", signal.SIGTERM)])
def test_a_signal_gives_the_bracket(model: str, engine: str, number: signal.Signals) -> None:
    with at_terminal(model, "--center", "0,0,0,0", "--engine", engine, "--json", "-") as (process, screen):
        screen.until("radius between")
        process.send_signal(number)
        screen.until()
        out, _ = process.communicate()
        assert process.returncode == 3
    result = json.loads(out)
    assert result["verdict"] == "unresolved"
    assert "interrupted" in result["reason"]
    assert result["radius"]["certified"] >= 0


def test_silence_without_a_terminal(model: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "ircert", "certify", model, "--center", "0,0,0,0", "--time-limit", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (3, "")
    assert run.stdout.startswith("unresolved: ")


@pytest.mark.rule("E-8")
def test_the_first_report_is_the_size() -> None:
    """(|x1|, |x2|), once and beside another network."""
    eye = np.eye(2)
    fold = [(np.vstack([eye, -eye]), np.zeros(4)), (np.hstack([eye, eye]), None)]
    other = ircert.load([(3 * eye, [0.0, 100.0]), (eye, None)])
    for problem, more, size in (
        ("local", {"radius": 0.5}, Size(0.5, 4, 2, 4)),
        ("pseudo", {"radius": 0.5}, Size(0.5, 4, 2, 2)),
        ("local", {"max_radius": 64.0}, Size(1.0, 4, 4, 8)),
        ("transform", {"radius": 0.5, "other": other}, Size(0.5, 6, 3, 6)),
    ):
        seen: list[Progress] = []
        ircert.certify(fold, [0.25, 1.0], problem=problem, progress=seen.append, **more)
        assert seen[0] == Progress(0.0, None, str(size))
