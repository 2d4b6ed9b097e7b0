"""What `ircert.difference` answers: a bracket of the largest difference, output by output too, and how it was found."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ircert.analysis.difference.agreement import Agreement
from ircert.analysis.difference.attained import Attained
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.ir.fractions_text import to_text
from ircert.result.json_form import plain
from ircert.result.result import ModelFacts
from ircert.result.stop import Stop

SCHEMA = "ircert.difference/1"
SHOWN = 8
"""Outputs and coordinates that the summary lists."""


class Gap(NamedTuple):
    """Between what is attained, rounded down, and what is proved, rounded up."""

    value: float
    bound: float


@dataclass(frozen=True, eq=False)
class Difference:
    """max |f(x) - g(x)| over a ball lies in [value, bound].

    verdict:  with epsilon, `certified` (at most epsilon), `refuted` (above it) or `unresolved`; with top1, about
              agreement; else `certified` where the bracket is closed up to the tolerance
    value:    attained at `point`, where both networks were evaluated exactly (enclosed, where they have curves)
    bound:    no point of the ball has a larger difference; `evidence` says why, `trust` whether it rests on a solver
    outputs:  the same for each output
    agreement: of the largest outputs, where that was asked for
    """

    verdict: str
    reason: str | None
    value: float
    bound: float
    trust: str
    evidence: str
    attained: Attained = field(repr=False)
    outputs: tuple[Gap, ...]
    agreement: Agreement | None
    ball: Ball = field(repr=False)
    norm: Norm
    epsilon: float | None
    tol: float
    stop: Stop | None
    seconds: float
    stats: Mapping[str, Any]
    models: tuple[ModelFacts, ModelFacts]
    backend: str | None
    versions: Mapping[str, str]
    seed: int

    def __repr__(self) -> str:
        return f"<{self.verdict}: largest difference (norm {self.norm}) between {self.value!r} and {self.bound!r}>"

    def __bool__(self) -> bool:
        return self.verdict == "certified"

    @property
    def point(self) -> Array:
        """Where the value is attained."""
        return self.attained.point

    def to_json(self) -> str:
        """The result as one JSON object (`spec/difference.md`)."""
        return json.dumps(plain(_fields(self)), indent=2, allow_nan=False, ensure_ascii=False) + "\n"

    def summary(self) -> str:
        """The bracket and what it rests on, for people."""
        lines = [f"{self.verdict}: {_sentence(self)}"]
        if self.reason is not None:
            lines.append(f"  {self.reason}")
        lines.append(f"  largest difference (norm {self.norm}): between {self.value!r} and {self.bound!r}")
        lines.append(f"    attained at {_listed(self.point)}")
        lines.append(f"    bound: {self.evidence}")
        if len(self.outputs) > 1:
            lines += [f"  output {j}: [{gap.value:.6g}, {gap.bound:.6g}]" for j, gap in enumerate(self.outputs[:SHOWN])]
            if len(self.outputs) > SHOWN:
                lines.append(f"  … and {len(self.outputs) - SHOWN} more")
        lines.append(f"  trust: {self.trust}")
        lines.append(f"  {self.seconds:.3g} s ({_work(self.stats)})")
        return "\n".join(lines)


def _sentence(found: Difference) -> str:
    if found.agreement is not None:
        return _about_classes(found.agreement)
    if found.epsilon is not None:
        words = {
            "certified": f"the networks differ by at most {found.epsilon!r} on the ball",
            "refuted": f"the networks differ by more than {found.epsilon!r} on the ball",
            "unresolved": f"it is open whether the networks differ by more than {found.epsilon!r} on the ball",
        }
        return words[found.verdict]
    if found.verdict == "certified" and 2 * found.value < found.bound:  # less than floats tell beside the outputs
        return f"the networks agree up to rounding: nowhere on the ball do they differ by more than {found.bound:.6g}"
    if found.verdict == "certified":
        return f"the networks differ by {found.value:.6g}, and nowhere on the ball by more than {found.bound:.6g}"
    most = f"and by no more than {found.bound:.6g}" if found.bound < math.inf else "and no bound is known"
    return f"the networks differ by {found.value:.6g} at least somewhere on the ball, {most}"


def _about_classes(found: Agreement) -> str:
    if found.verdict == "certified":
        return f"both networks name the same class everywhere on the ball ({found.evidence})"
    if found.verdict == "unresolved":
        return "it is open whether both networks name the same class everywhere on the ball"
    assert found.classes is not None
    assert found.point is not None
    first, second = (" and ".join(map(str, part)) for part in found.classes)
    return f"the first network says {first}, the second {second}, at {_listed(found.point)}"


def _listed(point: Array) -> str:
    numbers = [f"{v:.6g}" for v in point[:SHOWN].tolist()]
    more = f", … ({len(point)} in all)" if len(point) > SHOWN else ""
    return f"({', '.join(numbers)}{more})"


def _work(stats: Mapping[str, Any]) -> str:
    kinds = (("boxes", "box", "boxes"), ("programs", "linear program", "linear programs"))
    done = [f"{stats[name]:,} {one if stats[name] == 1 else many}" for name, one, many in kinds if stats.get(name)]
    return ", ".join(done) or "no search"


def _fields(found: Difference) -> dict[str, Any]:
    ball, exact = found.ball, found.attained.exact
    return {
        "schema": SCHEMA,
        "verdict": found.verdict,
        "reason": found.reason,
        "trust": found.trust,
        "difference": {
            "value": found.value,
            "bound": found.bound,
            "norm": found.norm,
            "point": found.point,
            "exact": None if exact is None else to_text(exact),
            "evidence": found.evidence,
        },
        "outputs": [gap._asdict() for gap in found.outputs],
        "top1": None if found.agreement is None else _agreement(found.agreement),
        "norm": ball.norm,
        "center": ball.center,
        "radius": ball.radius,
        "domain": {"low": ball.low, "high": ball.high},
        "asked": {"epsilon": found.epsilon, "tol": found.tol, "top1": found.agreement is not None},
        "backend": found.backend,
        "seconds": found.seconds,
        "stats": dict(found.stats),
        "models": [vars(model) for model in found.models],
        "versions": dict(found.versions),
        "seed": found.seed,
    }


def _agreement(found: Agreement) -> dict[str, Any]:
    return {
        "verdict": found.verdict,
        "evidence": found.evidence,
        "point": found.point,
        "classes": None if found.classes is None else list(found.classes),
    }
