"""How benchmarks take times."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ircert.errors import IrcertError


def timed(action: Callable[[], object], repeat: int = 3) -> float:
    """The best of a few runs, in seconds."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


@dataclass(frozen=True)
class Measured:
    """Seconds of processor time, whether the work came to its end, and what it found."""

    seconds: float
    done: bool
    text: str

    def against(self, usual: Measured | None) -> str:
        """How many times as long the usual way takes; a bound where it did not finish."""
        if usual is None or not self.done:
            return ""
        return f"x {'' if usual.done else '>'}{usual.seconds / max(self.seconds, 1e-4):,.1f}"

    def line(self, name: str, usual: Measured | None = None) -> str:
        """A line of a table."""
        state = "" if self.done else " (stopped)"
        return f"  {name:26} {self.seconds:8.2f} s {self.against(usual):>10}  {self.text}{state}"


def measured(action: Callable[[], tuple[bool, str]]) -> Measured:
    """Run something that tells whether it finished and what it found."""
    start = time.process_time()
    try:
        done, text = action()
    except IrcertError as error:
        done, text = False, str(error)[:60]
    return Measured(time.process_time() - start, done, text)
