"""Largest radii: the paper's formulation, tangents, parts of the ball, and the engines, on every solver that is there.

    python benchmarks/radius.py [--sections step,balls,residual,without,radii] [--limit 5] [--long 120]
                                [--solvers highs,scip,mip,gurobi] [--ways paper,tangent,parts] [--only lorenz]

Seconds are of processor time, one thread (set OMP_NUM_THREADS=1). Work is stopped after --limit seconds of the clock
or a few times that (--long for the largest networks and in the section `step`); then its ratio is a bound. All balls
are around 0 in the norm inf. `mip` is CBC. Solvers that are not installed are left out.

    step      one step of the paper's formulation with radius 1 against the exact radius of the same network
    balls     balls on which the network is injective, ratios to the paper's formulation on the same solver; for the
              engines, which need no solver there, to the paper's formulation on the first solver.
              paper: max |x - y| over two copies, one step of a bisection; tangent: T, one program that picks the
              coordinate; coordinates: one for each; parts: T over parts; both: T and what else injectivity needs
    residual  x + g(x) with random weights: invertible by their weights, and others by search
    without   the search with one of its arguments switched off: a largest radius, then balls
    radii     the brackets that engines reach
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from unittest import mock

from formulations import Ball, largest
from timing import Measured, measured

import ircert.engines.boxes.cutting.orientation
import ircert.engines.boxes.cutting.pair_search
import ircert.engines.boxes.enclosures.cubes
import ircert.engines.boxes.search.prover
import ircert.engines.boxes.trees.cell_tree
import ircert.engines.boxes.trees.whole
from ircert.backends import get
from ircert.backends.base import Solver
from ircert.data.networks import bundled
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.one_matrix.covering import Covering
from ircert.engines.boxes.problem.outcome import Outcome
from ircert.ir.arrays import Array, Mask
from ircert.reproduction.experiments.parts.running_times import residual

BALLS = [
    ("vanderpol-2-10-10-2", 2.0),
    ("vanderpol-2-16-16-2", 1.0),
    ("vanderpol-2-32-32-2", 1.0),
    ("lorenz-3-16-16-3", 0.5),
    ("coupled-vanderpol-4-16-16-4", 0.75),
    ("coupled-vanderpol-6-24-24-6", 0.5),
]
STEP = ("vanderpol-2-32-32-2", 1.0)
MEDIUM = ["vanderpol-2-10-10-2", "vanderpol-2-16-16-2", "vanderpol-2-32-32-2", "lorenz-3-16-16-3"]
LARGE = ["coupled-vanderpol-4-16-16-4", "coupled-vanderpol-4-32-32-4", "coupled-vanderpol-6-24-24-6"]
RESIDUAL = [(1, 50), (2, 10), (2, 50), (4, 10), (4, 50), (8, 10), (8, 50)]
"""Inputs and neurons."""
BY_WEIGHTS, BY_SEARCH = (0.9, 1.5), 5.0
"""Spectral norms of g."""
RADIUS = 20.0


def _any_slope(low: tuple[Array, Array], high: tuple[Array, Array], matter: Mask, still: Mask) -> Slopes:
    """0 to 1 for every neuron that is not on, or off, at both points."""
    on, off = (low[0] >= 0) & (low[1] >= 0), (high[0] <= 0) & (high[1] <= 0)
    return Slopes.of(on & matter, ~on & ~off & matter, still)


def _no_matrix(covering: Covering, radius: float, stop: Callable[[], bool]) -> Outcome:
    """No ball is covered."""
    return "stopped"


PLACES = {
    "one matrix": [(Covering, "advance", _no_matrix)],
    "degree": [(ircert.engines.boxes.search.prover, "MOST_INPUTS", 0)],
    "cutting slopes": [
        (place, "MOST_FREE", -1)
        for place in (
            ircert.engines.boxes.cutting.orientation,
            ircert.engines.boxes.cutting.pair_search,
            ircert.engines.boxes.trees.cell_tree,
        )
    ],
    "looks at vertices": [(ircert.engines.boxes.enclosures.cubes, "LOOKS", 0)],
    "bounds of slopes": [(Slopes, "between", _any_slope)],
    "boxes": [(ircert.engines.boxes.search.prover, "MOST_CUT", 0)],
    "trees of balls": [(ircert.engines.boxes.trees.whole, "FEW_OPEN", -1)],
    "trees": [
        (place, "FEW_OPEN", -1)
        for place in (
            ircert.engines.boxes.cutting.orientation,
            ircert.engines.boxes.cutting.pair_search,
            ircert.engines.boxes.trees.whole,
        )
    ],
}
"""What to set so that an argument of the search is never used."""
WITHOUT = [("vanderpol-2-32-32-2", None), ("lorenz-3-16-16-3", 0.75), ("coupled-vanderpol-4-16-16-4", 0.75)]
"""Networks, with a radius or without."""


def balls(options: argparse.Namespace) -> None:
    for name, radius in BALLS:
        if not name.startswith(options.only):
            continue
        print(f"{name}, radius {radius:g}")
        ball, first = Ball(bundled(name), radius, options.limit), None
        for solver in _solvers(options.solvers):
            usual: Measured | None = None
            for way in options.ways.split(","):
                found = measured(partial(getattr(ball, way), solver))
                _show(found, f"{solver.name} {way}", usual)
                usual = found if way == "paper" else usual
            first = first or usual
        for engine in ("boxes", "regions", "auto"):
            if engine != "regions" or ball.graph.input_dim <= 2:
                _show(measured(partial(ball.search, engine)), f"engine {engine}", first)


def step(options: argparse.Namespace) -> None:
    name, radius = STEP
    graph = bundled(name)
    print(f"{name}: one step of the paper's formulation with radius {radius:g}, and the exact radius")
    usual: Measured | None = None
    for solver in _solvers("gurobi"):
        usual = measured(partial(Ball(graph, radius, options.long).paper, solver))
        _show(usual, f"{solver.name} paper, one step")
    for engine in ("boxes", "regions"):
        _show(measured(partial(largest, graph, engine, options.long)), f"engine {engine}, exact", usual)


def radii(options: argparse.Namespace) -> None:
    for name in MEDIUM + LARGE:
        if not name.startswith(options.only):
            continue
        print(f"{name}: largest radius")
        graph, limit = bundled(name), options.long if name in LARGE[1:] else 4 * options.limit
        engines = ["boxes", "regions", "auto"] if graph.input_dim <= 2 else ["boxes"]
        for engine in engines:
            _show(measured(partial(largest, graph, engine, limit)), f"engine {engine}")
        tangent = measured(partial(largest, graph, "milp", 2 * options.limit, formulation="tangent"))
        _show(tangent, "formulation tangent")


def residuals(options: argparse.Namespace) -> None:
    for norm in BY_WEIGHTS:
        print(f"x + g(x), g of norm {norm:g}, radius {RADIUS:g}: the paper's formulation on HiGHS, and auto")
        for n0, n1 in RESIDUAL:
            ball = Ball(residual(n0, n1, norm, 0), RADIUS, options.limit / 2)
            usual = measured(partial(ball.paper, get("highs")))
            _show(usual, f"{n0} inputs, {n1} neurons: paper")
            _show(measured(partial(ball.search, "auto")), f"{n0} inputs, {n1} neurons: auto", usual)
    print(f"x + g(x), g of norm {BY_SEARCH:g}: the largest radius up to {RADIUS:g} by search")
    for n0, n1 in RESIDUAL:
        graph = residual(n0, n1, BY_SEARCH, 0)
        found = measured(partial(largest, graph, "boxes", 2 * options.limit, max_radius=RADIUS))
        _show(found, f"{n0} inputs, {n1} neurons: boxes")


def without(options: argparse.Namespace) -> None:
    for name, radius in WITHOUT:
        if not name.startswith(options.only):
            continue
        print(f"{name}, {'largest radius' if radius is None else f'radius {radius:g}'}")
        graph, limit = bundled(name), 3 * options.limit
        question = partial(largest, graph, "boxes", limit)
        if radius is not None:
            question = partial(Ball(graph, radius, limit).search, "boxes")
        measured(question)  # imports what the first question imports
        usual: Measured | None = None
        for what in ("nothing", *PLACES):
            with _switched_off(what):
                found = measured(question)
            usual = usual or found
            _show(found, f"without {what}", usual)


@contextmanager
def _switched_off(what: str) -> Iterator[None]:
    with ExitStack() as stack:
        for place, name, value in PLACES.get(what, []):
            stack.enter_context(mock.patch.object(place, name, value))
        yield


def _solvers(names: str) -> list[Solver]:
    found = [get(name) for name in names.split(",")]
    return [solver for solver in found if isinstance(solver, Solver) and solver.is_available()]


def _show(found: Measured, name: str, usual: Measured | None = None) -> None:
    print(found.line(name, usual), flush=True)


SECTIONS = {"step": step, "balls": balls, "residual": residuals, "without": without, "radii": radii}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--limit", type=float, default=5.0)
    parser.add_argument("--long", type=float, default=120.0)
    parser.add_argument("--solvers", default="highs,scip,mip,gurobi")
    parser.add_argument("--ways", default="paper,tangent,parts")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    for name in options.sections.split(","):
        SECTIONS[name](options)


if __name__ == "__main__":
    main()
