"""Results as JSON."""

from __future__ import annotations

import math
from fractions import Fraction

import jsonschema
import numpy as np
import pytest

from ircert.result.radius import End, Radius
from ircert.result.result import Optimum
from tests.result.support import SCHEMA, made, read


@pytest.mark.rule("R-7")
def test_json_keeps_the_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    found = read(made().to_json())
    assert found["radius"]["exact"] == {"certified": None, "refuted": "3/10"}
    assert found["witness"]["exact"] == {"x": ["1/3"], "y": ["-1/3"]}
    assert found["asked"] == {"radius": None, "max_radius": 1e6, "tol": 1e-6}


@pytest.mark.rule("R-7")
def test_json_has_no_infinity_and_no_nan() -> None:
    stats = {"nan": math.nan, 3: np.float32(1.5), "list": (np.int64(2), Fraction(1, 3)), "array": np.array([np.inf])}
    result = made(
        radius=Radius(End(math.inf, "always")),
        witness=None,
        domain=(np.array([-np.inf]), np.array([1.0])),
        optimum=Optimum(0.0, math.inf, "exact"),
        stats=stats,
    )
    found = read(result.to_json())
    assert found["radius"]["certified"] == "inf"
    assert found["radius"]["refuted"] is None
    assert found["domain"] == {"low": ["-inf"], "high": [1.0]}
    assert found["stats"] == {"nan": None, "3": 1.5, "list": [2, "1/3"], "array": ["inf"]}
