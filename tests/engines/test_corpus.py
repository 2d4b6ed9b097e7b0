"""The corpus of adversarial numbers through every exact engine: never a wrong verdict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ircert
from ircert.geometry.norm import Norm
from tests.engines.corpus import corpus
from tests.generated.networks import NORMS
from tests.oracle.build import Network
from tests.oracle.oracle import Answer, local_radius, pseudo_radius

LIMIT = 4
CORPUS = corpus()
HARD = ("spread", "parallel", "sheets")
"""Where `boxes` may stay open: kinks of relative size 1e-16, lines that are all but one, many cells."""


def truth(name: str, problem: str, norm: Norm) -> Answer:
    layers, center = CORPUS[name]
    return (local_radius if problem == "local" else pseudo_radius)(layers, center, norm, limit=LIMIT)


def ask(layers: Network, center: Any, engine: str, **more: Any) -> ircert.Result:
    return ircert.certify(ircert.load(layers), center, engine=engine, **{"time_limit": 20, **more})


@pytest.mark.rule("E-1", "E-2", "E-3")
@pytest.mark.parametrize("name", CORPUS)
def test_radii_and_balls(name: str) -> None:
    """Brackets hold the oracle's radius and are closed; balls beside it have the right verdict."""
    layers, center = CORPUS[name]
    turn = list(CORPUS).index(name)
    for k, problem in enumerate(("local", "pseudo")[: 1 + (turn % 3 == 0)]):
        norm = NORMS[(turn + k) % 3]
        true = truth(name, problem, norm)
        for engine in ("boxes", "regions", "auto")[: 2 + (turn % 3 == 1)]:
            hard = engine == "boxes" and name.startswith(HARD)
            options = {"problem": problem, "norm": norm, "time_limit": 0.5 if hard else 30}
            found = ask(layers, center, engine, max_radius=LIMIT, tol=1e-4, **options)
            low, high = found.radius.certified, found.radius.refuted
            where = f"{problem}, {norm}, {engine}: [{low}, {high}], {float(true.lower)}, {found.reason}"
            assert true.upper is None or float(low) <= float(true.upper) * (1 + 1e-12), where
            assert high is None or float(high) >= float(true.lower) * (1 - 1e-12), where
            assert high is None or true.upper is not None, where
            assert found.verdict == ("refuted" if true.upper == 0 else "certified") or hard, where
        if true.upper is not None:
            inside, outside = 0.99 * float(true.lower), 1.01 * float(true.upper) or 0.5
            for engine in ("regions",) if name.startswith(HARD) else ("boxes", "regions"):
                options = {"problem": problem, "norm": norm}
                assert ask(layers, center, engine, radius=outside, **options).verdict == "refuted"
                assert inside == 0 or ask(layers, center, engine, radius=inside, **options).verdict == "certified"


@pytest.mark.parametrize("engine", ["boxes", "regions", "auto"])
def test_a_centre_far_away(engine: str) -> None:
    """Cells of width 1e-3 at a distance of 1e9 from 0."""
    tooth, _ = CORPUS["tooth-0.001"]
    (w, b), *rest = tooth
    shift = np.array([2.0**30, -(2.0**30)])
    moved = [(w, b - w @ shift), *rest]
    plain = ask(tooth, [-0.5, 0.0], engine, tol=1e-4, max_radius=LIMIT)
    found = ask(moved, np.array([-0.5, 0.0]) + shift, engine, tol=1e-4, max_radius=LIMIT)
    assert (plain.verdict, found.verdict) == ("certified", "certified")
    assert float(found.radius.certified) == pytest.approx(float(plain.radius.certified), rel=2e-3)
