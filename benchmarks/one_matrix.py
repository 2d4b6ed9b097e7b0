"""The engine `boxes` and its one matrix: brackets of largest radii, beside an earlier version and solvers, and growth.

    python benchmarks/one_matrix.py [--sections radii,norms,growth] [--short 5] [--limit 60] [--long 120] [--only NAME]
    python benchmarks/one_matrix.py --sections beside --limit 20 --before FOLDER [--solvers highs,gurobi]

    radii   brackets around 0 (the unicycle: around a place where it moves) in the norm inf
    norms   the smaller networks in the norms inf, 1 and 2
    beside  the version in FOLDER (a checkout), and bisection with the paper's formulation on solvers, --limit each
    growth  one certified ball of random flows against inputs, width and radius; slopes of logarithms

Seconds and limits are of processor time (`asking.py`); every question has a process of its own and one thread.
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from asking import Answered, Asked
from flows import Flow

import ircert
from ircert.backends import get
from ircert.backends.base import Solver
from ircert.data.networks import bundled
from ircert.ir.arrays import Array

EXACT = ["vanderpol-2-32-32-2", "lorenz-3-16-16-3", "coupled-vanderpol-4-16-16-4"]
LONG = ["coupled-vanderpol-4-32-32-4", "coupled-vanderpol-6-24-24-6"]
OPEN = ["unicycle-5-64-64-64-5", "quadrotor-6-64-64-6", "coupled-8-256-256-8", "oscillators-12-64-64-12"]
CENTERS = {"unicycle-5-64-64-64-5": [0.0, 0.0, 0.0, 1.0, 0.0]}
INPUTS, WIDTHS, RADII = (2, 3, 4, 5, 6, 8), (8, 12, 16, 24, 32), (0.25, 0.5, 1.0, 2.0)
USUAL = {"inputs": 4, "width": 16, "radius": 1.0}
"""What the others are while one of them varies."""
SEEDS = range(3)


def radii(options: argparse.Namespace, folder: Path) -> None:
    print("| network | limit | certified | refuted | ratio | processor | by |\n|---|---|---|---|---|---|---|")
    limits = {name: [options.long] for name in EXACT + LONG} | {name: [options.short, options.limit] for name in OPEN}
    for name in _chosen(EXACT + LONG + OPEN, options):
        for limit in limits[name]:
            found = _asked(name, folder, limit).answer()
            print(f"| {name} | {limit:g} s | {_row(found)} |", flush=True)


def norms(options: argparse.Namespace, folder: Path) -> None:
    print("| network | norm | certified | refuted | ratio | processor | by |\n|---|---|---|---|---|---|---|")
    for name in _chosen(EXACT, options):
        for norm in ("inf", "1", "2"):
            found = _asked(name, folder, options.limit, norm=norm).answer()
            print(f"| {name} | {norm} | {_row(found)} |", flush=True)


def beside(options: argparse.Namespace, folder: Path) -> None:
    print("| network | who | certified | refuted | ratio | processor | by |\n|---|---|---|---|---|---|---|")
    for name in _chosen(EXACT + LONG + OPEN, options):
        engine = _asked(name, folder, options.limit)
        rows = [("boxes", engine.answer())]
        if options.before:
            rows.append(("before", engine.answer(Path(options.before).resolve())))
        for solver in options.solvers.split(","):
            backend = get(solver)
            if isinstance(backend, Solver) and backend.is_available():
                paper = {"engine": "milp", "formulation": "paper", "backend": solver}
                rows.append((f"paper, {solver}", _asked(name, folder, options.limit, **paper).answer()))
        for who, found in rows:
            print(f"| {name} | {who} | {_row(found)} |", flush=True)


def growth(options: argparse.Namespace, folder: Path) -> None:
    print("| what | | boxes | seconds | certified |\n|---|---|---|---|---|")
    for what, values in (("inputs", INPUTS), ("width", WIDTHS), ("radius", RADII)):
        costs = [_cost(what, value, options, folder) for value in values]
        done = [(value, *cost) for value, cost in zip(values, costs, strict=True) if cost is not None]
        if len(done) > 1:
            at, boxes, seconds = np.log(np.maximum(done, 1e-3)).T
            print(f"| {what} | slope | {_slope(at, boxes):.1f} | {_slope(at, seconds):.1f} | |", flush=True)


def _cost(what: str, value: float, options: argparse.Namespace, folder: Path) -> tuple[float, float] | None:
    """Medians of boxes and seconds over a few seeds; None where not all balls were certified."""
    shape: dict[str, Any] = {**USUAL, what: value}
    found = []
    for seed in SEEDS:
        flow = Flow(shape["inputs"], shape["width"], max(RADII), seed)
        path = folder / f"{what}-{value:g}-{seed}.onnx"
        ircert.save(ircert.load(flow.layers()), path)
        ball = {"engine": "boxes", "radius": shape["radius"]}
        found.append(Asked(str(path), options.limit, ball).answer())
    boxes = statistics.median(answer.stats.get("boxes", 0) for answer in found)
    seconds = statistics.median(answer.seconds for answer in found)
    done = sum(answer.verdict == "certified" for answer in found)
    print(f"| {what} | {value:g} | {boxes:,.0f} | {seconds:.2f} | {done} of {len(found)} |", flush=True)
    return (boxes, seconds) if done == len(found) else None


def _slope(values: Array, costs: Array) -> float:
    """Least squares."""
    return float(np.polyfit(values, costs, 1)[0])


def _asked(name: str, folder: Path, limit: float, **options: Any) -> Asked:
    path = folder / f"{name}.onnx"
    if not path.exists():
        ircert.save(bundled(name), path)
    return Asked(str(path), limit, {"engine": "boxes", "center": CENTERS.get(name), **options})


def _row(found: Answered) -> str:
    refuted = "—" if found.refuted is None else f"{found.refuted:.7g}"
    if found.verdict == "error":
        return f"— | — | — | — | {found.evidence}"
    return f"{found.certified:.7g} | {refuted} | {found.ratio} | {found.seconds:.2f} s | {_argument(found.evidence)}"


def _argument(evidence: str) -> str:
    """The first words of what is said about the argument itself."""
    return re.split(r"[,;]| with | if ", evidence.removeprefix("no violation in this ball: "))[0]


def _chosen(names: list[str], options: argparse.Namespace) -> list[str]:
    return [name for name in names if name.startswith(options.only)]


SECTIONS = {"radii": radii, "norms": norms, "beside": beside, "growth": growth}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sections", default="radii,norms,growth")
    parser.add_argument("--short", type=float, default=5.0)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--long", type=float, default=120.0)
    parser.add_argument("--before")
    parser.add_argument("--solvers", default="highs,gurobi")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.sections.split(","):
            SECTIONS[name](options, Path(folder))


if __name__ == "__main__":
    main()
