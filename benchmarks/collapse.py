"""Radius 0 at once: how long it takes to find a direction in which a network stands still, and to replay the pair.

    python benchmarks/collapse.py [--only 784] [--fractions 64]

One thread (set OMP_NUM_THREADS=1), processor time. For networks with at most --fractions inputs a second column has the
same kernel by derivatives input by input and elimination in Fractions, which is what was done before, and only up to 48
inputs. `moved` is the number of inputs in which the points of the pair differ, `bits` the length of their numbers.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

import ircert
from ircert.engines.base import Question
from ircert.engines.instant.directions import Neighbourhood, Vector
from ircert.engines.instant.engine import instant
from ircert.engines.judge import judge
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array
from ircert.questions.network import lowered as canonical
from ircert.questions.query import Query

Layers = list[tuple[Array, Array]]
SIZES = (
    "16-12-6",
    "32-24-10",
    "48-32-10",
    "49-32-10",
    "64-32-16-10",
    "300-64-300",
    "784-64-10",
    "784-512-512-10",
    "1000-100-1000",
    "1000-512-1000",
    "1000-512-512-512-512-512-10",
    "1000-512-512-512-512-512-1000",
)
PLACES = ("inside", "sides")
"""The centre inside the space, or half of it on the sides of [0, 1]^n."""


def random_layers(text: str) -> Layers:
    rng = np.random.default_rng(3)
    sizes = [int(part) for part in text.split("-")]
    return [(rng.normal(size=(b, a)) / a**0.5, 0.3 * rng.normal(size=b)) for a, b in pairwise(sizes)]


def pruned(layers: Layers) -> Layers:
    return [(np.where(np.abs(w) < np.quantile(np.abs(w), 0.4), 0.0, w), b) for w, b in layers]


def question(layers: Layers, problem: str, place: str) -> Question:
    graph = ircert.load(layers)
    other = ircert.load(pruned(layers)) if problem == "transform" else None
    size, domain = graph.input_dim, None
    center: Any = np.full(size, 0.1)
    if place == "sides":
        center, domain = np.where(np.arange(size) % 2, 0.0, np.random.default_rng(0).random(size)), (0.0, 1.0)
    query = Query(problem, center, 1.0, other=other, domain=domain)
    ball = query.ball
    return Question(graph, other, problem, Place(query.center, Norm.INF, ball.low, ball.high), None, 1.0)


def row(name: str, problem: str, place: str) -> str:
    """Seconds to find and to replay, and what was found."""
    asked = question(random_layers(name), problem, place)
    start = time.process_time()
    answer = instant(asked)
    found = time.process_time()
    head = f"  {name:30} {problem:10} {place:7} {found - start:6.2f} s"
    if answer is None or answer.witness is None:
        return f"{head}   nothing found"
    radius = judge(asked, answer).radius
    replayed = time.process_time() - found
    x, y = answer.witness
    moved = sum(a != b for a, b in zip(x, y, strict=True))
    bits = max(v.denominator.bit_length() for v in x + y)
    bracket = f"[{float(radius.certified):g}, {radius.refuted:g}]"
    return f"{head}, replay {replayed:5.2f} s   {bracket}   moved {moved:4}   bits {bits:6,}"


def by_fractions(name: str) -> float:
    """Seconds for a kernel vector of the linear part by elimination in Fractions."""
    asked = question(random_layers(name), "local", "inside")
    start = time.process_time()
    place = Neighbourhood(canonical(asked.graph), [Fraction(v) for v in asked.center.tolist()])
    size = len(place.x)
    columns = [place.along([Fraction(int(j == k)) for k in range(size)]).change for j in range(size)]
    eliminate(columns)
    return time.process_time() - start


def eliminate(columns: list[Vector]) -> None:
    rows = [list(row) for row in zip(*columns, strict=True)]
    done = 0
    for j in range(len(columns)):
        found = next((i for i in range(done, len(rows)) if rows[i][j]), None)
        if found is not None:
            rows[done], rows[found] = rows[found], rows[done]
            rows[done] = [v / rows[done][j] for v in rows[done]]
            for i, row in enumerate(rows):
                if i != done and row[j]:
                    rows[i] = [v - row[j] * p for v, p in zip(row, rows[done], strict=True)]
            done += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="part of a network's name")
    parser.add_argument("--fractions", type=int, default=64, help="the most inputs for elimination in Fractions")
    given = parser.parse_args()
    row("16-12-6", "local", "inside")  # imports and caches
    for name in (size for size in SIZES if given.only in size):
        if int(name.split("-")[0]) <= given.fractions:
            print(f"  {name:30} in Fractions, local {by_fractions(name):6.2f} s", flush=True)
        for problem in ("local", "pseudo", "transform"):
            for place in PLACES:
                print(row(name, problem, place), flush=True)


if __name__ == "__main__":
    main()
