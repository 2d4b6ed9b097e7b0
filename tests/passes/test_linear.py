"""Values between relu layers as exact linear expressions."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.passes.linear import INPUT, Expression, linear_parts


def at(expression: Expression, **sources: list[float]) -> list[float]:
    terms = ((term @ np.array(sources[name.strip("<>")])) for name, term in expression.terms.items())
    return [float(v) for v in sum(terms, expression.bias)]


X = Expression.of(INPUT, 2)


def test_maps_parts_and_sums() -> None:
    mapped = X.mapped(np.array([[1.0, -2.0], [0.0, 0.0]]), np.array([0.5, 7.0]))
    assert mapped is not None
    assert at(mapped, input=[3.0, 1.0]) == [1.5, 7.0]
    assert at(mapped.take(np.array([1, 0])), input=[3.0, 1.0]) == [7.0, 1.5]
    assert mapped.take(np.array([1])).terms == {}, "constant entries read nothing"
    assert at(mapped.scaled(-1.0), input=[3.0, 1.0]) == [-1.5, -7.0]
    total = mapped.plus(X)
    assert total is not None
    assert at(total, input=[3.0, 1.0]) == [4.5, 8.0]
    assert at(Expression.stacked([X, mapped]), input=[3.0, 1.0]) == [3.0, 1.0, 1.5, 7.0]


def test_what_would_round_is_not_made() -> None:
    tenth = X.mapped(np.eye(2) * 0.1, np.zeros(2))
    assert tenth is not None
    assert tenth.mapped(np.eye(2) * 0.1, np.zeros(2)) is None
    assert X.plus(Expression(X.terms, np.full(2, 0.1))) is not None
    assert Expression(X.terms, np.full(2, 1.0)).plus(Expression({}, np.full(2, 2.0**-60))) is None


def test_a_source_and_nothing_else() -> None:
    assert X.is_source()
    assert not X.scaled(-1.0).is_source()
    assert not Expression(X.terms, np.ones(2)).is_source()


def residual() -> ircert.Graph:
    """x + relu(relu(x) - 1)."""
    build = ircert.Builder(2)
    first = build.relu(build.input, name="first")
    second = build.relu(build.affine(first, np.eye(2), [-1.0, -1.0]), name="second")
    return build.graph(build.add(build.input, second))


def test_depths_definitions_and_the_output() -> None:
    parts = linear_parts(residual())
    assert parts.depth == {INPUT: 0, "first": 1, "second": 2}
    assert at(parts.sources["second"].definition, first=[3.0, 0.5]) == [2.0, -0.5]
    assert set(parts.output.terms) == {INPUT, "second"}
    assert (parts.sources[INPUT].signed, parts.sources["first"].signed) == (True, False)


@pytest.mark.parametrize("x", [[3.0, -2.0], [0.5, 1.5]])
def test_the_expressions_together_are_the_network(x: list[float]) -> None:
    parts, values = linear_parts(residual()), {"input": x}
    for name in ("first", "second"):
        values[name] = [max(0.0, v) for v in at(parts.sources[name].definition, **values)]
    assert at(parts.output, **values) == residual()(x).tolist()


def test_products_that_would_round_become_sources_of_their_own() -> None:
    build = ircert.Builder(1)
    twice = build.affine(build.affine(build.input, [[0.1]], name="tenth"), [[0.1]])
    parts = linear_parts(build.graph(build.relu(twice, name="h")))
    assert parts.sources["tenth"].signed
    assert set(parts.sources["h"].definition.terms) == {"tenth"}
