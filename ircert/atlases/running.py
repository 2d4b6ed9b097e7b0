"""Blocks dealt out to processes, and their rows as they come: what a lost process had is computed again."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ircert.atlases.row import Row
from ircert.atlases.task import Task, work_on
from ircert.atlases.workers import Processes
from ircert.errors import IrcertError, MissingExtra, ProcessError, QueryError
from ircert.limits import Deadline

ATTEMPTS = 4
"""How often a block is given to a process that is lost with it, before that is an error."""
AHEAD = 3
"""Blocks that wait for each process: all at once would hold them in its memory, and none would make it wait."""
MOST = 256
"""Blocks under way at a time with an executor whose size is not known."""
POLL = 0.2
"""Seconds between two looks at the time."""


class LostWorker(IrcertError):
    """A block whose process was lost over and over."""


@contextmanager
def executor_for(workers: Any) -> Iterator[tuple[Executor | None, int]]:
    """The executor that was asked for, if any, and how many blocks may be under way; one of our own is ended."""
    if isinstance(workers, bool) or not isinstance(workers, int | Executor):
        raise QueryError(
            f"workers must be a number of processes or an executor, got {type(workers).__name__}",
            remedy="a dask client has one: client.get_executor()",
        )
    if isinstance(workers, Executor):
        yield workers, MOST
        return
    if not 1 <= workers <= 1024:
        raise QueryError(f"workers must be from 1 to 1024, got {workers}")
    if workers == 1:
        yield None, 1
        return
    own = Processes(workers)
    try:
        yield own, AHEAD * workers
    finally:
        own.shutdown(wait=False, cancel_futures=True)


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """The executor of a dask cluster at an address."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("distributed", extra="dask", purpose="a dask cluster") from None
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError, TimeoutError) as error:
        problem = f"there is no dask scheduler at {address} ({str(error) or type(error).__name__})"
        raise QueryError(problem, remedy="give the address that it printed when it started") from None
    try:
        yield client.get_executor(pure=False)
    finally:
        client.close()


def rows_of(tasks: list[Task], executor: Executor | None, ahead: int, deadline: Deadline) -> Iterator[list[Row]]:
    """The rows of blocks as they are ready, in whatever order; those that time does not suffice for do not come."""
    if executor is None:
        for task in tasks:
            if deadline.passed():
                return
            yield work_on(_timed(task, deadline))
        return
    yield from _Dealing(executor, ahead, deadline).rows(tasks)


class _Dealing:
    """Blocks under way."""

    def __init__(self, executor: Executor, ahead: int, deadline: Deadline) -> None:
        self._executor, self._ahead, self._deadline = executor, ahead, deadline
        self._under_way: dict[Future[list[Row]], tuple[Task, int]] = {}

    def rows(self, tasks: list[Task]) -> Iterator[list[Row]]:
        left = [(task, 1) for task in reversed(tasks)]
        try:
            while (left and not self._deadline.passed()) or self._under_way:
                while left and len(self._under_way) < self._ahead and not self._deadline.passed():
                    self._submit(*left.pop())
                for future in self._ready():
                    task, attempt = self._under_way.pop(future)
                    found = self._result(future, attempt)
                    if found is None:
                        left.append((task, attempt + 1))
                    else:
                        yield found
        finally:
            for future in self._under_way:
                future.cancel()

    def _submit(self, task: Task, attempt: int) -> None:
        self._under_way[self._executor.submit(work_on, _timed(task, self._deadline))] = task, attempt

    def _ready(self) -> list[Future[list[Row]]]:
        """Those that are done; waits for one."""
        seconds = None if math.isinf(self._deadline.left()) else POLL
        done, _ = wait(self._under_way, seconds, FIRST_COMPLETED)
        # in the order of their submission, so that errors are the same in every run
        return [future for future in self._under_way if future in done]

    def _result(self, future: Future[list[Row]], attempt: int) -> list[Row] | None:
        """The rows; None where the process was lost, and another one may do it."""
        try:
            return future.result()
        except BrokenExecutor as error:
            raise LostWorker(
                f"the executor lost a process and takes no more tasks ({error})",
                remedy="ask again with the same file of rows: what is there stays",
            ) from error
        except (ProcessError, CancelledError, OSError) as error:
            if attempt >= ATTEMPTS:
                raise _lost(error, attempt) from error
            return None
        except Exception as error:
            if type(error).__name__ != "KilledWorker":  # dask's: it has tried several workers already
                raise
            raise _lost(error, attempt) from error


def _lost(error: BaseException, attempts: int) -> LostWorker:
    return LostWorker(
        f"a block's process was lost {attempts} times ({error})",
        remedy="see whether memory suffices, and ask again with the same file of rows: what is there stays",
    )


def _timed(task: Task, deadline: Deadline) -> Task:
    """The task with the hour at which time is over: it may wait for its turn."""
    left = deadline.left()
    return task if math.isinf(left) else replace(task, until=time.time() + left)
