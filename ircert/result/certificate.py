"""What a result claims as the text of a certificate, which `ircert.checker` verifies on its own."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Written:
    """A certificate that was written after it had passed the checker, or why there is none.

    claims: what it proves, in the checker's words
    sha256: of the file
    reason: why there is none, or none for an end of the bracket
    """

    file: str
    claims: tuple[str, ...] = ()
    sha256: str | None = None
    size: int = 0
    reason: str | None = None


def certificate(result: Result) -> str:
    """The text of a certificate: not good on the closed ball that was asked about, or that holds the witness."""
    return joined(result, [collision(result)])


def collision(result: Result) -> dict[str, Any]:
    """The part of a certificate that shows that a ball is not good."""
    witness = result.witness
    if witness is None:
        raise ValueError("a certificate of a collision needs a witness")
    center = [Fraction(v) for v in result.center.tolist()]
    points = (witness.exact.x, witness.exact.y)
    radius = result.asked_radius or max(length(result.norm, point, center) for point in points)
    x, y = ([to_text(v) for v in point] for point in points)
    return {"kind": "collision", "radius": to_text(Fraction(radius)), "x": x, "y": y}


def injective(radius: float, matrix: list[list[int]], cover: list[str]) -> dict[str, Any]:
    """The part that shows that a ball is good; an infinite radius is the whole space."""
    return {
        "kind": "injective",
        "radius": "inf" if math.isinf(radius) else to_text(Fraction(radius)),
        "matrix": [[str(v) for v in row] for row in matrix],
        "cover": " ".join(cover),
    }


def joined(result: Result, parts: list[dict[str, Any]]) -> str:
    """The text of a certificate of one part, or of both ends of a bracket."""
    own = parts[0] if len(parts) == 1 else {"kind": "bracket", "parts": parts}
    whole = result.domain is None or own.get("radius") == "inf"
    fields: dict[str, Any] = {
        "schema": SCHEMA,
        "problem": result.problem,
        "norm": result.norm,
        "center": [to_text(Fraction(v)) for v in result.center.tolist()],
        "domain": None
        if whole or result.domain is None
        else dict(zip(("low", "high"), map(_side, result.domain), strict=True)),
        **own,
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
