"""The engine against the oracle, which knows nothing of it: radii, closed balls, witnesses, all problems and norms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.engines.regions.asking import NORMS, ask, check_witness, closed, verdict
from tests.generated.networks import box_around
from tests.oracle.build import line, plain, summed
from tests.oracle.families import Sample, sample
from tests.oracle.oracle import Answer, closed_ball, local_radius, pseudo_radius, transform_radius

LIMIT = 8
EXPECTED = {True: "certified", False: "refuted", None: "unresolved"}


def small_samples(seed: int, start: int, stop: int) -> Iterator[Sample]:
    """Samples with one or two inputs."""
    rng = np.random.default_rng(seed)
    for index in range(start, stop):
        found = sample(rng, index)
        if len(found.center) <= 2:
            yield found


def oracle_says(s: Sample, problem: str, norm: str, domain: Any) -> Answer:
    if problem == "transform":
        return transform_radius(s.layers, s.other, s.center, norm, domain, limit=LIMIT)
    return (local_radius if problem == "local" else pseudo_radius)(s.layers, s.center, norm, domain, limit=LIMIT)


def compare_radius(s: Sample, problem: str, norm: str, domain: Any = None) -> Answer:
    """The engine's bracket holds the oracle's radius and is closed; its witness replays."""
    truth = oracle_says(s, problem, norm, domain)
    other = s.other if problem == "transform" else None
    found = ask(s.layers, s.center, norm, problem=problem, other=other, max_radius=float(LIMIT), domain=domain)
    where = f"{s.name}, {problem}, norm {norm}"
    if truth.upper is None:
        assert found.certified >= LIMIT, where
        assert found.refuted is None or found.refuted >= LIMIT, where
        return truth
    assert found.refuted is not None, where
    assert Fraction(found.certified) <= truth.upper, where
    assert truth.lower <= Fraction(found.refuted), where
    assert closed(found), where
    assert float(found.certified) == pytest.approx(float(truth.lower), rel=1e-12, abs=0.0), where
    check_witness(found, s.layers, s.center, norm, problem=problem, other=other, domain=domain)
    return truth


def compare_balls(s: Sample, problem: str, norm: str, truth: Answer, domain: Any = None) -> Iterator[bool]:
    """Closed balls at the radius and beside it have the oracle's verdict; whether the engine left each undecided."""
    found = float(truth.lower)
    other = s.other if problem == "transform" else None
    ends = [found] if truth.upper is None else [found, float(truth.upper), 0.9 * found, 1.1 * found]
    for radius in {r for r in [*ends, 1.0] if r > 0}:
        holds = closed_ball(s.layers, s.center, radius, norm, problem, other, domain)
        got = verdict(s.layers, s.center, norm, radius, problem=problem, other=other, domain=domain)
        undecided = got == "unresolved"
        assert undecided or holds is None or got == EXPECTED[holds], f"{s.name}, {problem}, {norm}, {radius!r}"
        assert not undecided or norm == "2", f"{s.name}, {problem}, {norm}, {radius!r}"
        yield undecided


def compare(samples: Iterable[Sample], balls: int, domains: int | None = None, norms: int = 3) -> Counter[str]:
    """Everything about the samples, closed balls of every `balls`-th only; what was met how often.

    domains: a seed for domains to cut the balls with
    norms:   in how many norms each problem is asked, all of them in turn
    """
    met: Counter[str] = Counter()
    rng = np.random.default_rng(domains)
    for i, s in enumerate(samples):
        domain = None if domains is None else box_around(rng, s.center)
        problems = ["local", "pseudo", *(["transform"] if s.other is not None else [])]
        for j, problem in enumerate(problems):
            for k in range(norms):
                norm = NORMS[(i + j + k) % 3]
                truth = compare_radius(s, problem, norm, domain)
                met["radii"] += 1
                if problem == "local" and k == 0:
                    met["samples"] += 1
                    met["positive"] += truth.upper is not None and truth.upper > 0
                    met["far"] += truth.kind == "far"
                if (i + 2 * j + k) % balls == 0:
                    for undecided in compare_balls(s, problem, norm, truth, domain):
                        met["balls"] += 1
                        met["undecided"] += undecided
    return met


def check_proportions(met: Counter[str]) -> None:
    assert met["positive"] >= 0.5 * met["samples"]
    assert met["far"] >= 0.1 * met["samples"]
    assert met["undecided"] <= 0.02 * met["balls"]


def wide_samples(seed: int, count: int) -> Iterator[Sample]:
    """Networks of 16 to 24 neurons: random ones, and x + g(x), which is injective near most points."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        full, n = index % 2 == 1, 1 + int(rng.integers(4) > 0)
        half = int(rng.integers(7, 11))
        sizes = [n, 2 * half, n] if index % 3 else [n, half, half, n + int(rng.integers(2))]
        network = plain(rng, sizes, full)
        if sizes[-1] == n:
            network = summed(line(n, len(sizes) - 2), network, 0.5)
        yield Sample(f"wide-{index}", network, rng.integers(-8, 9, n) / 8, None)


@pytest.mark.rule("G-5")
def test_families() -> None:
    met = compare(small_samples(2024, 0, 26), balls=3, norms=1)
    check_proportions(met)
    assert met["radii"] > 35
    assert met["balls"] > 30


def test_domains() -> None:
    met = compare(small_samples(2025, 0, 26), balls=3, domains=1, norms=1)
    assert met["radii"] > 35
    assert met["positive"] >= 4
    assert met["undecided"] <= 0.02 * met["balls"]


def test_wide_networks() -> None:
    met = compare(wide_samples(7, 6), balls=6, norms=1)
    assert met["radii"] == 12
    assert met["positive"] >= 3


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(8))
def test_many_families(part: int) -> None:
    """In all more than 2000 networks."""
    met = compare(small_samples(1000 + part, 0, 340), balls=3)
    assert met["samples"] > 250
    check_proportions(met)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_many_domains() -> None:
    met = compare(small_samples(1100, 0, 520), balls=3, domains=2)
    assert met["positive"] >= 0.2 * met["samples"]
    assert met["undecided"] <= 0.02 * met["balls"]


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_many_wide_networks() -> None:
    met = compare(wide_samples(8, 200), balls=6)
    assert met["positive"] >= 100
    assert met["undecided"] <= 0.02 * met["balls"]
