"""What is asked at every centre of an atlas: networks, problem, norm and options, as one thing that travels."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ircert import __version__, engines
from ircert.answering import check_options, search_about
from ircert.engines.base import Answer, Question, farthest
from ircert.errors import QueryError
from ircert.frontends.load import load
from ircert.geometry.domain import Box, DomainLike, box_of
from ircert.geometry.norm import Norm, norm_of
from ircert.ir.arrays import Array
from ircert.ir.floats import NotAFloat, exact_floats
from ircert.ir.graph import Graph
from ircert.limits import Deadline
from ircert.questions.network import Network, Networks, first_uncertifiable
from ircert.questions.query import PROBLEMS, positive_float

FORMAT = 1
"""Of the rows and the ways to them: rows of another one are computed anew."""


@dataclass(frozen=True, eq=False)
class Asked:
    """One question about many centres; a search for the largest good radius at each.

    time_each: seconds for one centre, None for as many as it takes
    """

    graph: Graph
    other: Graph | None
    problem: str
    norm: Norm
    max_radius: float | None
    domain: Box | None
    engine: str
    backend: str | None
    formulation: str | None
    tol: float
    seed: int
    require: str | None
    time_each: float | None

    @staticmethod
    def of(
        graph: Any,
        *,
        problem: str,
        other: Any,
        norm: Any,
        max_radius: Any,
        domain: DomainLike | None,
        engine: str,
        backend: str | None,
        formulation: str | None,
        tol: Any,
        seed: Any,
        require: str | None,
        time_each: float | None,
    ) -> Asked:
        """What was asked, checked as far as that needs no centre."""
        check_options(backend, formulation, tol, time_each, seed, 1, None, require)
        loaded = graph if isinstance(graph, Graph) else load(graph)
        if problem not in PROBLEMS:
            raise QueryError(f"there is no problem {problem!r}", remedy=f"the problems are {', '.join(PROBLEMS)}")
        engines.get(engine)
        second = other if other is None or isinstance(other, Graph) else load(other)
        each = None if time_each is None else float(time_each)
        limit = None if max_radius is None else positive_float(max_radius, "max_radius")
        box = None if domain is None else box_of(domain, loaded.input_dim)
        rest = box, str(engine), backend, formulation, float(tol), int(seed), require, each
        return Asked(loaded, second, str(problem), norm_of(norm), limit, *rest)

    def checked(self, centers: Any) -> Array:
        """Centres (N, n) that can be asked about, as floats; QueryError where one cannot."""
        try:
            points = exact_floats(centers)
        except NotAFloat as error:
            raise QueryError(f"centres must be finite numbers, and {error}", remedy=error.remedy) from None
        size = self.graph.input_dim
        if points.ndim != 2 or points.shape[1] != size or not len(points):
            shape = "x".join(map(str, points.shape))
            raise QueryError(
                f"centres must be rows of {size} numbers, one per input, got an array {shape}",
                remedy=f"give an array of shape (N, {size})",
            )
        if not np.isfinite(points).all():
            raise QueryError("centres must be finite numbers", remedy="leave out rows with inf or nan")
        points = points + 0.0  # -0.0 is 0.0, and the same centre
        low, high = self.sides
        outside = np.flatnonzero(((points < low) | (points > high)).any(axis=1))
        if len(outside):
            raise QueryError(
                f"{len(outside)} centres lie outside the domain, the first is number {outside[0]}",
                remedy="leave them out, or widen the domain",
            )
        self.question(points[0], Deadline())
        points.setflags(write=False)
        return points

    @cached_property
    def sides(self) -> tuple[Array, Array]:
        """The domain, infinite where there is none."""
        size = self.graph.input_dim
        if self.domain is None:
            return np.full(size, -np.inf), np.full(size, np.inf)
        return self.domain.low, self.domain.high

    def question(self, center: Array, deadline: Deadline, known: Answer | None = None) -> Question:
        """The question about one centre."""
        return search_about(
            self.graph,
            center,
            self.problem,
            self.other,
            self.norm,
            self.max_radius,
            domain=self.domain,
            tol=self.tol,
            deadline=deadline,
            seed=self.seed,
            backend=self.backend,
            formulation=self.formulation,
            known=known,
            networks=self.networks,
        )

    @cached_property
    def networks(self) -> Networks:
        """The networks, lowered once for all centres."""
        return Networks.of(self.graph, self.other)

    def limit(self, center: Array) -> float:
        """How far a search goes."""
        return farthest(center, self.norm) if self.max_radius is None else float(self.max_radius)

    @property
    def is_lipschitz(self) -> bool:
        """Whether the largest good radius is 1-Lipschitz in the centre (A-1): the centre's own output plays no part."""
        return self.problem != "pseudo"

    @cached_property
    def is_piecewise_linear(self) -> bool:
        """Whether there are linear regions, and nothing that no search takes."""
        networks = [self.graph] if self.other is None else [self.graph, self.other]
        return all(first_uncertifiable(g) is None and not Network(g).has_curves for g in networks)

    def __getstate__(self) -> dict[str, Any]:
        # what was made of it is made anew
        return {name: value for name, value in self.__dict__.items() if name in self.__dataclass_fields__}

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What tells this question from others, as JSON."""
        low, high = self.sides
        return {
            "format": FORMAT,
            "ircert": __version__,
            "model": self.graph.sha256,
            "other": None if self.other is None else self.other.sha256,
            "problem": self.problem,
            "norm": str(self.norm),
            "max_radius": None if self.max_radius is None else _number(self.max_radius),
            "domain": None if self.domain is None else [[_number(v) for v in side.tolist()] for side in (low, high)],
            "engine": self.engine,
            "backend": self.backend,
            "formulation": self.formulation,
            "tol": self.tol,
            "seed": self.seed,
            "require": self.require,
            "time_each": self.time_each,
        }

    @cached_property
    def key(self) -> str:
        """The hash of all that answers depend on, but the centres."""
        return hashlib.sha256(json.dumps(self.facts, sort_keys=True).encode()).hexdigest()

    def key_of(self, center: Array) -> str:
        """The hash of the question about one centre."""
        there = np.ascontiguousarray(center, dtype="<f8").tobytes()
        return hashlib.sha256(self.key.encode() + there).hexdigest()[:32]


def _number(value: float) -> float | str:
    number = float(value)
    return number if math.isfinite(number) else str(number)
