"""`ircert.difference`: brackets against exact brute force, questions about epsilon and classes, refusals."""

from __future__ import annotations

import json
import time
from importlib import resources
from typing import Any

import jsonschema
import numpy as np
import pytest

import ircert
from ircert.analysis.difference.result import Difference
from ircert.errors import QueryError, UnsupportedModel
from ircert.geometry.norm import Norm
from ircert.ir.ops.curves import Gelu, Tanh
from ircert.relational.objectives import equal_outputs
from tests.analysis.difference.oracle import largest
from tests.relational.twins import Layers, layers, rounded

NORMS = [Norm.INF, Norm.ONE, Norm.TWO]
SCHEMA = json.loads(resources.files("ircert.data").joinpath("schemas/difference-1.json").read_text())


def twins(seed: int) -> tuple[Layers, Layers]:
    """Small networks and twins: rounded, pruned, of another shape, or changed in the ninth digit."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 3)), int(rng.integers(1, 4))
    first = layers(seed, n, *rng.integers(1, 9, size=int(rng.integers(0, 4))).tolist(), m)
    if seed % 4 == 0:
        return first, rounded(first, 2.0 ** -int(rng.integers(2, 12)))
    if seed % 4 == 1:
        return first, [(w * (rng.random(w.shape) < 0.8), b) for w, b in first]
    if seed % 4 == 2:
        return first, layers(seed + 10**6, n, *rng.integers(1, 9, size=int(rng.integers(0, 3))).tolist(), m)
    return first, [(w * (1 + 1e-9 * rng.normal(size=w.shape)), b) for w, b in first]


def checked(seed: int) -> None:
    """One network in balls of all norms, against the vertices of its regions."""
    f, g = (ircert.load(each) for each in twins(seed))
    rng = np.random.default_rng(seed)
    center, radius = np.round(rng.normal(size=f.input_dim), 2), float(rng.choice([0.05, 0.5, 2.0]))
    domain = (center - radius / 2, center + 0.75 * radius) if seed % 5 == 0 else None
    for k, of_ball in enumerate(NORMS):
        norm = NORMS[(seed + k) % 3]
        found = ircert.difference(f, g, center, radius, of_ball, domain=domain, objective_norm=norm, time_limit=10)
        assert found.ball.contains(found.point.tolist())
        assert all(gap.value <= gap.bound for gap in found.outputs)
        if of_ball is not Norm.TWO or f.input_dim == 1:
            truth = largest(f, g, found.ball, norm)
            assert found.value <= truth * (1 + 1e-9) + 1e-13
            assert truth <= found.bound * (1 + 1e-12)


@pytest.mark.rule("DF-1")
@pytest.mark.rule("DF-2")
@pytest.mark.parametrize("seed", range(24))
def test_brackets_against_brute_force(seed: int) -> None:
    checked(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24, 400))
def test_many_brackets_against_brute_force(seed: int) -> None:
    checked(seed)


def valid(found: Difference) -> dict[str, Any]:
    """The JSON of a result, which keeps to its schema."""
    made: dict[str, Any] = json.loads(found.to_json())
    jsonschema.validate(made, SCHEMA)
    return made


@pytest.mark.rule("DF-5")
def test_text_and_json() -> None:
    made = layers(0, 3, 8, 8, 2)
    found = ircert.difference(made, rounded(made), [0.3] * 3, 0.5)
    assert found
    text = found.summary()
    assert "certified: the networks differ by 0.025" in text
    assert "trust: exact" in text
    told = valid(found)
    assert told["difference"]["value"] == found.value <= found.bound == told["difference"]["bound"]
    assert told["top1"] is None


@pytest.mark.rule("DF-3")
def test_epsilon_is_decided_from_both_sides() -> None:
    made = layers(0, 3, 8, 8, 2)
    twin = rounded(made)
    below = ircert.difference(made, twin, ([0.3] * 3, 0.5), epsilon=0.0251)
    above = ircert.difference(made, twin, ([0.3] * 3, 0.5), epsilon=0.0249)
    assert (below.verdict, above.verdict) == ("certified", "refuted")
    assert below.bound <= 0.0251
    assert above.value > 0.0249
    open_ = ircert.difference(made, twin, ([0.3] * 3, 0.5), epsilon=0.025, time_limit=1e-6)
    assert open_.verdict == "unresolved"
    assert open_.reason is not None
    for found in (below, above, open_):
        valid(found)


@pytest.mark.rule("DF-4")
def test_classes() -> None:
    made = layers(0, 3, 8, 8, 2)
    agreed = ircert.difference(made, rounded(made), ([0.3] * 3, 0.5), top1=True)
    assert agreed.verdict == "certified"
    refuted = ircert.difference(made, rounded(made, 0.5), ([0.3] * 3, 3.0), top1=True)
    assert refuted.verdict == "refuted"
    classes = refuted.agreement
    assert classes is not None
    assert classes.point is not None
    assert classes.classes is not None
    first, second = (np.argmax(ircert.load(each)(classes.point)) for each in (made, rounded(made, 0.5)))
    assert [first] == classes.classes[0]
    assert [second] == classes.classes[1]
    for found in (agreed, refuted):
        valid(found)
        assert "class" in found.summary() or "says" in found.summary()


@pytest.mark.rule("DF-4")
def test_a_tie_of_both_is_no_disagreement() -> None:
    """f has 0 and 1 as largest outputs, g has 1 alone: both have 1."""
    f = [(np.zeros((2, 1)), np.zeros(2))]
    g = [(np.zeros((2, 1)), np.array([0.0, 1.0]))]
    assert ircert.difference(f, g, ([0.0], 1.0), top1=True, time_limit=0.5).verdict != "refuted"


def test_one_network_differs_from_itself_by_nothing() -> None:
    made = layers(0, 20, 8, 2)
    found = ircert.difference(made, made, np.zeros(20), 1.0, top1=True)
    assert (found.value, found.bound, found.verdict) == (0.0, 0.0, "certified")


@pytest.mark.parametrize("norm", NORMS)
def test_many_inputs(norm: Norm) -> None:
    made = layers(1, 40, 8, 6, 3)
    found = ircert.difference(
        made,
        rounded(made, 2.0**-9),
        np.full(40, 0.5),
        0.02,
        domain=(0, 1),
        objective_norm=norm,
        time_limit=20,
        tol=0.05,
    )
    assert found.verdict == "certified"
    assert found.bound <= 1.05 * found.value
    assert valid(found)["stats"]["programs"] > 0
    agreed = ircert.difference(made, rounded(made, 2.0**-9), np.full(40, 0.5), 0.02, domain=(0, 1), top1=True)
    assert agreed.verdict == "certified"


@pytest.mark.parametrize("curve", [Tanh, Gelu])
def test_curves(curve: type[Tanh]) -> None:
    rng = np.random.default_rng(3)
    weights = rng.normal(size=(5, 2)), rng.normal(size=(2, 5))
    ends = []
    for unit in (0.0, 0.125):
        build = ircert.Builder(2)
        first, last = (np.round(w / unit) * unit if unit else w for w in weights)
        ends.append(build.graph(build.affine(build.node(curve(), build.affine(build.input, first)), last)))
    found = ircert.difference(ends[0], ends[1], ([0.1, 0.2], 0.5, 2), tol=0.01)
    points = np.array([0.1, 0.2]) + 0.5 * np.array([(np.cos(t), np.sin(t)) for t in np.linspace(0, 7, 200)])
    assert np.abs(ends[0](points) - ends[1](points)).max() <= found.bound * (1 + 1e-12)
    assert found.verdict == "certified"
    assert found.attained.exact is None
    valid(found)


@pytest.mark.rule("DF-2")
def test_a_solver_may_help_and_is_named() -> None:
    made = layers(5, 12, 8, 8, 2)
    found = ircert.difference(made, rounded(made, 0.05), np.zeros(12), 0.5, backend="highs", time_limit=4, tol=1e-5)
    assert found.trust in ("exact", "solver")
    assert found.value <= found.bound
    assert valid(found)["backend"] in (None, "highs")


def test_limits_are_kept() -> None:
    made = layers(5, 30, 60, 60, 60, 4)
    started = time.monotonic()
    found = ircert.difference(made, rounded(made, 0.01), np.zeros(30), 1.0, time_limit=1.0)
    assert time.monotonic() - started < 5  # far above the limit: the machine may be busy
    assert found.verdict == "unresolved"
    assert found.value <= found.bound


def test_progress_and_interrupts() -> None:
    made = layers(5, 4, 20, 20, 4)
    steps = []

    def stop(step: Any) -> None:
        steps.append(str(step))
        raise KeyboardInterrupt

    found = ircert.difference(made, rounded(made, 0.01), np.zeros(4), 1.0, progress=stop)
    assert "largest difference in [" in steps[0]
    assert found.reason == "interrupted"
    assert found.value < found.bound


ONE = [(np.eye(2), np.zeros(2))]


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((ONE, [(np.eye(3), np.zeros(3))], [0, 0], 1.0), {}, "inputs"),
        ((ONE, [(np.ones((1, 2)), np.zeros(1))], [0, 0], 1.0), {}, "outputs"),
        ((ONE, ONE, [0, 0, 0], 1.0), {}, "centre"),
        ((ONE, ONE, [0, 0], -1.0), {}, "radius"),
        ((ONE, ONE, None, 1.0), {}, "no centre"),
        ((ONE, ONE), {}, "no ball"),
        ((ONE, ONE, [0, 0]), {"norm": 2}, "no radius"),
        ((ONE, ONE, [0, 0], 1.0, 3), {}, "no norm"),
        ((ONE, ONE, [0, 0], 1.0), {"objective_norm": "x"}, "no norm"),
        ((ONE, ONE, [0, 0], 1.0), {"epsilon": -1}, "epsilon"),
        ((ONE, ONE, [0, 0], 1.0), {"epsilon": np.nan}, "epsilon"),
        ((ONE, ONE, [0, 0], 1.0), {"tol": 1}, "tol"),
        ((ONE, ONE, [0, 0], 1.0), {"epsilon": 1, "top1": True}, "two questions"),
        ((ONE, ONE, [0, 0], 1.0), {"backend": "nobody"}, "there is no solver 'nobody'; the solvers are"),
        ((ONE, ONE, [0, 0], 1.0), {"backend": "lp"}, "solves nothing"),
        ((ONE, ONE, [0, 0], 1.0), {"time_limit": 0}, "time limit"),
        ((ONE, ONE, [0, 0], 1.0), {"domain": (3, 4)}, "domain"),
    ],
)
def test_bad_questions(arguments: tuple[Any, ...], options: dict[str, Any], words: str) -> None:
    with pytest.raises((QueryError, UnsupportedModel), match=words):
        ircert.difference(*arguments, **options)


def test_memory_ends_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ircert.relational.phase_branching.STORED", 1)
    made = layers(5, 20, 12, 12, 2)
    found = ircert.difference(made, rounded(made, 0.05), np.zeros(20), 1.0, tol=0)
    assert found.reason == "memory would not suffice: there are too many parts to go on"
    monkeypatch.setattr("ircert.relational.input_branching.STORED", 1)
    made = layers(5, 4, 12, 12, 2)
    assert ircert.difference(made, rounded(made, 0.05), np.zeros(4), 1.0, tol=0).verdict == "unresolved"


@pytest.mark.rule("DF-3")
def test_epsilon_between_value_and_bound_is_searched_for() -> None:
    """A bracket that is closed up to `tol` says nothing about an epsilon inside it."""
    rng = np.random.default_rng(3)
    first = [(rng.normal(size=(6, 2)), rng.normal(size=6)), (rng.normal(size=(2, 6)), np.zeros(2))]
    second = [(np.round(w * 8) / 8, np.round(b * 8) / 8) for w, b in first]
    found = ircert.difference(first, second, [0.1, 0.2], 0.5, tol=0.05)
    exact = ircert.difference(first, second, [0.1, 0.2], 0.5, tol=1e-7)
    assert found.bound > exact.bound
    above, below = exact.bound * (1 + 1e-6), exact.value * (1 - 1e-6)
    assert ircert.difference(first, second, [0.1, 0.2], 0.5, epsilon=above, tol=0.05).verdict == "certified"
    assert ircert.difference(first, second, [0.1, 0.2], 0.5, epsilon=below, tol=0.05).verdict == "refuted"


@pytest.mark.parametrize("inputs", [2, 20])
def test_outputs_that_are_one_function_are_tied_exactly(inputs: int) -> None:
    """Two equal rows at the top of the first network, one of them above the other in the second: class 0 is common."""
    rng = np.random.default_rng(inputs)
    hidden = (rng.normal(size=(4, inputs)), np.ones(4))
    tied = [hidden, (np.array([[0.3, 0.7, 0.1, 0.9]] * 2 + [[-1.0] * 4]), np.zeros(3))]
    other = [hidden, (np.array([[0.3, 0.7, 0.1, 0.9], [0.2, 0.6, 0.1, 0.8], [-1.0] * 4]), np.zeros(3))]
    for twin in (other, [(hidden[0].round(6), hidden[1]), tied[1]]):
        found = ircert.difference(tied, twin, np.zeros(inputs), 0.05, top1=True, time_limit=20)
        assert found.verdict == "certified"


def test_rows_that_are_nearly_equal_are_not_tied() -> None:
    rows = np.array([[1.0, 2.0], [1.0, np.nextafter(2.0, 3.0)], [1.0, 2.0]])
    made = ircert.load([(np.eye(2), np.zeros(2)), (rows, np.array([0.0, 0.0, 1.0]))])
    assert len(set(equal_outputs(made).tolist())) == 3
    made = ircert.load([(np.eye(2), np.zeros(2)), (rows, np.zeros(3))])
    numbers = equal_outputs(made).tolist()
    assert numbers[0] == numbers[2] != numbers[1]
