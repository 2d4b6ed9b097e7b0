"""The formulation `tangent` of the engine `milp`: certified with the trust of a solver, refuted by exact pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ircert
from ircert.data.networks import bundled
from ircert.engines.base import Cause, Progress, Stop
from tests.engines.milp.test_engine import FOLD, asked


@pytest.mark.rule("E-7", "R-9")
def test_programs_that_are_interrupted_keep_what_they_found() -> None:
    def press(progress: Progress) -> None:
        if progress.certified > 0.2 and progress.text.startswith("tangent"):
            raise KeyboardInterrupt

    graph = bundled("coupled-vanderpol-4-16-16-4")
    found = ircert.certify(graph, np.zeros(4), engine="milp", formulation="tangent", progress=press)
    assert (found.verdict, found.interrupted) == ("unresolved", True)
    assert str(found.reason) == str(Stop(Cause.INTERRUPTED, work={"programs": found.stats["solved"]}))
    assert found.stats["solved"] > 0
    assert found.stats["j0_lower"] > found.radius.certified > 0.2


@pytest.mark.rule("E-10")
@pytest.mark.parametrize("norm", ["inf", "1"])
def test_the_formulation_of_tangents(norm: str) -> None:
    """(|x1 - 1/2|, x2): certified with the trust of a solver, refuted by an exact pair."""
    found = asked(FOLD, [0.0, 0.0], formulation="tangent", norm=norm, time_limit=20)
    assert found.formulation == "tangent"
    assert 0.48 < found.radius.certified <= 0.5
    assert found.radius.refuted is not None
    assert found.radius.refuted == pytest.approx(0.5, rel=1e-6)
    assert found.trust == "solver"
    assert found.stats["j0_lower"] <= 0.5 + 1e-9
    good, bad = (asked(FOLD, [0.0, 0.0], formulation="tangent", norm=norm, radius=r) for r in (0.25, 0.75))
    assert (good.verdict, good.trust) == ("certified", "solver")
    assert (good.backend, good.stats["solved"]) == (None, 0)
    assert "no program was left for a solver" in good.radius.certified.evidence
    assert "(highs) is right" in found.radius.certified.evidence
    assert good.optimum == (0.0, 0.5, "exact")
    assert asked(FOLD, [0.0, 0.0], formulation="tangent", norm=norm, max_radius=0.25).verdict == "certified"
    beyond = asked(FOLD, [0.0, 0.0], formulation="tangent", norm=norm, max_radius=0.49995)
    assert beyond.radius.refuted is None
    assert 0.49 < beyond.radius.certified <= 0.49995
    near = asked(FOLD, [0.0, 0.0], problem="pseudo", formulation="tangent", norm=norm, radius=0.25)
    assert (near.verdict, near.optimum) == ("certified", (0.0, 0.25, "exact"))
    assert (bad.verdict, bad.trust, bad.radius.certified) == ("refuted", "exact", 0.0)
    assert asked(FOLD, [0.0, 0.0], formulation="tangent", radius=0.25, require="exact").verdict == "unresolved"


@pytest.mark.rule("E-10")
def test_tangents_for_transform() -> None:
    """Certified as far as the constrained outputs are injective, refuted by an exact collision, otherwise open."""
    plane, center = [(np.eye(2), np.zeros(2))], [0.0, 0.0]
    options: dict[str, Any] = {"problem": "transform", "formulation": "tangent", "time_limit": 20}
    found = asked(FOLD, center, other=plane, max_radius=2.0, **options)
    assert (found.trust, found.formulation) == ("solver", "tangent")
    assert found.witness is not None
    assert found.radius.refuted is not None
    assert 0.4 < found.radius.certified <= 0.5 <= found.radius.refuted <= 0.5 + 1e-9
    good, bad = (asked(FOLD, center, other=plane, radius=r, **options) for r in (0.25, 0.75))
    assert [good.verdict, good.trust, bad.verdict, bad.trust] == ["certified", "solver", "refuted", "exact"]
    doubled = [(np.array([[2.0, 0.0], [-2.0, 0.0]]), np.array([-1.0, 1.0])), (np.ones((1, 2)), np.zeros(1))]
    twin = asked(FOLD, center, other=doubled, radius=0.75, **options)
    assert twin.verdict == "unresolved"
    assert "collisions of the constrained outputs" in str(twin.reason)
