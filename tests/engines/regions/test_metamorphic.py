"""What must not change the radius, or must change it by a known amount; exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import ircert
from ircert.engines.base import Answer
from ircert.geometry.norm import Norm
from tests.effort import examples
from tests.engines.regions.asking import NORMS, ask, check_witness
from tests.neurons import CHANGES, changed_hidden
from tests.oracle.build import Array, line, plain, stacked, summed
from tests.oracle.families import FAMILIES

REACH = 8.0
FLAT = [name for name in FAMILIES if name not in ("four_inputs", "wound_column", "rolled")]
FEW = examples(6)
FEWEST = examples(3)
"""Each example asks several questions."""


class Case:
    """A small network with a centre; everything dyadic, so that changes of coordinates are exact."""

    def __init__(self, name: str, seed: int, norm: Norm) -> None:
        self.rng = np.random.default_rng(seed)
        self.layers, self.center = FAMILIES[name](self.rng, False)
        self.norm = norm
        self.name = name

    @property
    def n(self) -> int:
        return len(self.center)

    def radius(self, layers: Any = None, center: Any = None, norm: Any = None, **more: Any) -> Answer:
        return ask(
            self.layers if layers is None else layers,
            self.center if center is None else center,
            self.norm if norm is None else norm,
            **{"max_radius": REACH, **more},
        )

    def __repr__(self) -> str:
        return f"Case({self.name}, {self.layers}, {self.center}, norm {self.norm})"


@st.composite
def cases(draw: Any, norms: tuple[Norm, ...] = NORMS) -> Case:
    case = Case(draw(st.sampled_from(FLAT)), draw(st.integers(0, 2**32 - 1)), draw(st.sampled_from(norms)))
    assume(case.n <= 2)
    return case


def same(first: Answer, second: Answer, factor: Fraction = Fraction(1)) -> bool:
    """Whether two searches found radii in this proportion: exactly where the radius is rational."""
    if first.refuted is None or second.refuted is None:
        # nothing up to the limit, which an affine network is known to hold beyond
        beyond = math.inf in (first.certified, second.certified)
        return (first.refuted is None) == (second.refuted is None) and (
            beyond or float(second.certified) == float(factor) * float(first.certified)
        )
    if first.certified.exact is not None and second.certified.exact is not None:
        return second.certified.exact == factor * first.certified.exact
    return float(second.certified) == pytest.approx(float(factor) * float(first.certified), rel=1e-13)


PROBLEMS = st.sampled_from(["local", "pseudo"])


# --- coordinates -----------------------------------------------------------------------------------------------------


@FEW
@given(cases(), PROBLEMS, st.integers(-40, 40))
def test_translation(case: Case, problem: str, steps: int) -> None:
    """f(x - d) at c + d."""
    (w, b), *rest = case.layers
    shift = np.full(case.n, steps / 8)
    moved_bias = b - w @ shift
    assume((moved_bias + w @ shift == b).all() and (case.center + shift - shift == case.center).all())
    assume(exactly(np.column_stack([b, w]), np.append(1.0, -shift)[:, None], moved_bias[:, None]))
    moved = [(w, moved_bias), *rest]
    assert same(case.radius(problem=problem), case.radius(moved, case.center + shift, problem=problem))


@FEW
@given(
    cases(), PROBLEMS, st.sampled_from([*range(-30, 31, 5), -900, -520, -150, 300, 520]), st.sampled_from([0, -9, -700])
)
def test_scaling(case: Case, problem: str, power: int, after: int) -> None:
    """t f(x / s) at s c: the radius is scaled by s, also where squares and products leave the floats."""
    scale, weight = 2.0**power, 2.0**after
    (w, b), *rest = case.layers
    scaled = [(w / scale, b), *rest]
    scaled[-1] = scaled[-1][0] * weight, scaled[-1][1] * weight
    assume(len(rest) > 0 and np.isfinite(scaled[0][0]).all())
    assume((scaled[-1][0] / weight == case.layers[-1][0]).all() and (scaled[0][0] * scale == w).all())
    found = case.radius(scaled, case.center * scale, problem=problem, max_radius=REACH * scale)
    assert same(case.radius(problem=problem), found, Fraction(scale))


@FEW
@given(cases(), PROBLEMS, st.booleans(), st.tuples(st.sampled_from([1.0, -1.0]), st.sampled_from([1.0, -1.0])))
def test_signed_permutations(case: Case, problem: str, swap: bool, signs: tuple[float, float]) -> None:
    (w, b), *rest = case.layers
    turn = np.diag(signs[: case.n])
    turn = turn[::-1] if swap else turn
    turned = [(w @ turn, b), *rest]
    assert same(case.radius(problem=problem), case.radius(turned, turn.T @ case.center, problem=problem))


@FEW
@given(cases(norms=(Norm.TWO,)), PROBLEMS)
def test_an_exact_rotation(case: Case, problem: str) -> None:
    """x -> (3 x1 - 4 x2, 4 x1 + 3 x2) is five times a rotation: norm 2 is scaled by 5, exactly."""
    assume(case.n == 2)
    (w, b), *rest = case.layers
    turn = np.array([[3.0, -4.0], [4.0, 3.0]])
    turned = [(w @ turn, b), *rest]
    whole = ask(case.layers, turn @ case.center, "2", problem=problem, max_radius=5 * REACH)
    found = ask(turned, case.center, "2", problem=problem, max_radius=REACH)
    assert same(found, whole, Fraction(5))


@FEW
@given(cases(), PROBLEMS, st.integers(0, 2**32 - 1))
def test_invertible_post_composition(case: Case, problem: str, seed: int) -> None:
    """A unimodular integer matrix and a shift after the network change nothing."""
    rng = np.random.default_rng(seed)
    w, b = case.layers[-1]
    m = len(b)
    low, high = (rng.integers(-2, 3, (m, m)) for _ in range(2))
    mix = (np.tril(low, -1) + np.eye(m)) @ (np.triu(high, 1) + np.eye(m))
    mixed = [*case.layers[:-1], (mix @ w, mix @ b + rng.integers(-4, 5, m))]
    assert exactly(mix, w, mix @ w)
    assert same(case.radius(problem=problem), case.radius(mixed, problem=problem))


def exactly(a: Array, b: Array, product: Array) -> bool:
    """Whether a float product is the exact one."""
    exact = [
        [sum(Fraction(x) * Fraction(y) for x, y in zip(row, column, strict=True)) for column in b.T.tolist()]
        for row in a.tolist()
    ]
    return exact == [[Fraction(x) for x in row] for row in product.tolist()]


# --- neurons ---------------------------------------------------------------------------------------------------------


@FEWEST
@given(cases(), PROBLEMS, st.integers(0, 2**32 - 1))
def test_hidden_neurons(case: Case, problem: str, seed: int) -> None:
    """Permuted, split, doubled, dead and rescaled neurons leave the function as it is."""
    assume(len(case.layers) > 1)
    rng = np.random.default_rng(seed)
    truth = case.radius(problem=problem)
    for change in CHANGES:
        found = case.radius(changed_hidden(rng, case.layers, change), problem=problem)
        assert same(truth, found), change.__name__


# --- order -----------------------------------------------------------------------------------------------------------


def bounds(answer: Answer) -> tuple[float, float]:
    """Bounds of a radius; infinite above where nothing was found."""
    return float(answer.certified), np.inf if answer.refuted is None else float(answer.refuted)


@FEW
@given(cases(), PROBLEMS)
def test_norms_are_ordered(case: Case, problem: str) -> None:
    """ρ_inf <= ρ_2 <= ρ_1 <= n ρ_inf, and ρ_2 <= √n ρ_inf, ρ_1 <= √n ρ_2."""
    found = {norm: case.radius(norm=norm, problem=problem, max_radius=4 * REACH) for norm in NORMS}
    inf, two, one = (bounds(found[norm]) for norm in (Norm.INF, Norm.TWO, Norm.ONE))
    n, root, slack = case.n, case.n**0.5, 1 + 1e-12
    for small, factor, large in ((inf, 1, two), (two, 1, one), (one, n, inf), (two, root, inf), (one, root, two)):
        assert small[0] <= factor * large[1] * slack
    if case.n == 1:
        assert same(found[Norm.INF], found[Norm.ONE])
        assert same(found[Norm.INF], found[Norm.TWO])


@FEW
@given(cases())
def test_local_is_at_most_pseudo(case: Case) -> None:
    local, pseudo = case.radius(), case.radius(problem="pseudo")
    assert bounds(local)[0] <= bounds(pseudo)[1]
    if local.certified.exact is not None and pseudo.certified.exact is not None and pseudo.refuted is not None:
        assert local.certified.exact <= pseudo.certified.exact


@FEW
@given(cases(), st.tuples(st.integers(-16, 16), st.integers(-16, 16)))
def test_the_radius_is_lipschitz_in_the_centre(case: Case, steps: tuple[int, int]) -> None:
    step = np.array(steps[: case.n]) / 16
    size = float(np.linalg.norm(step, {"inf": np.inf, "1": 1, "2": 2}[case.norm]))
    here, there = case.radius(), case.radius(center=case.center + step)
    if here.refuted is not None:
        assert bounds(there)[0] <= bounds(here)[1] + size * (1 + 1e-15)
    if there.refuted is not None:
        assert bounds(here)[0] <= bounds(there)[1] + size * (1 + 1e-15)


@FEW
@given(cases(), st.integers(0, 2**32 - 1))
def test_more_outputs_never_lower_the_radius(case: Case, seed: int) -> None:
    extra = ircert.load(plain(np.random.default_rng(seed), [case.n, 3, 1], False))
    more = ircert.stack(ircert.load(case.layers), extra)
    for problem in ("local", "pseudo"):
        assert bounds(case.radius(problem=problem))[0] <= bounds(case.radius(more, problem=problem))[1]


@pytest.mark.rule("G-7")
@FEWEST
@given(cases())
def test_the_verdict_is_monotone_in_the_radius(case: Case) -> None:
    """Balls below the radius are good, balls above it are bad; domains only help."""
    found = case.radius()
    assume(found.refuted is not None and found.certified > 0)
    for factor, verdict in (
        (0.5, "certified"),
        (1 - 2.0**-30, "certified"),
        (1 + 2.0**-30, "refuted"),
        (2.0, "refuted"),
    ):
        assert case.radius(radius=factor * float(found.certified)).verdict == verdict
    box = (case.center - 0.5, case.center + 1.0)
    inside = case.radius(domain=box)
    assert inside.certified >= found.certified
    if inside.refuted is not None:
        check_witness(inside, case.layers, case.center, case.norm, domain=box)


# --- transform -------------------------------------------------------------------------------------------------------


@FEWEST
@given(cases(), st.integers(0, 2**32 - 1))
def test_a_function_of_the_output_holds_everywhere(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    f = ircert.load(case.layers)
    after = f.then(ircert.load(plain(rng, [f.output_dim, 3, 2], False)))
    assert case.radius(f, other=after).refuted is None
    constant = [(np.zeros((2, case.n)), np.array([0.5, -3.0]))]
    assert case.radius(other=constant).refuted is None
    assert case.radius(other=f).certified >= REACH


@FEW
@given(cases(), st.booleans())
def test_the_identity_makes_transform_local(case: Case, kinked: bool) -> None:
    identity = line(case.n) if kinked else [(np.eye(case.n), np.zeros(case.n))]
    found = case.radius(other=identity)
    assert same(case.radius(), found)
    if found.refuted is not None:
        check_witness(found, case.layers, case.center, case.norm, other=identity)


@FEWEST
@given(cases(), st.integers(0, 2**32 - 1))
def test_transform_under_changes_of_the_second_network(case: Case, seed: int) -> None:
    """Invertible maps after f2 change nothing, more outputs of f2 never raise the radius; r12 >= local."""
    rng = np.random.default_rng(seed)
    second = plain(rng, [case.n, 3, 2], False)
    found = case.radius(other=second)
    (w, b), (v, a) = second
    mix = np.array([[1.0, 2.0], [1.0, 3.0]])
    assert same(found, case.radius(other=[(w, b), (mix @ v, mix @ a + 1.0)]))
    more = stacked(second, plain(rng, [case.n, 2, 1], False))
    assert bounds(case.radius(other=more))[0] <= bounds(found)[1]
    assert bounds(case.radius())[0] <= bounds(found)[1]


@FEWEST
@given(cases())
def test_compositions(case: Case) -> None:
    """ρ(g∘f) <= ρ(f), with equality where g is injective: x + g(x) with a small g."""
    m = len(case.layers[-1][1])
    injective = summed(line(m), plain(np.random.default_rng(0), [m, 3, m], False), 2.0**-8)
    f, h = ircert.load(case.layers), ircert.load(injective)
    assert same(case.radius(), case.radius(f.then(h)))
    folding = ircert.load(plain(case.rng, [m, 4, m], False))
    assert bounds(case.radius(f.then(folding)))[0] <= bounds(case.radius())[1]
