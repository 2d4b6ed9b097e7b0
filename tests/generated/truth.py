"""What is true about a generated question, found without the engines that are judged by it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tests.generated.networks import Asked
from tests.oracle.build import Array, Generator, Network
from tests.oracle.cells import Affine, exact_layers, forward, image, size
from tests.oracle.hunt import hunt, into_ball, linearised
from tests.oracle.oracle import Answer, local_radius, pseudo_radius, transform_radius
from tests.oracle.rational import (
    ZERO,
    Rational,
    Vector,
    add,
    apply,
    identity,
    inverse,
    number,
    product,
    transpose,
    vector,
)

Pair = tuple[Vector, Vector]
CELLS = {1: 400, 2: 120, 3: 24, 4: 8}
"""How many cells the oracle may meet, by the number of inputs; it compares all pairs of them."""
POINTS = 4000


def affordable(question: Asked, radius: float) -> bool:
    """Whether a ball seems to hold few enough cells for the exhaustive oracle (estimated at random points)."""
    rng = np.random.default_rng(question.index)
    n = len(question.center)
    points = question.center + radius * rng.uniform(-1, 1, (POINTS, n))
    networks = [question.layers] if question.other is None else [question.layers, question.other]
    patterns = np.column_stack([np.zeros((POINTS, 0), bool), *(_patterns(layers, points) for layers in networks)])
    return len(np.unique(patterns, axis=0)) <= CELLS[n]


def _patterns(layers: Network, x: Array) -> Array:
    found = [np.zeros((len(x), 0), bool)]
    for w, b in layers[:-1]:
        x = np.maximum(x @ w.T + b, 0.0)
        found.append(x > 0)
    return np.column_stack(found)


def exact_radius(question: Asked, limit: float) -> Answer:
    """The oracle's radius, looked for up to a limit."""
    layers, more = question.layers, (question.center, question.norm, question.domain, limit)
    if question.problem == "transform":
        return transform_radius(layers, question.other, *more)
    return (local_radius if question.problem == "local" else pseudo_radius)(layers, *more)


def fault_of(question: Asked, x: Any, y: Any, radius: Fraction) -> str | None:
    """Why two points are no violation of the closed ball, in rationals; None if they are one."""
    p, q = (tuple(Rational(v) for v in point) for point in (x, y))
    center = vector(question.center)
    network = exact_layers(question.layers)
    bound = number(radius) ** 2 if question.norm == "2" else number(radius)
    if max(size(add(z, center, -1), question.norm) for z in (p, q)) > bound:
        return "a point lies outside of the ball"
    low, high = (-np.inf, np.inf) if question.domain is None else question.domain
    if any((np.array(z, dtype=object) < low).any() or (np.array(z, dtype=object) > high).any() for z in (p, q)):
        return "a point lies outside of the domain"
    if forward(network, p) != forward(network, q):
        return "the outputs differ"
    if question.problem == "pseudo" and center not in (p, q):
        return "neither point is the centre"
    if question.other is None:
        return "the points are equal" if p == q else None
    other = exact_layers(question.other)
    return "the other outputs are equal" if forward(other, p) == forward(other, q) else None


def hunted(question: Asked, radius: float) -> Pair | None:
    """A violation in a ball that random points and Newton's method come across, made exact; None if they do not.

    What floats found is moved onto f(x) = f(y), for the affine maps of its two cells, by the shortest step.
    """
    rng = np.random.default_rng(question.index)
    inner = radius * (1 - 1e-9)
    if question.problem == "pseudo":
        near = _hunt_preimage(rng, question, inner)
    else:
        near = hunt(rng, question.layers, question.center, inner, question.norm)
    pair = None if near is None else _mended(question, *near)
    return pair if pair is not None and fault_of(question, *pair, Fraction(radius)) is None else None


def _hunt_preimage(rng: Generator, question: Asked, radius: float, tries: int = 300) -> Any | None:
    """A point of the ball, well away from the centre, with the centre's image up to rounding."""
    center, norm = question.center, question.norm
    points = into_ball(rng.uniform(-1, 1, (tries, len(center))), norm)
    _, target = linearised(question.layers, center[None])
    for _ in range(12):
        slopes, values = linearised(question.layers, center + radius * points)
        step = np.linalg.pinv(slopes * radius, rcond=1e-9) @ (target - values)[:, :, None]
        points = into_ball(points + step[:, :, 0], norm)
    slopes, values = linearised(question.layers, center + radius * points)
    rounding = 1e-12 * radius * np.abs(slopes).max(axis=(1, 2), initial=1e-300) + 1e-14 * np.abs(target).max()
    found = (np.abs(values - target).max(axis=1) < rounding) & (np.abs(points).max(axis=1) > 1e-2)
    return (center + radius * points[found][0], center) if found.any() else None


def _mended(question: Asked, x: Array, y: Array) -> Pair | None:
    """The nearest pair with f_P(x) = f_Q(y) (y stays where it is for `pseudo`), if the step is determined."""
    (a, c), (b, d) = (_affine_at(question.layers, point) for point in (x, y))
    p, q = vector(x), vector(y)
    fixed = question.problem == "pseudo"
    joint = a if fixed else tuple((*s, *(-v for v in t)) for s, t in zip(a, b, strict=True))
    gap = add(image((b, d), q), image((a, c), p), -1)
    try:
        step = apply(transpose(joint), apply(inverse(product(joint, transpose(joint))), gap))
    except ZeroDivisionError:
        return None
    return add(p, step[: len(p)]), q if fixed else add(q, step[len(p) :])


def _affine_at(layers: Network, x: Array) -> Affine:
    """The affine map of the cell that a float point lies in."""
    matrix, offset = identity(len(x)), (ZERO,) * len(x)
    value, network = x, exact_layers(layers)
    for k, (w, b) in enumerate(network):
        matrix, offset = product(w, matrix), add(apply(w, offset), b)
        value = layers[k][0] @ value + layers[k][1]
        if k + 1 < len(network):
            active = (value > 0).tolist()
            matrix = tuple(row if on else (ZERO,) * len(x) for row, on in zip(matrix, active, strict=True))
            offset = tuple(v if on else ZERO for v, on in zip(offset, active, strict=True))
            value = np.maximum(value, 0.0)
    return matrix, offset
