"""Results back from JSON."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.errors import IrcertError
from ircert.geometry.norm import Norm
from ircert.result.certificate import Written
from ircert.result.radius import End, Radius
from ircert.result.result import Optimum, Result
from tests.result.support import fold, made, read

RESULTS: list[dict[str, Any]] = [
    {},
    {"radius": Radius(End(math.inf, "always")), "witness": None, "max_radius": math.inf},
    {"asked_radius": 0.25, "max_radius": None, "optimum": Optimum(0.1, math.inf, "solver"), "verdict": "refuted"},
    {"asked_radius": 1.0, "max_radius": None, "optimum": Optimum(0.1, 0.5, "solver", "a bound", Norm.ONE, 0.75)},
    {"domain": (np.array([-np.inf]), np.array([1.0])), "reason": "time", "verdict": "unresolved", "trust": "solver"},
    {"stats": {"seconds": {"a": 0.5}, "list": [1, None]}, "versions": {"a": "1"}, "seed": 3, "backend": "highs"},
    {"certificate": Written("a.json", ("claim",), "0" * 64, 10, None), "command": {"arguments": [], "model": "a"}},
]


@pytest.mark.rule("R-15")
@pytest.mark.parametrize("changes", RESULTS)
def test_what_was_written_is_read_and_written_again(changes: dict[str, Any]) -> None:
    text = made(**changes).to_json()
    found = Result.from_json(text)
    assert found.to_json() == text
    assert found.to_dict() == json.loads(text)
    assert found.summary() == made(**changes).summary()


@pytest.mark.rule("R-15")
@pytest.mark.parametrize("name", ["vanderpol-2-16-16-2", "vanderpol-tanh-2-32-32-2"])
def test_answers_of_engines_too(name: str) -> None:
    from ircert.data.networks import bundled

    graph = bundled(name)
    result = ircert.certify(graph, [0.5, 0.25], time_limit=5)
    text = result.to_json()
    read(text)
    found = Result.from_json(text, graph)
    assert found.to_json() == text
    assert found.network is graph
    if result.witness is not None:
        assert found.witness is not None
        assert found.witness.exact == result.witness.exact


def test_exact_numbers_stay_exact() -> None:
    found = Result.from_json(made().to_json())
    assert found.radius.refuted is not None
    assert found.radius.refuted.exact == Fraction(3, 10)
    assert found.witness is not None
    assert found.witness.exact.x == [Fraction(1, 3)]


def test_networks_are_optional_but_not_any() -> None:
    text = made().to_json()
    assert Result.from_json(text, fold()).network.sha256 == fold().sha256
    with pytest.raises(IrcertError, match="read without its network"):
        _ = Result.from_json(text).network
    with pytest.raises(IrcertError, match="read without its network"):
        Result.from_json(text).plot()
    with pytest.raises(IrcertError, match="another model"):
        Result.from_json(text, [([[2.0]], None)])
    with pytest.raises(IrcertError, match="another other network"):
        Result.from_json(text, other=fold())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"certified"', '"certain"'),
        ('"ircert.result/1"', '"ircert.result/2"'),
        ('"1/3"', '"1/0"'),
        ('"1/3"', "0.5"),
        ('"norm": "inf"', '"norm": "3"'),
        ('"center"', '"centre"'),
        ("0.5", '"half"'),
        (
            "{",
            "[",
        ),
        ('"certified": 0.3', '"certified": 0.4'),
    ],
)
def test_what_is_no_result_is_refused(old: str, new: str) -> None:
    text = made().to_json()
    assert old in text
    with pytest.raises(IrcertError, match="no saved result"):
        Result.from_json(text.replace(old, new, 1))
