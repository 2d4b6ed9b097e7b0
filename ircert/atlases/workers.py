"""An executor of processes of this program: started clean, and started again where one is lost.

`concurrent.futures.ProcessPoolExecutor` would run the script that asks in every process, and is of no use any more
once a process of it was killed.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from ircert.processes import Failure, channels, code_of, ended, received, send, started, write

P = ParamSpec("P")
T = TypeVar("T")
START = code_of("ircert.atlases.workers")
WATCH = 0.5
"""Seconds between two looks whether the process that asked is still there."""


class Processes(Executor):
    """So many processes; an error of a task is its future's, and a process that ends by itself a ProcessError."""

    def __init__(self, count: int) -> None:
        self._tasks: queue.SimpleQueue[tuple[Future[Any], Any] | None] = queue.SimpleQueue()
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._threads = [threading.Thread(target=self._serve, args=(i,), daemon=True) for i in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a function of a module called in one of the processes."""
        future: Future[T] = Future()
        self._tasks.put((future, (fn, args, kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes: with `wait`, after what was submitted."""
        if cancel_futures or not wait:
            while True:
                try:
                    item = self._tasks.get_nowait()
                except queue.Empty:
                    break
                if item is not None:
                    item[0].cancel()
        for _ in self._threads:
            self._tasks.put(None)
        if not wait:
            with self._lock:
                self._closed = True
                running = list(self._running.values())
            for process in running:
                process.kill()
        for thread in self._threads:
            thread.join()

    def _serve(self, number: int) -> None:
        """Hand tasks to one process, until there is nothing left to do."""
        while (item := self._tasks.get()) is not None:
            future, order = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                process = self._process(number)
                send(process, order)
                future.set_result(received(process))
            except BaseException as error:
                self._forget(number)
                future.set_exception(error)
        self._forget(number)

    def _process(self, number: int) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise RuntimeError("these processes were ended")
            if number not in self._running:
                self._running[number] = started(START)
            return self._running[number]

    def _forget(self, number: int) -> None:
        with self._lock:
            process = self._running.pop(number, None)
        if process is not None:
            ended([process])


# --- in the other process --------------------------------------------------------------------------------------------


def main() -> None:
    """Work until the input ends, or the process that asked does."""
    source, target = channels()
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    try:
        while True:
            write(target, _answer(*pickle.load(source)))
    except (EOFError, BrokenPipeError):
        os._exit(0)  # nobody is left to flush for


def _end_with(parent: int) -> None:
    """A task may take long: it is not waited for where nobody wants its result."""
    while os.getppid() == parent:
        time.sleep(WATCH)
    os._exit(0)


def _answer(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return Failure.of(error, traceback.format_exc())
