"""What people write for a ball, as a Ball that fits a network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.geometry.domain import DomainLike, box_of
from ircert.ir.graph import Graph
from ircert.questions.query import Query

BallLike = Ball | Query | Sequence[Any]


def asked_ball(graph: Graph, ball: BallLike | None, domain: DomainLike | None) -> Ball:
    """What people write for a ball, as a Ball that fits the network."""
    if graph.input_dim > 2:
        raise QueryError(
            f"linear regions and folds are drawn for one or two inputs, not {graph.input_dim}",
            remedy="`fix` the inputs that should not vary",
        )
    return ball_for(graph, ball, domain)


def ball_for(graph: Graph, ball: BallLike | None, domain: DomainLike | None) -> Ball:
    """The same for any number of inputs."""
    if isinstance(ball, Ball | Query):
        made = ball.ball if isinstance(ball, Query) else ball
        if domain is not None:
            cut = Query("pseudo", made.center, made.radius, made.norm, domain=domain).ball
            made = replace(made, low=np.maximum(made.low, cut.low), high=np.minimum(made.high, cut.high))
    elif ball is None:
        made = _box_as_ball(graph, domain)
    else:
        parts: list[Any] = list(ball) if isinstance(ball, Iterable) and not isinstance(ball, str) else [ball]
        if len(parts) not in (2, 3):
            raise QueryError(
                f"a ball is (center, radius) or (center, radius, norm), got {len(parts)} values",
                remedy="for a box, give domain=(low, high)",
            )
        norm = parts[2] if len(parts) == 3 else "inf"
        center = parts[0] if np.ndim(parts[0]) or isinstance(parts[0], str) else [parts[0]]
        made = Query("pseudo", center, parts[1], norm, domain=domain).ball
    if len(made.center) != graph.input_dim:
        raise QueryError(
            f"the centre has {len(made.center)} coordinates but the network has {graph.input_dim} inputs",
            remedy="give one number per input",
        )
    return made


def _box_as_ball(graph: Graph, domain: DomainLike | None) -> Ball:
    if domain is None:
        raise QueryError("no ball and no domain were given", remedy="give (center, radius), or domain=(low, high)")
    low, high = box = box_of(domain, graph.input_dim)
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
        raise QueryError("without a ball the domain must be a bounded box with low < high")
    middle = low + (high - low) / 2
    return Query("pseudo", middle, float((high - low).max()), domain=box).ball
