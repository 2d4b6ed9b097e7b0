"""Rigorous evaluation at a point, to any precision: balls of python-flint that hold the real values and derivatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from flint import arb, arb_mat, arb_series, ctx, fmpq
from numpy.typing import NDArray

from ircert.errors import PointError, UnsupportedModel
from ircert.ir.arrays import nonzeros
from ircert.ir.evaluate import to_fraction
from ircert.ir.ops import Add, Affine, Concat, Curve, Op, Product, Relu, Select, is_smooth
from ircert.ir.ops.smooth import Reciprocal

if TYPE_CHECKING:
    from ircert.ir.graph import Graph, Node

BITS, MOST_BITS = 128, 2**20
SOME = 4
"""How many times as many inputs as there are equations are looked at first."""


def enclosed(graph: Graph, x: Iterable[Any], bits: int = BITS) -> NDArray[np.object_]:
    """The outputs at one point, as balls (an object array of `flint.arb`) computed with that many bits."""
    if isinstance(bits, bool) or not isinstance(bits, int) or not 2 <= bits <= MOST_BITS:
        raise PointError(f"bits must be an integer from 2 to {MOST_BITS}, got {bits!r}")
    with ctx.workprec(bits):
        values, _ = _Walk(lowered(graph), columns=None).run(_point(graph, x))
        found = np.empty(len(values), dtype=object)
        found[:] = values
        return found


def enclosed_jacobian(graph: Graph, x: Iterable[Any], bits: int = BITS) -> arb_mat:
    """The Jacobian at one point as a matrix of balls.

    At a kink all slopes between the one-sided ones are held.
    """
    with ctx.workprec(bits):
        _, jacobian = _Walk(lowered(graph), columns=range(graph.input_dim)).run(_point(graph, x))
        assert jacobian is not None
        return jacobian


def enclosed_on_box(graph: Graph, box: list[arb], columns: list[int]) -> tuple[list[arb], arb_mat]:
    """The outputs over a box of balls, and secants: a matrix that holds some M with f(p) - f(q) = M (p - q) for every
    two points of the box that differ in these inputs alone, a column for each of them.

    Slopes of a neuron over what it reads hold its secants (kinks are no exception), and sums and products of matrices
    those of the network. It works in the precision that is set.
    """
    values, slopes = _Walk(lowered(graph), columns=columns).over(box)
    assert slopes is not None
    return values, slopes


def enclosed_determinant(graph: Graph, x: Iterable[Any], bits: int = BITS, columns: Sequence[int] | None = None) -> arb:
    """The determinant of the Jacobian at one point, as a ball; of some inputs alone, as many as there are outputs."""
    with ctx.workprec(bits):
        chosen = range(graph.input_dim) if columns is None else columns
        _, jacobian = _Walk(lowered(graph), columns=chosen).run(_point(graph, x))
        assert jacobian is not None
        return cast("arb", jacobian.det())


def leaves_room(graph: Graph, x: Iterable[Any], inputs: list[int], other: Graph | None = None) -> bool:
    """Whether, for sure, there are inputs, one more than outputs, whose secants near a point are regular if one more
    function is taken to the outputs: an output of another network or, without one, one of these inputs itself.

    Which inputs is chosen by floats, first among a few, and a determinant of balls decides.
    """
    few = inputs[:: max(1, len(inputs) // (SOME * (graph.output_dim + 1)))]
    return any(_leave_room(graph, x, chosen, other) for chosen in ([few, inputs] if len(few) < len(inputs) else [few]))


def _leave_room(graph: Graph, x: Iterable[Any], inputs: list[int], other: Graph | None) -> bool:
    if len(inputs) <= graph.output_dim:
        return False
    with ctx.workprec(BITS):
        point = [arb(fmpq(v.numerator, v.denominator)) for v in _point(graph, x)]
        _, first = enclosed_on_box(graph, point, inputs)
        last = _unit(len(inputs)) if other is None else enclosed_on_box(other, point, inputs)[1]
        rows = first.tolist()
        for more in last.tolist():
            whole = [*rows, more]
            chosen = independent(_rows(whole))
            value = _rows([[row[j] for j in chosen] for row in whole]).det()
            if value > 0 or value < 0:
                return True
    return False


def independent(matrix: arb_mat) -> list[int]:
    """As many columns as rows, as independent as they seem to be."""
    from scipy.linalg import qr

    rows = np.array([[float(v.mid()) for v in row] for row in matrix.tolist()])
    order = qr(np.nan_to_num(rows), mode="r", pivoting=True)[1]
    return [int(j) for j in order[: len(rows)]]


def _unit(size: int) -> arb_mat:
    return arb_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])


def lowered(graph: Graph) -> Graph:
    """Rich operations as core ones: each lowering is exact."""
    from ircert.ir.build import Builder

    if all(_is_known(node.op) for node in graph.nodes):
        return graph
    build = Builder(graph.input_dim, name=graph.input)
    here = {graph.input: build.input}
    for node in graph.nodes:
        if node.operands:
            operands = [here[name] for name in node.operands]
            known = _is_known(node.op)
            here[node.name] = build.node(node.op, *operands) if known else node.op.lower(build, *operands)
    return build.graph(here[graph.output])


def _is_known(op: Op) -> bool:
    return op.core or is_smooth(op) or not op.piecewise_linear


def _point(graph: Graph, x: Iterable[Any]) -> list[Fraction]:
    point = [to_fraction(value) for value in x]
    if len(point) != graph.input_dim:
        raise PointError(f"got a point of {len(point)} numbers", remedy=f"this graph has {graph.input_dim} inputs")
    return point


class _Walk:
    """Values (a list of balls) and Jacobians (a matrix, rows per entry) of all nodes."""

    def __init__(self, graph: Graph, *, columns: Sequence[int] | None) -> None:
        self.graph, self.columns = graph, columns

    def run(self, point: list[Fraction]) -> tuple[list[arb], arb_mat | None]:
        return self.over([arb(fmpq(v.numerator, v.denominator)) for v in point])

    def over(self, start: list[arb]) -> tuple[list[arb], arb_mat | None]:
        """Over a box; the columns of the Jacobian are those of some inputs, or there is none."""
        unit = None
        if self.columns is not None:
            unit = arb_mat(
                len(start), len(self.columns), [int(i == j) for i in range(len(start)) for j in self.columns]
            )
        values: dict[str, tuple[list[arb], arb_mat | None]] = {self.graph.input: (start, unit)}
        left = Counter(name for node in self.graph.nodes for name in node.operands)
        left[self.graph.output] += 1
        for node in self.graph.nodes:
            if node.operands:
                values[node.name] = self._step(node, [values[name] for name in node.operands])
                left.subtract(node.operands)
                for name in set(node.operands):
                    if not left[name]:  # matrices of balls are large
                        del values[name]
        return values[self.graph.output]

    def _step(self, node: Node, given: list[tuple[list[arb], Any]]) -> tuple[list[arb], Any]:
        op = node.op
        (x, jacobian), rest = given[0], given[1:]
        if isinstance(op, Affine):
            return _mapped(op, x), None if jacobian is None else _matrix(op) * jacobian
        if isinstance(op, Relu | Curve | Reciprocal):
            value: Callable[[arb], tuple[arb, arb]] = FUNCTIONS.get(type(op)) or _curve(op)
            pairs = [value(z) for z in x]
            return [v for v, _ in pairs], _scaled(jacobian, [s for _, s in pairs])
        if isinstance(op, Select):
            chosen = op.indices.tolist()
            table = None if jacobian is None else jacobian.tolist()  # once: it copies the whole matrix
            return [x[i] for i in chosen], None if table is None else _rows([table[i] for i in chosen])
        if isinstance(op, Concat):
            rows = None if jacobian is None else _rows([row for _, part in given for row in part.tolist()])
            return [v for values, _ in given for v in values], rows
        if isinstance(op, Add):
            total = [sum(entries[1:], entries[0]) for entries in zip(*(values for values, _ in given), strict=True)]
            return total, None if jacobian is None else sum((part for _, part in rest), jacobian)
        if isinstance(op, Product):
            (y, other) = rest[0]
            whole = None if jacobian is None else _scaled(jacobian, y) + _scaled(other, x)
            return [a * b for a, b in zip(x, y, strict=True)], whole
        raise UnsupportedModel(
            f"{op.kind} at `{node.name}` has no enclosure", remedy="keep outputs that do not need it (`select`)"
        )


def _mapped(op: Affine, x: list[arb]) -> list[arb]:
    if isinstance(op.weight, np.ndarray):
        product = (_matrix(op) * arb_mat(len(x), 1, x)).tolist()
        return [row[0] + b for row, b in zip(product, op.bias.tolist(), strict=True)]
    sparse = nonzeros(op.weight)
    found = [arb(b) for b in op.bias.tolist()]
    for i in range(len(found)):
        for k in range(int(sparse.indptr[i]), int(sparse.indptr[i + 1])):
            found[i] += float(sparse.data[k]) * x[int(sparse.indices[k])]
    return found


@lru_cache(maxsize=32)
def _matrix(op: Affine) -> arb_mat:
    """The weights, which are exact whatever precision is set."""
    dense = op.weight if isinstance(op.weight, np.ndarray) else op.weight.toarray()
    return arb_mat(*dense.shape, dense.ravel().tolist())


def _scaled(jacobian: Any, slopes: list[arb]) -> Any:
    if jacobian is None:
        return None
    return _rows([[slope * v for v in row] for slope, row in zip(slopes, jacobian.tolist(), strict=True)])


def _rows(rows: list[list[arb]]) -> arb_mat:
    return arb_mat(len(rows), len(rows[0]), [v for row in rows for v in row])


def _relu(z: arb) -> tuple[arb, arb]:
    if z >= 0 or z <= 0:
        slope = arb(int(z > 0)) if z > 0 or z < 0 else arb(0).union(1)
        return (z if z >= 0 else arb(0)), slope
    return arb(0).union(z.upper()), arb(0).union(1)


def _reciprocal(z: arb) -> tuple[arb, arb]:
    """Where z may be 0, both balls are the whole line, or no numbers at all."""
    return 1 / z, -1 / (z * z)


FUNCTIONS: dict[type[Op], Callable[[arb], tuple[arb, arb]]] = {Relu: _relu, Reciprocal: _reciprocal}


def _curve(op: Op) -> Callable[[arb], tuple[arb, arb]]:
    assert isinstance(op, Curve)

    def at(z: arb) -> tuple[arb, arb]:
        """From all pieces that the ball meets: what is between them is held too."""
        first = sum(bool(z > kink) for kink in op.kinks)
        last = len(op.kinks) - sum(bool(z < kink) for kink in op.kinks)
        found = [_at(op, z, piece) for piece in range(first, last + 1)]
        value, slope = found[0]
        for other in found[1:]:
            value, slope = value.union(other[0]), slope.union(other[1])
        return value, slope

    return at


def _at(op: Curve, z: arb, piece: int) -> tuple[arb, arb]:
    """Value and slope in a piece; by what is left of the curve far out where exponentials overflow."""
    try:
        value, slope = _first_two(op.series(arb_series([z, 1], prec=2), piece))
        if value.is_finite() and slope.is_finite():
            return value, slope
    except ValueError:  # a divisor that may be 0
        pass
    if op.steep:  # it has none
        return arb.nan(), arb.nan()
    left, right = op.tails()
    if not (z >= right.start or z <= -left.start):
        return arb.nan(), arb.nan()
    tail = right if z >= right.start else left
    return tail.slope * z + tail.offset + tail.value * arb(0, 1), tail.slope + tail.rate * arb(0, 1)


def _first_two(series: arb_series) -> tuple[arb, arb]:
    value, slope = [*list(series.coeffs()), arb(0), arb(0)][:2]
    return value, slope
