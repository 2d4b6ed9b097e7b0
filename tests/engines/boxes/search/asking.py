"""What is asked at many centres, for tests."""

from __future__ import annotations

import ircert
from ircert.atlases.asked import Asked


def asked_about(graph: ircert.Graph, norm: str, domain: tuple[float, float] | None = None) -> Asked:
    rest = {"other": None, "max_radius": None, "engine": "boxes", "backend": None, "formulation": None}
    given = {"tol": 1e-6, "seed": 0, "require": None, "time_each": None, "problem": "local"}
    return Asked.of(graph, norm=norm, domain=domain, **rest, **given)  # type: ignore[arg-type]
