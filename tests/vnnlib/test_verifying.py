"""Answers to queries are those of `certify`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.data.networks import bundled
from ircert.errors import IrcertError
from ircert.ir.graph import Graph
from ircert.vnnlib.queries import asked, parsed
from ircert.vnnlib.text import query_text
from ircert.vnnlib.verifying import Verdict, verified

FOLD = ircert.parse("ircert.ir/1\nx = input(length=2)\na = abs(x)\nreturn a\n")
FIRST = ircert.load([([[1.0, 0.0]], None)])


def answer(graph: Graph, query: ircert.Query, separation: float | None = None) -> Verdict:
    far = None if separation is None else Fraction(separation)
    networks = {"f": graph} if query.other is None else {"f": graph, "g": query.other}
    return verified(asked(parsed(query_text(graph, query, far))), networks, 20)


@pytest.mark.rule("V-4")
@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"center": [1, 1], "radius": 0.75}, "unsat"),
        ({"center": [1, 1], "radius": 1.25}, "sat"),
        ({"center": [1, 1], "radius": 1.25, "separation": 0.25}, "sat"),
        ({"center": [1, 1], "radius": 1.25, "separation": 0.625}, "unsat"),
        ({"center": [1, 1], "radius": 1.25, "domain": (0, 4)}, "unsat"),
        ({"center": [0.25, 3], "radius": 1, "problem": "pseudo"}, "sat"),
        ({"center": [0.75, 3], "radius": 1, "problem": "pseudo"}, "unsat"),
        ({"center": [1, 1], "radius": 0.75, "problem": "transform", "other": FIRST}, "unsat"),
        ({"center": [1, 1], "radius": 1.25, "problem": "transform", "other": FIRST}, "sat"),
        ({"center": [1, 1], "radius": 1.25, "problem": "transform", "other": FIRST, "separation": 0.75}, "unsat"),
    ],
)
def test_known_answers(options: dict[str, Any], word: str) -> None:
    separation = options.get("separation")
    query = ircert.Query(**{"problem": "local", **{k: v for k, v in options.items() if k != "separation"}})
    found = answer(FOLD, query, separation)
    assert found.word == word
    if word == "sat":
        x, y = (found.values[name] for name in "xy")
        assert found.values["f_x"] == found.values["f2_y"] == list(FOLD.exact(x)) == list(FOLD.exact(y))
        assert query.ball.contains(x)
        assert query.ball.contains(y)
        assert [tensor.name for tensor in found.tensors] == [*("x", "f_x", "y", "f2_y"), *("u", "g_u", "v", "g2_v")][
            : 8 if query.other else 4
        ]


@pytest.mark.rule("V-4")
@pytest.mark.parametrize("seed", range(6))
def test_random_networks_agree_with_certify(seed: int) -> None:
    rng = np.random.default_rng(seed)
    layers = [(rng.integers(-4, 5, (4, 2)) / 4, rng.integers(-4, 5, 4) / 8), (rng.integers(-4, 5, (2, 4)) / 4, None)]
    graph = ircert.load(layers)
    for problem in ("local", "pseudo"):
        wanted = ircert.certify(graph, [0.5, 0.25], problem=problem, radius=0.5)
        found = answer(graph, ircert.Query(problem, [0.5, 0.25], 0.5))
        assert found.word == {"certified": "unsat", "refuted": "sat"}[wanted.verdict]


def test_sides_that_are_no_floats_are_kept_exactly() -> None:
    text = query_text(FOLD, ircert.Query("local", [1.0, 1.0], 0.5)).replace(" 0.5)", " 0.1)").replace(" 1.5)", " 0.3)")
    assert verified(asked(parsed(text)), {"f": FOLD}).word == "unsat"
    crossing = text.replace(" 0.1)", " -0.1)")
    found = verified(asked(parsed(crossing)), {"f": FOLD})
    assert found.word == "sat"
    assert all(Fraction(-1, 10) <= v <= Fraction(3, 10) for name in "xy" for v in found.values[name])
    assert verified(asked(parsed(text.replace(" 0.3)", " 0.05)"))), {"f": FOLD}).word == "unsat"  # nothing is inside


def test_smooth_networks_and_limits() -> None:
    graph = bundled("vanderpol-tanh-2-32-32-2")
    assert answer(graph, ircert.Query("local", [0.0, 0.0], 0.5)).word == "unsat"
    hard = bundled("coupled-8-256-256-8")
    query = query_text(hard, ircert.Query("local", [0.0] * 8, 2.0))
    assert verified(asked(parsed(query)), {"f": hard}, 1.0).word in ("timed-out", "unknown")


@pytest.mark.parametrize(
    ("networks", "words"),
    [
        ({}, "`f` has no file; give --network f=FILE"),
        ({"f": FOLD, "h": FOLD}, "no network `h`"),
        ({"f": FIRST}, "`f_x` has 2 entries"),
    ],
)
def test_models_must_fit(networks: dict[str, Graph], words: str) -> None:
    with pytest.raises(IrcertError, match=words):
        verified(asked(parsed(query_text(FOLD, ircert.Query("local", [1.0, 1.0], 0.5)))), networks)
