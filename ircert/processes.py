"""Other processes of this program: started clean, spoken to in pickled objects through pipes, never left behind.

Not `multiprocessing`: it would run the script that asks, again, in every process. The life of a process is that of its
input: when the process that started it ends, however it ends, so does the other.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from ircert.errors import ProcessError

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}


def code_of(module: str) -> str:
    """What a process runs: the function `main` of a module, deaf to signals, which may go to all processes."""
    return (
        "import signal; [signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)]; "
        f"import sys; sys.path[:] = sys.argv[1:]; from {module} import main; main()"
    )


def started(code: str) -> subprocess.Popen[bytes]:
    """A process that runs this code, with pipes to its input and output."""
    command = [sys.executable, "-c", code, *sys.path]
    try:
        with _blocked_signals():
            return subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **ONE_THREAD}
            )
    except OSError as error:
        raise ProcessError(f"a process could not be started ({error})") from error


def ended(processes: list[subprocess.Popen[bytes]]) -> None:
    """End processes, whatever they do."""
    for process in processes:
        process.kill()
    for process in processes:
        # waits, and closes the pipes
        process.communicate()


def send(process: subprocess.Popen[bytes], what: object) -> None:
    """Give a process something to read."""
    assert process.stdin is not None
    try:
        write(process.stdin, what)
    except OSError as error:
        raise ended_by_itself(process) from error


def received(process: subprocess.Popen[bytes]) -> Any:
    """The next thing that a process wrote; its failures are raised here."""
    assert process.stdout is not None
    try:
        return unless_failed(pickle.load(process.stdout))
    except (EOFError, pickle.UnpicklingError) as error:
        raise ended_by_itself(process) from error


def ended_by_itself(process: subprocess.Popen[bytes]) -> ProcessError:
    """What to raise of a process that is gone."""
    return ProcessError(f"another process ended by itself (exit code {process.wait()})")


@contextmanager
def _blocked_signals() -> Iterator[None]:
    """Processes that start in here never see Ctrl-C and SIGTERM, which may go to all of them: this one ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --- in the other process --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Failure:
    """An error instead of a reply; `error` is None where it cannot travel."""

    error: Exception | None
    text: str

    @classmethod
    def of(cls, error: Exception, text: str) -> Failure:
        """An error on its way to another process, with its traceback."""
        return cls(error if _travels(error) else None, text)


def unless_failed(found: Any) -> Any:
    """What another process wrote; an error of it is raised."""
    if not isinstance(found, Failure):
        return found
    failed = found.error or RuntimeError("an error in another process")
    failed.add_note(found.text)
    raise failed


def channels() -> tuple[BinaryIO, BinaryIO]:
    """Where this process reads and writes; what libraries print must not come between and goes to the error output."""
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return sys.stdin.buffer, target


def write(target: Any, what: object) -> None:
    """One thing, whole or not at all."""
    target.write(pickle.dumps(what, protocol=pickle.HIGHEST_PROTOCOL))
    target.flush()


def _travels(error: Exception) -> bool:
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)
    except Exception:
        return False
