"""Questions to the engine `regions`, and the checks that every answer must pass."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import ircert
from ircert import Graph
from ircert.engines.base import Answer, Progress, Question, silent
from ircert.engines.regions.engine import Regions
from ircert.geometry.norm import Norm, norm_of
from ircert.geometry.place import Place
from ircert.limits import Deadline
from ircert.questions.query import Query
from ircert.witnesses.replay import refutes

NORMS: tuple[Norm, ...] = tuple(Norm)
LIMIT = 64.0


class Refused(Exception):
    """The engine does not take the question."""


def graph_of(network: Any) -> Graph:
    """A graph, or layers (W, b) as one."""
    return network if isinstance(network, Graph) else ircert.load(network)


def ask(
    network: Any,
    center: Any,
    norm: Any = "inf",
    *,
    problem: str = "local",
    other: Any = None,
    radius: float | None = None,
    max_radius: float = LIMIT,
    domain: tuple[Any, Any] | None = None,
    seconds: float = np.inf,
    report: Callable[[Progress], None] = silent,
) -> Answer:
    """The engine's answer to one question."""
    at = np.array(center, dtype=np.float64)
    low, high = (np.broadcast_to(np.asarray(side, dtype=np.float64), at.shape) for side in domain or (-np.inf, np.inf))
    question = Question(
        graph_of(network),
        None if other is None else graph_of(other),
        "transform" if other is not None else problem,
        Place(at, norm_of(norm), low, high),
        radius,
        max_radius,
        deadline=Deadline(seconds),
        report=report,
    )
    engine = Regions()
    refusal = engine.refusal(question)
    if refusal is not None:
        raise Refused(refusal)
    return engine.answer(question)


def exact_radius(answer: Answer) -> Fraction | None:
    """The exact radius of a search that closed its bracket (None: infinite, or an irrational root)."""
    return answer.certified.exact


def radius_of(*question: Any, **more: Any) -> float:
    """The radius of a search, as a float, with its witness checked; the limit where nothing was found."""
    answer = ask(*question, **more)
    if answer.refuted is None:
        return float(min(answer.certified, more.get("max_radius", LIMIT)))
    assert closed(answer)
    network, center, *norm = question
    check_witness(answer, network, center, *norm, problem=more.get("problem", "local"), other=more.get("other"))
    return float(answer.certified)


def closed(answer: Answer, width: float = 1e-12) -> bool:
    """Whether a search found the radius."""
    assert answer.refuted is not None
    assert answer.certified <= answer.refuted
    return float(answer.refuted) - float(answer.certified) <= width * float(answer.refuted)


def check_witness(
    answer: Answer,
    network: Any,
    center: Any,
    norm: Any = "inf",
    *,
    problem: str = "local",
    other: Any = None,
    radius: float | None = None,
    domain: tuple[Any, Any] | None = None,
    near: float = 2.0**-20,
) -> None:
    """The witness is a violation in the ball of the refuted radius (of radius 0: near the centre)."""
    assert answer.refuted is not None
    assert answer.witness is not None
    within = radius or float(answer.refuted) or near
    other = None if other is None else graph_of(other)
    query = Query("transform" if other is not None else problem, center, within, norm, other=other, domain=domain)
    x, y = answer.witness
    assert refutes(graph_of(network), query, x, y) is None
    if problem == "pseudo":
        assert [Fraction(t) for t in np.array(center, dtype=np.float64).tolist()] in (x, y)


def verdict(network: Any, center: Any, norm: Any, radius: float, **more: Any) -> str | None:
    """The verdict about a closed ball; a witness of a refuted one is checked."""
    answer = ask(network, center, norm, radius=radius, **more)
    assert answer.trust == "exact"
    if answer.verdict == "refuted":
        check_witness(answer, network, center, norm, radius=radius, **more)
    else:
        assert answer.refuted is None or answer.verdict == "unresolved"
    return answer.verdict
