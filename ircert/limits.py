"""When to stop: deadlines, and the one that long computations ask wherever they are.

Exact arithmetic is called from many places and knows none of them. Whoever has a time limit sets it with `until`; every
loop that can take a tenth of a second, and every step of an exact elimination, calls `checkpoint`. What cannot be
interrupted is not begun where it would take longer than is `left`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


class Undecided(ArithmeticError):
    """An exact computation gave up: it would be too large, or time is over. Nothing follows from it."""


class OutOfTime(Undecided):
    """The time limit came in the middle of a computation."""


class Deadline:
    """A moment after which an engine should stop and give what it has; by default it never comes."""

    def __init__(self, seconds: float = math.inf) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds until then, at least 0; infinite without a limit."""
        return max(0.0, self._end - time.monotonic())

    def passed(self) -> bool:
        """Whether it is over."""
        return time.monotonic() >= self._end


class Allowance(Deadline):
    """A deadline that also comes once an amount of work is used up, which is the same in every run."""

    def __init__(self, deadline: Deadline, used_up: Callable[[], bool]) -> None:
        self._deadline, self._used_up = deadline, used_up

    def left(self) -> float:
        """Seconds until then, none once the work is done."""
        return 0.0 if self._used_up() else self._deadline.left()

    def passed(self) -> bool:
        """Whether either is over."""
        return self._used_up() or self._deadline.passed()


class Changing(Deadline):
    """A deadline that is asked for anew every time: seconds until then, and whether it is over."""

    def __init__(self, left: Callable[[], float], passed: Callable[[], bool]) -> None:
        self.left, self.passed = left, passed  # type: ignore[method-assign]


@dataclass(frozen=True)
class _Limit:
    """What was set last, together with all that was set around it."""

    is_over: Callable[[], bool]
    left: Callable[[], float]

    def within(self, outer: _Limit) -> _Limit:
        """Over as soon as one of both is."""
        if outer is _NEVER:
            return self
        return _Limit(lambda: outer.is_over() or self.is_over(), lambda: min(outer.left(), self.left()))


_NEVER = _Limit(lambda: False, lambda: math.inf)
_limit: ContextVar[_Limit] = ContextVar("limit", default=_NEVER)


@contextmanager
def until(end: Callable[[], bool] | Deadline) -> Iterator[None]:
    """Computations inside end once this, or what was set outside, says so; `left` knows the time of a Deadline only."""
    own = _Limit(end.passed, end.left) if isinstance(end, Deadline) else _Limit(end, lambda: math.inf)
    token = _limit.set(own.within(_limit.get()))
    try:
        yield
    finally:
        _limit.reset(token)


def is_over() -> bool:
    """Whether the computation that asks should end."""
    return _limit.get().is_over()


def left() -> float:
    """Seconds that the computation that asks may take, as far as that is known: infinite without a Deadline."""
    return _limit.get().left()


def checkpoint() -> None:
    """Raise OutOfTime where the computation that asks should end."""
    if is_over():
        raise OutOfTime
