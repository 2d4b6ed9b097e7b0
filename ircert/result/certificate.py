"""A collision as a certificate file, which `ircert.checker` verifies on its own."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ircert.errors import IrcertError
from ircert.files import LARGEST_TEXT
from ircert.ir.arrays import Array
from ircert.ir.fractions_text import to_text
from ircert.ir.graph import Graph
from ircert.result.witness import length

if TYPE_CHECKING:
    from ircert.result.result import Result

SCHEMA = "ircert.certificate/1"


def certificate(result: Result) -> str:
    """The text of a certificate: not good on the closed ball that was asked about, or that holds the witness."""
    witness = result.witness
    if witness is None:
        raise ValueError("a certificate of a collision needs a witness")
    center = [Fraction(v) for v in result.center.tolist()]
    points = (witness.exact.x, witness.exact.y)
    radius = result.asked_radius or max(length(result.norm, point, center) for point in points)
    fields: dict[str, Any] = {
        "schema": SCHEMA,
        "kind": "collision",
        "problem": result.problem,
        "norm": result.norm,
        "center": [to_text(v) for v in center],
        "radius": to_text(Fraction(radius)),
        "domain": None if result.domain is None else {"low": _side(result.domain[0]), "high": _side(result.domain[1])},
        "x": [to_text(v) for v in points[0]],
        "y": [to_text(v) for v in points[1]],
        "model": _model(result.graph),
        "other": None if result.other_graph is None else _model(result.other_graph),
    }
    text = json.dumps(fields, indent=1) + "\n"
    if len(text) > LARGEST_TEXT:
        raise IrcertError(
            f"the certificate has {len(text)} bytes, more than `ircert check` reads",
            remedy="the witness in the JSON result proves the same: replay it with Graph.exact",
        )
    return text


def _side(values: Array) -> list[str | None]:
    return [to_text(Fraction(v)) if math.isfinite(v) else None for v in values.tolist()]


def _model(graph: Graph) -> dict[str, str]:
    return {"sha256": graph.sha256, "ir": str(graph)}
