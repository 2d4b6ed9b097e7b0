"""Affine forms of nodes on many cells: floats that are off by no more than they say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.engines.regions.forms import (
    Masked,
    applied,
    exact_input_forms,
    exactly_applied,
    exactly_masked,
    input_forms,
    slope_errors,
    triples,
)
from ircert.ir.graph import Node
from ircert.ir.ops import Add, Affine, Concat, Select

CENTER = np.array([0.1, -2.0])


def node(op: ircert.ir.ops.Op, *operands: str) -> Node:
    return Node("n", op, operands)


def test_the_input_is_the_centre_and_a_step() -> None:
    forms = input_forms(CENTER, 4.0)
    assert forms.value[0].tolist() == [[1.0, 0.0], [0.0, 1.0], [0.1, -2.0]]
    assert forms.size.tolist() == [[4.1, 6.0]]
    numbers, below = triples(exact_input_forms(CENTER))
    assert [Fraction(int(v), int(below)) for v in numbers[0]] == [1, 0, Fraction(0.1)]


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e100])
def test_maps_are_off_by_no_more_than_their_error(scale: float) -> None:
    rng = np.random.default_rng(0)
    ops = [
        Affine(scale * rng.standard_normal((5, 2)), scale * rng.standard_normal(5)),
        Affine(rng.standard_normal((3, 5))),
    ]
    forms, exact = input_forms(CENTER, 4.0), exact_input_forms(CENTER)
    for op in ops:
        forms, exact = applied(node(op, "x"), [forms]), exactly_applied(node(op, "x"), [exact])
    numbers, below = triples(exact)
    for k in range(3):
        true = [Fraction(int(v), int(below)) for v in numbers[k]]
        off = [abs(t - Fraction(float(v))) for t, v in zip(true, forms.value[0, :, k], strict=True)]
        assert off[0] * 4 + off[1] * 4 + off[2] <= Fraction(float(forms.error[0, k]))


def test_sums_parts_and_selections() -> None:
    x = input_forms(CENTER, 1.0)
    assert applied(node(Select(np.array([1, 1])), "x"), [x]).value[0, 2].tolist() == [-2.0, -2.0]
    assert applied(node(Concat(), "x", "x"), [x, x]).value.shape == (1, 3, 4)
    doubled = applied(node(Add(), "x", "x"), [x, x])
    assert doubled.value[0, 2].tolist() == [0.2, -4.0]
    assert (doubled.error > 0).all()


def test_neurons_that_are_off_are_0_on_their_part_of_a_cell() -> None:
    masked = Masked(input_forms(CENTER, 1.0), np.array([0, 0]), np.array([[True, False], [False, False]]))
    assert masked.dense().value[:, 2].tolist() == [[0.1, 0.0], [0.0, 0.0]]
    assert masked.part(slice(1, 2)).value.shape == (1, 3, 2)
    numbers, _ = triples(exactly_masked(exact_input_forms(CENTER), np.array([True, False])))
    assert [int(v) for v in numbers[1]] == [0, 0, 0]


def test_errors_of_slopes() -> None:
    assert slope_errors(np.array([0.0, 2.0]), 4.0).tolist() == [0.0, 0.5]
