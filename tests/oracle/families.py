"""Families of small networks whose exact radii the oracle knows how to find: (name, layers, centre, other or None)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tests.oracle.build import (
    Array,
    Generator,
    Network,
    beside,
    changed,
    curve,
    line,
    loop,
    numbers,
    plain,
    rounded,
    square,
    stacked,
    straight,
    summed,
    then,
    winding,
    with_units,
)


class Sample(NamedTuple):
    """A network with a centre, and for `transform` another one."""

    name: str
    layers: Network
    center: Array
    other: Network | None


Made = tuple[Network, Array]


def sample(rng: Generator, index: int) -> Sample:
    """The families in turn, each time with dyadic or full-mantissa weights."""
    families = list(FAMILIES)
    name = families[index % len(families)]
    full = index // len(families) % 2 == 1
    layers, center = FAMILIES[name](rng, full)
    other = OTHERS[name](rng, layers, full) if name in OTHERS else None
    return Sample(f"{name}-{'full' if full else 'dyadic'}", layers, center, other)


# --- random networks -------------------------------------------------------------------------------------------------


def random_shallow(rng: Generator, full: bool) -> Made:
    """One hidden layer, 1 to 3 inputs."""
    n = int(rng.integers(1, 4))
    m = n + int(rng.choice([-1, 0, 0, 0, 1])) if n > 1 else n
    return plain(rng, [n, int(rng.integers(4, 9)), m], full), numbers(rng, n, full)


def random_deep(rng: Generator, full: bool) -> Made:
    """Two or three hidden layers in the plane, mostly active near 0."""
    hidden = [int(h) for h in rng.integers(4, 8, int(rng.integers(2, 4)))]
    network = [(w, np.abs(b)) for w, b in plain(rng, [2, *hidden, 2], full)]
    return network, numbers(rng, 2, full) / 4


def residual(rng: Generator, full: bool) -> Made:
    """x + g(x): injective near most points, with folds some way off."""
    n = int(rng.integers(1, 4))
    hidden = int(rng.integers(1, 3)) if n < 3 else 1
    inner = plain(rng, [n, *([int(rng.integers(3, 7))] * hidden), n], full)
    return summed(line(n, hidden), inner, 0.5), numbers(rng, n, full)


def four_inputs(rng: Generator, full: bool) -> Made:
    """x + g(x) with four inputs and few units."""
    inner = plain(rng, [4, int(rng.integers(2, 5)), 4], full)
    return summed(straight(4), inner, 0.5), numbers(rng, 4, full)


def fold(rng: Generator, full: bool) -> Made:
    """(|x1 - t|, x2, …) once or twice, in other coordinates."""
    n = int(rng.integers(1, 4))
    crease = curve([0.0], [[-1.0], [1.0]])
    network = crease if n == 1 else beside(crease, line(n - 1))
    if n == 2 and rng.integers(2):
        network = then(network, changed(rng, network, np.zeros(n), full)[0])
    return changed(rng, network, numbers(rng, n, full), full)


# --- degenerate networks ---------------------------------------------------------------------------------------------


def pruned(rng: Generator, full: bool) -> Made:
    """x + g(x) with zero, duplicated, negated, parallel and dead units."""
    network, center = residual(rng, full)
    w, b = (array.copy() for array in network[0])
    n = w.shape[1]
    for i in range(2 * n, len(b)):
        j = int(rng.integers(2 * n, len(b)))
        w[i], b[i] = {
            0: (w[i], b[i]),
            1: (0 * w[i], b[i]),
            2: (w[j], b[j]),
            3: (-w[j], -b[j]),
            4: (2 * w[j], 2 * b[j]),
            5: (w[i], -1000.0),
        }[int(rng.integers(6))]
    return [(w, b), *network[1:]], center


def on_kinks(rng: Generator, full: bool) -> Made:
    """The centre exactly on one or more kinks: 0, with units that have no bias."""
    network, center = residual(rng, full)
    w, b = network[0]
    b = np.where(rng.integers(2, size=len(b)) > 0, b, 0.0)
    return [(w, b), *network[1:]], np.zeros(len(center))


def on_fold(rng: Generator, full: bool) -> Made:
    """The centre on a fold, or beside it by less than the eye can see: (|x1|, x2)."""
    network = beside(curve([0.0], [[-1.0], [1.0]]), line(1))
    center = np.array([rng.choice([0.0, 2.0**-30, 2.0**-10]), 0.5])
    _, out = changed(rng, network, center, full)[0]
    return [network[0], out], center


def thin(rng: Generator, full: bool) -> Made:
    """Cells of tiny width and nearly parallel lines."""
    network, center = residual(rng, full)
    w, b = (array.copy() for array in network[0])
    i, j = len(b) - 1, len(b) - 2
    w[i], b[i] = w[j], b[j] + 2.0 ** -int(rng.integers(10, 31))
    if rng.integers(2):
        w[i, 0] += 2.0 ** -int(rng.integers(8, 21))
    return [(w, b), *network[1:]], center


def tiny_slope(rng: Generator, full: bool) -> Made:
    """x - relu(e x) / e = min(x, 0) in the first coordinate, or s·x: what tolerances get wrong."""
    e = 2.0 ** -int(rng.integers(10, 40))
    out = [1.0, -1.0, -1 / e] if rng.integers(2) else [e, -e, 0.0]
    first = [(np.array([[1.0], [-1.0], [e]]), np.zeros(3)), (np.array([out]), np.zeros(1))]
    center = np.array([-rounded(rng.uniform(0.1, 2), full), 0.0])
    return beside(first, line(1)), center


def spread(rng: Generator, full: bool) -> Made:
    """Weights over many orders of magnitude: x + g(x) with units, inputs and outputs rescaled by powers of two."""
    network, center = residual(rng, full)
    units, inputs, outputs = (2.0 ** rng.integers(-20, 21, len(x)) for x in (network[0][1], center, network[-1][1]))
    (w, b), *rest = network
    network = [(units[:, None] * w / inputs, units * b), (rest[0][0] / units, rest[0][1]), *rest[1:]]
    w, b = network[-1]
    return [*network[:-1], (outputs[:, None] * w, outputs * b)], center * inputs


def trivial(rng: Generator, full: bool) -> Made:
    """Linear, constant, of width 1, with a dead layer, or with a huge bias."""
    n = int(rng.integers(1, 4))
    center = numbers(rng, n, full)
    w, b = numbers(rng, (n, n), full), numbers(rng, n, full)
    narrow = plain(rng, [n, 1, n], full)
    return {
        0: [(w, b)],
        1: [(0 * w, b)],
        2: narrow,
        3: [(w, b - 1000.0), (w, b), (w, b)],
        4: [(w, b + 2.0**40), (w, b)],
    }[int(rng.integers(5))], center


# --- far collisions --------------------------------------------------------------------------------------------------


def twice_squared(rng: Generator, full: bool) -> Made:
    """s∘s near (1, 0), a piecewise-linear z⁴."""
    network = with_units(rng, then(square(), square()), int(rng.integers(3)), full)
    return changed(rng, network, [1.0, 0.0], full)


def crossing(rng: Generator, full: bool) -> Made:
    """A curve in the plane that crosses itself."""
    network, center = loop(rng, full)
    return changed(rng, with_units(rng, network, int(rng.integers(4)), full), center, full)


def crossing_and_fold(rng: Generator, full: bool) -> Made:
    """A curve that crosses itself and also folds back, exactly or all but (products of 53 bits round)."""
    network, center = loop(rng, full, fold=True)
    return changed(rng, network, center, full)


def wound(rng: Generator, full: bool) -> Made:
    """A map that goes round 0 twice, at 0 or beside it."""
    network = square() if rng.integers(3) == 0 else winding(rng, int(rng.integers(3, 6)), full)
    if rng.integers(4) == 0:
        return [network[0], changed(rng, network, np.zeros(2), full)[0][1]], np.zeros(2)
    network = with_units(rng, network, int(rng.integers(4)), full)
    # Moved lines of 53 bits miss the common point by a little, which leaves tiny folds there.
    return changed(rng, network, _unit(rng), full, move=bool(rng.integers(3) == 0))


def sheets(rng: Generator, full: bool) -> Made:
    """The plane wound twice, and twice again: sheets overlap without a fold between them."""
    network = then(winding(rng, 3, full), winding(rng, int(rng.integers(3, 5)), full))
    return changed(rng, with_units(rng, network, int(rng.integers(3)), full), _unit(rng), full)


def vertex(rng: Generator, full: bool) -> Made:
    """(w(x), h·x) with w winding: cells collide that meet in a vertex only."""
    height = line(1)
    height = [(height[0][0] @ numbers(rng, (1, 2), full), height[0][1]), height[1]]
    network = stacked(winding(rng, int(rng.integers(3, 5)), full), height)
    return changed(rng, with_units(rng, network, int(rng.integers(3)), full), _unit(rng), full)


def rolled(rng: Generator, full: bool) -> Made:
    """A curve that crosses itself times a line: 2 or 3 inputs, one output more."""
    network, center = loop(rng, full)
    more = int(rng.integers(1, 3))
    center = np.concatenate([center, numbers(rng, more, full)])
    return changed(rng, with_units(rng, beside(network, line(more)), int(rng.integers(2)), full), center, full)


def wound_column(rng: Generator, full: bool) -> Made:
    """A winding map times a line: 3 inputs, 3 outputs."""
    network, center = winding(rng, 3, full), _unit(rng)
    # Turned planes of 53 bits have no common line, which leaves thin folds; turned lines through 0 keep their point.
    apart = bool(rng.integers(3))
    if apart:
        network, center = changed(rng, network, center, full, move=False)
    network, center = beside(network, line(1)), np.append(center, 0.5)
    return (network, center) if apart else changed(rng, network, center, full)


def near_pair(rng: Generator, full: bool) -> Made:
    """(t - 2relu(t) + relu(t - e), relu(t) - 2relu(t - e)): f(-e) = f(2e), with no fold."""
    e = 2.0 ** -int(rng.integers(0, 12))
    network = curve([0.0, e], [[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]])
    center = np.array([e * rng.choice([0.5, 1.0, -1.0, 3.0])])
    return changed(rng, with_units(rng, network, int(rng.integers(2)), full), center, full)


def _unit(rng: Generator) -> Array:
    """A point at about distance 1 from 0."""
    angle = rng.uniform(0, 2 * np.pi)
    return rounded(np.array([np.cos(angle), np.sin(angle)]), False)


# --- second networks for `transform` ---------------------------------------------------------------------------------


def small(rng: Generator, full: bool) -> Made:
    """A random network of 1 or 2 inputs, folded or not, or a curve that crosses itself."""
    if rng.integers(3) == 0:
        return crossing(rng, full)
    n = int(rng.integers(1, 3))
    network = plain(rng, [n, int(rng.integers(3, 6)), n], full)
    return summed(line(n), network, 0.5) if rng.integers(2) else network, numbers(rng, n, full)


def twin(rng: Generator, network: Network, full: bool) -> Network:
    """The network with its small weights removed."""
    bar = rng.choice([0.25, 0.5])
    return [(np.where(np.abs(w) > bar, w, 0.0), b) for w, b in network]


def after(rng: Generator, network: Network, full: bool) -> Network:
    """g∘f: always a function of f, where the product of weights is exact."""
    m = len(network[-1][1])
    return then(network, plain(rng, [m, 3, 1], False))


def constant(rng: Generator, network: Network, full: bool) -> Network:
    """A constant."""
    return [(np.zeros((1, network[0][0].shape[1])), numbers(rng, 1, full))]


def same(rng: Generator, network: Network, full: bool) -> Network:
    """The identity, which makes `transform` the problem `local`."""
    n = network[0][0].shape[1]
    return [(np.eye(n), np.zeros(n))]


def independent(rng: Generator, network: Network, full: bool) -> Network:
    """Another random network."""
    return plain(rng, [network[0][0].shape[1], 3, 1], full)


def _dyadic_small(rng: Generator, full: bool) -> Made:
    return small(rng, False)


OTHERS: dict[str, Callable[[Generator, Network, bool], Network]] = {
    "twin": twin,
    "after": after,
    "constant": constant,
    "same": same,
    "independent": independent,
}
FAMILIES: dict[str, Callable[[Generator, bool], Made]] = {
    **{
        make.__name__: make
        for make in (
            random_shallow,
            random_deep,
            residual,
            four_inputs,
            fold,
            pruned,
            on_kinks,
            on_fold,
            thin,
            tiny_slope,
            spread,
            trivial,
            twice_squared,
            crossing,
            crossing_and_fold,
            wound,
            sheets,
            vertex,
            rolled,
            wound_column,
            near_pair,
        )
    },
    # Products of full-mantissa weights would round, and then g∘f is no longer g∘f.
    "after": _dyadic_small,
    **dict.fromkeys(("twin", "constant", "same", "independent"), small),
}
