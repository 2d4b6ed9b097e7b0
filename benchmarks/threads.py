"""Searches in one process and in several, in turns.

    OMP_NUM_THREADS=1 python benchmarks/threads.py [--threads 2] [--repeat 3] [--only lorenz]

Questions are about balls around 0 in the norm inf, by the engine `milp`. Seconds are of the clock, medians of all
turns; processor time is that of all processes together, and without other load the two are equal for one thread.
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
    ("coupled-vanderpol-4-32-32-4", 1.5),
    ("coupled-vanderpol-4-32-32-4", 1.75),
]
"""Networks, with a radius or (the largest one is looked for) without."""


@dataclass(frozen=True)
class Turn:
    """Seconds of the clock, and of processors."""

    clock: float
    processors: float
    found: Result

    @staticmethod
    def of(name: str, radius: float | None, threads: int) -> Turn:
        """One question, asked once."""
        graph = bundled(name)
        start, used = time.perf_counter(), _used()
        found = ircert.certify(graph, [0] * graph.input_dim, radius=radius, engine="milp", threads=threads)
        return Turn(time.perf_counter() - start, _used() - used, found)


def _used() -> float:
    """Processor time of this process and of all that it started and that have ended."""
    return sum(os.times()[:4])


def _line(threads: int, turns: list[Turn], usual: float) -> str:
    clock, processors = median(turn.clock for turn in turns), median(turn.processors for turn in turns)
    found = turns[0].found
    refuted = "…" if found.radius.refuted is None else f"{float(found.radius.refuted):.7g}"
    text = f"{found.stats.get('rounds', 0)} rounds, [{float(found.radius.certified):.7g}, {refuted}]"
    return f"  threads {threads}: {clock:7.2f} s x {usual / clock:4.2f}, processors {processors:7.2f} s, {text}"


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
        usual = median(turn.clock for turn in turns[1])
        for threads, done in turns.items():
            print(_line(threads, done, usual), flush=True)


if __name__ == "__main__":
    main()
