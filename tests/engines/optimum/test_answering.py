"""p* as people ask for it: when it is there, in which norm, what the text and the JSON say."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.optimum import answering, beside
from ircert.errors import QueryError
from ircert.geometry.norm import Norm
from ircert.result.result import Optimum
from tests.programs.formulations.test_differences import network

WIDE = network(1, 4, 5, 2)
SQUARE = network(5, 2, 4, 2)


def asked(graph: Any = WIDE, **more: Any) -> ircert.Result:
    center = np.full(graph.input_dim, 0.25)
    return ircert.certify(graph, center, **{"radius": 0.25, "domain": (0.0, 1.0), "time_limit": 20, **more})


@pytest.mark.rule("Q-5", "E-20")
def test_it_is_there_by_default_where_outputs_are_fewer() -> None:
    assert asked().optimum is not None
    assert asked(optimum=False).optimum is None
    assert asked(radius=None, max_radius=0.5).optimum is None


@pytest.mark.rule("Q-5", "E-20")
@pytest.mark.parametrize("engine", ["auto", "regions", "boxes"])
def test_it_is_there_where_it_is_asked_for(engine: str) -> None:
    found = asked(SQUARE, optimum=True, engine=engine)
    assert found.optimum is not None
    if found.verdict == "certified":
        assert found.optimum == (0.0, 0.0, "exact")
    else:
        assert 0 < found.optimum.value <= found.optimum.bound


@pytest.mark.rule("Q-5")
@pytest.mark.parametrize("more", [{"optimum": True}, {"objective_norm": 2}])
def test_a_search_has_none(more: Any) -> None:
    with pytest.raises(QueryError, match="that of one ball"):
        asked(radius=None, **more)
    with pytest.raises(QueryError, match="no norm"):
        asked(objective_norm=3)
    with pytest.raises(QueryError, match="True, False or None"):
        asked(optimum="yes")


@pytest.mark.rule("R-15")
@pytest.mark.parametrize(
    ("problem", "words"),
    [
        ("local", "two inputs of the ball 0.5 apart have the same output"),
        ("pseudo", "away from the centre has its output; none that has it is more than"),
        ("transform", "two inputs of the ball have the same output, and outputs of the other network"),
    ],
)
def test_the_summary_says_it_in_words(problem: str, words: str) -> None:
    found = asked(problem=problem, other=network(2, 4, 3, 1) if problem == "transform" else None)
    assert words in found.summary()
    assert found.optimum is not None
    assert f"the bound: {found.optimum.evidence}" in found.summary()


@pytest.mark.rule("R-15", "E-20")
@pytest.mark.parametrize("norm", Norm)
def test_another_norm_is_named(norm: Norm) -> None:
    found = asked(objective_norm=norm, time_limit=3, require="exact")
    assert found.optimum is not None
    assert found.witness is not None
    value = np.linalg.norm(found.witness.x - found.witness.y, ord=norm.order)
    assert found.optimum.value == pytest.approx(value)
    stored = json.loads(found.to_json())["optimum"]
    assert stored.get("norm", "inf") == norm
    assert stored["evidence"] == found.optimum.evidence


@pytest.mark.rule("E-20")
def test_a_solvers_bound_is_told_from_the_proved_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def lower(asked: Any, bracket: Any, deadline: Any) -> str:
        bracket.bound, bracket.evidence = bracket.values.value * 2, "a weaker proof"
        bracket.solver, bracket.solver_bound = "highs", bracket.values.value * 1.25
        return "highs"

    monkeypatch.setattr(answering, "solver_bound", lower)
    found = asked(problem="transform", other=network(2, 4, 3, 1), time_limit=4)
    assert found.optimum is not None
    assert (found.optimum.trust, found.backend) == ("solver", "highs")
    assert found.optimum.proved == pytest.approx(found.optimum.bound * 2 / 1.25)
    assert "if the solver's floating-point bound is right" in found.summary()
    exact = asked(problem="transform", other=network(2, 4, 3, 1), time_limit=4, require="exact")
    assert exact.optimum is not None
    assert exact.optimum.trust == "exact"


@pytest.mark.rule("E-20")
def test_the_program_beside_has_difference_rows() -> None:
    assert beside.FORMULATION == "paper{differences=true}"


def test_a_bracket_is_a_triple_that_travels() -> None:
    made = Optimum(0.25, 0.5, "solver", "words", Norm.ONE, 0.75)
    value, bound, trust = made
    assert (value, bound, trust) == (0.25, 0.5, "solver")
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert (again.evidence, again.norm, again.proved) == ("words", Norm.ONE, 0.75)
