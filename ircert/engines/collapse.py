"""Radius 0: directions in which the network does not change, at the centre or next to it.

Next to c lies a full-dimensional linear region R with c in its closure. If f has a kernel direction v on R, then f(x) =
f(x + t v) for points x of R as close to c as one likes and small t > 0: no ball around c is good. For `pseudo` the
segment has to start in c itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random

from ircert.engines.base import Question
from ircert.engines.directions import AtZero, Neighbourhood
from ircert.engines.kernels import Vector, has_full_rank, kernel
from ircert.ir.arrays import nonzeros
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine

Pair = tuple[Vector, Vector]

MOST_COLUMNS = 48
MOST_WORK = 4_000_000
"""Exact elimination and exact products stay within about a second."""
TRIES = 3


def free_inputs(question: Question) -> list[int]:
    """The inputs that the domain leaves some room."""
    return [i for i, (a, b) in enumerate(zip(question.low.tolist(), question.high.tolist(), strict=True)) if a < b]


def collision_next_to_center(question: Question, graph: Graph, other: Graph | None) -> Pair | None:
    """A collision on a linear region at the centre (`local`, `transform`), or None if none was found cheaply."""
    free = free_inputs(question)
    chosen = free[: graph.output_dim + 1] if other is None else free
    if not _is_small(graph, other, chosen):
        return None
    for attempt in range(TRIES):
        if attempt and question.deadline.passed():
            break
        x = _inner_point(question, graph, other, Random(question.seed + attempt))
        here = Neighbourhood(graph, x)
        there = None if other is None else Neighbourhood(other, x)
        for v in _kernel(here, chosen, "off"):
            along = here.along(v)
            changes = None if there is None else there.along(v)
            if any(along.change) or (changes is not None and not any(changes.change)):
                continue
            reach = [along.reach] if changes is None else [along.reach, changes.reach]
            step = _step(question, x, v, reach)
            if step > 0:
                return x, _moved(x, v, step)
    return None


def collision_at_center(question: Question, graph: Graph) -> Pair | None:
    """A segment from the centre on which the network does not change (`pseudo`), or None if none was found cheaply."""
    free = free_inputs(question)
    if not _is_small(graph, None, free):
        return None
    center = exact_center(question)
    here = Neighbourhood(graph, center)
    for v in _candidates(here, free):
        along = here.along(v)
        if not any(along.change):
            step = _step(question, center, v, [along.reach])
            if step > 0:
                return _moved(center, v, step), center
    return None


def exact_center(question: Question) -> Vector:
    """The centre in rationals."""
    return [Fraction(v) for v in question.center.tolist()]


def columns_of(here: Neighbourhood, chosen: list[int], at_zero: AtZero) -> list[Vector]:
    """The derivatives along some inputs, with every neuron at 0 on the same side."""
    return [here.along(_unit(j, len(here.x)), at_zero).change for j in chosen]


def _candidates(here: Neighbourhood, free: list[int]) -> Iterator[Vector]:
    """Kernel directions of regions around the point; first those that move no neuron away from 0."""
    still = []
    for j in free:
        along = here.along(_unit(j, len(here.x)), "off")
        still.append(along.change + along.at_zero)
    sides: tuple[list[Vector], ...] = (still, columns_of(here, free, "off"), columns_of(here, free, "on"))
    for columns in sides:
        for v in _spread(columns, free, len(here.x)):
            yield v
            yield [-a for a in v]


def _kernel(here: Neighbourhood, chosen: list[int], at_zero: AtZero) -> list[Vector]:
    return _spread(columns_of(here, chosen, at_zero), chosen, len(here.x))


def _spread(columns: list[Vector], chosen: list[int], size: int) -> list[Vector]:
    """The kernel of the columns as directions of the whole space."""
    if has_full_rank(columns):
        return []
    basis = []
    for short in kernel(columns):
        v = [Fraction(0)] * size
        for j, value in zip(chosen, short, strict=True):
            v[j] = value
        basis.append(v)
    return basis


def _is_small(graph: Graph, other: Graph | None, chosen: list[int]) -> bool:
    graphs = [graph] if other is None else [graph, other]
    weights = sum(nonzeros(n.op.weight).nnz for g in graphs for n in g.nodes if isinstance(n.op, Affine))
    return 0 < len(chosen) <= MOST_COLUMNS and weights * (len(chosen) + 2) <= MOST_WORK


def _inner_point(question: Question, graph: Graph, other: Graph | None, random: Random) -> Vector:
    """A point inside a linear region that has the centre in its closure, off the domain's sides."""
    center = exact_center(question)
    bounds = zip(question.center.tolist(), question.low.tolist(), question.high.tolist(), strict=True)
    d = []
    for c, low, high in bounds:
        size = Fraction(random.randrange(1, 1024), 1024) if low < high else Fraction(0)
        d.append(-size if c == high or (c != low and random.random() < 0.5) else size)
    reach = [Neighbourhood(g, center).along(d).reach for g in (graph, other) if g is not None]
    step = _step(question, center, d, reach)
    return _moved(center, d, step)


def _step(question: Question, x: Vector, v: Vector, reach: list[Fraction | None]) -> Fraction:
    """A power of two t with x + t v well inside reach, domain and half of the ball's size; 0 if v leaves the domain."""
    limits = [r / 2 for r in reach if r is not None]
    limits.append(Fraction(min(question.reach, 1.0)) / 4 / sum(abs(a) for a in v))
    for a, p, low, high in zip(v, x, question.low.tolist(), question.high.tolist(), strict=True):
        side = high if a > 0 else low
        if a != 0 and abs(side) != float("inf"):
            limits.append((Fraction(side) - p) / a / 2)
    return _power_below(min(limits))


def _power_below(limit: Fraction) -> Fraction:
    if limit <= 0:
        return Fraction(0)
    power = Fraction(2) ** (limit.numerator.bit_length() - limit.denominator.bit_length())
    while power > limit:
        power /= 2
    return power


def _moved(x: Vector, v: Vector, step: Fraction) -> Vector:
    return [p + step * a for p, a in zip(x, v, strict=True)]


def _unit(j: int, size: int) -> Vector:
    return [Fraction(int(k == j)) for k in range(size)]
