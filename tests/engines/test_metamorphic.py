"""Relations between questions, for engines whose brackets may stay open: no two brackets may contradict them.

Coordinates are changed by maps before and after the graph, which round nothing, so that half of the networks can have
weights of 53 bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert import Graph
from ircert.geometry.norm import Norm
from ircert.result.result import Result
from tests.effort import examples, some_of
from tests.generated.networks import NORMS
from tests.neurons import CHANGES, changed_hidden
from tests.oracle.build import Array, Network, line, numbers, plain, summed

SOME = examples(6)
FEW = examples(3)
REACH = 4.0
SECONDS = 1.0
SLACK = 1 + 1e-9
ORDER = {"inf": np.inf, "1": 1, "2": 2}


@dataclass(frozen=True, eq=False)
class Case:
    """A small network with a centre of few bits; full: weights of 53 bits."""

    engine: str
    seed: int
    full: bool
    norm: Norm

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    @property
    def layers(self) -> Network:
        rng = self.rng
        n, m = int(rng.integers(1, 4)), int(rng.integers(3, 6))
        if rng.integers(2):
            return summed(line(n), plain(rng, [n, m, n], self.full), 0.5)
        return [(w, np.abs(b)) for w, b in plain(rng, [n, m, 2, n + 1] if n == 1 else [n, m, n], self.full)]

    @property
    def graph(self) -> Graph:
        return ircert.load(self.layers)

    @property
    def center(self) -> Array:
        return numbers(np.random.default_rng(self.seed + 1), self.graph.input_dim, False) / 2

    def ask(self, graph: Any = None, center: Any = None, **more: Any) -> Result:
        options = {"norm": self.norm, "engine": self.engine, "tol": 1e-3, "time_limit": SECONDS, **more}
        if "radius" not in options:
            options.setdefault("max_radius", REACH)
        if isinstance(options.get("other"), list):
            options["other"] = ircert.load(options["other"])
        if options.get("other") is not None:
            options["problem"] = "transform"
        at = self.center if center is None else center
        return ircert.certify(self.graph if graph is None else graph, at, **options)


def cases(*norms: Norm) -> st.SearchStrategy[Case]:
    """Networks of one to three inputs; `auto` takes the engine `regions` for two at most."""
    engines = st.sampled_from(["boxes", "boxes", "auto"])
    return st.builds(Case, engines, st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from(norms or NORMS))


PROBLEMS = st.sampled_from(["local", "pseudo"])
SEEDS = st.integers(0, 2**32 - 1)


def lower(result: Result) -> float:
    return float(result.radius.certified)


def upper(result: Result) -> float:
    return math.inf if result.radius.refuted is None else float(result.radius.refuted)


def at_most(small: Result, large: Result, factor: float = 1.0, more: float = 0.0) -> None:
    """ρ(small) <= factor ρ(large) + more is not contradicted, as far as both were looked for."""
    assert lower(small) <= (factor * upper(large) + more) * SLACK


def equal(first: Result, second: Result, factor: float = 1.0) -> None:
    """ρ(second) = factor ρ(first) is not contradicted."""
    at_most(second, first, factor)
    at_most(first, second, 1 / factor)


def affine(weight: Any, bias: Any = None) -> Graph:
    return ircert.load([(np.asarray(weight, dtype=np.float64), bias)])


# --- changes that leave the radius, or scale it ----------------------------------------------------------------------


@SOME
@given(cases(), PROBLEMS, st.sampled_from(["move", "scale", "turn", "mix", "pad"]), SEEDS)
def test_coordinates(case: Case, problem: str, change: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph, center, factor = case.graph, case.center, 1.0
    n, m = graph.input_dim, graph.output_dim
    if change == "move":
        step = rng.integers(-16, 17, n) / 8
        graph, center = affine(np.eye(n), -step).then(graph), center + step
    if change == "scale":
        factor = 2.0 ** int(rng.integers(-20, 21))
        graph, center = affine(np.eye(n) / factor).then(graph), factor * center
    if change == "turn":
        turn = np.diag(rng.choice([-1.0, 1.0], n))[rng.permutation(n)]
        graph, center = affine(turn.T).then(graph), turn @ center
    if change == "mix":
        mix = np.tril(rng.integers(-2, 3, (m, m)), -1) + np.diag(2.0 ** rng.integers(-8, 9, m))
        graph = graph.then(affine(mix, rng.integers(-4, 5, m)))
    if change == "pad":
        graph = graph.then(affine(np.eye(m + 2, m)))
    found = case.ask(graph, center, problem=problem, max_radius=factor * REACH)
    equal(case.ask(problem=problem), found, factor)


@FEW
@given(cases(Norm.TWO), PROBLEMS)
def test_an_exact_rotation(case: Case, problem: str) -> None:
    """(3 x1 - 4 x2, 4 x1 + 3 x2) is five times a rotation."""
    n = case.graph.input_dim
    turn = 5 * np.eye(n)
    turn[:2, :2] = [[3.0, -4.0], [4.0, 3.0]] if n > 1 else 5.0
    found = case.ask(affine(turn).then(case.graph), problem=problem)
    whole = case.ask(center=turn @ case.center, problem=problem, max_radius=5 * REACH)
    equal(found, whole, 5.0)


@FEW
@given(cases(), PROBLEMS, st.sampled_from(CHANGES), SEEDS)
def test_hidden_neurons(case: Case, problem: str, change: Any, seed: int) -> None:
    """Permuted, split, doubled, dead and rescaled neurons."""
    changed = changed_hidden(np.random.default_rng(seed), case.layers, change)
    equal(case.ask(problem=problem), case.ask(ircert.load(changed), problem=problem))


@FEW
@given(cases(), PROBLEMS)
def test_folded_skips(case: Case, problem: str) -> None:
    """x + g(x) with its skip, and as a plain network."""
    rng = case.rng
    n = int(rng.integers(1, 4))
    build = ircert.Builder(n)
    (w, b), (v, a) = plain(rng, [n, 4, n], False)
    graph = build.graph(build.add(build.input, build.affine(build.relu(build.affine(build.input, w, b)), v, a)))
    folded = ircert.Pipeline.parse("canonicalize,fold-residual")(graph)
    center = numbers(rng, n, False)
    equal(case.ask(graph, center, problem=problem), case.ask(folded, center, problem=problem))


@FEW
@given(cases())
def test_an_input_that_is_not_read(case: Case) -> None:
    """A collision in every ball; for `pseudo` as well."""
    n = case.graph.input_dim
    padded = affine(np.eye(n, n + 1)).then(case.graph)
    center = np.append(case.center, 0.5)
    for problem in ("local", "pseudo"):
        found = case.ask(padded, center, problem=problem)
        assert (lower(found), upper(found)) == (0.0, 0.0)
        assert case.ask(padded, center, problem=problem, radius=2.0**-30).verdict == "refuted"


# --- order -----------------------------------------------------------------------------------------------------------


@FEW
@given(cases(), PROBLEMS)
def test_norms_are_ordered(case: Case, problem: str) -> None:
    n = case.graph.input_dim
    inf, one, two = (case.ask(norm=norm, problem=problem) for norm in NORMS)
    at_most(inf, two)
    at_most(two, one)
    at_most(one, inf, n)
    at_most(two, inf, math.sqrt(n))
    at_most(one, two, math.sqrt(n))


@FEW
@given(cases(), SEEDS)
def test_the_radius_is_lipschitz_in_the_centre(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    step = rng.integers(-8, 9, case.graph.input_dim) / 16
    far = float(np.linalg.norm(step, ORDER[case.norm]))
    other = plain(rng, [case.graph.input_dim, 3, 1], case.full)
    for more in ({}, {"other": other}):
        here, there = case.ask(**more), case.ask(center=case.center + step, **more)
        at_most(here, there, more=far)
        at_most(there, here, more=far)


@FEW
@given(cases(), SEEDS)
def test_problems_outputs_and_compositions_are_ordered(case: Case, seed: int) -> None:
    """r <= R; more outputs never lower the radius; ρ(g∘f) <= ρ(f), with equality for an injective g."""
    rng = np.random.default_rng(seed)
    graph = case.graph
    local, m = case.ask(), graph.output_dim
    at_most(local, case.ask(problem="pseudo"))
    at_most(local, case.ask(ircert.stack(graph, ircert.load(plain(rng, [graph.input_dim, 2, 1], case.full)))))
    at_most(case.ask(graph.then(ircert.load(plain(rng, [m, 3, m], False)))), local)
    injective = summed(line(m), plain(rng, [m, 2, m], False), 2.0**-6)
    equal(local, case.ask(graph.then(ircert.load(injective))))


@FEW
@given(cases(), PROBLEMS, st.integers(1, 16), st.integers(0, 8), SEEDS)
def test_the_optimum_is_monotone(case: Case, problem: str, size: int, more: int, seed: int) -> None:
    """p* grows with r, is at most 2 r (`pseudo`: r), and p*(c, r) <= p*(c + d, r + |d|) for `local`."""
    radius = size / 8
    step = np.random.default_rng(seed).integers(-4, 5, case.graph.input_dim) / 16 * (problem == "local")
    far = float(np.linalg.norm(step, ORDER[case.norm])) * SLACK
    balls = [(case.center, radius), (case.center + step, radius + far + more / 8)]
    small, large = (case.ask(center=c, radius=r, problem=problem, engine="boxes") for c, r in balls)
    verdicts = (small.verdict, large.verdict)
    assert verdicts != ("refuted", "certified")
    if small.optimum is not None:
        assert small.optimum.value <= (2 if problem == "local" else 1) * radius * SLACK
        assert small.optimum.value <= small.optimum.bound
        if large.optimum is not None:
            assert small.optimum.value <= large.optimum.bound * SLACK


# --- transform -------------------------------------------------------------------------------------------------------


@FEW
@given(cases(), SEEDS)
def test_functions_of_the_output_are_never_refuted(case: Case, seed: int) -> None:
    """g∘f, f itself, and constants; written out, g∘f does not show what it is."""
    rng = np.random.default_rng(seed)
    graph, n, m = case.graph, case.graph.input_dim, case.graph.output_dim
    after = ircert.load(plain(rng, [m, 3, 2], False))
    split = changed_hidden(rng, case.layers, CHANGES[2])
    for other in (graph.then(after), ircert.load(split).then(after), graph, affine(np.zeros((2, n)), [1.0, 2.0])):
        assert upper(case.ask(other=other)) == math.inf
        assert case.ask(other=other, radius=1.0).verdict != "refuted"


@FEW
@given(cases(), SEEDS)
def test_other_networks(case: Case, seed: int) -> None:
    """f2 = identity gives `local`; r12 >= local; changes of f2; more outputs of f2 or f1."""
    rng = np.random.default_rng(seed)
    graph, n = case.graph, case.graph.input_dim
    second, third = (ircert.load(plain(rng, [n, 3, 2], case.full)) for _ in range(2))
    local, r12 = case.ask(), case.ask(other=second)
    equal(local, case.ask(other=affine(np.eye(n))))
    at_most(local, r12)
    equal(r12, case.ask(other=second.then(affine([[1.0, 2.0], [1.0, 3.0]], [1.0, 0.0]))))
    at_most(case.ask(other=ircert.stack(second, third)), r12)
    at_most(r12, case.ask(ircert.stack(graph, third), other=second))


@FEW
@given(cases(), SEEDS)
def test_chains_of_functions(case: Case, seed: int) -> None:
    """r13 >= min(r12, r23)."""
    rng = np.random.default_rng(seed)
    n = case.graph.input_dim
    second = ircert.load(summed(line(n), plain(rng, [n, 3, n], case.full), 0.5))
    third = ircert.load(plain(rng, [n, 3, 1], case.full))
    r12, r23, r13 = case.ask(other=second), case.ask(second, other=third), case.ask(other=third)
    assert min(lower(r12), lower(r23)) <= upper(r13) * SLACK


def distance(found: Result) -> float:
    """How far from the centre the witness reaches."""
    assert found.witness is not None
    points = np.stack([found.witness.x, found.witness.y])
    return float(np.linalg.norm(points - found.center, ord=ORDER[found.norm], axis=1).max())


@pytest.mark.rule("E-3", "R-3")
@pytest.mark.parametrize(("engine", "norm"), some_of(["boxes", "regions", "auto"], NORMS))
def test_the_ground_truth_family(engine: str, norm: Norm) -> None:
    """(|x1 - t|, x2, …): ρ = |c1 - t| and p* = max(0, 2 (r - |c1 - t|)) in all three norms."""
    for n, t, c in ((1, 0.1, -0.3), (2, -1.5, 1.25), (2, 0.3, 0.3), (3, 0.7, 0.0)):
        if n > 2 and engine == "regions":
            continue
        build = ircert.Builder(n)
        relus = build.relu(build.affine(build.input, np.vstack([np.eye(1, n), -np.eye(1, n)]), [-t, t]))
        absolute = build.affine(relus, [[1.0, 1.0]])
        rest = [build.affine(build.input, np.eye(n)[1:])] if n > 1 else []
        graph = build.graph(build.concat(absolute, *rest))
        center = np.append(c, np.arange(1, n) / 3)
        true = abs(float(np.float64(c) - t))
        found = ircert.certify(graph, center, norm=norm, engine=engine, tol=1e-6, time_limit=20)
        assert found.verdict == ("certified" if true else "refuted")
        assert lower(found) <= true * (1 + 1e-15)
        assert upper(found) >= true * (1 - 1e-15)
        assert upper(found) - lower(found) <= 1e-6 * upper(found)
        for radius in {0.5 * true, 1.5 * true + 0.25} - {0.0}:
            ball = ircert.certify(graph, center, norm=norm, engine=engine, radius=radius, time_limit=20)
            assert ball.verdict == ("certified" if radius < true else "refuted")
            assert (ball.radius.refuted is None) == (radius < true)
            assert not ball.radius.refuted or ball.radius.refuted == pytest.approx(distance(ball), rel=1e-9)
            if ball.optimum is not None:
                p = max(0.0, 2 * (radius - true))
                assert ball.optimum.value <= p * SLACK <= ball.optimum.bound * SLACK**2
