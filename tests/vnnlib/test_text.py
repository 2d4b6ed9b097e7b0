"""Questions as VNN-LIB queries, read by the standard's own parser."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import vnnlib
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.errors import QueryError
from ircert.ir.graph import Graph
from ircert.vnnlib.text import decimal, query_text, rounded_decimal

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def network(inputs: int = 2, outputs: int = 2) -> Graph:
    rng = np.random.default_rng(inputs + 10 * outputs)
    return ircert.load([(rng.normal(size=(3, inputs)), rng.normal(size=3)), (rng.normal(size=(outputs, 3)), None)])


@pytest.mark.rule("V-1")
@given(FLOATS)
def test_numbers_are_written_in_full(value: float) -> None:
    text = decimal(Fraction(value))
    assert Fraction(text) == Fraction(value)
    assert "e" not in text.lower()
    assert "." in text
    assert rounded_decimal(Fraction(value)) == text


def test_other_fractions_have_no_such_text() -> None:
    with pytest.raises(ValueError, match="no finite decimal"):
        decimal(Fraction(1, 3))


@pytest.mark.rule("V-1")
@pytest.mark.parametrize("separation", [None, Fraction(1, 1024)])
@pytest.mark.parametrize("norm", ["inf", "1", "2"])
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
def test_the_standards_parser_reads_it(problem: str, norm: str, separation: Fraction | None) -> None:
    graph, other = network(3, 4), network(3, 1)
    asked: dict[str, Any] = {"norm": norm, "domain": (-1, 0.75), "other": other if problem == "transform" else None}
    query = ircert.Query(problem, [0.1, 0.2, -0.3], 0.7, **asked)
    found = vnnlib.parse_query_string(query_text(graph, query, separation))
    assert [(net.name, net.equal_to) for net in found.networks][:2] == [("f", ""), ("f2", "f")]
    assert len(found.networks) == (4 if problem == "transform" else 2)
    assert found.networks[0].inputs[0].shape == [1, 3]
    assert found.networks[0].outputs[0].shape == [1, 4]


def test_the_box_is_cut_with_the_domain() -> None:
    text = query_text(network(), ircert.Query("local", [0.5, 0.25], 1.0, domain=(0, [1, np.inf])))
    for words in ("(>= x[0,0] 0.0)", "(<= x[0,0] 1.0)", "(>= y[0,1] 0.0)", "(<= y[0,1] 1.25)"):
        assert f"(assert {words})" in text


def test_many_sides_are_refused() -> None:
    with pytest.raises(QueryError, match=r"2\^11 sides"):
        query_text(network(11, 2), ircert.Query("local", [0.0] * 11, 1.0, norm=1))
