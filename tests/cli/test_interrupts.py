"""Ctrl-C and SIGTERM at any moment: exit code 3, the bracket that was reached, and the JSON that was asked for."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ircert
from ircert.data.networks import bundled
from ircert.engines.judge import judge

ROOT = Path(__file__).parents[2]
PROVER = "ircert.engines.boxes.search.prover"
BOTH = [signal.SIGINT, signal.SIGTERM]

AT_IMPORT = """
import os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests may run where it is ignored
class Sender:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            for number in {numbers}:
                os.kill(os.getpid(), number)
sys.meta_path.insert(0, Sender())
sys.argv = ["ircert", *{arguments}]
runpy.run_module("ircert", run_name="__main__")
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    """Four inputs, 64 neurons: work for minutes."""
    ircert.save(bundled("coupled-vanderpol-4-32-32-4"), tmp_path / "net.ir")
    return str(tmp_path / "net.ir")


def python(code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


def sent_at_import(module: str, numbers: list[int], *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command that gets signals while it imports a module."""
    return python(AT_IMPORT.format(module=module, numbers=[int(n) for n in numbers], arguments=list(arguments)))


MODULES = ["ircert.cli.main", "numpy", "ircert.answering", "ircert.engines.auto.engine"]
MOMENTS = [
    pytest.param(module, number, marks=[pytest.mark.slow] if (i + j) % 2 else [])
    for i, module in enumerate([*MODULES, "ircert.engines.boxes.search.prover"])
    for j, number in enumerate(BOTH)
]
"""The two signals in turn; each at each import takes long."""


@pytest.mark.rule("R-10")
@pytest.mark.parametrize(("module", "number"), MOMENTS)
def test_a_signal_during_an_import(module: str, number: signal.Signals, model: str, tmp_path: Path) -> None:
    """Wherever it comes, an import is not torn apart, and the question gets its answer."""
    target = tmp_path / "out.json"
    run = sent_at_import(module, [number], "certify", model, "--center", "0,0,0,0", "--json", str(target))
    assert (run.returncode, run.stderr) == (3, "")
    assert run.stdout.startswith("unresolved: ")
    found = json.loads(target.read_text())
    assert (found["verdict"], found["reason"][:11]) == ("unresolved", "interrupted")


@pytest.mark.rule("R-10")
def test_sigterm_counts_once_and_ctrl_c_twice(model: str, tmp_path: Path) -> None:
    """`timeout` sends SIGTERM twice in a row; whoever presses Ctrl-C again does not want to wait."""
    target = tmp_path / "out.json"
    arguments = ("certify", model, "--center", "0,0,0,0", "--json", str(target))
    assert sent_at_import("numpy", [signal.SIGTERM] * 3, *arguments).returncode == 3
    assert json.loads(target.read_text())["verdict"] == "unresolved"
    target.unlink()
    run = sent_at_import("numpy", [signal.SIGINT] * 2, *arguments)
    assert (run.returncode, run.stdout, run.stderr) == (3, "", "ircert: interrupted\n")
    assert not target.exists()


@pytest.mark.rule("R-10")
@pytest.mark.parametrize("number", BOTH)
@pytest.mark.parametrize("command", [["demo"], ["reproduce", "timestep", "--quick"]])
def test_other_commands_end(number: signal.Signals, command: list[str], tmp_path: Path) -> None:
    """… even where they ask several questions: no search takes the signal for its own."""
    where = ["-o", str(tmp_path)] if command[0] == "reproduce" else []
    run = sent_at_import("ircert.engines.auto.engine", [number], *command, *where)
    assert (run.returncode, run.stderr) == (3, "ircert: interrupted\n")
    assert "radius" not in run.stdout


LOST = """
import os, signal
from ircert.cli.interrupts import INTERRUPTS
class Dying:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
INTERRUPTS.install()
try:
    with INTERRUPTS.open(KeyboardInterrupt):
        dying = Dying()
        del dying
        print("dropped by Python\\n", end="")  # in one piece: the signal comes again at any moment
        while True:
            pass
except KeyboardInterrupt:
    print("raised again")
"""


def test_a_signal_that_meets_a_destructor_is_not_lost() -> None:
    run = python(LOST)
    assert (run.returncode, run.stdout, run.stderr) == (0, "dropped by Python\nraised again\n", "")


IGNORED = """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
from ircert.cli.interrupts import INTERRUPTS
INTERRUPTS.install()
with INTERRUPTS.open():
    os.kill(os.getpid(), signal.SIGINT)
INTERRUPTS.close()
os.kill(os.getpid(), signal.SIGTERM)
print("still here")
"""


def test_what_the_shell_ignores_stays_ignored_and_nothing_comes_after_the_end() -> None:
    assert python(IGNORED).stdout == "still here\n"


SOLVING = """
import os, signal, threading
from ircert import backends
from ircert.cli.interrupts import INTERRUPTS
from tests.backends.test_solvers import hard
INTERRUPTS.install()
try:
    with INTERRUPTS.open(KeyboardInterrupt):
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM)).start()
        backends.get({name!r}).solve(hard(), time_limit=60)
except KeyboardInterrupt:
    print("interrupted", signal.getsignal(signal.SIGTERM) == INTERRUPTS._receive)
"""


@pytest.mark.parametrize("name", ["highs", "scip"])
def test_sigterm_ends_a_solver_s_run(name: str) -> None:
    """… from outside its own code, where an exception would be lost."""
    run = python(SOLVING.format(name=name))
    assert (run.stdout, run.stderr) == ("interrupted True\n", "")


@pytest.mark.rule("R-8", "R-10")
def test_both_directions(model: str, tmp_path: Path) -> None:
    ircert.save(bundled("coupled-vanderpol-4-16-16-4"), tmp_path / "other.ir")
    question = ("--problem", "transform", "--other", str(tmp_path / "other.ir"), "--both", "--json", "-")
    run = sent_at_import(
        "ircert.engines.boxes.search.prover", [signal.SIGTERM], "certify", model, "--center", "0,0,0,0", *question
    )
    assert (run.returncode, run.stderr) == (3, "")
    found = json.loads(run.stdout)
    assert found["forward"]["reason"] == found["backward"]["reason"] == "interrupted"


@pytest.mark.rule("R-10")
def test_an_interrupt_after_the_answer_does_not_lose_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the witness is replayed: the verdict stands, and the result says that somebody wanted to end."""
    calls: list[Any] = []

    def press(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return judge(*given)

    monkeypatch.setattr("ircert.answering.judge", press)
    result = ircert.certify([([[1.0], [-1.0]], None), ([[1.0, 1.0]], None)], [0.75])
    assert (result.verdict, result.interrupted, float(result.radius.certified)) == ("certified", True, 0.75)
