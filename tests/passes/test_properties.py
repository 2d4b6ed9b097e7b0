"""Properties of graphs: what breaks them, and what to do about it."""

from __future__ import annotations

import pytest

import ircert
from ircert import passes
from ircert.ir.graph import Graph
from ircert.ir.ops import Abs, Op
from ircert.ir.ops.curves import Tanh
from ircert.ir.ops.smooth import Log
from ircert.passes.pipeline import Pipeline
from ircert.passes.properties import ALL


def one(op: Op) -> Graph:
    build = ircert.Builder(2)
    return build.graph(build.node(op, build.input, name="h"))


def test_each_is_established_by_a_pass_that_ensures_it() -> None:
    for known in ALL.values():
        assert known.name in passes.get(known.pass_name).ensures or known.name == "plain-mlp"


@pytest.mark.parametrize(
    ("name", "op", "remedy"),
    [
        ("canonical", Abs(), "run `canonicalize` before it"),
        ("canonical", Tanh(), "no pass lowers tanh"),
        ("lowered", Abs(), "run `lower-rich` before it"),
        ("lowered", Log(), "no pass lowers log"),
    ],
)
def test_a_remedy_is_one_that_helps(name: str, op: Op, remedy: str) -> None:
    graph, known = one(op), ALL[name]
    assert known.broken_by(graph) == f"`h` is {op.kind}"
    assert known.remedy(graph).startswith(remedy)
    if remedy.startswith("run"):
        assert known.broken_by(Pipeline.parse(known.pass_name)(graph)) is None
    else:
        with pytest.raises(ircert.IrcertError):
            Pipeline.parse(known.pass_name)(graph)
