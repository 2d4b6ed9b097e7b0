"""Many centres: an atlas beside searches one by one, in processor seconds; one process, and two.

python benchmarks/atlas.py [plane|trajectory] [--count N] [--workers N] [--sample N]
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import pairwise
from typing import Any

import numpy as np

import ircert
from ircert.atlases.layout import Layout, grid, trajectory
from ircert.atlases.table import Atlas
from ircert.data.networks import bundled


def random_network(*sizes: int) -> ircert.Graph:
    draw = np.random.default_rng(1)
    layers = pairwise(sizes)
    weights = [(draw.normal(size=(b, a)) / (1 if a == sizes[0] else a**0.5), draw.normal(size=b)) for a, b in layers]
    return ircert.load(weights)


def measured(graph: ircert.Graph, centers: Layout, workers: int) -> tuple[Atlas, float, float]:
    before, start = os.times(), time.perf_counter()
    atlas = ircert.atlas(graph, centers, workers=workers)
    after = os.times()
    processor = sum(after[:4]) - sum(before[:4])
    return atlas, processor, time.perf_counter() - start


def beside(graph: ircert.Graph, atlas: Atlas, sample: int) -> tuple[float, float]:
    """Processor seconds of one search, and the largest relative difference of ends on a random sample."""
    chosen = np.random.default_rng(0).choice(len(atlas), min(sample, len(atlas)), replace=False)
    start, worst = time.process_time(), 0.0
    for i in chosen.tolist():
        found: Any = ircert.certify(graph, atlas.centers[i]).radius
        pairs = ((found.certified, atlas.certified[i]), (found.refuted, atlas.refuted[i]))
        worst = max(worst, *(abs(a - b) / max(abs(b), 1e-300) for a, b in pairs))
    return (time.process_time() - start) / len(chosen), worst


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("plane", "trajectory"))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--sample", type=int, default=50, help="centres that are asked about one by one")
    options = parser.parse_args()
    if options.what == "plane":
        side = round(options.count**0.5)
        graph, centers = random_network(2, 64, 64, 2), grid((-2, 2, side), (-2, 2, side))
    else:
        graph = bundled("coupled-vanderpol-4-16-16-4")
        centers = trajectory(graph, [1, 0.5, -0.5, 0.2], options.count - 1)
    atlas, processor, seconds = measured(graph, centers, options.workers)
    each, worst = beside(graph, atlas, options.sample)
    print(atlas.summary())
    print(f"{len(atlas)} centres, {options.workers} workers: {processor:.1f} processor s, {seconds:.1f} s by the clock")
    print(
        f"one by one: {each:.3f} processor s each, {each * len(atlas):.0f} in all; ends differ by at most {worst:.1e}"
    )


if __name__ == "__main__":
    main()
