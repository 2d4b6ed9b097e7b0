"""From a question to a result: what may be asked, who answers, and what the judge makes of it.

All of this is imported by the first question, for the engines take long (`ircert/certification.py`).
"""

from __future__ import annotations

import math
import os
import platform
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from ircert import __version__, engines
from ircert.backends.solver_process import one_process
from ircert.engines.asking import ask, check, nothing_known
from ircert.engines.base import Answer, Cause, Engine, Progress, Question, Stop, farthest, silent
from ircert.engines.estimate import first_words
from ircert.engines.judge import judge
from ircert.engines.optimum.answering import is_wanted, time_for_the_verdict, with_optimum
from ircert.errors import QueryError, UnsupportedModel
from ircert.frontends.load import load
from ircert.geometry.domain import DomainLike
from ircert.geometry.norm import Norm, NormLike, norm_of
from ircert.geometry.place import Place
from ircert.ir.floats import NotAFloat, Real, exact_float, shown
from ircert.ir.graph import Graph
from ircert.ir.ops import is_smooth
from ircert.ir.ops.smooth import Choose
from ircert.limits import Deadline, until
from ircert.logs import LOG
from ircert.questions.network import first_uncertifiable
from ircert.questions.query import Query, positive_float
from ircert.result.result import ModelFacts, Result
from ircert.threads import one_thread

FORMULATIONS = ("paper", "tangent")
EngineName: TypeAlias = Literal["auto", "regions", "boxes", "milp"]
FormulationName: TypeAlias = Literal["paper", "tangent"]
"""Those that are built in: other packages may add theirs."""
ANSWER = 0.6
"""The part of a time limit that an answer may take where a certificate is asked for, too …"""
ANSWER_WITH_CURVES = 0.75
"""… and for networks with curves, whose searches need more of it."""
NOT_SEARCHED = "no search takes `{}` in {} (node `{}`), and the form of the network does not decide"
NOTICED = 0.05
"""Seconds before an engine is asked (imports, reading and lowering a model) of which a result speaks."""
LARGEST_INTEGER = 2**31
"""Solvers take no larger seeds and numbers of threads."""


@dataclass(frozen=True)
class Wanted:
    """What is asked for beside the bracket: p* (None: where there are fewer outputs than inputs), in a norm, and
    whom to believe."""

    optimum: bool | None
    norm: Norm
    require: Literal["exact"] | None

    @classmethod
    def of(cls, question: Question, optimum: Any, norm: Any, require: Literal["exact"] | None) -> Wanted:
        """What was asked for; QueryError where p* is, and there is none."""
        if optimum not in (None, True, False):
            raise QueryError(f"optimum must be True, False or None, got {optimum!r}")
        if question.radius is None and (optimum or norm is not None):
            raise QueryError("p* is that of one ball", remedy="give its `radius`, or ask for no optimum")
        return cls(optimum, question.norm if norm is None else norm_of(norm), require)


def network(given: Any) -> Graph:
    """A graph, or whatever `ircert.load` reads."""
    return given if isinstance(given, Graph) else load(given)


def asked_about(
    graph: Graph,
    center: Any,
    problem: str,
    other: Graph | None,
    norm: NormLike,
    radius: Real | None,
    max_radius: Real | None,
    domain: DomainLike | None,
    **given: Any,
) -> Question:
    """The question about one ball, or about the largest where `radius` is None; `given` has options of `Question`."""
    if radius is not None and max_radius is not None:
        raise QueryError(
            "both radius and max_radius are given",
            remedy="`radius` decides one ball, `max_radius` limits the search for the largest",
        )
    query = Query(problem, center, 1.0 if radius is None else radius, norm, other, domain)
    limit = query.radius if radius is not None else _limit(query, max_radius)
    query.check(graph)
    place = Place.of(query.ball)
    return Question(graph, other, query.problem, place, None if radius is None else query.radius, limit, **given)


def _limit(query: Query, max_radius: Real | None) -> float:
    """How far a search goes."""
    return farthest(query.center, query.norm) if max_radius is None else positive_float(max_radius, "max_radius")


def answered(question: Question, engine: str, wanted: Wanted, start: float, *, in_domain: bool) -> Result:
    """The judged answer of the engine of that name; it was asked for at `start`, by `time.perf_counter`."""
    chosen = engines.get(engine)
    LOG.info("asked: %s with the engine %s", question, chosen.name)
    begun = time.perf_counter()
    with until(question.deadline), one_thread(), one_process():
        answer = _answer(question, chosen, wanted)
    end = time.perf_counter()
    try:
        with engines.REGISTRY.blaming(answer.engine or chosen.name):
            judged = judge(question, answer, wanted.require)
    except KeyboardInterrupt:  # the answer is there, and not to be lost; pressed again, it ends this too
        answer = replace(answer, stop=Stop(Cause.INTERRUPTED).after(answer.stop))
        judged = judge(question, answer, wanted.require)
    replayed = time.perf_counter()
    phases = {**(answer.stats.get("seconds") or {"engine": end - begun}), "replay": replayed - end}
    if begun - start > NOTICED:
        phases = {"start": begun - start, **phases}
    found = Result(
        verdict=judged.verdict,
        trust=judged.trust,
        radius=judged.radius,
        optimum=judged.optimum,
        witness=judged.witness,
        turned=judged.turned,
        reason=judged.reason,
        stop=answer.stop,
        problem=question.problem,
        norm=question.norm,
        center=question.center,
        domain=(question.low, question.high) if in_domain else None,
        asked_radius=question.radius,
        max_radius=None if question.radius is not None else question.max_radius,
        tol=question.tol,
        engine=answer.engine or chosen.name,
        backend=answer.backend,
        formulation=answer.formulation,
        seconds=replayed - start,
        stats={**answer.stats, "seconds": phases},
        model=ModelFacts.of(question.graph),
        other=None if question.other is None else ModelFacts.of(question.other),
        graph=question.graph,
        other_graph=question.other,
        versions=versions(),
        seed=question.seed,
    )
    LOG.info("answered after %.3f s by %s: %s", found.seconds, found.engine, found)
    return found


def _answer(question: Question, chosen: Engine, wanted: Wanted) -> Answer:
    """What the engine says, with p* where it is wanted."""
    answer = _by_form_alone(question, chosen)
    if answer is not None:
        return answer
    if question.report is not silent:
        question.report(Progress(0.0, None, first_words(question)))
    if is_wanted(question, wanted.optimum):
        return _with_optimum(chosen, question, wanted)
    if wanted.optimum is False:
        return replace(ask(chosen, replace(question, optimum_later=True)), optimum=None)
    return ask(chosen, question)


def _with_optimum(chosen: Engine, question: Question, wanted: Wanted) -> Answer:
    """The engine's answer in a part of the time, and p* in the rest."""
    verdict = replace(question, deadline=time_for_the_verdict(question), optimum_later=True)
    with until(verdict.deadline):
        answer = ask(chosen, verdict)
    answer = replace(answer, engine=answer.engine or chosen.name)
    if answer.stop is not None and answer.stop.cause is Cause.INTERRUPTED:
        return answer
    asked_for = wanted.optimum is True
    if question.is_smooth:
        from ircert.engines.boxes.search.smooth_optimum import with_smooth_optimum

        return with_smooth_optimum(question, answer, wanted.norm, asked_for=asked_for)
    return with_optimum(question, answer, wanted.norm, exact=wanted.require == "exact", asked_for=asked_for)


def search_about(
    graph: Graph, center: Any, problem: str, other: Graph | None, norm: NormLike, max_radius: Real | None, **given: Any
) -> Question:
    """The question how large a ball around a centre may be; `given` has the domain and the options of `Question`."""
    return asked_about(graph, center, problem, other, norm, None, max_radius, **given)


def answer_to(question: Question, engine: Engine) -> Answer:
    """What an engine says about a search, before it is judged; its refusals are errors."""
    with until(question.deadline), one_thread(), one_process():
        return _by_form_alone(question, engine) or ask(engine, question)


def with_certificate(result: Result, path: str | os.PathLike[str], deadline: Deadline) -> Result:
    """The result, with what it claims written to a file as far as the time goes."""
    from ircert.certificates.writing import write

    start = time.perf_counter()
    with one_thread():
        written = write(result, path, deadline)
    taken = time.perf_counter() - start
    stats = {**result.stats, "seconds": {**result.stats["seconds"], "certificate": taken}}
    return replace(result, certificate=written, stats=stats, seconds=result.seconds + taken)


def part_of_answer(graph: Graph) -> float:
    """The part of a time limit that an answer may take where a certificate is asked for, too."""
    return ANSWER_WITH_CURVES if any(is_smooth(node.op) for node in graph.nodes) else ANSWER


def _by_form_alone(question: Question, chosen: Engine) -> Answer | None:
    """The answer about networks that no search takes: their form says enough or leaves parts that one takes, or
    nothing is known; None where a search takes them. Refusals of the engine are errors."""
    found = _uncertifiable(question) if chosen.takes_smooth else None
    if found is None:
        for network, what in _named(question):
            certifiable(network, what)
        check(chosen, question)
        return None
    from ircert.engines.instant.engine import by_structure
    from ircert.engines.parts.by_parts import by_parts

    known = by_structure(question)
    if known is not None:
        return replace(known, engine="instant")
    check(chosen, question)
    parts = None if first_uncertifiable(question.graph) is None else by_parts(question, partial(ask, chosen))
    return parts or nothing_known(question, Stop(Cause.UNDECIDED, NOT_SEARCHED.format(*found)))


def _uncertifiable(question: Question) -> tuple[str, str, str] | None:
    """What no search takes in a network of the question, in which one and where."""
    first = ((first_uncertifiable(graph), what) for graph, what in _named(question))
    return next(((node.op.kind, what, node.name) for node, what in first if node is not None), None)


def _named(question: Question) -> list[tuple[Graph, str]]:
    other = question.other
    return [(question.graph, "the network"), *([] if other is None else [(other, "the other network")])]


def certifiable(given: Any, what: str) -> Graph:
    """A graph, or whatever `ircert.load` reads, as a graph that can be certified; UnsupportedModel if it cannot."""
    graph = network(given)
    node = first_uncertifiable(graph)
    if node is not None and isinstance(node.op, Choose):
        raise UnsupportedModel(
            f"{what} chooses between two branches, and may jump where its condition changes",
            where=node.name,
            remedy="a softplus that is left above a threshold below 20 jumps there: export it with threshold=20",
        )
    if node is not None:
        raise UnsupportedModel(
            f"no search takes `{node.op.kind}` in {what}",
            where=f"node `{node.name}`",
            remedy="certification needs networks of affine maps, relu, leaky relu, abs, max, min, clip and pools, "
            "of tanh, sigmoid, silu, gelu, softplus, elu, exp and the like and of their products, "
            "or a form that is injective by itself",
        )
    return graph


def piecewise_linear(given: Any, what: str) -> Graph:
    """A graph, or whatever `ircert.load` reads, that has linear regions; UnsupportedModel if it has none."""
    graph = network(given)
    for node in graph.nodes:
        if not node.op.piecewise_linear:
            raise UnsupportedModel(
                f"`{node.op.kind}` in {what} is not piecewise linear",
                where=f"node `{node.name}`",
                remedy="it needs networks of affine maps, relu, leaky relu, abs, max, min, clip and pools",
            )
    return graph


def check_options(
    backend: Any, formulation: Any, tol: Any, time_limit: Any, seed: Any, threads: Any, progress: Any, require: Any
) -> None:
    """QueryError unless these are options of a search."""
    from ircert import backends

    if backend is not None:
        backends.solver(backend)  # refused before the work, not after it
    if formulation is not None:
        _check_formulation(formulation)
    if not 0 <= _float_or_nan(tol) < 1:
        raise QueryError(f"tol must be a float64 number from 0 to below 1, got {shown(tol)}")
    check_limits(time_limit, seed)
    if not _is_integer(threads) or not 1 <= threads < LARGEST_INTEGER:
        raise QueryError(f"threads must be an integer from 1 to below 2^31, got {threads!r}")
    if progress is not None and not callable(progress):
        raise QueryError(f"progress must be a function, got {progress!r}")
    if require not in (None, "exact"):
        raise QueryError(f"there is no requirement {require!r}", remedy='the only one is require="exact"')


def _check_formulation(given: Any) -> None:
    from ircert.programs import formulations

    if given in FORMULATIONS:
        return
    takes = f"the engine `milp` takes {' and '.join(FORMULATIONS)}"
    if str(given).split("{")[0] in formulations.names():
        raise QueryError(
            f"no engine answers by the formulation {given!r}", remedy=f"{takes}; `ircert export` writes it"
        )
    raise QueryError(f"there is no formulation {given!r}", remedy=takes)


def check_limits(time_limit: Any, seed: Any) -> None:
    """QueryError unless these are seconds, or None for no limit, and a seed that solvers take."""
    if time_limit is not None and not (_is_number(time_limit) and time_limit > 0):
        raise QueryError(f"the time limit must be a positive number of seconds, got {time_limit!r}")
    if not _is_integer(seed) or not 0 <= seed < LARGEST_INTEGER:
        raise QueryError(f"the seed must be an integer from 0 to below 2^31, got {seed!r}")


def _float_or_nan(given: object) -> float:
    try:
        return exact_float(given)
    except NotAFloat:
        return math.nan


def _is_number(given: object) -> bool:
    return isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)


def _is_integer(given: object) -> bool:
    return isinstance(given, int | np.integer) and not isinstance(given, bool)


def versions() -> dict[str, str]:
    """Those that an answer depends on."""
    import scipy

    return {
        "ircert": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
