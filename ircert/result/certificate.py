"""What a result claims as the text of a certificate, which `ircert.checker` verifies on its own."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from ircert.errors import IrcertError
from ircert.files import LARGEST_TEXT
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.ir.boxed_pair import BoxedPair
from ircert.ir.fractions_text import to_text
from ircert.ir.graph import Graph
from ircert.result.witness import TurnedPair, Witness, length
from ircert.witnesses.replay import Witness as ExactPair

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
    """The part of a certificate that shows that a ball is not good."""
    return Shown(result.center, result.norm, result.asked_radius, result.witness, result.turned).part


@dataclass(frozen=True, eq=False)
class Shown:
    """What refutes, as a result has it: a witness, turned points or both."""

    center: Array
    norm: Norm
    asked_radius: float | None
    witness: Witness | None
    turned: TurnedPair | None

    @property
    def part(self) -> dict[str, Any]:
        """The witness of a ball that was asked about; of a search, what shows it of the smaller ball."""
        if self.witness is None and self.turned is None:
            raise ValueError("a certificate that a ball is not good needs a witness or turned points")
        found = [] if self.witness is None else [self._collision(self.witness)]
        if self.turned is not None:
            found.append(self._turned(self.turned))
        radius, fields = min(found, key=lambda part: part[0]) if self.asked_radius is None else found[0]
        return {**fields, "radius": to_text(Fraction(self.asked_radius or radius))}

    def _collision(self, witness: Witness) -> tuple[float, dict[str, Any]]:
        """The points or boxes of a witness, and the radius of a ball that holds them."""
        points = {"x": witness.exact.x, "y": witness.exact.y}
        texts = {name: [to_text(v) for v in point] for name, point in points.items()}
        if witness.radii is None:
            return self._distance(witness.exact), {"kind": "collision", **texts}
        pair = BoxedPair(witness.exact.x, witness.exact.y, witness.radii.x, witness.radii.y)
        lengths = [self.norm.length_up(self.norm.measure(reach)) for reach in pair.reaches(self._center)]
        radii = {"x_radii": [to_text(v) for v in pair.x_radii], "y_radii": [to_text(v) for v in pair.y_radii]}
        return max(lengths), {"kind": "boxes", **texts, **radii}

    def _turned(self, pair: TurnedPair) -> tuple[float, dict[str, Any]]:
        """Two points of opposite orientation, and the radius of a ball whose interior holds them."""
        x, y = ([to_text(v) for v in point] for point in (pair.exact.x, pair.exact.y))
        return math.nextafter(self._distance(pair.exact), math.inf), {"kind": "turned", "x": x, "y": y}

    @property
    def _center(self) -> list[Fraction]:
        return [Fraction(v) for v in self.center.tolist()]

    def _distance(self, pair: ExactPair) -> float:
        return max(length(self.norm, point, self._center) for point in (pair.x, pair.y))


def injective(radius: float, matrix: list[list[int]], cover: list[str]) -> dict[str, Any]:
    """The part that shows that a ball is good; an infinite radius is the whole space."""
    return {
        "kind": "injective",
        "radius": "inf" if math.isinf(radius) else to_text(Fraction(radius)),
        "matrix": [[str(v) for v in row] for row in matrix],
        "cover": " ".join(cover),
    }


def layers(radius: float) -> dict[str, Any]:
    """The part that says that a network is injective by its layers alone."""
    return {"kind": "layers", "radius": "inf" if math.isinf(radius) else to_text(Fraction(radius))}


def structure(radius: float, steps: list[str]) -> dict[str, Any]:
    """The part that shows step by step that a network is injective by its structure."""
    text = "inf" if math.isinf(radius) else to_text(Fraction(radius))
    return {"kind": "structure", "radius": text, "steps": " ".join(steps)}


def composed(part: dict[str, Any], steps: list[str], at: str) -> dict[str, Any]:
    """A proof for the part of a network that computes a node, with the steps from its output back to that node."""
    return {**part, "kind": "composed", "steps": " ".join(steps), "at": at}


def joined(result: Result, parts: list[dict[str, Any]]) -> str:
    """The text of a certificate of one part, or of both ends of a bracket."""
    place = (result.problem, result.norm, result.center, result.domain)
    models = _model(result.network), None if result.other_graph is None else _model(result.other_graph)
    return text_of(place, parts, models)


Model: TypeAlias = dict[str, str]


def text_of(
    place: tuple[str, str, Array, tuple[Array, Array] | None],
    parts: list[dict[str, Any]],
    models: tuple[Model, Model | None],
) -> str:
    """The text of a certificate: problem, norm, centre and domain, what is claimed, and the networks."""
    problem, norm, center, domain = place
    own = parts[0] if len(parts) == 1 else {"kind": "bracket", "parts": parts}
    pinned = domain is not None and bool((domain[0] == domain[1]).any())
    whole = domain is None or (own.get("radius") == "inf" and not pinned)
    fields: dict[str, Any] = {
        "schema": SCHEMA,
        "problem": problem,
        "norm": norm,
        "center": [to_text(Fraction(v)) for v in center.tolist()],
        "domain": None if whole or domain is None else dict(zip(("low", "high"), map(_side, domain), strict=True)),
        **own,
        "model": models[0],
        "other": models[1],
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
