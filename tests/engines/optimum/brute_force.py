"""p* of small networks by trying all pairs of activation patterns: nothing of ircert takes part.

Round balls and round objectives are replaced by polygons around and inside them, so that what comes out is an interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog

Layers = list[tuple[Any, Any]]
SIDES = 48
"""Of polygons."""
ROUND = 1 / math.cos(math.pi / SIDES)
TOLERANCE = 1e-7


@dataclass(frozen=True)
class Case:
    """A question about networks of two inputs at most, where a norm 2 occurs, and as many gaps."""

    problem: str
    layers: Layers
    other: Layers | None
    center: Any
    radius: float
    norm: str
    objective: str
    low: Any
    high: Any


@dataclass(frozen=True)
class Region:
    """Points rows @ x <= rest, with the outputs of both networks as maps of (x, 1)."""

    rows: Any
    rest: Any
    output: Any
    other: Any


def _affine(layers: Layers, pattern: tuple[bool, ...], size: int) -> tuple[Any, list[Any]]:
    """The map of a pattern over (x, 1), and the forms that are not negative on its region."""
    form, signs, used = np.eye(size, size + 1), [], 0
    for k, (weight, bias) in enumerate(layers):
        form = weight @ form
        form[:, -1] += bias
        if k < len(layers) - 1:
            on = np.array(pattern[used : used + len(bias)])
            used += len(bias)
            signs.append(np.where(on, 1.0, -1.0)[:, None] * form)
            form = np.where(on[:, None], form, 0.0)
    return form, signs


def _neurons(layers: Layers | None) -> int:
    return 0 if layers is None else sum(len(bias) for _, bias in layers[:-1])


def _ball(case: Case, scale: float) -> tuple[Any, Any]:
    """Rows of the ball; one of norm 2 is a polygon, `scale` times as large as the one inside it."""
    size = len(case.center)
    if case.norm == "inf" or size == 1:
        rows = np.concatenate([np.eye(size), -np.eye(size)])
    elif case.norm == "1":
        rows = np.array(list(product((1.0, -1.0), repeat=size)))
    else:
        angles = 2 * np.pi * np.arange(SIDES) / SIDES
        rows = np.column_stack([np.cos(angles), np.sin(angles)])
    reach = case.radius * (scale if case.norm == "2" and size > 1 else 1.0)
    box = np.concatenate([np.eye(size), -np.eye(size)])
    rest = np.concatenate([rows @ case.center + reach, case.high, -case.low])
    return np.concatenate([rows, box]), rest


def _regions(case: Case, scale: float) -> list[Region]:
    rows, rest = _ball(case, scale)
    found, size, first = [], len(case.center), _neurons(case.layers)
    for pattern in product((False, True), repeat=first + _neurons(case.other)):
        output, signs = _affine(case.layers, pattern[:first], size)
        other, more = (
            (np.zeros((0, size + 1)), []) if case.other is None else _affine(case.other, pattern[first:], size)
        )
        forms = np.concatenate([np.zeros((0, size + 1)), *signs, *more])
        region = Region(np.concatenate([rows, -forms[:, :-1]]), np.concatenate([rest, forms[:, -1]]), output, other)
        if linprog(np.zeros(size), region.rows, region.rest, bounds=(None, None)).status == 0:
            found.append(region)
    return found


def _directions(norm: str, size: int) -> Any:
    """Directions u such that the largest u · d is the norm, or in norm 2 at least cos(pi / SIDES) of it."""
    if norm == "inf" or size == 1:
        return np.concatenate([np.eye(size), -np.eye(size)])
    if norm == "1":
        return np.array(list(product((1.0, -1.0), repeat=size)))
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _pairs(case: Case, scale: float) -> Iterator[tuple[Region, Region | None]]:
    regions = _regions(case, scale)
    return ((a, b) for a in regions for b in ([None] if case.problem == "pseudo" else regions))


def _furthest(case: Case, a: Region, b: Region | None, at_center: Any) -> float:
    size = len(case.center)
    if b is None:
        rows, rest = a.rows, a.rest
        equal, right = a.output[:, :-1], at_center - a.output[:, -1]
        gap, shift = np.eye(size), -case.center
    else:
        rows = np.block(
            [[a.rows, np.zeros_like(a.rows[:, :1]) @ np.zeros((1, size))], [np.zeros((len(b.rows), size)), b.rows]]
        )
        rest = np.concatenate([a.rest, b.rest])
        equal, right = np.hstack([a.output[:, :-1], -b.output[:, :-1]]), b.output[:, -1] - a.output[:, -1]
        gap, shift = np.hstack([np.eye(size), -np.eye(size)]), np.zeros(size)
        if case.problem == "transform":
            gap, shift = np.hstack([a.other[:, :-1], -b.other[:, :-1]]), a.other[:, -1] - b.other[:, -1]
    best = 0.0
    for u in _directions(case.objective, len(gap)):
        found = linprog(-(u @ gap), rows, rest, equal, right, bounds=(None, None))
        if found.status != 0:
            break
        best = max(best, -found.fun + u @ shift)
    return float(best)


def _evaluated(layers: Layers, x: Any) -> Any:
    for k, (weight, bias) in enumerate(layers):
        x = weight @ x + bias
        x = np.maximum(x, 0.0) if k < len(layers) - 1 else x
    return x


def optimum(case: Case) -> tuple[float, float]:
    """p* lies between these, but for the tolerance of linear programs."""
    center = _evaluated(case.layers, case.center)
    ends = []
    for scale in (math.cos(math.pi / SIDES), 1.0):
        ends.append(max((_furthest(case, a, b, center) for a, b in _pairs(case, scale)), default=0.0))
        if case.norm != "2":
            ends *= 2
            break
    gaps = len(case.center) if case.other is None else len(case.other[-1][1])
    return ends[0], ends[1] * (ROUND if case.objective == "2" and gaps > 1 else 1.0)
