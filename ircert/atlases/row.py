"""The answer at one centre: a bracket with its evidence and its witness, as a line of a file and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from ircert.engines.base import Answer, Question
from ircert.engines.judge import Judgement, judge
from ircert.geometry.norm import Norm
from ircert.ir.boxed_pair import BoxedPair
from ircert.ir.fractions_text import from_text, short, to_text

Kind: TypeAlias = Literal["pair", "boxes", "turned"]
Exact: TypeAlias = tuple[Fraction, ...]
OTHER_SHARD = "it belongs to another shard"
"""Why a row is open that somebody else computes."""


@dataclass(frozen=True)
class Shown:
    """What refutes: an exact pair, boxes that hold one, or two points of opposite orientation.

    radii: how far boxes reach around x and y, in each input
    """

    kind: Kind
    x: Exact
    y: Exact
    radii: tuple[Exact, Exact] | None = None

    def distance(self, center: Exact, norm: Norm) -> float:
        """The radius of the ball around a centre that this refutes: the farther point's distance, rounded up (A-3)."""
        rx, ry = self.radii or ((), ())
        return max(_reach(self.x, rx, center, norm), _reach(self.y, ry, center, norm))

    def answer(self) -> dict[str, Any]:
        """The fields of an engine's answer that it came from."""
        x, y = list(self.x), list(self.y)
        if self.radii is not None:
            return {"boxes": BoxedPair(x, y, list(self.radii[0]), list(self.radii[1]))}
        return {"turned" if self.kind == "turned" else "witness": (x, y)}

    def to_json(self) -> dict[str, Any]:
        """As JSON, every number exact."""
        plain: dict[str, Any] = {"kind": self.kind, "x": _texts(self.x), "y": _texts(self.y)}
        return plain if self.radii is None else {**plain, "radii": [_texts(part) for part in self.radii]}

    @staticmethod
    def from_json(given: Mapping[str, Any]) -> Shown:
        """What `to_json` wrote."""
        x, y = (tuple(map(from_text, given[name])) for name in "xy")
        radii = given.get("radii")
        both = None if radii is None else (tuple(map(from_text, radii[0])), tuple(map(from_text, radii[1])))
        return Shown(given["kind"], x, y, both)


def _reach(point: Exact, radii: Exact, center: Exact, norm: Norm) -> float:
    away = [abs(v - c) for v, c in zip(point, center, strict=True)]
    return norm.length_up(norm.measure([a + r for a, r in zip(away, radii, strict=True)] if radii else away))


def _texts(numbers: Exact) -> list[str]:
    return [to_text(number) for number in numbers]


@dataclass(frozen=True)
class Row:
    """The bracket at one centre.

    key:      the hash of the question
    at:       the number of the centre
    refuted:  None where no violation is known
    verdict, trust, reason, engine: as those of a result
    evidence: what each end rests on
    shown:    the witness of the refuted end, verified on the loaded network
    way:      how the bracket was found: by a search of its own, in one complex, from a neighbour
    final:    False where the time of the whole atlas ended the search; such rows are not kept
    """

    key: str
    at: int
    center: tuple[float, ...]
    certified: float
    refuted: float | None
    verdict: str
    trust: str
    evidence: tuple[str, str | None]
    shown: Shown | None
    engine: str
    way: str
    seconds: float
    reason: str | None = None
    final: bool = True

    def __repr__(self) -> str:
        ends = f"certified {self.certified!r}, refuted {self.refuted!r}"
        return f"<ircert.Row {self.at} at {short(self.center)}: {self.verdict}, {ends}>"

    @property
    def exact_center(self) -> Exact:
        """The centre in rationals."""
        return tuple(map(Fraction, self.center))

    def to_json(self) -> dict[str, Any]:
        """One line of a file of rows."""
        return {
            "key": self.key,
            "at": self.at,
            "center": list(self.center),
            "certified": _plain(self.certified),
            "refuted": None if self.refuted is None else _plain(self.refuted),
            "verdict": self.verdict,
            "trust": self.trust,
            "evidence": {"certified": self.evidence[0], "refuted": self.evidence[1]},
            "witness": None if self.shown is None else self.shown.to_json(),
            "engine": self.engine,
            "way": self.way,
            "seconds": round(self.seconds, 6),
            "reason": self.reason,
        }

    @staticmethod
    def from_json(given: Mapping[str, Any]) -> Row:
        """What `to_json` wrote."""
        evidence, shown, refuted = given["evidence"], given["witness"], given["refuted"]
        return Row(
            key=given["key"],
            at=int(given["at"]),
            center=tuple(float(v) for v in given["center"]),
            certified=float(given["certified"]),
            refuted=None if refuted is None else float(refuted),
            verdict=given["verdict"],
            trust=given["trust"],
            evidence=(evidence["certified"], evidence["refuted"]),
            shown=None if shown is None else Shown.from_json(shown),
            engine=given["engine"],
            way=given["way"],
            seconds=float(given["seconds"]),
            reason=given["reason"],
        )


def _plain(value: float) -> float | str:
    return float(value) if math.isfinite(value) else str(float(value))


def judged_row(
    key: str, at: int, question: Question, answer: Answer, way: str, seconds: float, require: str | None
) -> Row:
    """An engine's answer after the gate that all answers go through: what refutes is verified anew (`judge`)."""
    judged = judge(question, answer, require)
    refuted = judged.radius.refuted
    return Row(
        key=key,
        at=at,
        center=tuple(question.center.tolist()),
        certified=float(judged.radius.certified),
        refuted=None if refuted is None else float(refuted),
        verdict=judged.verdict,
        trust=judged.trust,
        evidence=(judged.radius.certified.evidence, None if refuted is None else refuted.evidence),
        shown=shown_by(judged, tuple(question.place.exact_center), question.norm),
        engine=answer.engine or "",
        way=way,
        seconds=seconds,
        reason=judged.reason,
    )


def shown_by(judged: Judgement, center: Exact, norm: Norm) -> Shown | None:
    """The witness of a judgement: a pair or turned points, what is nearer."""
    found = []
    if judged.witness is not None:
        pair, radii = judged.witness.exact, judged.witness.radii
        both = None if radii is None else (tuple(radii.x), tuple(radii.y))
        found.append(Shown("pair" if both is None else "boxes", tuple(pair.x), tuple(pair.y), both))
    if judged.turned is not None:
        found.append(Shown("turned", tuple(judged.turned.exact.x), tuple(judged.turned.exact.y)))
    return min(found, key=lambda shown: shown.distance(center, norm), default=None)
