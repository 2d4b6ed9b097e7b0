"""Exact geometry: cells per second, how their number and the time grow, and the ratio to the two-copy MILP.

    python benchmarks/regions.py [--limit 120]

One thread (set OMP_NUM_THREADS=1). The MILP is the paper's: max |x - y| over two copies, on a ball that the regions
engine certifies; it is stopped after --limit seconds, and then the ratio is a bound below. Solvers that are not
installed are left out.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from itertools import pairwise

import numpy as np
from timing import timed

import ircert
from ircert.backends import get
from ircert.data.networks import bundled, names
from ircert.engines.regions.complex import build
from ircert.engines.regions.outline import outline
from ircert.geometry.norm import Norm
from ircert.programs.formulations.program import program
from ircert.questions.network import lowered as canonical
from ircert.questions.query import Query

MILPS = [
    ("vanderpol-2-10-10-2", (0.25, 0.5, 1.0)),
    ("vanderpol-2-16-16-2", (0.25, 0.5)),
    ("vanderpol-2-32-32-2", (0.25,)),
]


def random_network(sizes: tuple[int, ...]) -> ircert.Graph:
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(m, n)) * np.sqrt(2 / n), 0.3 * rng.normal(size=m)) for n, m in pairwise(sizes)]
    return canonical(ircert.load(layers))


def cells(sizes: tuple[int, ...], radius: float) -> None:
    graph = random_network(sizes)
    region = outline(Fraction(radius), Norm.INF, [(None, None)] * 2)
    found = build(graph, np.zeros(2), region)
    seconds = timed(lambda: build(graph, np.zeros(2), region))
    shape = "-".join(map(str, sizes))
    rate = len(found) / seconds
    print(f"  {shape:22} radius {radius:<5g} {len(found):8,} cells {seconds:8.3f} s {rate:10,.0f} cells/s")


def complexes() -> None:
    print("complexes of random networks: width, depth, radius")
    for width in (16, 32, 64, 128, 256):
        cells((2, width, width, 2), 3.0)
    for depth in (1, 2, 3, 4, 6):
        cells((2, *[32] * depth, 2), 3.0)
    for radius in (0.5, 1.0, 2.0, 4.0, 8.0, 1000.0):
        cells((2, 64, 64, 2), radius)


def answers() -> None:
    print("largest radii around 0, norm inf, 2-32-32-2 Van der Pol flow and nine pruned versions")
    a = bundled("vanderpol-2-32-32-2")
    result = ircert.certify(a, [0, 0])
    seconds = timed(lambda: ircert.certify(a, [0, 0]))
    print(f"  r_A = {float(result.radius.certified):.13f} in {seconds:.3f} s")
    start = time.perf_counter()
    for name in (name for name in names() if "pruned" in name):
        b = bundled(name)
        ab, ba = (ircert.certify(f, [0, 0], problem="transform", other=g) for f, g in ((a, b), (b, a)))
        print(f"  {name.removeprefix('vanderpol-2-32-32-2-')}: r_AB = {float(ab.radius.certified):.13f}, ", end="")
        print(f"r_BA = {float(ba.radius.certified):.13f}")
    print(f"  all eighteen: {time.perf_counter() - start:.2f} s")


def ratios(limit: float) -> None:
    print("the same certified ball: two-copy MILP against regions")
    for name, shares in MILPS:
        graph = bundled(name)
        largest = float(ircert.certify(graph, [0, 0]).radius.certified)
        for share in shares:
            radius = share * largest
            result = ircert.certify(graph, [0, 0], radius=radius, engine="regions")
            assert result.verdict == "certified"
            ours = timed(lambda g=graph, r=radius: ircert.certify(g, [0, 0], radius=r, engine="regions"))
            print(f"  {name} radius {radius:.4f}: regions {ours:.3f} s", end="", flush=True)
            question = program(graph, Query("local", [0, 0], radius))
            for solver in ("highs", "gurobi"):
                backend = get(solver)
                if not backend.is_available():
                    continue
                start = time.perf_counter()
                outcome = backend.solve(question, time_limit=limit, gap=0.0)
                theirs = time.perf_counter() - start
                more = "" if outcome.status.name == "OPTIMAL" else ">"
                print(f", {solver} {theirs:.1f} s (x {more}{theirs / ours:,.0f})", end="", flush=True)
            print()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=120.0)
    options = parser.parse_args()
    complexes()
    answers()
    ratios(options.limit)


if __name__ == "__main__":
    main()
