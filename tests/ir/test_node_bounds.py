from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import ircert
from ircert.errors import GraphError, IrcertError
from ircert.ir.node_bounds import NodeBounds, Region

NETWORK = ircert.load([([[1.0, 2.0], [0.5, -1.0]], [0.5, 0.0]), ([[1.0, 1.0]], None)])
BALL = Region((0.0, 0.0), 1.0)
LOW = {"x": [-1.0, -1.0], "h1": [-2.5, -1.5]}
HIGH = {"x": [1.0, 1.0], "h1": [3.5, 1.5]}
BOUNDED = NETWORK.with_bounds(NodeBounds(BALL, "interval", LOW, HIGH))  # type: ignore[arg-type]
TEXT = str(BOUNDED)


def known(graph: ircert.Graph) -> NodeBounds:
    assert graph.bounds is not None
    return graph.bounds


@pytest.mark.rule("IR-14", "IR-18")
def test_the_text_holds_them(tmp_path: Path) -> None:
    again = ircert.parse(TEXT)
    assert str(again) == TEXT
    assert known(again).same_as(BOUNDED.bounds)
    assert known(pickle.loads(pickle.dumps(again))).same_as(BOUNDED.bounds)
    ircert.save(BOUNDED, tmp_path / "net.ir")
    assert known(ircert.load(tmp_path / "net.ir")).same_as(BOUNDED.bounds)


@pytest.mark.rule("IR-10", "IR-16", "IR-18")
def test_they_are_no_part_of_the_computation(tmp_path: Path) -> None:
    assert BOUNDED == NETWORK
    assert BOUNDED.sha256 == NETWORK.sha256
    assert BOUNDED.with_bounds(None).bounds is None
    assert NETWORK.with_bounds(None) is NETWORK
    assert BOUNDED.select([0]).then(ircert.load([([[1.0]], None)])).bounds is None


@pytest.mark.rule("IR-16")
def test_large_ones_lie_beside_the_file(tmp_path: Path) -> None:
    wide = ircert.load([(np.ones((5000, 1)), None)])
    low = {"y": np.full(5000, -1.0)}
    ircert.save(wide.with_bounds(NodeBounds(Region((0.0,), 1.0), "interval", low, {"y": -low["y"]})), tmp_path / "w.ir")
    assert "bounds.low" in (tmp_path / "w.ir").read_text()
    assert known(ircert.load(tmp_path / "w.ir")).low["y"].tolist() == [-1.0] * 5000


@pytest.mark.rule("IR-9")
def test_they_are_frozen() -> None:
    with pytest.raises(ValueError, match="read-only"):
        known(BOUNDED).low["x"][0] = 3.0
    with pytest.raises(TypeError):
        known(BOUNDED).low["x"] = np.zeros(2)  # type: ignore[index]


@pytest.mark.rule("IR-15", "IR-18")
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[-1.0, -1.0]", "[2.0, -1.0]", "node `x`: entry 0 has low > high"),
        ("[-1.0, -1.0]", "[0.5, -1.0]", "node `x`: its value at the centre lies outside its bounds"),
        ("[-2.5, -1.5]", "[1.0, -1.5]", "node `h1`: its value at the centre lies outside its bounds"),
        ("[-2.5, -1.5]", "[-2.5]", "it has 2 entries but bounds for 1 and 2"),
        ("[-2.5, -1.5]", "-2.5", "it has 2 entries but bounds for 1 and 2"),
        ("[-2.5, -1.5]", "[[1.0], [2.0, 3.0]]", "its bounds are no lists of numbers"),
        ("radius=1.0", "radius=-1", "a radius of at least 0"),
        ("radius=1.0, ", "", "line 2, column 1: this is no set of bounds"),
        ("radius=1.0", "size=1.0", "this is no set of bounds"),
        ('"inf"', '"3"', "a norm of inf, 1, 2"),
        ('"inf"', "3", "`norm` of a set of bounds cannot be 3"),
        ('"inf"', '"inf", low=[1, 1], high=[2, 2]', "its centre lies outside its box"),
        ('"inf"', '"inf", low=[1, 1]', "a low and a high number"),
        ('"inf"', '"inf", copies=2', "the bounds are about 4 inputs, the graph has 2"),
        ('"inf"', '"inf", copies=1000000000000', "at least one copy"),
        ("center=[0.0, 0.0]", "center=[]", "its numbers must be finite"),
        ("center=[0.0, 0.0]", 'center=["a"]', "a list holds numbers"),
        ("on ball", "on box", "expected `bounds on ball(…)`"),
        (' by "interval"', "", "expected `by"),
        ('by "interval"', "by 3", "no set of bounds"),
        (
            'bounds on ball(center=[0.0, 0.0], radius=1.0, norm="inf") by "interval"',
            "",
            "line 4, column 21: bounds without",
        ),
        (" in [[-1.0", " in ][-1.0", "expected `[low, high]`"),
    ],
)
def test_faults_are_named(old: str, new: str, says: str) -> None:
    assert old in TEXT
    with pytest.raises(IrcertError) as caught:
        ircert.parse(TEXT.replace(old, new, 1))
    assert says in str(caught.value)


@pytest.mark.rule("IR-18")
def test_the_centre_is_decided_exactly_where_floats_round() -> None:
    """Floats put the value outside bounds that are the exact value itself."""
    graph = ircert.load([([[1.0, 1.0, -1.0]], None)])
    center = (0.1, 0.2, 0.30000000000000004)
    exact = graph.exact(center)[0]
    assert Fraction(float(graph(center)[0])) != exact
    side = float(exact)
    assert Fraction(side) == exact
    bounds = NodeBounds(Region(center, 0.0), "exact", {"y": np.array([side])}, {"y": np.array([side])})
    assert known(graph.with_bounds(bounds)).same_as(bounds)


def test_names_of_nodes_may_be_words_of_the_text() -> None:
    words = ircert.parse("ircert.ir/1\nbounds = input(length=1)\nin = relu(bounds)\nby = relu(in)\nreturn by\n")
    bounds = NodeBounds(Region((0.0,), 1.0), "m", {"in": np.zeros(1)}, {"in": np.ones(1)})
    again = ircert.parse(str(words.with_bounds(bounds)))
    assert known(again).same_as(bounds)
    with pytest.raises(GraphError, match="no such node"):
        words.with_bounds(NodeBounds(Region((0.0,), 1.0), "m", {"out": np.zeros(1)}, {"out": np.ones(1)}))


@pytest.mark.parametrize(
    ("outer", "inner", "holds"),
    [
        (Region((0.0, 0.0), 2.0), Region((1.0, 0.0), 1.0), True),
        (Region((0.0, 0.0), 2.0), Region((1.0, 0.0), 1.0000000000000002), False),
        (Region((0.0, 0.0), 2.0, "2"), Region((1.0, 1.0), 0.5, "2"), True),
        (Region((0.0, 0.0), 1.0, "2"), Region((0.75, 0.75), 0.01, "2"), False),
        (Region((0.0, 0.0), 2.0, "1"), Region((0.0, 0.0), 1.0, "inf"), True),
        (Region((0.0, 0.0), 1.0, "1"), Region((0.0, 0.0), 1.0, "inf"), False),
        (Region((0.0, 0.0), 1.0, "inf"), Region((0.0, 0.0), 1.0, "2"), True),
        (Region((0.0, 0.0), 2.0, "inf", (0.0, 0.0), (1.0, 1.0)), Region((0.5, 0.5), 1.0), False),
        (Region((0.0, 0.0), 2.0, "inf", (0.0, 0.0), (1.0, 1.0)), Region((0.5, 0.5), 0.5), True),
        (Region((0.0,), 2.0), Region((0.0, 0.0), 1.0), False),
    ],
)
def test_regions_cover_others(outer: Region, inner: Region, holds: bool) -> None:
    assert outer.covers(inner) == holds
