"""A result as one picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

import ircert
from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.plotting.ball import Kind, draw_ball
from ircert.plotting.data import Folds, Preimage, Regions, Result
from ircert.plotting.figure import add_legend, new_axes
from ircert.plotting.folds import draw_folds
from ircert.plotting.graph import draw_graph, draw_turning_points, lifted
from ircert.plotting.marks import draw_center, draw_preimages, draw_turned, draw_undecided, draw_witness, undecided_of
from ircert.plotting.regions import draw_regions
from ircert.plotting.samples import Samples, draw_field
from ircert.plotting.style import BALLS, index
from ircert.plotting.window import frame, window_of
from ircert.questions.network import Network

CLOSED = 0.01
"""A bracket this narrow (relative to its refuted end) is one line to the eye, and drawn as one."""


def plot_result(
    result: Result,
    ax: Axes | None = None,
    balls: Iterable[Result] | None = None,
    regions: bool | Regions = True,
    folds: bool | Folds = True,
    preimages: bool | Iterable[Preimage] = False,
    window: Any = None,
    *,
    witness: bool = True,
    legend: bool = True,
    inputs: Sequence[str] | None = None,
) -> Axes:
    """Draw an answer about a network of one or two inputs: regions, fold set, balls, centre, witness, preimages; of a
    smooth network, its determinants at points of a grid take the place of regions.

    balls:     further results whose balls are drawn (other norms or problems); the centre is the first result's
    regions, folds, preimages: whether to compute and draw them, or the ones that were computed before
    window:    half the width of the picture, or its corners (low, high); by default all balls and the witness fit in
    inputs:    the labels of the axes
    """
    results = [result, *(balls or ())]
    graph = result.graph
    _check(graph)
    pairs = [(r.witness.x, r.witness.y) for r in results if witness and r.witness is not None]
    shown = window_of(results, window, [_floats(p) for pair in pairs for p in pair])
    cells = _cells(graph, shown) if regions is True else regions or None
    square = graph.output_dim == graph.input_dim  # only then a map has an orientation that folds could turn over
    creases = (ircert.fold_set(graph, shown) if square else None) if folds is True else folds or None
    solutions = _preimages(result, shown) if preimages is True else preimages or ()
    ax = new_axes() if ax is None else ax
    draw = _draw_line if graph.input_dim == 1 else _draw_plane
    draw(ax, graph, cells, creases, solutions, pairs, result.center)
    turned = [getattr(one, "turned", None) for one in results if witness]
    over = [_floats(pair.y) for pair in turned if pair is not None]
    if over:
        draw_turned(ax, over if graph.input_dim == 2 else lifted(graph, over))
    for i, one in enumerate(results):
        _draw_bracket(ax, one, BALLS[i % len(BALLS)])
    _finish(ax, shown, result, inputs)
    if legend:
        add_legend(ax)
    return ax


def _cells(graph: Any, shown: Ball) -> Any:
    return Samples(graph, shown) if Network(graph).has_curves else ircert.enumerate_regions(graph, shown)


def _preimages(result: Result, shown: Ball) -> Iterable[Preimage]:
    """Of the exact f(c): with more outputs than inputs, a rounded value would have none."""
    graph, center = result.graph, result.center
    value = graph.enclosure(center) if Network(graph).has_curves else graph.exact(center)
    found: Iterable[Preimage] = ircert.preimages(graph, value, shown)
    return found


def _check(graph: Any) -> None:
    if graph is None:
        raise QueryError("the result was read without its network", remedy="Result.from_json(text, model=…)")
    if graph.input_dim > 2:
        raise QueryError(
            f"a picture in the plane has one or two inputs, this network has {graph.input_dim}",
            remedy="fix the others: g.fix({2: 0.5}), or --fix 2=0.5 on the command line",
        )


def _draw_plane(
    ax: Axes, graph: Any, cells: Any, creases: Any, solutions: Iterable[Preimage], pairs: list[Any], center: Any
) -> None:
    if isinstance(cells, Samples):
        draw_field(ax, cells)
    elif cells is not None:
        draw_regions(ax, cells)
    if creases is not None:
        draw_folds(ax, creases, singular=cells is None)
    for k, (x, y) in enumerate(pairs):
        draw_witness(ax, x, y, **_label_once(k))
    draw_preimages(ax, solutions)
    draw_center(ax, center)


def _draw_line(
    ax: Axes, graph: Any, cells: Any, creases: Any, solutions: Iterable[Preimage], pairs: list[Any], center: Any
) -> None:
    """One input: everything is lifted to the graph of each output."""
    if cells is not None:
        draw_graph(ax, cells)
    if creases is not None:
        draw_turning_points(ax, graph, creases)
    for k, (x, y) in enumerate(pairs):
        for j, points in enumerate(lifted(graph, [_floats(x), _floats(y)])):
            draw_witness(ax, *points, **_label_once(j + k))
    for k, solution in enumerate(solutions):
        where = solution.point if solution.set is None or len(solution.set) < 2 else solution.set
        for j, points in enumerate(lifted(graph, where)):
            draw_preimages(ax, [_Lifted(points)], **_label_once(j + k, "preimages of f(c)"))
    draw_undecided(ax, lifted(graph, undecided_of(solutions)[:, 0]).reshape(-1, 2))
    draw_center(ax, lifted(graph, center))


class _Lifted:
    """A preimage in the plane of the graph."""

    def __init__(self, points: Any) -> None:
        self.point = points[0]
        self.set = points if len(points) > 1 else None


def _label_once(k: int, label: str = "witness: f(x) = f(y)") -> dict[str, str]:
    """The legend names the first of several; matplotlib leaves out labels that start with an underscore."""
    return {"label": label if k == 0 else f"_{label}"}


def brackets(result: Result) -> list[tuple[float, Kind]]:
    """The balls that are drawn of an answer: one where both ends are one line to the eye."""
    certified, refuted = result.radius.certified, result.radius.refuted
    found: list[tuple[float, Kind]] = [(certified, "certified")] if certified else []
    if refuted is not None and not (certified and refuted - certified <= CLOSED * refuted):
        found.append((refuted, "refuted"))
    return found


def _draw_bracket(ax: Axes, result: Result, color: str) -> None:
    style = {"domain": result.domain, "problem": result.problem, "color": color}
    for radius, kind in brackets(result):
        draw_ball(ax, result.center, radius, result.norm, kind, **style)


def _finish(ax: Axes, shown: Ball, result: Result, inputs: Sequence[str] | None) -> None:
    low, high = frame(shown, result.domain)
    names = [f"x{index(i)}" for i in range(len(low))] if inputs is None else list(inputs)
    ax.set_xlim(low[0], high[0])
    ax.set_xlabel(names[0])
    if len(low) == 2:
        ax.set_ylim(low[1], high[1])
        ax.set_ylabel(names[1])
        ax.set_aspect("equal")
    else:
        ax.set_ylabel(f"f({names[0]})")


def _floats(point: Any) -> Any:
    """Coordinates may be fractions."""
    return np.array(point, dtype=np.float64)
