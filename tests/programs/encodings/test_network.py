"""A copy of a network as rows: with its inputs fixed, the program computes the network."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.errors import ProgramError
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.analyse import analyse
from ircert.programs.encodings.ball import point_of_ball
from ircert.programs.encodings.network import LONGEST, NetworkCopy
from ircert.programs.program import Origin, Program
from tests.programs.encodings.points import extremes, fixed


def kinks() -> Graph:
    """(relu(x), relu(x - 2), relu(x + 2), relu(x) + relu(x + 2)): open, off and on for |x| <= 1."""
    build = ircert.Builder(1)
    relus = build.relu(build.affine(build.input, np.ones((3, 1)), [0.0, -2.0, 2.0]))
    return build.graph(build.concat(relus, build.add(build.select(relus, [0]), build.select(relus, [2]))))


def copied(graph: Graph, radius: float = 1.0, *, relaxed: bool = False) -> tuple[Program, NetworkCopy]:
    """The program, with the outputs as variables `o`."""
    size = graph.input_dim
    ball = Ball(np.zeros(size), radius, Norm.INF, np.full(size, -np.inf), np.full(size, np.inf))
    build = ProgramBuilder()
    x = point_of_ball(build, ball, "x", Origin(graph.input, "x"))
    copy = NetworkCopy(build, analyse(graph, ball), x, "x", relaxed=relaxed)
    for k in range(graph.output_dim):
        o = build.variables(f"o{k}", 1, -99.0, 99.0)
        copy.output.take(np.array([k])).rows(build, f"out{k}", "=", np.zeros(1), (o, -1.0))
    return build.program(), copy


@pytest.mark.rule("PR-5")
@pytest.mark.parametrize("x", [-1.0, -0.25, 0.0, 0.5, 1.0])
def test_fixed_inputs_give_the_networks_outputs(x: float) -> None:
    program, _ = copied(kinks())
    for k, wanted in enumerate(kinks()([x]).tolist()):
        assert extremes(fixed(program, x=[x]), f"o{k}") == pytest.approx((wanted, wanted), abs=1e-7)


def test_only_open_neurons_have_binaries() -> None:
    program, copy = copied(kinks())
    ((tag, (t,)),) = copy.phases.items()
    assert t.labels == (0,)
    assert program.integer.sum() == 1
    assert list(copy.preactivations) == [tag]
    assert extremes(program, "o1") == pytest.approx((0.0, 0.0))


def test_the_relaxation_is_the_triangle() -> None:
    """At x = 0 an open relu on [-1, 1] may be anything from 0 to 1/2."""
    program, _ = copied(kinks(), relaxed=True)
    assert program.integer.sum() == 0
    assert extremes(fixed(program, x=[0.0]), "o0") == pytest.approx((0.0, 0.5), abs=1e-6)


@pytest.mark.rule("PR-5")
def test_sums_that_would_round_get_variables_of_their_own() -> None:
    build = ircert.Builder(1)
    parts = [build.affine(build.input, [[v]]) for v in (2.0**53, 1.0, -(2.0**53))]
    program, _ = copied(build.graph(build.add(*parts)))
    assert {2.0**53, 1.0, -(2.0**53)} <= set(program.matrix.data.tolist())


def test_bounds_are_never_guessed() -> None:
    with pytest.raises(ProgramError, match="no finite bounds on this ball"):
        copied(kinks(), radius=np.inf)


def test_long_names_are_cut_and_told_apart() -> None:
    build = ircert.Builder(1)
    names = [f"{'n' * 60}{k}" for k in "ab"]
    for name in names:
        build.relu(build.input, name=name)
    program, _ = copied(build.graph(build.concat(*names)))
    blocks = [block.name for block in program.variables if block.name.startswith("relu")]
    assert len(set(blocks)) == 2
    assert all(len(block) < LONGEST + 20 for block in blocks)
