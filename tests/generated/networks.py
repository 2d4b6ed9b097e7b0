"""Numbered questions about generated networks: 1 to 4 inputs, 1 to 3 hidden layers, 4 to 24 neurons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.geometry.norm import Norm
from tests.oracle.build import Array, Generator, Network, numbers, plain, summed
from tests.oracle.families import FAMILIES, OTHERS

SEED = 20240
NORMS: tuple[Norm, ...] = (Norm.INF, Norm.ONE, Norm.TWO)
PROBLEMS = ("local", "pseudo", "local", "transform", "local")
FEWEST, MOST, DEEPEST = 4, 24, 3
FAR = 64.0
"""Skips are written relu(x + FAR) - FAR: straight where the balls are, and cheaper than relu(x) - relu(-x)."""


@dataclass(frozen=True)
class Asked:
    """A question about a generated network; `other` is there for `transform` only."""

    index: int
    family: str
    full: bool
    layers: Network
    center: Array
    other: Network | None
    problem: str
    norm: Norm
    domain: tuple[Array, Array] | None = None

    def __str__(self) -> str:
        """Enough to make it again."""
        kind = "full" if self.full else "dyadic"
        shape = "-".join(str(k) for k in [len(self.center), *(len(b) for _, b in self.layers)])
        box = "" if self.domain is None else ", domain"
        return f"asked({self.index}): {self.family} {kind} {shape}, {self.problem}, norm {self.norm}{box}"


def asked(index: int) -> Asked:
    """The question of this number, always the same one; every other network has weights of 53 bits."""
    rng = np.random.default_rng([SEED, index])
    full = bool(index % 2)
    problem = PROBLEMS[index // 2 % len(PROBLEMS)]
    norm = NORMS[index // 10 % len(NORMS)]
    turn = index // 30
    family = "sized" if turn % 2 else list(FAMILIES)[turn // 2 % len(FAMILIES)]
    while True:
        layers, center = (sized if family == "sized" else FAMILIES[family])(rng, full)
        if len(layers) - 1 <= DEEPEST and FEWEST <= neurons(layers) <= MOST:
            break
        if family == "trivial":
            family = "sized"  # most trivial networks have too few neurons
    other = None
    if problem == "transform":
        kind = family if family in OTHERS else str(rng.choice(["twin", "same", "independent"]))
        other = OTHERS[kind](rng, layers, full)
        family = f"{family}/{kind}"
    domain = box_around(rng, center) if index // 2 % 9 == 8 else None
    return Asked(index, family, full, layers, center, other, problem, norm, domain)


def box_around(rng: Generator, center: Array) -> tuple[Array, Array]:
    """A box around a point: open sides, sides through it, pinned coordinates (but not all of them)."""
    steps = [0.0, 0.125, 0.5, 1.0, 3.0, np.inf, np.inf]
    low, high = center - rng.choice(steps, len(center)), center + rng.choice(steps, len(center))
    return (low, high) if (low < high).any() else (low, high + 1.0)


def neurons(layers: Network) -> int:
    """How many hidden neurons a network has."""
    return sum(len(b) for _, b in layers[:-1])


def sized(rng: Generator, full: bool) -> tuple[Network, Array]:
    """A network whose sizes are drawn first: x + g(x) with folds some way off, or plain and mostly active at 0."""
    n, depth = int(rng.integers(1, 5)), int(rng.integers(1, DEEPEST + 1))
    center = numbers(rng, n, full)
    if rng.integers(4):
        fewest = depth * n + depth  # the skip, and one unit of g in every layer
        total = int(rng.integers(max(FEWEST, fewest), MOST + 1))
        inner = plain(rng, [n, *_parts(rng, total - depth * n, depth), n], full)
        return summed(_skip(n, depth), inner, float(rng.choice([0.5, 1.0, 2.0]))), center
    total = int(rng.integers(max(FEWEST, depth * n), MOST + 1))
    m = n + int(rng.choice([0, 0, 0, 1]))
    inner = plain(rng, [n, *_parts(rng, total, depth, n), m], full)
    return [(w, np.abs(b) + 0.5) for w, b in inner], center / 4


def _skip(n: int, depth: int) -> Network:
    """The identity for points above -FAR."""
    first, last = (np.eye(n), np.full(n, FAR)), (np.eye(n), np.full(n, -FAR))
    return [first, *((np.eye(n), np.zeros(n)) for _ in range(depth - 1)), last]


def _parts(rng: Generator, total: int, count: int, least: int = 1) -> list[int]:
    """Layer sizes, each at least `least`, with this sum."""
    spare = rng.multinomial(total - least * count, np.full(count, 1 / count))
    return [least + int(k) for k in spare]
