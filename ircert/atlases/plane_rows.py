"""Rows of a block of centres with two inputs, from one complex; each goes through the gate that all answers do."""

from __future__ import annotations

import time
from dataclasses import replace

from ircert.atlases.asked import Asked
from ircert.atlases.plane import Plane
from ircert.atlases.plane_block import Block
from ircert.atlases.plane_sheet import Found
from ircert.atlases.row import Row, judged_row
from ircert.engines.base import Answer
from ircert.ir.arrays import Array
from ircert.limits import Deadline
from ircert.result.radius import End

FEWEST = 3
"""Centres for which a complex of their own is worth it."""
SLACK = 2.0**-3
"""The part of the tolerance that witnesses may lie beyond the nearest violation, and at most …"""
MOST_SLACK = 2.0**-20
CLEAR = "every pair of linear regions nearer than this was excluded with exact signs, in one complex for many centres"
COMPLEX = "complex"


def serves(asked: Asked) -> bool:
    """Whether one complex answers many centres: two inputs that vary, linear regions, and pairs to be found."""
    low, high = asked.sides
    return (
        asked.problem != "pseudo"
        and asked.engine in ("auto", "regions")
        and asked.graph.input_dim == 2
        and asked.graph.output_dim >= 2
        and bool((low < high).all())
        and asked.is_piecewise_linear
    )


def plane_rows(asked: Asked, at: tuple[int, ...], centers: Array) -> list[Row]:
    """The rows of the centres for which one complex suffices."""
    if len(centers) < FEWEST:
        return []
    start = time.perf_counter()
    lowered = asked.networks.both.lowered
    first = list(range(asked.graph.output_dim))
    rest = None if asked.other is None else list(range(len(first), lowered.output_dim))
    slack = min(MOST_SLACK, SLACK * asked.tol) or MOST_SLACK
    found = Plane(Block(lowered, centers, asked.norm, *asked.sides, first, rest, slack)).answers()
    each = (time.perf_counter() - start) / len(centers)
    made = [_row(asked, at[i], centers[i], answer, each) for i, answer in enumerate(found) if answer is not None]
    return [row for row in made if row is not None]


def _row(asked: Asked, at: int, center: Array, found: Found, seconds: float) -> Row | None:
    """A row; None where its bracket is not narrow enough, or ends at the limit of the search."""
    start = time.perf_counter()
    question = asked.question(center, Deadline())
    if found.low >= question.reach:
        answer = Answer.bracket(End(question.reach, CLEAR))
    else:
        answer = Answer.bracket(End(found.low, CLEAR), None, found.pair)
    answer = replace(answer, engine="regions")
    row = judged_row(asked.key_of(center), at, question, answer, COMPLEX, 0.0, asked.require)
    taken = seconds + time.perf_counter() - start
    if row.verdict != "certified" or (row.refuted is not None and row.refuted > question.reach):
        return None
    return replace(row, seconds=taken)
