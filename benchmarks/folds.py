"""Smooth networks: fold sets in boxes of several widths, and all preimages of values; seconds are processor time.

OMP_NUM_THREADS=1 python benchmarks/folds.py
"""

from __future__ import annotations

import time
import warnings

import numpy as np

import ircert
from ircert.analysis.smooth.preimages import UndecidedPreimages
from ircert.data.networks import bundled
from ircert.ir.graph import Graph

RADIUS, ALONG = 5.0, (64, 256, 1024)
"""The ball, and boxes along its side."""
VALUES, FEW = 100, 10


def folds(name: str, graph: Graph, center: list[float]) -> None:
    """Boxes, area and time for each width."""
    ircert.fold_set(graph, (center, RADIUS), width=RADIUS)  # makes the tables of curves
    for along in ALONG:
        start = time.process_time()
        found = ircert.fold_set(graph, (center, RADIUS), width=2 * RADIUS / along)
        seconds, open_ = time.process_time() - start, len(found.undecided)
        print(f"| {name} | 1/{along} | {len(found.boxes):,} | {open_} | {found.area:.3f} | {seconds:.2f} |")


def preimages(name: str, graph: Graph, center: list[float], radius: float, count: int) -> None:
    """Time for one value, of random points around the centre."""
    rng, found, open_ = np.random.default_rng(0), 0, 0
    start = time.process_time()
    for _ in range(count):
        point = np.array(center) + radius * 0.4 * rng.uniform(-1, 1, len(center))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndecidedPreimages)
            solutions = ircert.preimages(graph, graph.enclosure(point), (center, radius))
        found, open_ = found + len(solutions), open_ + (not solutions.complete)
    seconds = (time.process_time() - start) / count
    print(f"| {name} | {radius:g} | {count} | {found / count:.2f} | {open_} | {1000 * seconds:.0f} |")


def main() -> None:
    """Print both tables."""
    planes = [(f"vanderpol-{word}-2-32-32-2", [0.0, 0.0]) for word in ("tanh", "silu", "gelu")]
    graphs = {name: (bundled(name), center) for name, center in planes}
    graphs["vanderpol-euler-tanh-2-24-24-2"] = bundled("vanderpol-euler-tanh-2-24-24-2"), [0.0, 0.0]
    graphs["brusselator-tanh-3-24-24-2, b = 2.1"] = bundled("brusselator-tanh-3-24-24-2").fix({2: 2.1}), [1.0, 2.0]
    print("| network | width of boxes / side | boxes | undecided | area | seconds |\n|---|---|---|---|---|---|")
    for name, (graph, center) in graphs.items():
        folds(name, graph, center)
    print("\n| network | radius | values | preimages each | undecided | milliseconds each |\n|---|---|---|---|---|---|")
    for name, (graph, center) in graphs.items():
        preimages(name, graph, center, RADIUS, VALUES)
    for name in ("lorenz-tanh-3-16-16-3", "coupled-vanderpol-tanh-4-32-32-4", "coupled-vanderpol-tanh-6-24-24-6"):
        graph = bundled(name)
        preimages(name, graph, [0.0] * graph.input_dim, 2.0, FEW)


if __name__ == "__main__":
    main()
