"""`ircert.certify`: a question about a network, answered with a proof, a counterexample or neither."""

from __future__ import annotations

import math
import os
import platform
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ircert import __version__, engines
from ircert.backends.solver_process import one_process
from ircert.engines.asking import ask, check, nothing_known
from ircert.engines.base import Answer, Cause, Engine, Progress, Question, Stop, farthest, silent
from ircert.engines.boxes.search.smooth_optimum import with_smooth_optimum
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
from ircert.logs import LOG, logged
from ircert.questions.network import first_uncertifiable
from ircert.questions.query import Problem, Query, positive_float
from ircert.result.result import ModelFacts, Result
from ircert.threads import one_thread

if TYPE_CHECKING:
    from ircert.backends.base import Backend

FORMULATIONS = ("paper", "tangent")
EngineName: TypeAlias = Literal["auto", "regions", "boxes", "milp"]
FormulationName: TypeAlias = Literal["paper", "tangent"]
"""Those that are built in: other packages may add theirs."""
ANSWER = 0.6
"""The part of a time limit that an answer may take where a certificate is asked for, too …"""
ANSWER_WITH_CURVES = 0.75
"""… and for networks with curves, whose searches need more of it."""
NOT_SEARCHED = "no search takes `{}` in {} (node `{}`), and the form of the network does not decide"
LARGEST_INTEGER = 2**31
"""Solvers take no larger seeds and numbers of threads."""


def certify(
    graph: Any,
    center: Any,
    problem: Problem | str = "local",
    other: Any = None,
    norm: NormLike = "inf",
    radius: Real | None = None,
    max_radius: Real | None = None,
    domain: DomainLike | None = None,
    engine: EngineName | str = "auto",
    backend: str | None = None,
    formulation: FormulationName | str | None = None,
    tol: Real = 1e-6,
    time_limit: float | None = None,
    seed: int = 0,
    threads: int = 1,
    progress: Callable[[Progress], None] | None = None,
    require: Literal["exact"] | None = None,
    certificate: str | os.PathLike[str] | None = None,
    optimum: bool | None = None,
    objective_norm: NormLike | None = None,
) -> Result:
    """Whether a network can be inverted around a centre, and how far.

    With `radius` the closed ball is decided. Without it the largest good radius is bracketed, up to `max_radius`, which
    may be infinite: the whole space.
    `graph` and `other` are graphs or whatever `ircert.load` reads. `progress` is called with the bracket so far;
    its first call says how large the question is (neurons, those that may switch, binaries). With `threads` > 1 large
    searches of the engine boxes run in so many processes; solvers of milp other than HiGHS get as many threads.

    With `certificate` what is claimed is written to that file (packed if its name ends in .gz), as a proof that
    `ircert.checker` verifies on its own (`spec/certificate.md`); `result.certificate` says whether, and what it proves.
    The time limit holds for both.

    `optimum` brackets p* of a ball that is fixed by `radius`: how far apart two of its points with one output can be
    (`pseudo`: from the centre; `transform`: how far the other network's outputs), in `objective_norm`, by default that
    of the ball. `result.optimum` has the value, attained by the witness, a bound that none exceeds, and what this rests
    on. By default it is there for networks with fewer outputs than inputs, whose balls are all bad; False leaves it
    out.

    A counterexample is believed only after both points were evaluated exactly on the loaded network. Ctrl-C during a
    search gives the bracket that was reached (`result.interrupted`). An engine refuses options that it does not know.
    """
    start = time.perf_counter()
    whole = Deadline(math.inf if time_limit is None or not _is_number(time_limit) else float(time_limit))
    check_options(backend, formulation, tol, time_limit, seed, threads, progress, require)
    loaded = graph if isinstance(graph, Graph) else load(graph)
    query, limit = _asked(_optional_network(other), center, problem, norm, radius, max_radius, domain)
    measured = _objective(optimum, objective_norm, query, radius)
    report = logged(progress)
    question = Question(
        graph=loaded,
        other=query.other,
        problem=query.problem,
        place=Place.of(query.ball),
        radius=None if radius is None else query.radius,
        max_radius=limit,
        tol=float(tol),
        deadline=whole if certificate is None else Deadline(_part_of_answer(loaded) * whole.left()),
        seed=int(seed),
        threads=int(threads),
        backend=backend,
        formulation=formulation,
        report=report,
    )
    query.check(question.graph)
    chosen = engines.get(engine)
    LOG.info("asked: %s with the engine %s", question, chosen.name)
    with until(question.deadline), one_thread(), one_process():
        answer = _by_form_alone(question, chosen)
        if answer is None:
            if report is not silent:
                report(Progress(0.0, None, first_words(question)))
            if is_wanted(question, optimum):
                answer = _with_optimum(chosen, question, measured, require, asked_for=optimum is True)
            elif optimum is False:
                answer = replace(ask(chosen, replace(question, optimum_later=True)), optimum=None)
            else:
                answer = ask(chosen, question)
    answered = time.perf_counter()
    try:
        with engines.REGISTRY.blaming(answer.engine or chosen.name):
            judged = judge(question, answer, require)
    except KeyboardInterrupt:  # the answer is there, and not to be lost; pressed again, it ends this too
        answer = replace(answer, stop=Stop(Cause.INTERRUPTED).after(answer.stop))
        judged = judge(question, answer, require)
    end = time.perf_counter()
    phases = {**(answer.stats.get("seconds") or {"engine": answered - start}), "replay": end - answered}
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
        domain=None if domain is None else (question.low, question.high),
        asked_radius=question.radius,
        max_radius=None if question.radius is not None else question.max_radius,
        tol=question.tol,
        engine=answer.engine or chosen.name,
        backend=answer.backend,
        formulation=answer.formulation,
        seconds=end - start,
        stats={**answer.stats, "seconds": phases},
        model=ModelFacts.of(question.graph),
        other=None if question.other is None else ModelFacts.of(question.other),
        graph=question.graph,
        other_graph=question.other,
        versions=versions(),
        seed=question.seed,
    )
    LOG.info("answered after %.3f s by %s: %s", found.seconds, found.engine, found)
    return found if certificate is None else _with_certificate(found, certificate, whole)


def _with_optimum(chosen: Engine, question: Question, norm: Norm, require: str | None, *, asked_for: bool) -> Answer:
    """The engine's answer in a part of the time, and p* in the rest."""
    verdict = replace(question, deadline=time_for_the_verdict(question), optimum_later=True)
    with until(verdict.deadline):
        answer = ask(chosen, verdict)
    answer = replace(answer, engine=answer.engine or chosen.name)
    if answer.stop is not None and answer.stop.cause is Cause.INTERRUPTED:
        return answer
    if question.is_smooth:
        return with_smooth_optimum(question, answer, norm, asked_for=asked_for)
    return with_optimum(question, answer, norm, exact=require == "exact", asked_for=asked_for)


def _objective(optimum: Any, given: Any, query: Query, radius: Any) -> Norm:
    """The norm that p* is measured in; QueryError where p* is asked for and there is none."""
    if optimum not in (None, True, False):
        raise QueryError(f"optimum must be True, False or None, got {optimum!r}")
    if radius is None and (optimum or given is not None):
        raise QueryError("p* is that of one ball", remedy="give its `radius`, or ask for no optimum")
    return query.norm if given is None else norm_of(given)


def search_about(
    graph: Graph, center: Any, problem: str, other: Graph | None, norm: NormLike, max_radius: Real | None, **given: Any
) -> Question:
    """The question how large a ball around a centre may be; `given` has the domain and the options of `Question`."""
    query, limit = _asked(other, center, problem, norm, None, max_radius, given.pop("domain"))
    query.check(graph)
    place = Place.of(query.ball)
    return Question(graph, other, query.problem, place, radius=None, max_radius=limit, **given)


def answer_to(question: Question, engine: Engine) -> Answer:
    """What an engine says about a search, before it is judged; its refusals are errors."""
    with until(question.deadline), one_thread(), one_process():
        return _by_form_alone(question, engine) or ask(engine, question)


def _with_certificate(result: Result, path: str | os.PathLike[str], deadline: Deadline) -> Result:
    from ircert.certificates.writing import write

    start = time.perf_counter()
    with one_thread():
        written = write(result, path, deadline)
    taken = time.perf_counter() - start
    stats = {**result.stats, "seconds": {**result.stats["seconds"], "certificate": taken}}
    return replace(result, certificate=written, stats=stats, seconds=result.seconds + taken)


def _part_of_answer(graph: Graph) -> float:
    return ANSWER_WITH_CURVES if any(is_smooth(node.op) for node in graph.nodes) else ANSWER


def _asked(
    other: Graph | None,
    center: Any,
    problem: str,
    norm: Any,
    radius: Real | None,
    max_radius: Real | None,
    domain: DomainLike | None,
) -> tuple[Query, float]:
    """The question about one ball, and how far a search goes."""
    if radius is not None and max_radius is not None:
        raise QueryError(
            "both radius and max_radius are given",
            remedy="`radius` decides one ball, `max_radius` limits the search for the largest",
        )
    query = Query(problem, center, 1.0 if radius is None else radius, norm, other, domain)
    if radius is not None:
        return query, query.radius
    if max_radius is not None:
        return query, positive_float(max_radius, "max_radius")
    return query, farthest(query.center, query.norm)


def _optional_network(given: Any) -> Graph | None:
    return given if given is None or isinstance(given, Graph) else load(given)


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
    graph = given if isinstance(given, Graph) else load(given)
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
    graph = given if isinstance(given, Graph) else load(given)
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
        if backend not in backends.names():
            known = ", ".join(backends.names())
            raise QueryError(f"there is no backend {backend!r}", remedy=f"the backends are {known}")
        _check_solver(backends.get(backend))
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


def _check_solver(backend: Backend) -> None:
    """Refused before the work, not after it."""
    from ircert.backends.base import Solver

    if not isinstance(backend, Solver):
        raise QueryError(f"the backend `{backend.name}` writes files and solves nothing", remedy="name a solver")
    backend.check_available()


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
