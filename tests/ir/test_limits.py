"""Texts that claim far more than they hold: refused before memory is taken, in time proportional to the text."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.errors import GraphError, IrcertError, OpError, ParseError
from ircert.ir.arrays import LARGEST, LARGEST_TOTAL
from ircert.ir.build import Builder
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Concat, Conv, Input, MaxPool
from ircert.ir.parser import MOST_LISTS, MOST_NAMES, SPARE
from tests.test_files import at_most

HEAD = "ircert.ir/1\nx = input(length=1)\n"


def doubled(times: int) -> str:
    """A text whose concats double a vector again and again."""
    names = ["x", *(f"c{k}" for k in range(times))]
    lines = "".join(f"{b} = concat({a}, {a})\n" for a, b in pairwise(names))
    return f"{HEAD}{lines}return {names[-1]}\n"


def statement(text: str) -> str:
    return f"{HEAD}y = {text}\nreturn y\n"


@pytest.mark.rule("IR-6")
def test_concats_that_double() -> None:
    with at_most(2), pytest.raises(GraphError, match=rf"`c22`: concat: its result has {2 * LARGEST} entries.*IR-6"):
        ircert.parse(doubled(30))
    assert ircert.parse(doubled(22)).output_dim == LARGEST


@pytest.mark.rule("IR-6")
def test_vectors_that_are_too_long_together() -> None:
    build, count = Builder(LARGEST), LARGEST_TOTAL // LARGEST
    for _ in range(count - 1):
        build.relu(build.input)
    with pytest.raises(GraphError, match="entries together"):
        build.relu(build.input)
    nodes = [Node("x", Input(LARGEST)), *(Node(f"c{k}", Add(), ("x", f"c{k - 1}" if k else "x")) for k in range(count))]
    with pytest.raises(GraphError, match="entries together"):
        Graph(nodes, f"c{count - 1}")


@pytest.mark.rule("IR-6")
@pytest.mark.parametrize(
    "text",
    [
        "conv(x, image=[1, 1, 1], weight=[[[[1.0]]]], padding=[8000, 8000, 8000, 8000])",
        "average_pool(x, image=[1, 1, 1], kernel=[1, 1], padding=[8000, 8000, 8000, 8000])",
        "average_pool(x, image=[1, 1], kernel=[100000], padding=[100000, 100000])",
        "max_pool(x, image=[1, 1], kernel=[3000], padding=[2999, 2999])",
        "max_pool(x, image=[1, 1, 1], kernel=[8000, 16000], padding=[4000, 8000, 4000, 8000])",
        f"affine(x, weight=sparse [{2 * LARGEST}, 1] [])",
        f"affine(x, weight=sparse [1, {2 * LARGEST}] [])",
    ],
)
def test_one_line_that_claims_gigabytes(text: str) -> None:
    with at_most(2), pytest.raises(IrcertError):
        ircert.parse(statement(text))


@pytest.mark.rule("IR-6")
def test_a_padded_convolution_takes_what_its_result_takes() -> None:
    side = 511
    graph = ircert.parse(statement(f"conv(x, image=[1, 1, 1], weight=[[[[2.0]]]], padding={[side] * 4})"))
    with at_most(200):
        assert graph([3.0]).sum() == 6.0


@pytest.mark.rule("IR-6")
@pytest.mark.parametrize(
    "op",
    [
        Conv((64, 64, 64), np.ones((64, 64, 3, 3)), padding=(1, 1, 1, 1)),
        MaxPool((64, 256, 256), (5, 5)),
    ],
    ids=lambda op: str(op.kind),
)
def test_operations_that_are_too_large_when_written_out(op: Any) -> None:
    with at_most(20), pytest.raises(OpError, match=r"written out it has \d+ entries"):
        getattr(op, "affine" if isinstance(op, Conv) else "members")


@pytest.mark.rule("IR-6", "IR-15")
def test_many_lines_that_claim_megabytes_each() -> None:
    count = 2 + SPARE // LARGEST
    lines = "".join(f"y{k} = affine(x, weight=sparse [{LARGEST}, 1] [])\n" for k in range(count))
    text = f"{HEAD}{lines}y = add({', '.join(f'y{k}' for k in range(count))})\nreturn y\n"
    with at_most(400), pytest.raises(ParseError, match="far more numbers than are written here"):
        ircert.parse(text)


@pytest.mark.rule("IR-6", "IR-16")
def test_one_array_of_a_sidecar_that_is_named_again_and_again(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", w=np.ones((1, 2**20)))
    lines = "".join(f'y{k} = affine(x, weight=@"a.npz:w")\n' for k in range(64))
    text = (
        f"ircert.ir/1\nx = input(length={2**20})\n{lines}y = add({', '.join(f'y{k}' for k in range(64))})\nreturn y\n"
    )
    (tmp_path / "net.ir").write_text(text)
    with at_most(600), pytest.raises(ParseError, match="far more numbers"):
        ircert.load(tmp_path / "net.ir")


@pytest.mark.rule("IR-15")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (statement(f"add({'x, ' * MOST_NAMES}x)"), "more than .* names"),
        (statement(f"affine(x, weight=[{'[],' * MOST_LISTS}[]])"), "more than .* lists"),
        (statement(f"affine(x, weight=[[{'9' * 10**6}]])"), "is not a float64 number"),
        (statement("affine(x, weight=[[1e999999999]])"), "must be finite"),
        (statement(f"affine(x, weight={'[' * 10**5}"), "nested too deeply"),
        (statement("affine(x, weight=[[true, 1.0]])"), "a list holds numbers"),
        (statement("affine(x, weight=[[1.0]], bias=[null])"), "a list holds numbers"),
        (statement('affine(x, weight=[["1"]])'), "a list holds numbers"),
        (statement("affine(x, weight=[[NaN]])"), "not a finite number"),
        (statement("affine(x, weight=[[1_0]])"), "not a number"),
        (statement("affine(x, weight=[[٣]])"), "not a number"),
    ],
    ids=lambda value: value[-40:] if len(value) > 40 else value,
)
def test_texts_that_are_no_numbers(text: str, says: str) -> None:
    with pytest.raises(ParseError, match=says) as caught:
        ircert.parse(text)
    assert len(str(caught.value)) < 400


@pytest.mark.rule("IR-15")
def test_comments_cost_nothing() -> None:
    text = HEAD + "#\n" * 10**6 + "return x\n"
    with at_most(1):
        assert ircert.parse(text).output_dim == 1


@pytest.mark.rule("IR-10", "IR-15")
def test_a_digest_visits_each_operand_a_few_times() -> None:
    """Operands are looked at once for each node that names them, not once for each pair of such names."""
    looked = 0

    class Counting(tuple[str, ...]):
        def __iter__(self) -> Any:
            nonlocal looked
            looked += len(self)
            return super().__iter__()

    nodes = [Node("x", Input(1)), Node("a", Add(), ("x",) * 500), Node("b", Add(), ("a",) * 500)]
    graph = Graph(nodes, "b")
    object.__setattr__(graph["a"], "operands", Counting(graph["a"].operands))
    digest = graph.sha256
    assert looked <= 5 * 500
    assert digest == Graph(nodes, "b").sha256


@pytest.mark.rule("IR-6")
def test_errors_about_many_operands_stay_short() -> None:
    build = Builder(2)
    one = build.select(build.input, [0])
    with pytest.raises(GraphError) as caught:
        build.node(Add(), *[one, build.input] * 1000)
    assert len(str(caught.value)) < 400
    assert build.size(build.node(Concat(), *[one] * 1000)) == 1000
