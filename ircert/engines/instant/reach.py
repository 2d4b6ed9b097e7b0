"""How far a direction keeps its linear region: bounds on what each neuron moves, in floats rounded outward."""

from __future__ import annotations

import numpy as np

from ircert.bounds.rounding import TINY, UNIT, slack
from ircert.engines.instant.directions import Direction, Neighbourhood
from ircert.errors import UnsupportedModel
from ircert.ir.arrays import Array, Mask, Matrix
from ircert.ir.graph import Node
from ircert.ir.ops import Add, Affine, Concat, Relu, Select
from ircert.ir.rational import Rationals
from ircert.limits import checkpoint

Moved = tuple[Array, Array]
"""A derivative in floats, and a bound on its error."""


def reach_exponent(place: Neighbourhood, direction: Direction, on: dict[str, Mask]) -> int | None:
    """Some e such that no neuron that is not at 0 gets there before x + 2^e v; None where floats do not tell.

    on: the neurons that are on along the direction; those at 0 stay on their side
    """
    exponents = []
    for name, (slope, error) in _before_relus(place, direction, on).items():
        most = np.abs(slope) + error
        if not np.isfinite(most).all():
            return None
        # |z| >= 2^(size - 1) and most <= 2^exponent, so that z keeps its sign for t < 2^(size - 1 - exponent)
        sizes, above = _sizes(place.before[name]), np.frexp(most)[1].astype(np.int64)
        exponents += [size - 2 - e for size, e in zip(sizes, above.tolist(), strict=True) if size is not None]
    return min(exponents, default=0)


def _sizes(values: Rationals) -> list[int | None]:
    """For each number some e with |z| >= 2^(e - 1); None for 0."""
    below = int(values.denominator).bit_length()
    return [int(v).bit_length() - below if v else None for v in values.numerators]


def _before_relus(place: Neighbourhood, direction: Direction, on: dict[str, Mask]) -> dict[str, Moved]:
    graph = place.graph
    vector, rounding = direction.floats(graph.input_dim), np.zeros(graph.input_dim)
    rounding[direction.inputs] = np.abs(vector[direction.inputs]) * (2 * UNIT) + 2 * TINY
    values: dict[str, Moved] = {graph.input: (vector, rounding)}
    found = {}
    with np.errstate(all="ignore"):
        for node in graph.nodes:
            checkpoint()
            operands = [values[name] for name in node.operands]
            if isinstance(node.op, Relu):
                found[node.name] = operands[0]
            if node.name != graph.input:
                values[node.name] = _moved(node, operands, on)
    return found


def _moved(node: Node, operands: list[Moved], on: dict[str, Mask]) -> Moved:
    slope, error = operands[0]
    if isinstance(node.op, Affine):
        return _product(node.op.weight, slope, error)
    if isinstance(node.op, Relu):
        return np.where(on[node.name], slope, 0.0), np.where(on[node.name], error, 0.0)
    if isinstance(node.op, Select):
        return slope[node.op.indices], error[node.op.indices]
    if isinstance(node.op, Concat):
        return np.concatenate([s for s, _ in operands]), np.concatenate([e for _, e in operands])
    if isinstance(node.op, Add):
        slopes, errors = (np.array(part) for part in zip(*operands, strict=True))
        return slopes.sum(axis=0), errors.sum(axis=0) + slack(len(slopes), (np.abs(slopes) + errors).sum(axis=0))
    raise UnsupportedModel(f"{node.op.kind} has no linear regions here", remedy="run the pass `canonicalize` before")


def _product(weight: Matrix, slope: Array, error: Array) -> Moved:
    size = abs(weight)
    rounding = slack(weight.shape[1], size @ (np.abs(slope) + error))
    return np.asarray(weight @ slope), np.asarray(size @ error) + rounding
