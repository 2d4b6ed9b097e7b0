"""Linear regions of three inputs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from ircert.analysis.solids import cells as module
from ircert.analysis.solids.cells import cells, signs
from ircert.analysis.solids.polyhedron import box
from ircert.errors import QueryError
from ircert.exact.linear_regions import pattern_at
from ircert.questions.network import lowered
from tests.analysis.solids.networks import ABS, network, slopes

CUBE = box(-np.ones(3), np.ones(3))


@pytest.mark.parametrize("seed", range(4))
def test_regions_fill_the_box_and_have_their_maps(seed: int) -> None:
    graph = lowered(network(seed))
    middle, scale = np.array([0.5, -0.25, 0.0]), 1.5
    found = cells(graph, CUBE, middle, scale)
    assert sum(ConvexHull(cell.solid.vertices).volume for cell in found) == pytest.approx(8.0)
    for cell in found[:: max(1, len(found) // 20)]:
        u = cell.solid.vertices.mean(axis=0)
        x = middle + scale * u
        form = cell.values[graph.output]
        np.testing.assert_allclose(form[:, :3] @ u + form[:, 3], graph(x), atol=1e-12)
        np.testing.assert_allclose(form[:, :3] / scale, slopes(graph, x, 1e-9), atol=1e-5)
        exact = pattern_at(graph, [Fraction(float(t)) for t in x])
        assert all((exact[name] == on).all() for name, on in cell.pattern.items())


def test_signs_are_exact_where_they_are_in_doubt() -> None:
    graph = lowered(ABS.select([0, 1, 1]))
    values, known = signs(graph, cells(graph, CUBE, np.zeros(3), 1.0))
    assert len(values) == 4
    assert not known.any()


def test_too_many_regions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 5)
    with pytest.raises(QueryError, match="more than 5 linear regions; ask about a smaller ball"):
        cells(lowered(ABS), CUBE, np.zeros(3), 1.0)
