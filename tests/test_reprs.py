"""What people see in notebooks: a line for each object, however long its numbers are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import ircert
from ircert.backends.base import Outcome, Status
from ircert.data.networks import bundled

LONGEST = 260


def objects() -> Iterator[tuple[str, object]]:
    graph = bundled("vanderpol-2-10-10-2")
    query = ircert.Query("local", [0.1, 0.2], 1.0)
    program = ircert.program(graph, query)
    result = ircert.certify(graph, [0.1, 0.2])
    assert result.witness is not None
    yield from {"graph": graph, "node": graph.nodes[1], "operation": graph.nodes[1].op, "query": query}.items()
    yield from {"program": program, "result": result, "radius": result.radius, "witness": result.witness}.items()
    yield "exact witness", result.witness.exact
    regions = ircert.enumerate_regions(graph, query)
    yield from {"regions": regions, "region": regions[0], "folds": ircert.fold_set(graph, query)}.items()
    yield "preimage", ircert.preimages(graph, graph.exact([0.1, 0.2]), query)[0]
    smooth = bundled("vanderpol-tanh-2-32-32-2")
    yield "proved preimage", ircert.preimages(smooth, smooth.enclosure([0.1, 0.2]), ([0.1, 0.2], 0.1))[0]
    atlas = ircert.atlas(graph, [[0.0, 0.0], [0.1, 0.1]])
    yield from {"atlas": atlas, "row": atlas[0]}.items()
    yield "difference", ircert.difference(graph, graph, [0.0, 0.0], 0.5)
    yield "outcome", Outcome(Status.OPTIMAL, 1.0, 1.0, np.zeros(1000), 1, 0.5, "highs")


def test_they_are_short() -> None:
    for name, thing in objects():
        text = repr(thing)
        assert len(text) <= LONGEST, name
        assert "\n" not in text, name
        assert "Fraction(" not in text, name
