"""Saved results: their refuted ends are proved anew, and what was changed is found out."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.checker import check_text
from ircert.cli.main import run
from ircert.errors import IrcertError
from ircert.ir.ops.curves import Tanh
from ircert.result.saved import certificate_of
from tests.result.support import fold


def bend(size: int = 2) -> ircert.Graph:
    """x - 2 tanh(x), entry by entry."""
    build = ircert.Builder(size)
    return build.graph(build.add(build.input, build.affine(build.node(Tanh(), build.input), -2 * np.eye(size))))


@pytest.fixture(scope="module")
def saved() -> dict[str, dict[str, Any]]:
    """Results as JSON, by what refutes in them."""
    ask: dict[str, Any] = {"tol": 1e-2, "time_limit": 20.0}
    results = {
        "exact": ircert.certify(fold(), [0.5]),
        "turned": ircert.certify(bend(), [3.0, 3.0], **ask),
        "boxes": ircert.certify(bend(), [1.95, 1.95], problem="pseudo", **ask),
        "ball": ircert.certify(bend(), [3.0, 3.0], radius=2.5, domain=(-1.0, 9.0), **ask),
        "flat": ircert.certify(bend().select([0]), [3.0, 3.0], **ask),
    }
    return {name: json.loads(result.to_json()) for name, result in results.items()}


def fault(content: dict[str, Any], graph: ircert.Graph) -> str | None:
    return check_text(certificate_of(json.dumps(content), graph))[1]


@pytest.mark.rule("C-19", "R-12", "R-13")
@pytest.mark.parametrize("name", ["exact", "turned", "boxes", "ball", "flat"])
def test_refuted_ends_are_proved_anew(saved: dict[str, Any], name: str, tmp_path: Path, capsys: Any) -> None:
    graph = {"exact": fold(), "flat": bend().select([0])}.get(name, bend())
    assert fault(saved[name], graph) is None
    model, result = tmp_path / "m.ir", tmp_path / "r.json"
    model.write_text(str(graph if name != "flat" else bend()))
    result.write_text(json.dumps(saved[name]))
    more = ["--select", "0"] if name == "flat" else []
    assert run(["check", str(result), "--model", str(model), *more]) == 0
    assert "certified end of a result is not checked" in capsys.readouterr().out
    other = bend(len(saved[name]["center"])).then(ircert.load([(2 * np.eye(len(saved[name]["center"])), None)]))
    model.write_text(str(other))
    assert run(["check", str(result), "--model", str(model)]) == 4


def moved(where: str, name: str) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        point = content[where]["exact" if name in "xy" else "radii"][name[0]]
        k = 0 if len(point) == 1 or point[0] != point[1] else 1
        point[k] = str(Fraction(point[k]) + Fraction(1, 8))

    return change


def nearer(content: dict[str, Any]) -> None:
    content["radius"]["refuted"] *= 0.99


def smaller(content: dict[str, Any]) -> None:
    content["asked"]["radius"] = 0.5


def widened(content: dict[str, Any]) -> None:
    content["witness"]["radii"]["x"] = ["3", "3"]


def without_radii(content: dict[str, Any]) -> None:
    del content["witness"]["radii"]


@pytest.mark.rule("C-19")
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("exact", moved("witness", "x")),
        ("exact", nearer),
        ("turned", nearer),
        ("boxes", moved("witness", "x")),
        ("boxes", moved("witness", "y")),
        ("boxes", nearer),
        ("boxes", widened),
        ("boxes", without_radii),
        ("ball", moved("witness", "x")),
        ("ball", smaller),
        ("flat", moved("witness", "x")),
        ("flat", without_radii),
    ],
)
def test_what_was_changed_is_rejected(saved: dict[str, Any], name: str, change: Any) -> None:
    content = json.loads(json.dumps(saved[name]))
    change(content)
    graph = {"exact": fold(), "flat": bend().select([0])}.get(name, bend())
    try:
        assert fault(content, graph) is not None
    except IrcertError as error:
        assert "refutes no ball as small" in str(error)  # noqa: PT017


@pytest.mark.rule("C-19")
def test_turned_points_that_were_moved(saved: dict[str, Any]) -> None:
    content = json.loads(json.dumps(saved["turned"]))
    content["turned"]["exact"]["y"] = content["turned"]["exact"]["x"]
    content["witness"] = None
    assert "opposite signs" in str(fault(content, bend()))


@pytest.mark.parametrize("wrong", ["{}", "[]", "3", "{", '{"schema": "ircert.result/1"}'])
def test_unreadable(wrong: str) -> None:
    with pytest.raises(IrcertError, match="not a saved result"):
        certificate_of(wrong, fold())


def test_nothing_to_check(saved: dict[str, Any]) -> None:
    content = {**saved["exact"], "witness": None}
    with pytest.raises(IrcertError, match="needs a witness"):
        certificate_of(json.dumps(content), fold())
