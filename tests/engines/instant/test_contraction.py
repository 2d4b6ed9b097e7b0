"""Injective on the whole space, because every block is close to a linear map."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.instant.contraction import is_injective
from ircert.ir.graph import Graph


def residual(*factors: float) -> Graph:
    """Blocks x + factor relu(x), one after the other, in two coordinates."""
    build = ircert.Builder(2)
    last = build.input
    for factor in factors:
        last = build.add(last, build.affine(build.relu(last), factor * np.eye(2)))
    return build.graph(last)


@pytest.mark.parametrize(
    ("factors", "injective"),
    [
        ((0.5,), True),
        ((-0.9,), True),
        ((100.0,), True),
        ((-1.0,), False),
        ((-2.0,), False),
        ((0.5, -0.5, 0.9), True),
        ((0.5, -2.0), False),
    ],
)
def test_blocks_with_slopes_of_one_sign(factors: tuple[float, ...], injective: bool) -> None:
    """The slopes of a block are 1 and 1 + factor."""
    assert is_injective(residual(*factors)) is injective


@pytest.mark.parametrize(
    ("weight", "injective"), [(np.eye(2), True), (np.ones((2, 2)), False), ([[1, 0], [0, 1], [1, 1]], True)]
)
def test_linear_networks_have_full_rank_or_not(weight: object, injective: bool) -> None:
    assert is_injective(ircert.load([(np.asarray(weight, float), None)])) is injective


def test_fewer_outputs_than_inputs_are_never_injective() -> None:
    assert not is_injective(ircert.load([(np.ones((1, 2)), None)]))


def test_a_relu_that_is_on_for_one_sign_only_loses_the_other() -> None:
    build = ircert.Builder(2)
    assert not is_injective(build.graph(build.relu(build.input)))


def test_numbers_that_overflow_prove_nothing() -> None:
    assert not is_injective(residual(1e308, 1e308, 1e308))


def test_no_rank_is_looked_for_where_a_later_block_is_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """An affine map of full rank, and then relus that no block of the argument spans."""
    asked: list[object] = []
    monkeypatch.setattr("ircert.engines.instant.contraction.has_full_rank", asked.append)
    rng = np.random.default_rng(0)
    assert not is_injective(ircert.load([(rng.normal(size=(200, 3)), None), (rng.normal(size=(3, 200)), None)]))
    assert not asked
