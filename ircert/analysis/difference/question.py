"""`ircert.difference`: how far two networks are apart on a ball, as a bracket, and whether they name the same class."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np

from ircert import backends
from ircert.analysis.asked_ball import ball_for
from ircert.analysis.difference.agreement import Agreement, agreement
from ircert.analysis.difference.attained import Evaluation
from ircert.analysis.difference.result import Difference, Gap
from ircert.analysis.difference.search import SEARCHING, DifferenceSearch, Report
from ircert.analysis.difference.solver import solved
from ircert.answering import certifiable, check_limits, versions
from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.geometry.domain import DomainLike
from ircert.geometry.norm import NormLike, norm_of
from ircert.ir.floats import NotAFloat, Real, exact_float, shown
from ircert.ir.graph import Graph
from ircert.limits import Deadline
from ircert.questions.network import Network
from ircert.relational.differential_bounds import Pair
from ircert.relational.objectives import Length
from ircert.result.result import ModelFacts
from ircert.result.stop import Stop
from ircert.threads import one_thread

SAME = "both networks are the same graph"
BRACKET = 0.15
"""The part of the time for the bracket, where the question is about classes."""


def difference(
    first: Any,
    second: Any,
    center: Any = None,
    radius: Real | None = None,
    norm: NormLike | None = None,
    *,
    domain: DomainLike | None = None,
    objective_norm: NormLike = "inf",
    epsilon: Real | None = None,
    top1: bool = False,
    backend: str | None = None,
    tol: Real = 1e-3,
    time_limit: float | None = 60.0,
    seed: int = 0,
    progress: Report | None = None,
) -> Difference:
    """A bracket of max |f(x) - g(x)| over a closed ball, for two networks with as many inputs and outputs.

    center:         the ball's centre; or a ball (center, radius[, norm]), with no radius; or None, where the domain is
                    the ball
    norm:           of the ball (inf by default); objective_norm: of f(x) - g(x)
    epsilon:        ask only whether the networks differ by more than that: certified (no), refuted (yes), unresolved
    top1:           ask whether both name the same class everywhere on the ball
    backend:        a solver of mixed-integer programs, whose bound is used where it is better (then trust is `solver`)
    tol:            the bracket is closed where it is this narrow, relatively
    time_limit:     seconds, None for no limit; then the bracket reached is the answer
    progress:       is called with what is known so far

    The value is attained at a point at which both networks were evaluated exactly; the bound holds in real arithmetic.
    """
    start = time.perf_counter()
    check_limits(time_limit, seed)
    deadline = Deadline(math.inf if time_limit is None else float(time_limit))
    narrow, least = _number(tol, "tol", 1.0), None if epsilon is None else _number(epsilon, "epsilon", math.inf)
    if backend is not None:
        backends.solver(backend)
    if top1 and epsilon is not None:
        raise QueryError("top1 and epsilon are two questions", remedy="ask one after the other")
    f, g = (certifiable(each, what) for each, what in ((first, "the first network"), (second, "the second network")))
    _check_shapes(f, g)
    ball = _ball(f, center, radius, norm, domain)
    # what overflows says nothing, and need not be reported
    with one_thread(), np.errstate(all="ignore"):
        length = Length(norm_of(objective_norm))
        found = _answered(f, g, ball, length, least, bool(top1), backend, narrow, deadline, seed, progress)
    return replace(found, seconds=time.perf_counter() - start)


def _answered(
    f: Graph,
    g: Graph,
    ball: Ball,
    length: Length,
    epsilon: float | None,
    top1: bool,
    backend: str | None,
    tol: float,
    deadline: Deadline,
    seed: int,
    progress: Report | None,
) -> Difference:
    evaluation = Evaluation(f, g, ball, length.norm)
    pair = Pair(Network(f).lowered, Network(g).lowered)
    search = DifferenceSearch(pair, evaluation, length, tol=tol, epsilon=epsilon, seed=seed, report=progress)
    share = BRACKET if top1 else 1.0
    trust, used = "exact", None
    if f == g:
        search.bound, search.outputs, search.evidence = 0.0, np.zeros(f.output_dim), SAME
    elif backend is not None:
        search.run(Deadline(share * deadline.left() / 4))
        trust, used = solved(search, backend, Deadline(SEARCHING * deadline.left()))
    else:
        search.run(Deadline(share * deadline.left()))
    agreed = None
    if top1:
        agreed = agreement(pair, evaluation, Deadline(SEARCHING * deadline.left()), seed)
    bound = max(search.bound, search.best.value)
    verdict, stop = _verdict(search, agreed, epsilon)
    gaps = [
        Gap(float(value), float(max(value, most))) for value, most in zip(search.values, search.outputs, strict=True)
    ]
    return Difference(
        verdict=verdict,
        reason=str(stop) if verdict == "unresolved" and stop is not None else None,
        value=search.best.value,
        bound=bound,
        trust=trust,
        evidence=search.evidence,
        attained=search.best,
        outputs=tuple(gaps),
        agreement=agreed,
        ball=ball,
        norm=length.norm,
        epsilon=epsilon,
        tol=tol,
        stop=stop,
        seconds=0.0,
        stats=dict(search.work),
        models=(ModelFacts.of(f), ModelFacts.of(g)),
        backend=used,
        versions=versions(),
        seed=int(seed),
    )


def _verdict(search: DifferenceSearch, agreed: Agreement | None, epsilon: float | None) -> tuple[str, Stop | None]:
    if agreed is not None:
        return agreed.verdict, agreed.stop
    if epsilon is not None and search.best.value > epsilon:
        return "refuted", search.stop
    return ("certified", search.stop) if search.decided else ("unresolved", search.stop)


def _check_shapes(f: Graph, g: Graph) -> None:
    for what, sizes in (("inputs", (f.input_dim, g.input_dim)), ("outputs", (f.output_dim, g.output_dim))):
        if sizes[0] != sizes[1]:
            raise QueryError(
                f"the first network has {sizes[0]} {what}, the second {sizes[1]}",
                remedy="bind inputs of the larger one and save it: `ircert.load(FILE).fix({2: 0.5})`"
                if what == "inputs"
                else "`select` outputs so that both have the same",
            )


def _ball(graph: Graph, center: Any, radius: Real | None, norm: NormLike | None, domain: DomainLike | None) -> Ball:
    if radius is not None:
        if center is None:
            raise QueryError("there is a radius and no centre", remedy="give center=[…], one number per input")
        return ball_for(graph, (center, radius, "inf" if norm is None else norm), domain)
    if center is not None and norm is not None:
        raise QueryError("there is a norm and no radius", remedy="give radius=…, or a ball (center, radius, norm)")
    return ball_for(graph, center, domain)


def _number(given: Any, what: str, limit: float) -> float:
    try:
        number = exact_float(given)
    except NotAFloat:
        number = math.nan
    if not 0 <= number < limit:
        most = f"from 0 to below {limit:g}" if limit < math.inf else "that is not negative"
        raise QueryError(f"{what} must be a finite float64 number {most}, got {shown(given)}")
    return number
