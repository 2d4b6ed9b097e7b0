"""One network of (x, d) for tools that know boxes alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.errors import QueryError
from ircert.vnnlib.merged import merged, property_text
from tests.vnnlib.test_text import network

FAR = Fraction(1, 8)


@pytest.mark.rule("V-3")
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
def test_it_computes_differences(problem: str) -> None:
    graph, other = network(2, 3), network(2, 1) if problem == "transform" else None
    query = ircert.Query(problem, [0.5, 0.25], 1.0, other=other)
    both = merged(graph, query)
    x, d = np.array([0.25, -0.5]), np.array([0.125, 0.75])
    wanted = [graph(x + d) - graph(x)]
    wanted += [] if other is None else [other(x + d) - other(x)]
    wanted += [] if problem == "pseudo" else [x + d]
    np.testing.assert_allclose(both(np.r_[x, d]), np.concatenate(wanted))
    text = property_text(graph, query, FAR)
    assert text.count("declare-const X_") == both.input_dim
    assert text.count("declare-const Y_") == both.output_dim


@pytest.mark.rule("V-3")
def test_collisions_keep_the_property() -> None:
    graph = ircert.parse("ircert.ir/1\nx = input(length=2)\na = abs(x)\nreturn a\n")
    query = ircert.Query("local", [0.0, 1.0], 0.5)
    assert keeps(property_text(graph, query, FAR), np.r_[0.25, 1.0, -0.5, 0.0], merged(graph, query))
    assert not keeps(property_text(graph, query, FAR), np.r_[0.25, 1.0, 0.0, 0.0], merged(graph, query))  # not apart
    assert not keeps(property_text(graph, query, FAR), np.r_[0.5, 1.0, -1.25, 0.0], merged(graph, query))  # outside
    assert not keeps(
        property_text(graph, query, FAR), np.r_[0.25, 1.0, 0.0, 0.25], merged(graph, query)
    )  # no collision


def keeps(text: str, point: np.ndarray, graph: ircert.Graph) -> bool:
    """Whether a point and its outputs keep all assertions of a property."""
    names = {f"X_{i}": v for i, v in enumerate(point)} | {f"Y_{i}": v for i, v in enumerate(graph(point))}

    def holds(words: str) -> bool:
        relation, name, bound = words.strip("() ").split()
        return names[name] >= float(bound) if relation == ">=" else names[name] <= float(bound)

    lines = [line for line in text.splitlines() if line.startswith("(assert")]
    simple = [line.removeprefix("(assert ")[:-1] for line in lines if "(or " not in line]
    choices = next(line for line in lines if "(or " in line).split("(and ")[1:]
    return all(map(holds, simple)) and any(holds(choice) for choice in choices)


def test_other_norms_are_no_boxes() -> None:
    with pytest.raises(QueryError, match="norm inf"):
        merged(network(), ircert.Query("local", [0.0, 0.0], 1.0, norm=2))
