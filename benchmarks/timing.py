"""How benchmarks take times."""

from __future__ import annotations

import time
from collections.abc import Callable


def timed(action: Callable[[], object], repeat: int = 3) -> float:
    """The best of a few runs, in seconds."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best
