"""Certificates about networks with curves: what is proved passes, and nothing that was changed does."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ircert
from ircert import checker
from ircert.checker import check_file, smooth
from ircert.errors import FileError
from ircert.ir.boxed_pair import boxed
from ircert.ir.fractions_text import to_text
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Tanh
from ircert.ir.ops.smooth import Softmax


def bend(factor: float = -2.0, size: int = 2) -> Graph:
    """x + factor tanh(x), entry by entry."""
    build = ircert.Builder(size)
    return build.graph(build.add(build.input, build.affine(build.node(Tanh(), build.input), factor * np.eye(size))))


def embedded(graph: Graph) -> dict[str, str]:
    return {"ir": str(graph), "sha256": graph.sha256}


def texts(values: list[Fraction]) -> list[str]:
    return [to_text(v) for v in values]


PAIR = boxed(bend(), [Fraction(1.9), Fraction(0)], [Fraction(0)] * 2, [(0, 0), (0, 1)])
"""x = 2 tanh(x) at 1.91500804815… and 0."""
assert PAIR is not None
R = to_text(PAIR.x_radii[0])
BOXES: dict[str, Any] = {
    "schema": "ircert.certificate/1", "kind": "boxes", "problem": "local", "norm": "inf", "center": ["1", "0"],
    "radius": "1", "domain": None, "x": texts(PAIR.x), "y": texts(PAIR.y), "x_radii": texts(PAIR.x_radii),
    "y_radii": texts(PAIR.y_radii), "model": embedded(bend()), "other": None,
}  # fmt: skip
TURNED: dict[str, Any] = {
    **{name: value for name, value in BOXES.items() if "radii" not in name},
    "kind": "turned", "center": ["3", "3"], "radius": "3", "x": ["3", "3"], "y": ["1/2", "3"],
}  # fmt: skip


def fault(folder: Path, content: dict[str, Any]) -> str | None:
    path = folder / "c.json"
    path.write_text(json.dumps(content))
    return check_file(path)[1]


@pytest.mark.rule("C-16", "R-13")
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "2"},
        {"norm": "1", "radius": "1"},
        {"domain": {"low": ["0", "-1"], "high": [None, "1"]}},
        {"problem": "pseudo", "center": ["0", "0"], "radius": "2"},
        {"problem": "transform", "other": embedded(bend(3.0))},
        {"x_radii": [R, "0"]},  # the second outputs agree anyway
        {"x": BOXES["y"], "y": BOXES["x"], "x_radii": BOXES["y_radii"], "y_radii": BOXES["x_radii"]},
    ],
)
def test_boxes_pass(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert fault(tmp_path, BOXES | changes) is None
    claim, _ = checker.explain(tmp_path / "c.json")
    assert "closed ball of radius" in claim
    assert "(C-16)" in claim


@pytest.mark.rule("C-16", "R-13")
@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"x": [BOXES["x"][0], "1/4"]}, "does not show"),
        ({"x": texts([PAIR.x[0] + 4 * PAIR.x_radii[0], PAIR.x[1]])}, "does not show"),
        ({"x_radii": ["3/4", "3/4"], "radius": "9", "y": ["-3", "0"]}, "does not show"),
        ({"x_radii": ["2", "2"], "radius": "9"}, "overlap"),
        ({"x": BOXES["y"], "radius": "2"}, "overlap"),
        ({"x_radii": ["-" + R, R]}, "negative"),
        ({"x_radii": ["0", R]}, "unknown inputs"),
        ({"y_radii": [R, R], "radius": "2"}, "unknown inputs"),
        ({"radius": "915008/1000000"}, "does not lie in the ball"),
        ({"center": ["1", "1/1000"], "norm": "2"}, "does not lie in the ball"),
        ({"domain": {"low": [None, None], "high": ["2", "0"]}}, "x does not lie in the domain"),
        ({"problem": "pseudo"}, "not the centre"),
        ({"problem": "transform", "other": embedded(bend())}, "tell the boxes apart"),
        ({"model": embedded(bend(-2.0000001))}, "does not show"),
        ({"model": embedded(bend(0.5))}, "does not show"),
        ({"model": {"ir": str(bend()), "sha256": bend(0.5).sha256}}, "not the one of the certificate"),
    ],
)
def test_boxes_that_prove_nothing_are_rejected(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    assert why in str(fault(tmp_path, BOXES | changes))


@pytest.mark.rule("C-17", "R-12")
def test_turned_points(tmp_path: Path) -> None:
    assert fault(tmp_path, TURNED) is None
    assert "(C-17)" in checker.explain(tmp_path / "c.json")[0]
    assert fault(tmp_path, TURNED | {"domain": {"low": ["0", None], "high": ["9", "9"]}}) is None
    pinned = {"domain": {"low": [None, "3"], "high": [None, "3"]}, "model": embedded(bend().select([0]))}
    assert fault(tmp_path, TURNED | pinned) is None
    for changes, why in (
        ({"y": ["1", "3"]}, "opposite signs"),
        ({"y": ["1/2", "1/2"]}, "opposite signs"),
        ({"radius": "5/2"}, "y does not lie in the interior of the ball"),
        ({"domain": {"low": ["1/2", None], "high": [None, None]}}, "interior of the domain"),
        ({"problem": "pseudo"}, "say nothing"),
        ({"model": embedded(bend().select([0]))}, "say nothing"),
        ({"domain": {"low": [None, "3"], "high": [None, "3"]}}, "say nothing"),
        ({**pinned, "y": ["1/2", "2"]}, "interior of the domain"),
        ({"model": embedded(bend(0.5))}, "opposite signs"),
    ):
        assert why in str(fault(tmp_path, TURNED | changes))


@pytest.mark.rule("C-1")
@pytest.mark.parametrize(
    "content",
    [
        {**TURNED, "x_radii": ["0", "0"]},
        {name: value for name, value in BOXES.items() if name != "y_radii"},
        BOXES | {"x_radii": ["1/0", R]},
        BOXES | {"x_radii": [R]},
        BOXES | {"x_radii": [None, R]},
        BOXES | {"kind": "box"},
        BOXES | {"radius": "inf"},
    ],
)
def test_unreadable(tmp_path: Path, content: dict[str, Any]) -> None:
    with pytest.raises(FileError, match="not a certificate"):
        fault(tmp_path, content)


@pytest.mark.rule("C-18")
def test_what_is_too_long_is_not_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOST_WEIGHTS", "MOST_WORK", "MOST_UNKNOWNS", "MOST_ENTRIES", "MOST_SLOPES", "LONGEST"):
        monkeypatch.setattr(smooth, name, 1)
        for content in (BOXES, TURNED):
            with pytest.raises(FileError, match=r"too long|too much"):
                fault(tmp_path, content)
        monkeypatch.undo()


def test_networks_without_an_enclosure(tmp_path: Path) -> None:
    build = ircert.Builder(2)
    graph = build.graph(build.node(Softmax(1), build.input))
    assert "no enclosure" in str(fault(tmp_path, BOXES | {"model": embedded(graph)}))


@pytest.mark.rule("C-16", "C-17")
@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, "turned"),
        ({"radius": 2.5}, "boxes"),
        ({"problem": "pseudo", "center": [1.95, 1.95]}, "boxes"),
        ({"problem": "transform", "other": bend(3.0), "norm": 2}, "boxes"),
        ({"domain": {"low": [-9.0, 3.0], "high": [9.0, 3.0]}}, "boxes"),
    ],
)
def test_what_certify_writes_passes(tmp_path: Path, options: dict[str, Any], kind: str) -> None:
    path = tmp_path / "c.json"
    asked: dict[str, Any] = {"center": [3.0, 3.0], "tol": 1e-2, "time_limit": 20.0, "certificate": path} | options
    result = ircert.certify(bend(), **asked)
    assert result.certificate is not None
    assert result.certificate.sha256 is not None
    whole = json.loads(path.read_text())
    assert check_file(path)[1] is None
    *_, part = whole.pop("parts", [{}])  # behind that of the good end, if there is one
    content = whole | part
    assert content["kind"] == kind
    end = result.asked_radius or result.radius.refuted
    assert end is not None
    assert math.isclose(Fraction(content["radius"]), float(end), rel_tol=1e-12)
    shift = to_text(Fraction(content["x"][0]) + Fraction(1, 2**20))
    if kind == "boxes":
        assert fault(tmp_path, content | {"x": [shift, *content["x"][1:]]}) is not None


@pytest.mark.rule("C-16")
def test_points_are_explained_as_points(tmp_path: Path) -> None:
    """relu comes before tanh: both points are flat, and nothing is solved."""
    build = ircert.Builder(1)
    graph = build.graph(build.node(Tanh(), build.relu(build.input)))
    flat = {"center": ["0"], "x": ["-1"], "y": ["-2"], "x_radii": ["0"], "y_radii": ["0"], "radius": "2"}
    (tmp_path / "c.json").write_text(json.dumps(BOXES | flat | {"model": embedded(graph), "domain": None}))
    claim, wrong = checker.explain(tmp_path / "c.json")
    assert wrong is None
    assert "exact rationals" in claim
    assert "interval" not in claim
