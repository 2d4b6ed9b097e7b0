"""A result back from its JSON: what a script saved, another one reads."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ircert.errors import IrcertError
from ircert.geometry.norm import norm_of
from ircert.ir.arrays import Array
from ircert.ir.fractions_text import ratio
from ircert.ir.graph import Graph
from ircert.result.certificate import Written
from ircert.result.json_form import SCHEMA
from ircert.result.radius import End, Radius
from ircert.result.result import ModelFacts, Optimum, Result
from ircert.result.witness import TurnedPair, Witness
from ircert.witnesses.replay import Witness as ExactPair

FAULTS = (IrcertError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, IndexError)
"""What reading fields raises where they are not those of a result."""


def from_json(text: str, model: Graph | None, other: Graph | None) -> Result:
    """The result; IrcertError where the text is none, or is about other networks."""
    try:
        fields = json.loads(text)
        if not isinstance(fields, dict) or fields.get("schema") != SCHEMA:
            raise ValueError(f'it has no "schema": "{SCHEMA}"')
        found = _result(fields, model, other)
    except FAULTS as error:
        raise IrcertError(f"this is no saved result: {str(error)[:200]}") from None
    for facts, graph, what in ((found.model, model, "model"), (found.other, other, "other network")):
        if graph is not None and (facts is None or facts.sha256 != graph.sha256):
            raise IrcertError(f"the result is about another {what}", remedy="give the one that it was made with")
    return found


def _result(fields: Mapping[str, Any], model: Graph | None, other: Graph | None) -> Result:
    asked, domain = fields["asked"], fields["domain"]
    return Result(
        verdict=_one_of(fields["verdict"], "certified", "refuted", "unresolved"),
        trust=_one_of(fields["trust"], "exact", "solver"),
        radius=_radius(fields["radius"]),
        problem=_one_of(fields["problem"], "local", "pseudo", "transform"),
        norm=norm_of(fields["norm"]),
        center=vector(fields["center"]),
        model=_facts(fields["model"]),
        graph=model,
        optimum=_maybe(_optimum, fields["optimum"]),
        witness=_maybe(_witness, fields["witness"]),
        turned=_maybe(_turned, fields.get("turned")),
        reason=fields["reason"],
        domain=None if domain is None else (vector(domain["low"]), vector(domain["high"])),
        asked_radius=_maybe(number, asked["radius"]),
        max_radius=_maybe(number, asked["max_radius"]),
        tol=number(asked["tol"]),
        other=_maybe(_facts, fields["other"]),
        other_graph=other,
        engine=fields["engine"],
        backend=fields["backend"],
        formulation=fields["formulation"],
        seconds=number(fields["seconds"]),
        stats=dict(fields["stats"]),
        versions=dict(fields["versions"]),
        seed=fields["seed"],
        certificate=_maybe(_written, fields.get("certificate")),
        command=_maybe(dict, fields.get("command")),
    )


def _maybe(make: Any, given: Any) -> Any:
    return None if given is None else make(given)


def _one_of(given: Any, *known: Any) -> Any:
    if given not in known:
        raise ValueError(f"{str(given)[:40]!r} is none of {', '.join(known)}")
    return given


def _radius(fields: Mapping[str, Any]) -> Radius:
    certified, refuted = (
        None
        if fields[name] is None
        else End(number(fields[name]), fields["evidence"][name], _maybe(_fraction, fields["exact"][name]))
        for name in ("certified", "refuted")
    )
    if certified is None:
        raise ValueError("there is no certified radius")
    return Radius(certified, refuted)


def _optimum(fields: Mapping[str, Any]) -> Optimum:
    trust = _one_of(fields["trust"], "exact", "solver")
    norm, proved = _maybe(norm_of, fields.get("norm")), _maybe(number, fields.get("proved"))
    return Optimum(number(fields["value"]), number(fields["bound"]), trust, fields.get("evidence", ""), norm, proved)


def _witness(fields: Mapping[str, Any]) -> Witness:
    gap = math.nan if fields["output_gap"] is None else number(fields["output_gap"])
    exact, radii = _pair(fields["exact"]), _maybe(_pair, fields.get("radii"))
    return Witness(vector(fields["x"]), vector(fields["y"]), number(fields["separation"]), gap, exact, radii)


def _turned(fields: Mapping[str, Any]) -> TurnedPair:
    (a, b), (c, d) = ([number(v) for v in sides] for sides in fields["determinants"])
    return TurnedPair(vector(fields["x"]), vector(fields["y"]), ((a, b), (c, d)), _pair(fields["exact"]))


def _pair(fields: Mapping[str, Any]) -> ExactPair:
    x, y = ([_fraction(v) for v in fields[name]] for name in ("x", "y"))
    return ExactPair(x, y)


def _fraction(text: Any) -> Fraction:
    return Fraction(*ratio(text))


def _facts(fields: Mapping[str, Any]) -> ModelFacts:
    return ModelFacts(str(fields["sha256"]), int(fields["input_dim"]), int(fields["output_dim"]))


def _written(fields: Mapping[str, Any]) -> Written:
    claims = tuple(map(str, fields["claims"]))
    return Written(fields["file"], claims, fields["sha256"], int(fields["size"]), fields["reason"])


def number(value: Any) -> float:
    """A number of a saved result: those that JSON lacks are strings."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is no number")
    if isinstance(value, str) and value not in ("inf", "-inf"):
        raise ValueError(f"{value!r} is no number")
    return float(value)


def vector(values: Any) -> Array:
    """A point of a saved result."""
    if not isinstance(values, list):
        raise ValueError(f"{str(values)[:40]!r} is no list of numbers")
    return np.array([number(value) for value in values])
