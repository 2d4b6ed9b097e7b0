"""Two inputs: linear regions, boxes, and `auto`, which chooses between them; and how well it predicts.

    python benchmarks/auto.py [--limit 20]

One thread (set OMP_NUM_THREADS=1). Ratios say how many times as long the regions engine takes, which would be asked
without a choice; each engine is stopped after --limit seconds.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from regions import random_network
from timing import Measured, measured

import ircert
from ircert.data.networks import bundled
from ircert.engines.base import Question
from ircert.engines.regions.growth import Surroundings
from ircert.engines.regions.prediction import predicted_regions
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.questions.network import lowered as canonical

CENTER = (0.01, 0.02)
BOX = np.full(2, np.inf)


@dataclass(frozen=True)
class Case:
    """A network, and what is asked about it."""

    name: str
    graph: ircert.Graph
    asked: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join([self.name, *(f"{key} {value}" for key, value in self.asked.items())])


def residual(blocks: int, hidden: int, norm: float) -> ircert.Graph:
    """Blocks x + B relu(A x + c), where B relu(A .) has at most this norm."""
    rng = np.random.default_rng(0)
    build = ircert.Builder(2)
    here = build.input
    for _ in range(blocks):
        first, second = rng.normal(size=(hidden, 2)), rng.normal(size=(2, hidden))
        first, second = first / np.linalg.norm(first, 2), norm * second / np.linalg.norm(second, 2)
        inner = build.relu(build.affine(here, first, 0.5 * rng.normal(size=hidden)))
        here = build.add(here, build.affine(inner, second, np.zeros(2)))
    return build.graph(here)


def cases() -> list[Case]:
    names = ("vanderpol-2-10-10-2", "vanderpol-2-16-16-2", "vanderpol-2-32-32-2")
    found = [Case(name, bundled(name), asked) for name in names for asked in ({}, {"radius": 1.0})]
    found += [Case(f"random 2-{w}-{w}-2", random_network((2, w, w, 2))) for w in (32, 64, 128, 256)]
    for blocks, hidden, norm in ((3, 50, 3.0), (3, 50, 6.0), (3, 100, 3.0), (8, 30, 2.0)):
        graph, name = residual(blocks, hidden, norm), f"{blocks} blocks of {hidden}, norm {norm}"
        found += [Case(name, graph, asked) for asked in ({}, {"radius": 2.0}, {"radius": 100.0}, {"problem": "pseudo"})]
    return found


def compare(case: Case, limit: float) -> None:
    print(case)
    usual: Measured | None = None
    for engine in ("regions", "boxes", "auto"):

        def run(engine: str = engine) -> tuple[bool, str]:
            result = ircert.certify(case.graph, CENTER, engine=engine, time_limit=limit, **case.asked)
            low, high = result.radius.certified, result.radius.refuted
            ends = f"[{float(low):.6g}, {'-' if high is None else format(float(high), '.6g')}]"
            turns = ", ".join(turn["engine"] for turn in result.stats.get("turns", [])) or result.engine
            return result.verdict != "unresolved", f"{result.verdict} {ends}, by {turns}"

        found = measured(run)
        print(found.line(engine, usual), flush=True)
        usual = usual or found


def predict() -> None:
    print("predicted and counted linear regions around 0, norm inf")
    shapes = [(2, 32, 2), (2, 128, 2), (2, 16, 16, 2), (2, 64, 64, 2), (2, 32, 32, 32, 2)]
    networks = {"-".join(map(str, shape)): random_network(shape) for shape in shapes}
    networks["vanderpol-2-32-32-2"] = bundled("vanderpol-2-32-32-2")
    for name, graph in networks.items():
        for radius in (0.1, 1.0, 10.0, 1e6):
            question = Question(graph, None, "local", Place(np.zeros(2), Norm.INF, -BOX, BOX), radius, radius)
            around = Surroundings(canonical(graph), Place(question.center, Norm.INF, -BOX, BOX))
            predicted, counted = predicted_regions(question, radius), len(around.complex(Fraction(radius)))
            print(f"  {name:22} radius {radius:<8g} {predicted:9,.0f} {counted:9,}  x {predicted / counted:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=20.0)
    options = parser.parse_args()
    predict()
    for case in cases():
        compare(case, options.limit)


if __name__ == "__main__":
    main()
