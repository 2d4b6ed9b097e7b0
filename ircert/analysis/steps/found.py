"""What `ircert.step_size` answers: how long steps may be, and what that rests on."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

from ircert.geometry.ball import Ball
from ircert.ir.graph import Graph
from ircert.result.json_form import plain
from ircert.result.radius import End
from ircert.result.result import Verdict
from ircert.result.witness import Witness


@dataclass(frozen=True, eq=False)
class StepSize:
    """For which h the step x + h g(x) is injective.

    everywhere: every step shorter than this is injective on the whole space; 0 where nothing is proved
    certified:  every step shorter than this is injective on the ball (without a ball: everywhere)
    single:     None, or a longer step that is injective on the ball, proved for itself alone
    refuted:    None, or a step that is not injective on the ball: `witness` has two points that it maps to one
    ball:       None for the whole space
    max_step:   longer ones were not asked about
    """

    everywhere: End
    certified: End
    single: End | None
    refuted: End | None
    witness: Witness | None
    ball: Ball | None
    max_step: float
    tol: float
    graph: Graph = field(repr=False)
    reason: str | None = None

    @property
    def verdict(self) -> Verdict:
        """`certified` where both ends agree up to the tolerance, or no end is left to find."""
        if self.certified >= self.max_step or (self.ball is None and self.certified > 0):
            return "certified"
        if self.refuted is not None and self.refuted - self.certified <= self.tol * self.refuted:
            return "certified"
        return "unresolved"

    def __bool__(self) -> bool:
        """Whether the verdict is `certified`."""
        return self.verdict == "certified"

    def summary(self) -> str:
        """The ends and what they rest on, for people."""
        where = "on the whole space"
        if self.ball is not None:
            center = ", ".join(map(repr, self.ball.center.tolist()[:8])) + (", …" if self.ball.center.size > 8 else "")
            where = f"on the closed ball of radius {self.ball.radius!r} (norm {self.ball.norm}) around ({center})"
        length = "of every length" if math.isinf(self.certified) else f"shorter than {float(self.certified)!r}"
        lines = [f"{self.verdict}: all steps x + h g(x) {length} are injective {where}"]
        if self.reason is not None:
            lines.append(f"  why        {self.reason}")
        ends = [("certified", self.certified), ("single", self.single), ("refuted", self.refuted)]
        if self.ball is not None:
            ends.insert(0, ("everywhere", self.everywhere))
        for name, end in ends:
            if end is not None:
                lines += [f"  {name:<10} {float(end)!r}", f"             {end.evidence}"]
        if self.witness is not None:
            lines.append(f"  witness    x = {self.witness.x.tolist()[:8]}, y = {self.witness.y.tolist()[:8]}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """As it is written to files."""
        ends = {name: getattr(self, name) for name in ("everywhere", "certified", "single", "refuted")}
        ball = self.ball
        return {
            "schema": "ircert.step-size/1",
            "verdict": self.verdict,
            **{name: None if end is None else _written(end) for name, end in ends.items()},
            "witness": None if self.witness is None else {"x": self.witness.x, "y": self.witness.y},
            "ball": None if ball is None else {"center": ball.center, "radius": ball.radius, "norm": ball.norm},
            "max_step": self.max_step,
            "reason": self.reason,
            "model": self.graph.sha256,
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(plain(self.to_dict()), indent=2, allow_nan=False) + "\n"


def _written(end: End) -> dict[str, Any]:
    return {"value": "inf" if math.isinf(end) else float(end), "evidence": end.evidence}
