"""Time limits: how far the clock goes beyond them, over many shapes, problems and norms.

    python benchmarks/limits.py [--limit 2] [--only 64-32] [--every 1] [--larger] [--stacks] [--engine auto]

A row for each question that took longer than limit + max(0.5 s, 10 %), or that failed; then a line with the worst
overrun of all, and the most processor time that a question used after its limit, which says more on a busy machine.
--every K asks every K-th question only. --stacks shows where the time after the limit went. Every question is asked in
a process of its own, one after the other; run it on an idle machine.
"""

from __future__ import annotations

import argparse
import itertools
import math
import multiprocessing
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from queue import Empty
from typing import Any

import numpy as np

import ircert
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph

Layers = list[tuple[Array, Array]]
PATIENCE = 10.0
"""A question that takes this many times its limit is ended."""
SAMPLE = 0.02
DEEP = 6
"""Frames of a stack that are shown."""

SIZES = (
    "1-50-1",
    "2-256-256-2",
    "3-64-64-3",
    "4-32-12",
    "4-64-64-64-4",
    "5-64-64-64-5",
    "6-60-60-6",
    "6-60-60-3",
    "8-256-256-8",
    "10-40-10",
    "10-20-20-20-20-20-10",
    "14-32-32-14",
    "16-64-40",
    "24-24-24-24",
    "32-128-32",
    "48-64-48",
    "49-32-10",
    "64-16-10",
    "64-32-16-10",
    "64-256-64",
    "64-256-256-64",
)
LARGER = (
    "2-512-512-2",
    "12-512-512-12",
    "12-512-8",
    "100-512-512-100",
    "128-512-64",
    "128-512-200",
    "300-64-300",
    "784-64-10",
    "1000-100-1000",
    "1000-512-10",
)
"""With --larger."""


def plain(sizes: list[int], seed: int) -> Layers:
    """Random weights."""
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)) / math.sqrt(a), 0.3 * rng.normal(size=b)) for a, b in itertools.pairwise(sizes)]


def residual(n: int, width: int, depth: int, seed: int) -> Graph:
    """x + g(x), block after block."""
    rng = np.random.default_rng(seed)
    build = ircert.Builder(n)
    at = build.input
    for _ in range(depth):
        hidden = build.relu(build.affine(at, rng.normal(size=(width, n)) / math.sqrt(n), rng.normal(size=width)))
        at = build.add(at, build.affine(hidden, rng.normal(size=(n, width)) / math.sqrt(width), np.zeros(n)))
    return build.graph(at)


def couplings(n: int, depth: int, seed: int) -> Graph:
    """Additive couplings: one half of the inputs is added to a function of the other half, in turns."""
    rng = np.random.default_rng(seed)
    build = ircert.Builder(n)
    at, half = build.input, n // 2
    for k in range(depth):
        first, second = (list(range(half)), list(range(half, n)))[:: 1 if k % 2 else -1]
        w, b = rng.normal(size=(16, half)), rng.normal(size=16)
        hidden = build.relu(build.affine(at, w @ np.eye(n)[first], b))
        at = build.add(at, build.affine(hidden, np.eye(n)[second].T @ rng.normal(size=(half, 16)), np.zeros(n)))
    return build.graph(at)


def twin(layers: Layers) -> Layers:
    """The network without the smallest 40 % of its weights."""
    return [(np.where(np.abs(w) < np.quantile(np.abs(w), 0.4), 0.0, w), b) for w, b in layers]


def subnormal(layers: Layers) -> Layers:
    """The network with biases near the end of the floats."""
    return [(w, b * 1e-310) for w, b in layers]


@dataclass(frozen=True)
class Question:
    """A network and the options of `certify`."""

    name: str
    graph: Any
    center: Array
    options: dict[str, Any] = field(default_factory=dict)


def questions(shapes: tuple[str, ...]) -> Iterator[Question]:
    """All shapes, problems and norms, searches and balls, with and without a domain."""
    for seed, shape in enumerate(shapes):
        layers = plain([int(v) for v in shape.split("-")], seed)
        n = len(layers[0][0][0])
        for problem, norm, radius, cut in itertools.product(
            ("local", "pseudo", "transform"), ("inf", 1, 2), (None, 0.05), (False, True)
        ):
            options: dict[str, Any] = {"problem": problem, "norm": norm, "radius": radius}
            name = f"{shape} {problem} {norm} {'search' if radius is None else radius}{' domain' if cut else ''}"
            if problem == "transform":
                options["other"] = twin(layers)
            if cut:
                options["domain"] = (np.zeros(n), np.ones(n))
            yield Question(name, layers, np.full(n, 0.1), options)


def others() -> Iterator[Question]:
    """Residual networks, couplings, and numbers near the end of the floats."""
    for n, norm in itertools.product((4, 8, 10), ("inf", 1, 2)):
        yield Question(f"residual {n} {norm}", residual(n, 3 * n, 2, n), np.full(n, 0.1), {"norm": norm})
        yield Question(f"couplings {n} {norm}", couplings(n, 4, n), np.full(n, 0.1), {"norm": norm})
    for n, problem in itertools.product((2, 3, 4), ("local", "pseudo")):
        tiny = subnormal(plain([n, 8, 8, n], n))
        yield Question(f"subnormal {n} {problem} 2", tiny, np.full(n, 0.1), {"norm": 2, "problem": problem})


def ask(question: Question, limit: float, engine: str, answers: Any) -> None:
    """In a process of its own: seconds, processor time after the limit, the answer, and stacks after the limit."""
    options = dict(question.options)
    graph = question.graph if isinstance(question.graph, Graph) else ircert.load(question.graph)
    if "other" in options:
        options["other"] = ircert.load(options["other"])
    seen: Counter[str] = Counter()
    used: list[float] = []
    start = time.perf_counter()
    threading.Thread(target=_watch, args=(threading.get_ident(), start + limit, seen, used), daemon=True).start()
    try:
        r = ircert.certify(graph, question.center, time_limit=limit, engine=engine, **options)
        seconds, high = time.perf_counter() - start, r.radius.refuted
        text = f"{r.verdict} [{float(r.radius.certified):.3g}, {'-' if high is None else f'{float(high):.3g}'}]"
    except Exception as error:  # a crash is what is looked for
        seconds, text = time.perf_counter() - start, f"CRASH {type(error).__name__}: {error}"[:150]
    late = time.process_time() - used[0] if used else 0.0
    answers.put((seconds, late, text, seen.most_common(4)))


def _watch(thread: int, moment: float, seen: Counter[str], used: list[float]) -> None:
    time.sleep(max(0.0, moment - time.perf_counter()))
    used.append(time.process_time())
    time.sleep(0.1)
    while True:
        frames = traceback.extract_stack(sys._current_frames()[thread])
        where = [f"{f.filename.rsplit('/', 1)[-1]}:{f.lineno} {f.name}" for f in frames if "/ircert/" in f.filename]
        seen[" < ".join(where[: -DEEP - 1 : -1])] += 1
        time.sleep(SAMPLE)


def measured(question: Question, limit: float, engine: str) -> tuple[float, float, str, list[tuple[str, int]]]:
    """Seconds of the clock, of the processor after the limit, the answer in words, and stacks."""
    answers: Any = multiprocessing.Queue()
    process = multiprocessing.Process(target=ask, args=(question, limit, engine, answers))
    process.start()
    try:
        found: tuple[float, float, str, list[tuple[str, int]]] = answers.get(timeout=PATIENCE * limit + 5)
        process.join()
        return found
    except Empty:
        process.kill()
        return math.inf, math.inf, "no answer", []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=2.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--larger", action="store_true", help="shapes up to 1,000 inputs and 512 neurons a layer")
    parser.add_argument("--stacks", action="store_true")
    parser.add_argument("--all", action="store_true", help="a row for every question")
    parser.add_argument("--engine", default="auto")
    given = parser.parse_args()
    allowed = given.limit + max(0.5, 0.1 * given.limit)
    # imports take a while the first time
    import scipy.optimize  # noqa: F401

    ircert.certify([(np.eye(2), np.zeros(2))] * 2, np.zeros(2), engine=given.engine, time_limit=1.0)
    every = questions(LARGER) if given.larger else itertools.chain(questions(SIZES), others())
    asked = [q for q in every if given.only in q.name][given.first :: given.every]
    rows, after = [], []
    for question in asked:
        seconds, late, text, stacks = measured(question, given.limit, given.engine)
        rows.append(seconds)
        after.append(late)
        bad = seconds > allowed or text.startswith("CRASH")
        if bad or given.all:
            print(f"{question.name:45s} {seconds:6.2f} s {late:5.2f} s {text}{'  <--' if bad else ''}", flush=True)
            for stack, count in stacks if given.stacks else []:
                print(f"    {count:4d} {stack}", flush=True)
    over = sum(s > allowed for s in rows)
    print(
        f"{len(rows)} questions, limit {given.limit:g} s: {over} beyond {allowed:g} s, the longest {max(rows):.2f} s;"
    )
    print(f"processor time after the limit: at most {max(after):.2f} s, {sum(s > 0.5 for s in after)} beyond 0.5 s")


if __name__ == "__main__":
    main()
