"""Asking for radii as experiments do, and the answers as facts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

import ircert
from ircert.ir.graph import Graph
from ircert.reproduction.frame.report import Settings
from ircert.result.result import Result

AGREEMENT = 30.0
"""Seconds for each ball that is asked about once more."""


def ask(settings: Settings, graph: Graph, center: Any, problem: str = "local", **options: Any) -> Result:
    """The bracket of the largest good radius around a centre, with the experiment's seed and time limit."""
    point = np.atleast_1d(np.asarray(center, dtype=np.float64))
    return ircert.certify(graph, point, problem=problem, seed=settings.seed, time_limit=settings.time_limit, **options)


def radius(result: Result) -> float:
    """The certified end."""
    return float(result.radius.certified)


def bound(result: Result) -> float | str:
    """The radius as a cell of a table: a number, or "> 50" where a search up to 50 found nothing bad."""
    found = radius(result)
    return found if result.radius.refuted is not None or np.isinf(found) else f"> {found:g}"


def facts(result: Result) -> dict[str, Any]:
    """What results.json keeps of an answer."""
    refuted = result.radius.refuted
    return {
        "problem": result.problem,
        "norm": result.norm,
        "center": result.center,
        "certified": radius(result),
        "refuted": None if refuted is None else float(refuted),
        "verdict": result.verdict,
        "trust": result.trust,
        "engine": result.engine,
        "seconds": round(result.seconds, 3),
    }


def all_closed(results: list[Result]) -> bool:
    """Whether every search was answered, and proved in exact arithmetic."""
    return all(result.verdict != "unresolved" and result.trust == "exact" for result in results)


def in_order(pairs: Iterable[tuple[Result, Result]]) -> bool:
    """Whether the first radius of each pair is at most the second one; both must be answered."""
    return all(all_closed([first, second]) and radius(first) <= radius(second) for first, second in pairs)


def agrees(settings: Settings, result: Result) -> bool:
    """Whether the mixed-integer engine says the same: a closed ball 1 % smaller is certified, 1 % larger refuted.

    It shares no geometry with the engine `regions`, which finds radii in the plane. A radius that a time limit left
    at 0 has no balls to compare.
    """
    if not 0 < radius(result) < np.inf:
        return False
    seconds = AGREEMENT if settings.time_limit is None else min(AGREEMENT, settings.time_limit)
    asked = replace(settings, time_limit=seconds)
    return all(
        ask(
            asked,
            result.network,
            result.center,
            result.problem,
            radius=share * radius(result),
            norm=result.norm,
            engine="boxes",
        ).verdict
        == verdict
        for share, verdict in ((0.99, "certified"), (1.01, "refuted"))
    )
