"""Other processes: objects through pipes, errors that travel, and ends of every kind."""

from __future__ import annotations

import io
import pickle

import pytest

from ircert.errors import ProcessError, QueryError
from ircert.processes import Failure, code_of, ended, received, send, started, unless_failed, write

ECHO = (
    "import pickle, sys\n"
    "from ircert.processes import channels, write\n"
    "source, target = channels()\n"
    "print('libraries print')\n"
    "write(target, pickle.load(source))"
)


def test_what_is_sent_comes_back_and_prints_do_not_disturb_it() -> None:
    process = started(f"import sys; sys.path[:] = sys.argv[1:]\n{ECHO}")
    try:
        send(process, {"a": [1, 2.5]})
        assert received(process) == {"a": [1, 2.5]}
    finally:
        ended([process])
    assert process.returncode is not None


def test_a_process_that_ends_by_itself_is_named() -> None:
    process = started("import os; os._exit(3)")
    with pytest.raises(ProcessError, match=r"ended by itself \(exit code 3\); one thread needs no other process"):
        received(process)
    ended([process])


class Homeless(Exception):
    """Cannot be made again from its arguments."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__(a)


def test_errors_travel_with_their_traceback_if_they_can() -> None:
    kept = Failure.of(QueryError("no", remedy="yes"), "the traceback")
    with pytest.raises(QueryError, match="no; yes") as caught:
        unless_failed(pickle.loads(pickle.dumps(kept)))
    assert caught.value.__notes__ == ["the traceback"]
    lost = Failure.of(Homeless(1, 2), "the traceback")
    assert lost.error is None
    with pytest.raises(RuntimeError, match="an error in another process"):
        unless_failed(lost)
    assert unless_failed(7) == 7


def test_code_runs_the_main_of_a_module_deaf_to_signals() -> None:
    code = code_of("some.module")
    compile(code, "code", "exec")
    assert "SIG_IGN" in code
    assert code.endswith("from some.module import main; main()")


def test_one_thing_is_written_whole() -> None:
    target = io.BytesIO()
    write(target, (1, "two"))
    assert pickle.loads(target.getvalue()) == (1, "two")
