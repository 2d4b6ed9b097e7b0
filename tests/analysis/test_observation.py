from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.data import networks
from ircert.errors import QueryError, UnsupportedModel
from tests.oracle.build import beside, curve, line

ABSOLUTE = curve([0.0], [[-1.0], [1.0]])
FOLD = ircert.load(beside(ABSOLUTE, line(1)))
"""(x, y) -> (|x|, y)"""


@pytest.mark.rule("O-1")
@pytest.mark.parametrize(
    ("inputs", "outputs", "radius"),
    [
        ([], [0, 1], Fraction(3, 4)),
        ([1], [0], Fraction(3, 4)),
        ([0], [1], None),
        ([1], [1], Fraction(0)),
        ([0], [0], 0),
    ],
)
def test_a_fold_hides_the_sign(inputs: list[int], outputs: list[int], radius: Fraction | None) -> None:
    found = ircert.observability(FOLD, inputs, outputs, [0.75, 0.25])
    assert found.verdict == ("refuted" if radius == 0 else "certified")
    assert bool(found) == (radius != 0)
    if radius is None:
        assert (found.radius.certified, found.radius.refuted) == (np.inf, None)
        return
    assert found.radius.certified == radius
    assert found.witness is not None
    x, y = found.witness.exact.x, found.witness.exact.y
    assert list(found.given.of(FOLD).exact(x)) == list(found.given.of(FOLD).exact(y))
    assert list(found.unknown.of(FOLD).exact(x)) != list(found.unknown.of(FOLD).exact(y))


@pytest.mark.rule("O-1")
def test_a_ball_is_decided_and_options_are_those_of_certify() -> None:
    good = ircert.observability(FOLD, [1], [0], [0.75, 0.25], radius=0.5, norm=1)
    assert (good.verdict, good.result.norm, good.result.problem) == ("certified", "1", "transform")
    bad = ircert.observability(FOLD, [1], [0], [0.75, 0.25], radius=1.0, norm=2)
    assert bad.verdict == "refuted"
    cut = ircert.observability(FOLD, [1], [0], [0.75, 0.25], domain=(0, 2))
    assert np.isinf(cut.radius.certified)
    assert "given input 1, output 0; unknown input 0" in bad.summary()


@pytest.mark.rule("O-1")
@pytest.mark.parametrize(
    ("inputs", "outputs", "options", "says"),
    [
        ([1], [0], {}, "certified: what is given determines what is unknown on the open ball of radius 0.75"),
        ([1], [0], {}, "what is given is the same at both; what is unknown lies "),
        ([1], [1], {}, "refuted: what is given does not determine what is unknown on any ball"),
        ([1], [1], {}, "there is a direction in which only what is unknown changes"),
        ([0, 1], [], {}, "all inputs follow from what is given, on the whole space, by the network's structure"),
        ([], [1], {"unknown_outputs": [0]}, "direction in which only what is unknown changes"),
        ([0], [], {"unknown_outputs": [0]}, "certified: what is given determines what is unknown on every ball"),
        ([], [0, 1], {"radius": 1.0, "optimum": True}, "and what is unknown lies 0.5 apart"),
        ([], [0, 1], {"radius": 0.5, "optimum": True}, "the same given inputs and outputs have the same unknown ones"),
    ],
)
def test_its_words_are_about_what_is_given_and_unknown(
    inputs: list[int], outputs: list[int], options: dict[str, Any], says: str
) -> None:
    text = ircert.observability(FOLD, inputs, outputs, [0.75, 0.25], **options).summary()
    assert says in text
    assert "other network" not in text
    assert "other one" not in text
    assert "this one" not in text


@pytest.mark.rule("O-2")
def test_what_is_unknown_by_default_and_by_name() -> None:
    graph = networks.bundled("brusselator-3-24-24-2")
    center = [1.2, 1.8, 2.1]
    forward = ircert.observability(graph, [0, 1, 2], [0], center)
    assert (forward.unknown.inputs, forward.unknown.outputs) == ((), (1,))
    assert np.isinf(forward.radius.certified)
    back = ircert.observability(graph, [2], [1], center, radius=0.01)
    assert (back.unknown.inputs, back.unknown.outputs) == ((0, 1), ())
    assert back.verdict == "refuted"
    named = ircert.observability(FOLD, [], [0], [0.75, 0.25], unknown_outputs=[1])
    assert (named.unknown.inputs, named.unknown.outputs) == ((), (1,))
    assert named.radius.certified == named.radius.refuted
    assert ircert.observability(FOLD, [0], [], [0.75, 0.25], unknown_outputs=[0]).radius.refuted is None


@pytest.mark.rule("O-1")
def test_all_outputs_determine_the_inputs_where_the_network_is_injective() -> None:
    graph = networks.bundled("vanderpol-2-16-16-2")
    seen = ircert.observability(graph, [], [0, 1], [0.5, 0.5])
    local = ircert.certify(graph, [0.5, 0.5])
    assert seen.radius.certified == pytest.approx(local.radius.certified, rel=1e-9)


@pytest.mark.rule("O-1")
def test_three_inputs() -> None:
    """(|x| + y, z) with x, z given: y is known, whatever x is; with y given the sign of x is not."""
    build = ircert.Builder(3)
    size = build.relu(build.affine(build.input, [[1.0, 0, 0], [-1.0, 0, 0]]))
    total = build.add(build.affine(size, [[1.0, 1.0]]), build.select(build.input, [1]))
    graph = build.graph(build.concat(total, build.select(build.input, [2])))
    known = ircert.observability(graph, [0, 2], [0], [0.5, 0.25, 0.125], max_radius=4.0)
    assert (known.verdict, known.radius.refuted) == ("certified", None)
    hidden = ircert.observability(graph, [1], [0, 1], [0.5, 0.25, 0.125])
    assert hidden.verdict == "certified"
    assert hidden.radius.certified <= 0.5 <= (hidden.radius.refuted or 0)


@pytest.mark.rule("O-3")
@pytest.mark.parametrize(
    ("arguments", "more", "says"),
    [
        (([2], [0]), {}, "no input '2'; the network has inputs 0 to 1"),
        (([0], [-1]), {}, "no output '-1'"),
        (([0.5], [0]), {}, "no input '0.5'"),
        (([True], [0]), {}, "no input 'True'"),
        (("01", [0]), {}, "list of numbers"),
        ((0, [0]), {}, "list of numbers"),
        (([0, 0], [0]), {}, "named twice"),
        (([], []), {}, "nothing is given"),
        (([0, 1], [0, 1]), {}, "nothing is unknown"),
        (([0], [0]), {"unknown_inputs": [0]}, "input 0 is both given and unknown"),
        (([0], [0]), {"unknown_outputs": [0]}, "output 0 is both given and unknown"),
        (([0], [0]), {"unknown_inputs": []}, "nothing is unknown"),
        (([0], [0]), {"unknown_inputs": [7]}, "no input '7'"),
        (([0], [0]), {"problem": "local"}, "`problem` is not an option"),
        (([0], [0]), {"other": FOLD}, "`other` is not an option"),
    ],
)
def test_questions_that_cannot_be_asked(arguments: tuple[Any, Any], more: dict[str, Any], says: str) -> None:
    with pytest.raises(QueryError) as caught:
        ircert.observability(FOLD, *arguments, [0.75, 0.25], **more)
    assert says in str(caught.value)


def test_smooth_networks() -> None:
    smooth = ircert.parse("ircert.ir/1\nx = input(length=1)\ny = tanh(x)\nreturn y\n")
    assert ircert.observability(smooth, [], [0], [0.0]).verdict == "certified"
    other = ircert.parse("ircert.ir/1\nx = input(length=1)\nz = log(x)\ny = relu(z)\nreturn y\n")
    with pytest.raises(UnsupportedModel, match="log"):
        ircert.observability(other, [], [0], [0.0])
