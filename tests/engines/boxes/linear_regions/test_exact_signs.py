"""Exact signs of determinants, of float matrices and of patterns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.linear_regions.exact_signs import ExactSigns, determinant_sign, signs_of_floats
from ircert.geometry.norm import Norm
from tests.engines.boxes.making import determinant, residual, setting_of

NORMS = tuple(Norm)


def test_signs_of_float_matrices() -> None:
    """Nearly singular ones too, where elimination in floats says nothing."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 3):
        matrices = rng.standard_normal((n, n, 60))
        matrices[-1, :, :40] = matrices[0, :, :40] * rng.standard_normal(40)
        matrices[:, :, ::2] *= 2.0 ** rng.integers(-300, 300, (n, 1, 30))
        exact = [determinant([[Fraction(v) for v in row] for row in matrices[..., k].tolist()]) for k in range(60)]
        assert signs_of_floats(matrices).tolist() == [(v > 0) - (v < 0) for v in exact]


def test_signs_of_patterns() -> None:
    setting = setting_of(residual(np.random.default_rng(1), 3, 3), np.zeros(3))
    maps = ExactMaps(setting)
    signs = ExactSigns(maps)
    rng = np.random.default_rng(2)
    for _ in range(20):
        phases = rng.choice([-1, 1], setting.neurons).astype(np.int8)
        matrix = maps.of(phases).values[:, :-1]
        value = determinant([[Fraction(int(v)) for v in row] for row in matrix])
        assert signs.of(phases) == signs.of(phases) == determinant_sign(matrix) == (value > 0) - (value < 0)
