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
from ircert.ir.boxed_pair import BoxedPair
from ircert.ir.fractions_text import to_text
from ircert.ir.graph import Graph
from ircert.result.witness import TurnedPair, Witness, length

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
    return joined(result, [refutation(result)])


def refutation(result: Result) -> dict[str, Any]:
    """The part of a certificate that shows that a ball is not good: the witness of a ball that was asked about, or of a
    search what shows it of the smaller ball."""
    if result.witness is None and result.turned is None:
        raise ValueError("a certificate that a ball is not good needs a witness or turned points")
    found = [] if result.witness is None else [_collision(result, result.witness)]
    if result.turned is not None:
        found.append(_turned(result, result.turned))
    radius, fields = min(found, key=lambda part: part[0]) if result.asked_radius is None else found[0]
    return {**fields, "radius": to_text(Fraction(result.asked_radius or radius))}


def _collision(result: Result, witness: Witness) -> tuple[float, dict[str, Any]]:
    """The points or boxes of a witness, and the radius of a ball that holds them."""
    center, norm = [Fraction(v) for v in result.center.tolist()], result.norm
    points = {"x": witness.exact.x, "y": witness.exact.y}
    texts = {name: [to_text(v) for v in point] for name, point in points.items()}
    if witness.radii is None:
        radius = max(length(norm, point, center) for point in points.values())
        return radius, {"kind": "collision", **texts}
    pair = BoxedPair(witness.exact.x, witness.exact.y, witness.radii.x, witness.radii.y)
    radius = max(norm.length_up(norm.measure(reach)) for reach in pair.reaches(center))
    radii = {f"{name}_radii": [to_text(v) for v in part] for name, part in (("x", pair.x_radii), ("y", pair.y_radii))}
    return radius, {"kind": "boxes", **texts, **radii}


def _turned(result: Result, pair: TurnedPair) -> tuple[float, dict[str, Any]]:
    """Two points of opposite orientation, and the radius of a ball whose interior holds them."""
    center = [Fraction(v) for v in result.center.tolist()]
    radius = max(length(result.norm, point, center) for point in (pair.exact.x, pair.exact.y))
    x, y = ([to_text(v) for v in point] for point in (pair.exact.x, pair.exact.y))
    return math.nextafter(radius, math.inf), {"kind": "turned", "x": x, "y": y}


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
