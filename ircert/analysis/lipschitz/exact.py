"""One or two inputs: L and L' from the linear regions of the ball."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ircert.analysis.lipschitz.bracket import Bracket
from ircert.analysis.lipschitz.cells import Cells
from ircert.analysis.lipschitz.chords import least_quotient
from ircert.analysis.lipschitz.pieces import border, interval
from ircert.analysis.lipschitz.stretch import Span
from ircert.engines.regions.growth import Surroundings
from ircert.exact.rounding import rounded_up
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.graph import Graph
from ircert.questions.network import lowered
from ircert.result.radius import End

SIDES = 128
"""A disc lies between two polygons with this many sides."""

MOST = "the largest operator norm of the linear regions"
LEAST = "the least stretch of one linear region"
PAIRS = "two points of different linear regions"
CHORDS = "bounds on all pairs of linear regions"
BORDER = "bounds on all pairs of the border and the least stretch of one linear region"
HULL = "one matrix C with |I - C A| < 1 for every linear region"
SINGULAR = "f is not injective on a linear region"
FOLD = "the orientation of f is not the same on all linear regions"
NOTHING = "nothing is known"


def extremes(graph: Graph, ball: Ball, norm: Norm) -> tuple[Bracket, Bracket]:
    """(L, L') of a network with one or two inputs."""
    around = Surroundings(lowered(graph), Place(ball.center, ball.norm.on(graph.input_dim), ball.low, ball.high))
    radius = Fraction(ball.radius)
    if around.norm != "2":
        body = _body(Cells(around.complex(radius), graph.output_dim, norm))
        return body.upper, body.lower
    # what holds on a larger body holds on the disc, and what is attained on a smaller one is attained there
    inner, outer = (_body(Cells(c, graph.output_dim, norm)) for c in around.around_disc(radius, SIDES))
    if not inner.lower.high:
        lower = inner.lower
    else:
        lower = Bracket(outer.lower.low if outer.lower.low else End(0.0, NOTHING), inner.lower.high)
    return Bracket(inner.upper.low, outer.upper.high), lower


@dataclass(frozen=True)
class _Extremes:
    upper: Bracket
    lower: Bracket


def _body(cells: Cells) -> _Extremes:
    return _Extremes(_bracket(cells.most(), MOST), _lower(cells))


def _lower(cells: Cells) -> Bracket:
    least = cells.least()
    if least.high == 0:
        return _zero(SINGULAR)
    square = cells.outputs == cells.inputs
    if square and len(np.unique(cells.signs())) > 1:
        return _zero(FOLD)
    if square and cells.inputs == 1:
        return _bracket(least, LEAST)
    if cells.inputs == 2 and not square:
        bound = cells.hull()
        high = _bracket(least, LEAST).high
        return Bracket(End(min(bound, float(high)), HULL if bound > 0 else NOTHING), high)
    return _from_chords(cells, least)


def _from_chords(cells: Cells, least: Span) -> Bracket:
    """Pairs of different regions: all of them for a curve, those of the border where f is planar."""
    planar = cells.inputs == 2
    known = _bracket(least, LEAST)
    found = least_quotient(border(cells) if planar else interval(cells), cells.norm, rounded_up(least.high))
    if found.clear:
        return known
    if planar and found.low == 0:  # the border may have a collision, and then the argument does not hold
        low = End(0.0, NOTHING)
    else:
        low = min(known.low, End(found.low, BORDER if planar else CHORDS))
    return Bracket(low, min(known.high, End(found.high, PAIRS)))


def _bracket(span: Span, evidence: str) -> Bracket:
    if span.low == span.high:
        return Bracket(End.below(span.low, evidence), End.above(span.high, evidence))
    low, high = End.below(span.low, evidence), End.above(span.high, evidence)
    return Bracket(End(float(low), evidence), End(float(high), evidence))


def _zero(evidence: str) -> Bracket:
    end = End(0.0, evidence, Fraction(0))
    return Bracket(end, end)
