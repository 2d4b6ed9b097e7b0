from __future__ import annotations

import numpy as np
import pytest

from ircert.ir.arrays import Array
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.form import Form, signed_sum

BUILD = ProgramBuilder()
X, Y = (BUILD.variables(name, 2, -1.0, 1.0) for name in "xy")
WEIGHT, BIAS = np.array([[0.1, 0.2], [0.3, 0.0]]), np.array([0.1, 1e300])
DIFFERENCE = np.array([[1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, -1.0]])


def both(bias: Array = BIAS) -> Form:
    """The same affine map of x and of y."""
    return Form.stacked([Form.of(X).mapped(WEIGHT, BIAS), Form.of(Y).mapped(WEIGHT, bias)])


def test_differences_of_copies_keep_their_coefficients() -> None:
    made = signed_sum(both(), DIFFERENCE, np.zeros(2))
    assert made is not None
    assert made.constant.tolist() == [0.0, 0.0]
    assert np.array_equal(made.terms[X].toarray(), WEIGHT)
    assert np.array_equal(made.terms[Y].toarray(), -WEIGHT)


@pytest.mark.parametrize(
    ("form", "weight", "bias"),
    [
        (both(), 2 * DIFFERENCE, [0.0, 0.0]),  # multiplies
        (both(), np.array([[1.0, 1.0, 0.0, 0.0]]), [0.0]),  # x_0 twice: coefficients would be added
        (both(np.array([1.0, 1.0])), DIFFERENCE, [0.0, 0.0]),  # 1e300 - 1 rounds
        (both(), DIFFERENCE, [0.0, 1e-20 + 2.0**1001]),  # too large to be summed safely
        (both(np.array([np.inf, 0.0])), DIFFERENCE, [0.0, 0.0]),
    ],
)
def test_sums_that_round_are_left_to_variables(form: Form, weight: Array, bias: list[float]) -> None:
    assert signed_sum(form, weight, np.array(bias)) is None
