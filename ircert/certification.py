"""`ircert.certify`: a question about a network, answered with a proof, a counterexample or neither."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from ircert.limits import Deadline

if TYPE_CHECKING:
    from ircert.answering import EngineName, FormulationName
    from ircert.engines.base import Progress
    from ircert.geometry.domain import DomainLike
    from ircert.geometry.norm import NormLike
    from ircert.ir.floats import Real
    from ircert.questions.query import Problem
    from ircert.result.result import Result


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
    # Only now, for engines take long to import: in the first question of a process the time limit holds for that, too.
    from ircert.answering import Wanted, answered, asked_about, check_options, network, part_of_answer, with_certificate
    from ircert.logs import logged

    check_options(backend, formulation, tol, time_limit, seed, threads, progress, require)
    whole = Deadline(math.inf if time_limit is None else float(time_limit) - (time.perf_counter() - start))
    loaded = network(graph)
    question = asked_about(
        loaded,
        center,
        problem,
        None if other is None else network(other),
        norm,
        radius,
        max_radius,
        domain,
        tol=float(tol),
        deadline=whole if certificate is None else Deadline(part_of_answer(loaded) * whole.left()),
        seed=int(seed),
        threads=int(threads),
        backend=backend,
        formulation=formulation,
        report=logged(progress),
    )
    wanted = Wanted.of(question, optimum, objective_norm, require)
    found = answered(question, engine, wanted, start, in_domain=domain is not None)
    return found if certificate is None else with_certificate(found, certificate, whole)
