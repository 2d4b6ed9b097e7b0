"""Large networks with a short time limit: is a ball certified by then, and is the limit kept?

    python benchmarks/large.py [--limit 1] [--only flow] [--repeat 1] [--stacks] [--processor]

A row for each question: the bracket, the seconds of the clock and of the processor, and after how many seconds a
first ball was certified. With --processor limits count processor time, as the clock of an idle
machine would. Questions are asked in processes of their own, one after the other; the first `certify` of a process is
one about a small network, so that nothing is imported for the first time.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from queue import Empty
from typing import Any

import numpy as np
from limits import Layers, plain, residual

import ircert
from ircert.engines.boxes.search.search import Search
from ircert.ir.graph import Graph

STEP = 0.2


def flow(n: int, width: int, depth: int, seed: int, bias: float = 0.5) -> Layers:
    """x + STEP g(x) as one plain network: x is kept as relu(x) - relu(-x)."""
    rng = np.random.default_rng(seed)
    keep = np.vstack([np.eye(n), -np.eye(n)])
    zeros = np.zeros(2 * n)
    first = np.vstack([rng.normal(size=(width, n)) / math.sqrt(n), keep])
    layers = [(first, np.r_[bias * rng.normal(size=width), zeros])]
    for _ in range(depth - 1):
        weight = np.zeros((width + 2 * n, width + 2 * n))
        weight[:width, :width] = rng.normal(size=(width, width)) / math.sqrt(width)
        weight[width:, width:] = np.eye(2 * n)
        layers.append((weight, np.r_[bias * rng.normal(size=width), zeros]))
    last = STEP * rng.normal(size=(n, width)) * 2 / math.sqrt(width)
    return [*layers, (np.hstack([last, np.eye(n), -np.eye(n)]), np.zeros(n))]


def skipped(n: int, width: int, depth: int, seed: int, bias: float = 0.5) -> Graph:
    """x + STEP g(x) with a skip."""
    rng = np.random.default_rng(seed)
    build = ircert.Builder(n)
    at, size = build.input, n
    for _ in range(depth):
        weight = rng.normal(size=(width, size)) / math.sqrt(size)
        at, size = build.relu(build.affine(at, weight, bias * rng.normal(size=width))), width
    last = STEP * rng.normal(size=(n, width)) * 2 / math.sqrt(width)
    return build.graph(build.add(build.input, build.affine(at, last, np.zeros(n))))


def banded(n: int, depth: int, seed: int) -> Layers:
    """Convolutions of one line with seven weights each and relu between them, close to the identity."""
    rng = np.random.default_rng(seed)
    layers = []
    for _ in range(depth):
        kernel = 0.1 * rng.normal(size=7)
        weight = sum(k * np.eye(n, k=o) for k, o in zip(kernel, range(-3, 4), strict=True)) + np.eye(n)
        layers.append((weight, 0.3 * rng.normal(size=n)))
    return [*layers, (np.eye(n), np.zeros(n))]


def pruned(layers: Layers, share: float = 0.4) -> Layers:
    """The network without the smallest of its weights."""
    return [(np.where(np.abs(w) < np.quantile(np.abs(w[w != 0]), share), 0.0, w), b) for w, b in layers]


def questions() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Names, networks and options of `certify`."""
    for n, width, depth in (
        (64, 512, 2),
        (200, 64, 2),
        (300, 256, 3),
        (500, 64, 1),
        (784, 64, 2),
        (784, 512, 2),
        (784, 128, 6),
        (1000, 64, 1),
        (1000, 64, 2),
        (1000, 512, 2),
    ):
        yield f"flow {n}-{width}x{depth}", flow(n, width, depth, n), {}
        yield f"skip {n}-{width}x{depth}", skipped(n, width, depth, n), {}
    for norm in (1, 2):
        yield f"flow 784-64x2 norm {norm}", flow(784, 64, 2, 1), {"norm": norm}
        yield f"skip 784-64x2 norm {norm}", skipped(784, 64, 2, 1), {"norm": norm}
    yield "flow 784-64x2 pseudo", flow(784, 64, 2, 1), {"problem": "pseudo"}
    yield "skip 1000-64x2 pseudo", skipped(1000, 64, 2, 1), {"problem": "pseudo"}
    for n in (300, 784):
        layers = flow(n, 64, 2, 1)
        yield f"flow {n}-64x2 transform", layers, {"problem": "transform", "other": pruned(layers)}
    yield "flow 784-64x2, ball 0.01", flow(784, 64, 2, 1), {"radius": 0.01}
    for n in (64, 300, 784, 1000):
        yield f"flat flow {n}-64x2", flow(n, 64, 2, 1, 0.0), {"flat": True}
        yield f"flat skip {n}-64x2", skipped(n, 64, 2, 1, 0.0), {"flat": True}
    for n in (200, 784):
        yield f"residual {n}-64x3", residual(n, 64, 3, 1), {}
    for sizes in ([200, 512, 400], [500, 512, 512, 600], [784, 1024, 800], [64, 256, 256, 64]):
        yield "plain " + "-".join(map(str, sizes)), plain(sizes, 1), {}
    for n in (200, 784, 1000):
        yield f"banded {n}x3", banded(n, 3, 1), {}
    yield "pruned flow 784-128x2", pruned(flow(784, 128, 2, 1), 0.9), {}


def ask(graph: Any, options: dict[str, Any], limit: float, processor_time: bool, answers: Any) -> None:
    """In a process of its own: the answer in words, seconds, processor seconds, first ball, stacks after the limit."""
    options = dict(options)
    ircert.certify([(np.eye(8), np.zeros(8))] * 2, np.full(8, 0.1), time_limit=1.0)
    loaded = ircert.load(graph) if isinstance(graph, list) else graph
    if "other" in options:
        options["other"] = ircert.load(options["other"])
    center = np.full(loaded.input_dim, 0.0 if options.pop("flat", False) else 0.1)
    first: list[float] = []
    seen: Counter[str] = Counter()
    tried = Search._tried

    def noted(search: Search, *given: Any) -> Any:
        found = tried(search, *given)
        if search.clear and not first:
            first.append(time.monotonic() - begin)
        return found

    Search._tried = noted  # type: ignore[method-assign]
    if processor_time:
        time.monotonic = time.process_time
    start, used, begin = time.perf_counter(), time.process_time(), time.monotonic()
    threading.Thread(target=_watch, args=(threading.get_ident(), begin + limit, seen), daemon=True).start()
    r = ircert.certify(loaded, center, time_limit=limit, **options)
    seconds, processor = time.perf_counter() - start, time.process_time() - used
    high = "-" if r.radius.refuted is None else f"{float(r.radius.refuted):.3g}"
    text = f"{r.verdict} [{float(r.radius.certified):.3g}, {high}]"
    answers.put((text, seconds, processor, first[0] if first else math.nan, seen.most_common(4)))


def _watch(thread: int, moment: float, seen: Counter[str]) -> None:
    while True:
        time.sleep(0.01)
        if time.monotonic() < moment:
            continue
        frames = traceback.extract_stack(sys._current_frames()[thread])
        where = [f"{f.filename.rsplit('/', 1)[-1]}:{f.lineno} {f.name}" for f in frames if "/ircert/" in f.filename]
        seen[" < ".join(where[:-8:-1])] += 1


def main() -> None:
    """Ask all questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=1.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--stacks", action="store_true", help="where the time after the limit goes")
    parser.add_argument("--processor", action="store_true", help="limits count processor time")
    given = parser.parse_args()
    for name, graph, options in questions():
        for _ in range(given.repeat if given.only in name else 0):
            answers: Any = multiprocessing.Queue()
            process = multiprocessing.Process(target=ask, args=(graph, options, given.limit, given.processor, answers))
            process.start()
            try:
                text, seconds, processor, first, stacks = answers.get(timeout=10 * given.limit + 20)
            except Empty:
                process.kill()
                print(f"{name:28s} no answer  <--", flush=True)
                continue
            process.join()
            late = "  <--" if (processor if given.processor else seconds) > 1.1 * given.limit else ""
            print(
                f"{name:28s} {text:34s} first {first:5.2f} s, all {seconds:5.2f} s, processor {processor:5.2f} s{late}",
                flush=True,
            )
            for stack, count in stacks if given.stacks else []:
                print(f"    {count:4d} {stack}", flush=True)


if __name__ == "__main__":
    main()
