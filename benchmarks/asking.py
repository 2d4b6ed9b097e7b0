"""One question about a largest radius or a ball, asked in a process of its own, of this version or of another one.

Limits are of processor time, so that answers on a busy machine are those of an idle one. Solvers know the clock alone:
with the engine `milp` the limit is stretched by how much slower the clock shows processor time just before.

As a program it reads a question (JSON) from standard input and writes the answer. It imports nothing but `ircert`, so
that other versions can run it as well.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

GRACE = 100.0
"""A process that takes that many times its limit has no answer."""


@dataclass(frozen=True)
class Asked:
    """The file of a network, the options of `certify`, and seconds."""

    path: str
    limit: float
    options: dict[str, Any] = field(default_factory=dict)

    def answer(self, source: Path | None = None) -> Answered:
        """What the version in a folder says, by default the one that is installed."""
        environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        if source is not None:
            environment["PYTHONPATH"] = str(source)
        run = subprocess.run(
            [sys.executable, __file__],
            input=json.dumps(asdict(self)),
            capture_output=True,
            text=True,
            env=environment,
            timeout=GRACE * self.limit + 60,
            check=False,
        )
        if run.returncode:
            return Answered("error", 0.0, None, 0.0, run.stderr.strip().splitlines()[-1][:100], {})
        return Answered(**json.loads(run.stdout))


@dataclass(frozen=True)
class Answered:
    """A bracket, seconds of processor time, what the certified end rests on, and counts."""

    verdict: str
    certified: float
    refuted: float | None
    seconds: float
    evidence: str
    stats: dict[str, Any]

    @property
    def bracket(self) -> str:
        """For people."""
        high = "…" if self.refuted is None else f"{self.refuted:.7g}"
        return f"[{self.certified:.7g}, {high}]"

    @property
    def ratio(self) -> str:
        """refuted / certified."""
        if self.refuted is None or not self.certified:
            return "—"
        return f"{self.refuted / self.certified:.4g}" if self.verdict == "unresolved" else "1 (exact)"


def _processor_time() -> float:
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def _stretch() -> float:
    """How many seconds of the clock a second of processor time takes now, at least 1."""
    clock, processor = time.perf_counter(), time.process_time()
    while time.process_time() - processor < 0.4:
        sum(range(1000))
    return max(1.0, (time.perf_counter() - clock) / (time.process_time() - processor))


def _warm_up(options: dict[str, Any]) -> None:
    """Import what the first search imports: a random network is asked about until all parts have had their turn."""
    import ircert

    rng = random.Random(0)
    sizes = (3, 8, 8, 3)
    layers = [
        ([[rng.gauss(0, 1) for _ in range(a)] for _ in range(b)], [0.3 * rng.gauss(0, 1) for _ in range(b)])
        for a, b in pairwise(sizes)
    ]
    for radius in (None, 0.05):
        ircert.certify(ircert.load(layers), [0.1] * 3, time_limit=1, **{**options, "radius": radius})


def _answered(asked: Asked) -> Answered:
    import ircert

    graph = ircert.load(asked.path)
    options = dict(asked.options)
    center = options.pop("center", None) or [0.0] * graph.input_dim
    by_clock = options.get("engine") == "milp"
    _warm_up(options)
    clock = time.monotonic if by_clock else time.process_time
    limit = asked.limit * _stretch() if by_clock else asked.limit
    start = _processor_time()
    with mock.patch.object(time, "monotonic", clock):
        found = ircert.certify(graph, center, time_limit=limit, **options)
    seconds = _processor_time() - start
    low, high = found.radius.certified, found.radius.refuted
    refuted = None if high is None else float(high)
    stats = {name: value for name, value in found.stats.items() if isinstance(value, int | float)}
    return Answered(found.verdict, float(low), refuted, seconds, str(low.evidence), stats)


if __name__ == "__main__":
    print(json.dumps(asdict(_answered(Asked(**json.load(sys.stdin))))))
