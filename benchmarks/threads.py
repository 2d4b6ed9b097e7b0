"""Searches in one process and in several, in turns.

    OMP_NUM_THREADS=1 python benchmarks/threads.py [--threads 2] [--repeat 3] [--only lorenz]

Questions are about balls around 0 in the norm inf, by the engine `boxes`. Seconds are medians of all turns: of the
clock; of processors, for all processes together; and of processors on the longest way (this process, and the busiest
other one in every round), which is what the clock would show without other load and without starting processes.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from statistics import median

import ircert
from ircert.data.networks import bundled
from ircert.result.result import Result

QUESTIONS: list[tuple[str, float | None]] = [
    ("lorenz-3-16-16-3", 0.75),
    ("lorenz-3-16-16-3", None),
    ("coupled-vanderpol-4-16-16-4", 0.75),
    ("coupled-vanderpol-4-16-16-4", None),
    ("coupled-vanderpol-4-32-32-4", 1.75),
    ("coupled-vanderpol-4-32-32-4", 2.0),
    ("coupled-vanderpol-4-32-32-4", 2.3),
]
"""Networks, with a radius or (the largest one is looked for) without."""


@dataclass(frozen=True)
class Turn:
    """Seconds of the clock, of processors, and on the longest way."""

    clock: float
    processors: float
    longest: float
    found: Result

    @staticmethod
    def of(name: str, radius: float | None, threads: int) -> Turn:
        """One question, asked once."""
        graph = bundled(name)
        start, used, own = time.perf_counter(), _used(), time.process_time()
        found = ircert.certify(graph, [0] * graph.input_dim, radius=radius, engine="boxes", threads=threads)
        longest = time.process_time() - own + float(found.stats.get("busiest", 0.0))
        return Turn(time.perf_counter() - start, _used() - used, longest, found)


def _used() -> float:
    """Processor time of this process and of all that it started and that have ended."""
    return sum(os.times()[:4])


def _line(threads: int, turns: list[Turn], usual: list[Turn]) -> str:
    times = []
    for what in ("clock", "longest", "processors"):
        seconds, before = (median(getattr(turn, what) for turn in given) for given in (turns, usual))
        times.append(f"{what} {seconds:6.2f} s x {before / seconds:4.2f}")
    found = turns[0].found
    refuted = "…" if found.radius.refuted is None else f"{float(found.radius.refuted):.7g}"
    rounds = found.stats.get("rounds", 0)
    return f"  threads {threads}: {', '.join(times)}; {rounds} rounds, [{float(found.radius.certified):.7g}, {refuted}]"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    Turn.of("vanderpol-2-10-10-2", 0.5, 1)  # what the first question pays for imports
    for name, radius in QUESTIONS:
        if not name.startswith(options.only):
            continue
        turns: dict[int, list[Turn]] = {1: [], options.threads: []}
        for _ in range(options.repeat):
            for threads, done in turns.items():
                done.append(Turn.of(name, radius, threads))
        print(f"{name}, {'largest radius' if radius is None else f'radius {radius:g}'}, load {os.getloadavg()[0]:.1f}")
        for threads, done in turns.items():
            print(_line(threads, done, turns[1]), flush=True)


if __name__ == "__main__":
    main()
