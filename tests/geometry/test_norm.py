"""Norms: strings for people and files, lengths and measures for proofs."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction

import numpy as np
import pytest

from ircert.geometry.norm import Norm, norm_of

WORDS = {Norm.INF: "inf", Norm.ONE: "1", Norm.TWO: "2"}


@pytest.mark.parametrize("norm", Norm)
def test_a_norm_is_the_word_that_people_write(norm: Norm) -> None:
    word = WORDS[norm]
    assert norm == word
    assert (str(norm), repr(norm), f"{norm}", json.dumps([norm])) == (word, repr(word), word, json.dumps([word]))
    assert {word: 1}[norm] == 1  # one hash
    assert pickle.loads(pickle.dumps(norm)) is norm is norm_of(word)


@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_lengths_agree_with_numpy_and_with_measures(norm: Norm, size: int) -> None:
    vectors = np.random.default_rng(size).normal(size=(3, size, 4))
    found = norm.lengths(vectors, axis=1)
    assert np.allclose(found, np.linalg.norm(vectors, ord=norm.order, axis=1), rtol=1e-14, atol=0)
    measure = norm.measure(map(Fraction, vectors[0, :, 0].tolist()))
    assert norm.length_down(measure) <= norm.length(measure) * (1 + 1e-15)
    assert norm.length(measure) <= norm.length_up(measure) * (1 + 1e-15)
    assert (
        Fraction(norm.length_down(measure)) ** norm.power <= measure <= Fraction(norm.length_up(measure)) ** norm.power
    )
    assert found[0, 0] == pytest.approx(norm.length(measure), rel=1e-14)


@pytest.mark.parametrize("size", [1, 2, 4, 5])
def test_lengths_of_short_vectors_are_the_same_to_the_last_bit(size: int) -> None:
    draw = np.random.default_rng(size)
    vectors = draw.normal(size=(300, size)) * 10.0 ** draw.integers(-300, 300, (300, size))
    vectors[0, 0], vectors[1, 0] = np.nan, np.inf
    assert np.array_equal(Norm.INF.lengths(vectors), np.abs(vectors).max(axis=1), equal_nan=True)
    assert np.array_equal(Norm.ONE.lengths(vectors), np.abs(vectors).sum(axis=1), equal_nan=True)


@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("unit", [1e-320, 1e-200, 1e200])
def test_squares_neither_overflow_nor_vanish(norm: Norm, size: int, unit: float) -> None:
    vector = np.array([3.0, 4.0, 0.0])[:size] * unit
    wanted = {"inf": 4.0, "1": 7.0, "2": 5.0}[norm] * unit
    assert norm.lengths(vector) == pytest.approx(wanted, rel=1e-3 if unit < 1e-300 else 1e-14)


@pytest.mark.parametrize("norm", Norm)
def test_a_form_is_at_most_its_dual_length_times_the_length(norm: Norm) -> None:
    form, vectors = np.random.default_rng(0).normal(size=4), np.random.default_rng(1).normal(size=(2000, 4))
    shares = vectors @ form / norm.lengths(vectors)
    assert 0.6 * norm.dual.lengths(form) < shares.max() <= norm.dual.lengths(form) * (1 + 1e-14)
    assert norm.dual.dual is norm


def test_on_a_line_all_norms_are_one() -> None:
    assert {norm.on(1) for norm in Norm} == {Norm.INF}
    assert [norm.on(2) for norm in Norm] == list(Norm)
