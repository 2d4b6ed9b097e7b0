"""Evaluation of a graph: float64 over batches, and exact rationals as the oracle of everything else."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ircert.errors import PointError
from ircert.ir.arrays import Array
from ircert.ir.ops import Curve, Op, Relu
from ircert.ir.rational import Rationals

if TYPE_CHECKING:
    from ircert.ir.graph import Graph

Value = TypeVar("Value")

REMEMBERED = 4
"""Points of a graph whose exact values are kept."""


def evaluate(graph: Graph, x: object) -> Array:
    """The outputs at one point (n,) or a batch (N, n), in float64."""
    points = _float_points(x, graph.input_dim)
    result = _run(graph, np.atleast_2d(points), lambda op, operands: op.evaluate(*operands))
    return result[0] if points.ndim == 1 else result


def evaluate_exactly(graph: Graph, x: object) -> NDArray[np.object_]:
    """The outputs at one point or a batch as Fractions; coordinates may be int, float, Fraction or "p/q"."""
    points = np.asarray(x, dtype=object)
    _check_shape(points, graph.input_dim)
    rows = [_exact_row(graph, row) for row in np.atleast_2d(points)]
    result = np.empty((len(rows), graph.output_dim), dtype=object)
    for i, row in enumerate(rows):
        result[i] = row
    return result[0] if points.ndim == 1 else result


def to_fraction(value: Any) -> Fraction:
    """A coordinate as an exact rational; PointError if it is not a finite real number."""
    try:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, bool):
            raise TypeError
        return Fraction(value)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise PointError(
            f"{str(value)[:60]!r} is not a finite real number",
            remedy="give int, float, Fraction or a string such as '1/3'",
        ) from None


def all_values(graph: Graph, x: object) -> dict[str, Array]:
    """The value of every node at a batch (N, n), by name."""
    points = np.atleast_2d(_float_points(x, graph.input_dim))
    values: dict[str, Array] = {}
    for node in graph.nodes:
        operands = [values[name] for name in node.operands]
        values[node.name] = node.op.evaluate(*operands) if operands else points
    return values


def preactivations(graph: Graph, points: Array) -> Array:
    """What every entry of a relu or curve reads at every point (rows), in floats, finite where these reach."""
    values: dict[str, Array] = {graph.input: points}
    found = [np.zeros((len(points), 0))]
    for node in graph.nodes:
        if node.name == graph.input:
            continue
        operands = [values[name] for name in node.operands]
        if isinstance(node.op, Relu | Curve):
            found.append(operands[0])
        values[node.name] = node.op.evaluate(*operands)
    return np.concatenate(found, axis=1)


def exact_values(graph: Graph, point: Rationals) -> Rationals:
    """The outputs at one point, in exact rationals."""
    return _run(graph, point, lambda op, operands: op.exact(*operands))


def _exact_row(graph: Graph, row: NDArray[np.object_]) -> list[Fraction]:
    """The outputs at a point; the last ones are remembered, because a witness is measured, judged and replayed."""
    point = tuple(to_fraction(value) for value in row)
    known = graph._exact_points
    found = known.get(point)
    if found is None:
        found = known[point] = exact_values(graph, Rationals.of_fractions(list(point))).fractions()
        for old in list(known)[:-REMEMBERED]:
            known.pop(old, None)  # another thread may have been faster
    return found


def _run(graph: Graph, x: Value, apply: Callable[[Op, list[Value]], Value]) -> Value:
    """Evaluate in order, dropping each value after its last reader."""
    readers = {name: len(names) for name, names in graph.consumers.items()}
    values: dict[str, Value] = {graph.input: x}
    for node in graph.nodes:
        if node.name == graph.input:
            continue
        values[node.name] = apply(node.op, [values[name] for name in node.operands])
        for name in set(node.operands):
            readers[name] -= 1
            if readers[name] == 0 and name != graph.output:
                del values[name]
    return values[graph.output]


def _float_points(x: object, n: int) -> Array:
    try:
        points = np.asarray(x)
        if points.dtype.kind == "O":
            points = np.array([float(v) for v in points.flat]).reshape(points.shape)
        if points.dtype.kind not in "fiu":
            raise TypeError(f"dtype {points.dtype}")
    except (TypeError, ValueError, OverflowError) as error:
        raise PointError(f"a point is a list of real numbers ({error})", remedy=_expected(n)) from None
    _check_shape(points, n)
    numbers = points.astype(np.float64)
    if not np.all(np.isfinite(numbers)):
        raise PointError("a point must be finite, got nan or inf", remedy="evaluate at real points only")
    return numbers


def _check_shape(points: NDArray[Any], n: int) -> None:
    if points.ndim not in (1, 2) or points.shape[-1] != n:
        raise PointError(f"got points of shape {points.shape}", remedy=_expected(n))


def _expected(n: int) -> str:
    return f"this graph has {n} input{'s' * (n != 1)}: give one point ({n},) or a batch (N, {n})"
