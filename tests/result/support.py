"""Results made by hand, and the schema that every result keeps."""

from __future__ import annotations

import json
from fractions import Fraction
from importlib.resources import files
from typing import Any

import jsonschema
import numpy as np
from referencing import Registry, Resource

import ircert
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.result.radius import End, Radius
from ircert.result.result import ModelFacts, Result
from ircert.result.witness import report

SCHEMA, BOTH = (
    json.loads((files("ircert.data") / "schemas" / f"{name}.json").read_text()) for name in ("result-1", "both-1")
)


def fold() -> Graph:
    """|x| in one dimension."""
    return ircert.load([([[1.0], [-1.0]], None), ([[1.0, 1.0]], None)])


def read(text: str) -> dict[str, Any]:
    """The JSON of a result, checked against the schema; NaN and Infinity are no JSON."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    found: dict[str, Any] = json.loads(text, parse_constant=refuse)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    return found


def read_both(text: str) -> dict[str, Any]:
    """The JSON of both directions, checked likewise."""
    found: dict[str, Any] = json.loads(text)
    results = Registry().with_resource(SCHEMA["$id"], Resource.from_contents(SCHEMA))
    jsonschema.Draft202012Validator(BOTH, registry=results).validate(found)
    return found


def made(**changes: Any) -> Result:
    graph = fold()
    witness = report(graph, None, Norm.INF, [Fraction(1, 3)], [Fraction(-1, 3)])
    values: dict[str, Any] = {
        "verdict": "certified",
        "trust": "exact",
        "radius": Radius(End(0.3, "below"), End(0.3, "above", Fraction(3, 10))),
        "problem": "local",
        "norm": "inf",
        "center": np.array([0.5]),
        "model": ModelFacts.of(graph),
        "graph": graph,
        "witness": witness,
        "max_radius": 1e6,
    }
    return Result(**{**values, **changes})
