"""Jacobians of boxes as affine forms hold those at points."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.bounds import forms
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.engines.boxes.enclosures.jacobians import jacobians
from ircert.engines.boxes.enclosures.secants import Secants
from ircert.ir.ops import Curve
from tests.engines.boxes.enclosures.test_smooth import CURVES, setting


@pytest.mark.rule("FS-1")
@pytest.mark.parametrize("curve", CURVES, ids=lambda op: op.kind)
def test_jacobians_of_points_lie_within_the_forms(curve: Curve) -> None:
    """Curves, relus and the input itself side by side."""
    asked, rng = setting(curve), np.random.default_rng(0)
    network = Batches(asked)
    middle, half = rng.uniform(-1, 1, (30, 3)), 10.0 ** rng.uniform(-6, 0, (30, 3))
    known = enclose(network, middle - half, middle + half, np.inf, tilted=True)
    found = jacobians(network, known)
    low, high = forms.ranges(found)
    for k in range(30):
        t = rng.uniform(-1, 1, (50, 3))
        true = Secants(asked).jacobians(asked.derivatives(known.middle[:, k] + known.half[:, k] * t))
        form = found[:, :, 0, k] + np.einsum("mij,pj->pmi", found[:, :, 1:-1, k], t)
        assert (np.abs(true - form) <= found[:, :, -1, k] + 1e-11).all()
        assert ((low[:, :, k] - 1e-11 <= true) & (true <= high[:, :, k] + 1e-11)).all()
