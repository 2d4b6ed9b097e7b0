"""Certificates by structure: what passes is injective by the second checker too; spoilt networks and steps do not."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.certificates.structure import steps_to
from ircert.checker import check_text, explain
from ircert.errors import FileError
from ircert.ir.graph import Graph
from ircert.ir.ops import LeakyRelu, Op
from ircert.ir.ops.curves import Elu, Softplus, Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.smooth import Log, Product, Reciprocal
from ircert.structure.known import Knowledge
from ircert.testing import invertible_networks
from tests.checker.second_structure import proves
from tests.structure.flows import autoregressive, couplings, numbers, residual, reversible
from tests.structure.scales import SCALES, TRAPS, coupling


def network(graph: Graph) -> dict[str, str]:
    return {"ir": str(graph), "sha256": graph.sha256}


def written(graph: Graph, tokens: list[str], **changes: Any) -> str:
    n = graph.input_dim
    fields: dict[str, Any] = {
        "schema": "ircert.certificate/1",
        "kind": "structure",
        "problem": "local",
        "norm": "inf",
        "center": ["0"] * n,
        "radius": "inf",
        "domain": None,
        "steps": " ".join(tokens),
        "model": network(graph),
        "other": None,
    }
    return json.dumps(fields | changes)


def steps(graph: Graph, other: Graph | None = None) -> list[str]:
    graph = ircert.parse(str(graph))
    return steps_to(graph, other, Knowledge(graph)).claim.steps


def passes(text: str) -> bool:
    return check_text(text)[1] is None


def networks() -> list[Graph]:
    rng = np.random.default_rng(0)
    made = [couplings(rng, 5, 2), couplings(rng, 4, 2, scaled=True), reversible(rng, 2, 2), autoregressive(rng, 4)]
    return made + [residual(rng, 4, 2, 0.9, op) for op in (None, Tanh(), Softplus(), LeakyRelu(np.array(0.25)), Elu())]


@pytest.mark.rule("C-21", "C-22", "C-23", "C-24")
@pytest.mark.parametrize("graph", networks())
def test_injective_by_design(graph: Graph) -> None:
    text = written(graph, steps(graph))
    assert passes(text)
    assert proves(text)


VALUES_OF_CURVES = {"exp(tanh) - 0.36", "exp(exp) - 1", "silu + 0.3"}
"""Signs that rest on values of exp and silu, which the checker does not compute."""


@pytest.mark.rule("C-24")
@pytest.mark.parametrize("name", [*SCALES, *TRAPS])
def test_scales(name: str) -> None:
    graph = coupling(SCALES[name] if name in SCALES else TRAPS[name])
    size = len(graph.nodes)
    every = [f"<{k}" for k in reversed(range(size))] + [f">{k}" for k in range(size)]
    text = written(graph, every * 2)
    assert passes(text) == proves(text) == (name in SCALES and name not in VALUES_OF_CURVES)


@pytest.mark.rule("C-21")
@settings(deadline=None, max_examples=25)
@given(invertible_networks(inputs=4, steps=4))
def test_hidden_designs(graph: Graph) -> None:
    text = written(graph, steps(graph))
    assert passes(text)
    assert proves(text)


@pytest.mark.rule("C-22", "C-23", "C-24")
@pytest.mark.parametrize("spoilt", ["permutation", "relu", "reads itself", "singular", "scale"])
def test_spoilt_twins(spoilt: str) -> None:
    rng = np.random.default_rng(1)
    good = couplings(rng, 6, 3, scaled=spoilt == "scale")
    graph = couplings(np.random.default_rng(1), 6, 3, scaled=spoilt == "scale", spoilt=spoilt)
    every = [f"{way}{k}" for _ in range(8) for way in "<>" for k in range(len(graph.nodes))]
    for tokens in (steps(good), every):
        text = written(graph, tokens)
        assert not passes(text)
        assert not proves(text)


@pytest.mark.rule("C-21")
@settings(deadline=None, max_examples=40)
@given(st.data())
def test_steps_in_any_order_prove_nothing_false(data: st.DataObject) -> None:
    """Of networks that are injective or not: what passes is confirmed by fractions."""
    build = ircert.Builder(2)
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    names = [build.input]
    for _ in range(data.draw(st.integers(1, 6))):
        a, b = (names[int(rng.integers(len(names)))] for _ in range(2))
        wide = int(rng.integers(1, 4))
        maps = rng.choice([0.0, 0.0, 1.0, -0.5, 0.25], (wide, build.size(a)))
        same = [name for name in names if build.size(name) == build.size(a)]
        other = same[int(rng.integers(len(same)))]
        match int(rng.integers(7)):
            case 0:
                names.append(build.affine(a, maps))
            case 1:
                names.append(build.node(Tanh(), a))
            case 2:
                names.append(build.relu(a))
            case 3:
                names.append(build.concat(a, b))
            case 4:
                names.append(build.add(a, other))
            case 5:
                names.append(build.node(Product(), a, build.node(Exp(), other)))
            case _:
                names.append(build.select(a, rng.integers(0, build.size(a), wide)))
    graph = ircert.parse(str(build.graph(build.concat(*names[-2:]))))
    places = st.integers(0, len(graph.nodes))
    contraction = st.builds("~{}:{}:{}".format, places, places, st.sampled_from(["inf", "1", "2"]))
    spanning = st.builds("+{}:{}".format, places, places)
    token = st.one_of(st.builds("<{}".format, places), st.builds(">{}".format, places), contraction, spanning)
    taken = data.draw(st.lists(token, max_size=12))
    for tokens in (taken, steps(graph), [*steps(graph), *taken]):
        text = written(graph, tokens)
        assert not passes(text) or proves(text)


@pytest.mark.rule("C-23")
def test_contractions_are_strict() -> None:
    rng = np.random.default_rng(0)
    for size, good in ((0.999, True), (1.0, False), (1.001, False)):
        graph = residual(rng, 4, 1, size)
        tokens = [f"~{len(graph.nodes) - 1}:0:{norm}" for norm in ("inf", "1")]
        assert [passes(written(graph, [token])) for token in tokens] == [good, good]


def turned(size: float, n: int = 6) -> Graph:
    """x + size Q x, Q orthogonal and dense."""
    build = ircert.Builder(n)
    q = np.linalg.qr(np.random.default_rng(2).standard_normal((n, n)))[0]
    return build.graph(build.add(build.input, build.affine(build.node(Tanh(), build.input), size * q)))


@pytest.mark.rule("C-23")
def test_spectral_norms_need_a_bound_that_holds() -> None:
    graph = turned(0.9)
    assert passes(written(graph, steps(graph)))
    assert proves(written(graph, steps(graph)))
    assert not passes(written(graph, ["~3:0:inf"]))
    assert not passes(written(graph, ["~3:0:2"]))
    assert passes(written(graph, ["~3:0:2:2=95/100"]))
    assert not passes(written(graph, ["~3:0:2:2=89/100"]))
    assert not passes(written(graph, ["~3:0:2:2=101/100"]))
    assert not passes(written(turned(1.1), ["~3:0:2:2=99/100"]))


@pytest.mark.rule("C-21")
def test_only_functions_on_the_whole_space() -> None:
    build = ircert.Builder(1)
    graph = build.graph(build.node(Log(), build.node(Exp(), build.input)))
    assert not passes(written(graph, ["<2", "<1"]))
    for inner, good in ((build.node(Exp(), build.input), True), (build.input, False)):
        graph = build.graph(build.concat(build.input, build.node(Reciprocal(), inner)))
        assert passes(written(graph, [f"<{len(graph.nodes) - 1}"])) is good


@pytest.mark.rule("C-21")
def test_an_output_that_is_computed_from_the_other_ones() -> None:
    first = ircert.load([([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0]], None)])
    after = ircert.load([([[1.0, -1.0]], None), ([[2.0]], [1.0])])
    second, foreign = first.then(after), ircert.load([([[1.0, 0.0, 0.0]], None)])
    for other, good in ((second, True), (foreign, False)):
        text = written(first, steps(first, other), problem="transform", other=network(other))
        assert passes(text) is good
        assert proves(text) is good


@pytest.mark.rule("C-22")
def test_combinations_of_known_rows() -> None:
    """Outputs of one last layer, chosen and mixed; what is no combination stays unknown."""
    inner = ircert.load([([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.5]], [0.5, -1.0, 0.0]), (np.eye(3), None)])
    last = np.array([[1.0, 2.0, 0.0], [0.5, 0.0, 1.0], [1.5, 2.0, 1.0], [0.0, 0.0, 1.0]])

    def ending(rows: Any) -> Graph:
        build = ircert.Builder(3)
        return build.graph(build.affine(build.insert(inner, build.input), rows))

    first = ending(last[:2])
    for rows, good in ((last[1:2], True), (last[2:3], True), ([3.0, -1.0] @ last[:2], True), (last[3:], False)):
        other = ending(np.atleast_2d(rows))
        text = written(first, steps(first, other), problem="transform", other=network(other))
        assert passes(text) is good
        assert proves(text) is good


@pytest.mark.rule("C-21")
def test_pinned_inputs_are_known() -> None:
    graph = ircert.load([([[1.0, 1.0]], None)])
    domain = {"low": ["0", None], "high": ["0", None]}
    text = written(graph, ["<1"], domain=domain)
    assert passes(text)
    assert proves(text)
    assert not passes(written(graph, ["<1"], domain={"low": ["0", None], "high": ["1", None]}))


@pytest.mark.rule("C-25")
def test_a_hard_head_and_a_tail_that_is_injective() -> None:
    build = ircert.Builder(2)
    head = build.add(build.input, build.affine(build.relu(build.affine(build.input, [[1.0, 1.0]])), [[0.25], [0.25]]))
    graph = build.graph(build.node(Exp(), build.affine(head, [[1.0, 2.0], [1.0, -1.0]])))
    at = len(graph.nodes) - 3
    fields = {"kind": "composed", "at": graph.nodes[at].name, "radius": "1"}
    proof = {"matrix": [["1", "0"], ["0", "1"]], "cover": "=0"}
    tokens = [f"<{at + 2}", f"<{at + 1}"]
    good = written(graph, tokens, **fields, **proof)
    assert passes(good)
    assert proves(good)
    for bad in (
        written(graph, tokens[:1], **fields, **proof),
        written(graph, tokens, **fields, **(proof | {"matrix": [["1", "0"], ["0", "-1"]]})),
        written(graph, tokens, **(fields | {"at": graph.nodes[1].name}), **(proof | {"matrix": [["1"], ["1"]]})),
    ):
        assert not passes(bad)
        assert not proves(bad)
    with pytest.raises(FileError, match="name of a node"):
        check_text(written(graph, tokens, **(fields | {"at": "nobody"}), **proof))


@pytest.mark.rule("C-21")
@pytest.mark.parametrize("wrong", ["<", "x1", "<1 ", "~1", "~1:2:3", "~1:2:2:3", "<01234567890", 7, None])
def test_unreadable_steps(wrong: Any) -> None:
    graph = ircert.load([([[1.0]], None)])
    with pytest.raises(FileError):
        check_text(written(graph, [], steps=wrong))


@pytest.mark.rule("C-21")
def test_mutants() -> None:
    """Steps that are left out, exchanged or moved: what passes is confirmed by fractions."""
    rng = random.Random(0)
    for graph in networks():
        tokens = steps(graph)
        for _ in range(12):
            mutant = tokens.copy()
            at = rng.randrange(len(mutant))
            if rng.random() < 0.5:
                del mutant[at]
            else:
                mutant[at] = rng.choice("<>") + str(rng.randrange(len(graph.nodes) + 1))
            text = written(graph, mutant)
            assert not passes(text) or proves(text)


@pytest.mark.rule("C-21", "C-25")
def test_from_the_question_to_the_words(tmp_path: Path) -> None:
    path = tmp_path / "c.json.gz"
    result = ircert.certify(couplings(np.random.default_rng(0), 4, 2, scaled=True), np.zeros(4), certificate=path)
    assert result.radius.certified == math.inf
    assert result.certificate is not None
    assert result.certificate.reason is None
    words, fault = explain(path)
    assert fault is None
    assert "step by step" in words


def test_wide_groups_of_equal_blocks() -> None:
    """A 1x1 convolution of many places has one block: it is looked at once."""
    from ircert.ir.ops import Conv

    build = ircert.Builder(3 * 64)
    weight = numbers(np.random.default_rng(0), 3, 3, 1, 1)
    graph = build.graph(build.node(Conv((3, 8, 8), weight), build.input))
    assert passes(written(graph, steps(graph)))


@pytest.mark.rule("C-25")
@pytest.mark.parametrize("last", [Exp(), Tanh()])
def test_a_tail_that_no_search_takes(tmp_path: Path, last: Op) -> None:
    """The head is proved by one matrix, what is behind it by steps."""
    build = ircert.Builder(2)
    bent = build.relu(build.affine(build.input, [[1.0, 1.0], [1.0, -2.0]], [0.25, -0.5]))
    head = build.add(build.input, build.affine(bent, [[-1.0, 0.5], [0.25, 1.0]]))
    first = build.node(last, build.select(head, [0]))
    second = build.node(Product(), build.select(head, [1]), build.node(Exp(), build.select(head, [0])))
    graph = build.graph(build.concat(first, second))
    path = tmp_path / "c.json"
    result = ircert.certify(graph, [0.5, 0.25], radius=0.25, certificate=path, time_limit=30)
    assert result.verdict == "certified"
    assert result.certificate is not None
    assert result.certificate.reason is None
    text = path.read_text()
    assert json.loads(text)["kind"] == "composed"
    assert proves(text)
    words, fault = explain(path)
    assert fault is None
    assert "one matrix C" in words
