"""What is said and written about steps."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ircert
from ircert.analysis.steps.found import StepSize
from ircert.result.radius import End
from tests.analysis.steps.test_step_size import minus


@pytest.mark.rule("SS-4")
def test_what_is_written() -> None:
    found = ircert.step_size(minus(None, 2), ([0.0, 0.0], 1.0))
    fields = json.loads(found.to_json())
    assert fields["schema"] == "ircert.step-size/1"
    assert fields["certified"]["value"] == float(found.certified)
    assert fields["verdict"] == "certified"
    assert bool(found)
    constant = ircert.step_size([(np.zeros((1, 1)), None)])
    assert json.loads(constant.to_json())["certified"]["value"] == "inf"
    assert "of every length" in constant.summary()


def test_verdicts() -> None:
    nothing = End(0.0, "nothing")
    found = StepSize(nothing, nothing, None, None, None, None, 1.0, 1e-3, minus(None))
    assert found.verdict == "unresolved"
    assert not found
