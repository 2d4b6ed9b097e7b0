"""Norms of the affine maps of graphs, whatever they are stored as."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from ircert.bounds import map_norms
from ircert.bounds.map_norms import map_norm_bound
from ircert.geometry.norm import Norm
from ircert.ir.arrays import nonzeros
from ircert.ir.ops import Affine, AveragePool, Conv


@pytest.mark.parametrize("norm", list(Norm))
def test_never_below_and_close(norm: Norm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_norms, "WRITTEN", 500)
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(70, 80)) * (rng.random((70, 80)) < 0.05)
    image = (2, 9, 9)
    for op in (
        Affine(dense),
        Affine(csr_array(dense)),
        Affine(dense[:5, :7]),
        Conv((1, 4), rng.normal(size=(2, 1, 3))),
        Conv(image, rng.normal(size=(3, 2, 3, 3)), padding=(1, 1, 1, 1)),
        Conv(image, rng.normal(size=(4, 1, 2, 3)), stride=(2, 3), groups=2),
        AveragePool(image, (3, 3), padding=(1, 1, 1, 1)),
    ):
        weight = op.weight if isinstance(op, Affine) else op.affine.weight
        true = float(np.linalg.norm(nonzeros(weight).toarray(), norm.order))
        found = float(map_norm_bound(op, norm))
        assert true * (1 - 1e-12) <= found <= 1.1 * true
        assert map_norm_bound(op, norm) == found


def test_convolutions_that_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_norms, "WRITTEN", 1)
    monkeypatch.setattr(map_norms, "convolution_bound", lambda op: None)
    op = Conv((2, 9), np.random.default_rng(1).normal(size=(3, 2, 3)))
    assert float(map_norm_bound(op, Norm.TWO)) >= np.linalg.norm(nonzeros(op.affine.weight).toarray(), 2)
