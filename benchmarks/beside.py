"""Two versions side by side: processor time of the same work in this checkout and in another one.

    python benchmarks/beside.py --before FOLDER [--repeat 7] [--only NAME,NAME]

Each measurement has a process of its own, with one thread; the versions take turns. In a process the work is done once
to load what it needs, and then for half a second at least; its time is the mean of these runs. The table has medians
over the repetitions, their ratio, and the ratio of the least times, which other work on the machine disturbs less. Only
what both versions offer is used.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
ENOUGH = 0.5
"""Seconds of processor time for one measurement, at least."""
PLANAR = [
    *("vanderpol-2-10-10-2", "vanderpol-2-16-16-2", "vanderpol-2-32-32-2"),
    *("brusselator-residual-2-24-24-2", "euler-2-16-16-1"),
]
Work = Callable[[], object]


def processor_time() -> float:
    """Of this process and of those that it started and that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def layers(*sizes: int, seed: int = 0) -> list[tuple[Any, Any]]:
    import numpy as np

    rng = np.random.default_rng(seed)
    return [(rng.standard_normal((m, n)) / np.sqrt(n), 0.1 * rng.standard_normal(m)) for n, m in pairwise(sizes)]


def loading() -> Work:
    """An ONNX file of 8-256-256-8 read and brought to core operations."""
    import ircert

    path = Path(tempfile.mkdtemp()) / "network.onnx"
    ircert.save(ircert.load(layers(8, 256, 256, 8)), path)
    pipeline = ircert.Pipeline.parse("canonicalize,fuse-affine")
    return lambda: pipeline.run(ircert.load(path))


def regions() -> Work:
    """Largest radii of the bundled networks with two inputs, by exact geometry."""
    import ircert
    from ircert.data.networks import bundled

    networks = [bundled(name) for name in PLANAR]

    def work() -> None:
        for graph in networks:
            ircert.certify(graph, [0.25, 0.125], engine="regions", max_radius=4.0)

    return work


def instant(*sizes: int) -> Callable[[], Work]:
    """An answer that needs no search."""

    def prepared() -> Work:
        import ircert

        graph = ircert.load(layers(*sizes))
        return lambda: ircert.certify(graph, [0.0] * sizes[0])

    return prepared


def exporting(suffix: str) -> Callable[[], Work]:
    """The paper's program of 8-256-256-8, from the network to the file."""

    def prepared() -> Work:
        import ircert
        from ircert.backends import writer_for

        graph, path = ircert.load(layers(8, 256, 256, 8)), Path(tempfile.mkdtemp()) / f"program.{suffix}"
        query, writer = ircert.Query("local", [0.0] * 8, 1.0), writer_for(path)
        return lambda: writer.emit(ircert.program(graph, query), path)

    return prepared


def cells() -> Work:
    """All linear regions of 2-64-64-2 in a square."""
    import ircert

    graph = ircert.load(layers(2, 64, 64, 2))
    return lambda: ircert.enumerate_regions(graph, ([0.0, 0.0], 3.0))


def bilipschitz() -> Work:
    """Both Lipschitz constants of a bundled network with two inputs."""
    import ircert
    from ircert.data.networks import bundled

    graph = bundled("vanderpol-2-16-16-2")
    return lambda: ircert.bilipschitz(graph, ([0.0, 0.0], 2.0))


def command() -> Work:
    """A whole command in a process of its own."""
    import ircert
    from ircert.data.networks import bundled

    model = Path(tempfile.mkdtemp()) / "network.onnx"
    ircert.save(bundled("vanderpol-2-16-16-2"), model)
    asked = [sys.executable, "-m", "ircert", "certify", str(model), "--center", "0,0"]
    return lambda: subprocess.run(asked, check=False, stdout=subprocess.DEVNULL)


WORKS: dict[str, Callable[[], Work]] = {
    "load and lower 8-256-256-8": loading,
    "regions, bundled 2-input": regions,
    "instant 64-32-16-10": instant(64, 32, 16, 10),
    "instant 300-64-300": instant(300, 64, 300),
    "instant affine 64-64": instant(64, 64),
    "export 8-256-256-8 .lp": exporting("lp"),
    "export 8-256-256-8 .mps": exporting("mps"),
    "enumerate_regions 2-64-64-2": cells,
    "bilipschitz 2-16-16-2": bilipschitz,
    "command certify 2-16-16-2": command,
}


def measure(name: str) -> float:
    """Seconds of one run of the work, in this process."""
    work = WORKS[name]()
    work()
    runs, start = 0, processor_time()
    while (spent := processor_time() - start) < ENOUGH:
        work()
        runs += 1
    return spent / runs


def measured(name: str, folder: Path) -> float:
    """Seconds of the work in a checkout."""
    settings = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(folder)}
    settings.pop("PYTHONDONTWRITEBYTECODE", None)
    asked = [sys.executable, str(HERE), "--measure", name]
    return float(subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True, env=settings).stdout)


def compared(name: str, before: Path, repeat: int) -> str:
    """A row of the table: the versions take turns, and who begins changes."""
    folders, found = (before, HERE.parents[1]), []
    for k in range(repeat):
        order = (0, 1) if k % 2 == 0 else (1, 0)
        times = {side: measured(name, folders[side]) for side in order}
        found.append((times[0], times[1]))
    first, second = (statistics.median(side) for side in zip(*found, strict=True))
    least = [min(side) for side in zip(*found, strict=True)]
    ratios = f"{second / first:.2f} | {least[1] / least[0]:.2f}"
    return f"| {name} | {1e3 * first:,.1f} | {1e3 * second:,.1f} | {ratios} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", type=Path)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--measure", choices=WORKS)
    options = parser.parse_args()
    if options.measure:
        print(measure(options.measure))
        return
    if options.before is None:
        parser.error("--before FOLDER: a checkout of the other version")
    print("| work | before, ms | now, ms | ratio | of the least |\n|---|---|---|---|---|")
    for name in (name for name in WORKS if any(part in name for part in options.only.split(","))):
        print(compared(name, options.before.resolve(), options.repeat), flush=True)


if __name__ == "__main__":
    main()
