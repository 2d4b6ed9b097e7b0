"""Networks of many independent parts: how long the radius takes, which is the least of the parts'.

    OMP_NUM_THREADS=1 python benchmarks/independent_parts.py [COUNT…]

Each part is x + A relu(B x + b) with two inputs and four neurons; processor seconds. `equal`: all parts are the same.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.sparse import block_diag

import ircert
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph

INPUTS, NEURONS = 2, 4


def network(count: int, *, equal: bool) -> Graph:
    """So many parts, side by side."""
    rng = np.random.default_rng(0)
    different = 1 if equal else count

    def blocks(height: int, width: int, size: float) -> Array:
        made = [size * rng.normal(size=(height, width)) for _ in range(different)]
        return block_diag([made[k % different] for k in range(count)], format="csr")

    bias = np.tile(rng.uniform(-2.0, -0.5, NEURONS * different), count // different)
    build = ircert.Builder(INPUTS * count)
    inner = build.relu(build.affine(build.input, blocks(NEURONS, INPUTS, 1.0), bias))
    return build.graph(build.add(build.input, build.affine(inner, blocks(INPUTS, NEURONS, 1.5))))


def main(counts: list[int]) -> None:
    """A row for each count."""
    print("| parts | different | equal | radius |\n|---|---|---|---|")
    for count in counts:
        seconds, radius = [], 0.0
        for equal in (True, False):
            graph = network(count, equal=equal)
            start = time.process_time()
            radius = float(ircert.certify(graph, np.zeros(graph.input_dim), time_limit=200).radius.certified)
            seconds.append(time.process_time() - start)
        print(f"| {count:,} | {seconds[1]:.1f} | {seconds[0]:.1f} | {radius:.4f} |", flush=True)


if __name__ == "__main__":
    main([int(count) for count in sys.argv[1:]] or [100, 250, 500, 1000])
