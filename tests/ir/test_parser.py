"""Texts of graphs: read, or refused at the place of the fault."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import ircert
from ircert.errors import IrcertError
from ircert.ir.graph import Graph
from ircert.testing import assert_round_trips, graphs

BAD = sorted((Path(__file__).parent / "bad").glob("*.ir"))


@pytest.mark.rule("IR-14")
def test_comments_and_free_layout_are_read() -> None:
    text = "# a net\nircert.ir/1 # version\n return_ = input (length = 2 ) y=relu( return_ )#end\nreturn y # done"
    assert [node.name for node in ircert.parse(text).nodes] == ["return_", "y"]
    keyword = "ircert.ir/1\nreturn = input(length=1)\nsha256 = relu(return)\nreturn sha256"
    assert [node.name for node in ircert.parse(keyword).nodes] == ["return", "sha256"]


@pytest.mark.rule("IR-15")
@pytest.mark.parametrize("path", BAD, ids=lambda p: p.stem)
def test_faults_are_pointed_at(path: Path) -> None:
    """The first line of each file says what the error must say; the line counts."""
    text = path.read_text()
    wanted = text.split("\n")[0].removeprefix("# error: ")
    with pytest.raises(IrcertError) as caught:
        ircert.parse(text)
    assert str(caught.value).startswith(wanted)


@pytest.mark.rule("IR-15")
@given(st.text(max_size=200) | st.text("ircet./1x=input(leg2)\n[]{},@\"'-0.5#", max_size=200))
def test_any_text_is_a_graph_or_an_error(text: str) -> None:
    for candidate in (text, f"ircert.ir/1\n{text}"):
        with pytest.raises(IrcertError):
            ircert.parse(candidate)


@pytest.mark.rule("IR-15")
@given(graphs(), st.data())
def test_a_damaged_text_is_a_graph_or_an_error(graph: Graph, data: st.DataObject) -> None:
    text = str(graph)
    start = data.draw(st.integers(0, len(text)))
    damaged = (
        text[:start] + data.draw(st.text('(),=[]x01.-"@#\n', max_size=3)) + text[start + data.draw(st.integers(0, 5)) :]
    )
    with suppress(IrcertError):
        assert_round_trips(ircert.parse(damaged))


@pytest.mark.rule("IR-15")
@pytest.mark.parametrize(
    "garbage",
    [
        "\x00" * 3_000_000,
        "a" * 3_000_000,
        "[" * 3_000_000,
        "# " * 1_500_000,
        " \n" * 1_500_000,
        "ircert.ir/1" + "\n# c" * 700_000,
        "ircert.ir/1\n" + "x = input(" * 300_000,
        "ircert.ir/1\n" + "x" * 3_000_000 + " = input(length=1)",
        "ircert.ir/1\nx = input(length=" + "[" * 100_000,
        "ircert.ir/1\nx = input(length=" + "9" * 1_000_000 + ")\nreturn x",
    ],
    ids=range(10),
)
def test_megabytes_of_garbage_are_refused(garbage: str) -> None:
    """Quadratic behaviour would take hours here."""
    with pytest.raises(IrcertError) as caught:
        ircert.parse(garbage)
    assert len(str(caught.value)) < 400


def test_parse_wants_text() -> None:
    with pytest.raises(TypeError, match=r"ircert\.load"):
        ircert.parse(Path("net.ir"))  # type: ignore[arg-type]


def large_network(sparse: bool = False) -> Graph:
    rng = np.random.default_rng(1)
    weight = rng.standard_normal((80, 70))
    return ircert.load(
        [(csr_array(weight) if sparse else weight, rng.standard_normal(80)), (rng.standard_normal((2, 80)), None)]
    )
