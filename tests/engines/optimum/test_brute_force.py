"""The bracket of p* holds what trying all pairs of activation patterns finds: three problems, three norms twice."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import ircert
from tests.engines.optimum.brute_force import TOLERANCE, Case, Layers, optimum

NORMS = ("inf", "1", "2")
KINDS = list(product(("local", "pseudo", "transform"), NORMS, NORMS))
CLOSED = 1e-3
"""Brackets of these small questions are at least as narrow as that (relatively), but for round balls and objectives."""


def drawn(seed: int) -> Case:
    """A question; kinds take turns."""
    problem, norm, objective = KINDS[seed % len(KINDS)]
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 3)) if "2" in (norm, objective) else int(rng.integers(1, 4))
    layers = network(rng, [size, *rng.integers(1, 4, int(rng.integers(1, 3))), int(rng.integers(1, 3))])
    other = network(rng, [size, int(rng.integers(1, 3)), int(rng.integers(1, 3))]) if problem == "transform" else None
    center = rng.integers(-4, 5, size) / 8
    cut = rng.random() < 0.5
    low, high = (np.zeros(size), np.ones(size)) if cut else (np.full(size, -9.0), np.full(size, 9.0))
    center = np.clip(center, low, high)
    return Case(problem, layers, other, center, float(rng.choice([0.25, 0.5, 1.0])), norm, objective, low, high)


def network(rng: np.random.Generator, sizes: list[int]) -> Layers:
    """Weights with few digits, so that collisions are common."""
    shapes = list(zip(sizes[1:], sizes, strict=False))
    return [(rng.integers(-4, 5, shape) / 2.0, rng.integers(-4, 5, shape[0]) / 4.0) for shape in shapes]


def check(seed: int) -> None:
    case = drawn(seed)
    found = ircert.certify(
        ircert.load(case.layers),
        case.center,
        case.problem,
        None if case.other is None else ircert.load(case.other),
        case.norm,
        radius=case.radius,
        domain=(case.low, case.high),
        optimum=True,
        objective_norm=case.objective,
        time_limit=4,
        tol=1e-4,
        require="exact",
    )
    least, most = optimum(case)
    assert found.optimum is not None
    value, bound, trust = found.optimum
    assert trust == "exact"
    assert value <= most + TOLERANCE, (seed, value, most)
    assert bound >= least - TOLERANCE, (seed, bound, least)
    assert value <= bound
    assert (value > 0) == (found.verdict == "refuted")
    if "2" not in (case.norm, case.objective):
        assert bound - value <= CLOSED * max(bound, 1.0), (seed, value, bound)


@pytest.mark.rule("E-20")
@pytest.mark.parametrize("seed", [*range(0, 2 * len(KINDS), 7), 778, 946])
def test_the_bracket_holds_the_optimum(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.rule("E-20")
@pytest.mark.parametrize("part", range(20))
def test_a_thousand_brackets(part: int) -> None:
    for seed in range(part, 1000, 20):
        check(seed)
