"""A result as JSON: the schema `ircert.result/1`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ircert.ir.fractions_text import to_text
from ircert.result.certificate import Written
from ircert.result.radius import End
from ircert.result.witness import TurnedPair, Witness

if TYPE_CHECKING:
    from ircert.result.result import ModelFacts, Optimum, Result

SCHEMA = "ircert.result/1"


def to_json(result: Result) -> str:
    """The result as one JSON object; every number is finite, "inf" or "-inf"."""
    return json.dumps(plain(_fields(result)), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _fields(result: Result) -> dict[str, Any]:
    certified, refuted = result.radius.certified, result.radius.refuted
    return {
        "schema": SCHEMA,
        "problem": result.problem,
        "norm": result.norm,
        "center": result.center,
        "domain": None if result.domain is None else {"low": result.domain[0], "high": result.domain[1]},
        "asked": {"radius": result.asked_radius, "max_radius": result.max_radius, "tol": result.tol},
        "verdict": result.verdict,
        "reason": result.reason,
        "trust": result.trust,
        "radius": {
            "certified": float(certified),
            "refuted": None if refuted is None else float(refuted),
            "evidence": {"certified": certified.evidence, "refuted": None if refuted is None else refuted.evidence},
            "exact": {"certified": _exact(certified), "refuted": _exact(refuted)},
        },
        "optimum": None if result.optimum is None else _optimum(result.optimum),
        "witness": None if result.witness is None else _witness(result.witness),
        **({} if result.turned is None else {"turned": _turned(result.turned)}),
        "engine": result.engine,
        "backend": result.backend,
        "formulation": result.formulation,
        "seconds": result.seconds,
        "stats": result.stats,
        "model": _model(result.model),
        "other": None if result.other is None else _model(result.other),
        "versions": result.versions,
        "seed": result.seed,
        **({} if result.certificate is None else {"certificate": _certificate(result.certificate)}),
        **({} if result.command is None else {"command": result.command}),
    }


def _exact(end: End | None) -> str | None:
    return None if end is None or end.exact is None else to_text(end.exact)


def _optimum(optimum: Optimum) -> dict[str, Any]:
    """The bracket of p*; what is not known of it is left out."""
    more = {"evidence": optimum.evidence or None, "norm": optimum.norm, "proved": optimum.proved}
    return {**optimum._asdict(), **{name: value for name, value in more.items() if value is not None}}


def _witness(witness: Witness) -> dict[str, Any]:
    return {
        "x": witness.x,
        "y": witness.y,
        "separation": witness.separation,
        "output_gap": witness.output_gap,
        "exact": {"x": witness.exact.x, "y": witness.exact.y},
        **({} if witness.radii is None else {"radii": {"x": witness.radii.x, "y": witness.radii.y}}),
    }


def _turned(pair: TurnedPair) -> dict[str, Any]:
    return {
        "x": pair.x,
        "y": pair.y,
        "determinants": pair.determinants,
        "exact": {"x": pair.exact.x, "y": pair.exact.y},
    }


def _certificate(written: Written) -> dict[str, Any]:
    return {
        "file": written.file,
        "sha256": written.sha256,
        "size": written.size,
        "claims": list(written.claims),
        "reason": written.reason,
    }


def _model(facts: ModelFacts) -> dict[str, Any]:
    return {"sha256": facts.sha256, "input_dim": facts.input_dim, "output_dim": facts.output_dim}


def plain(value: Any) -> Any:
    """The value as JSON knows it: infinities as strings, NaN as null, rationals as "p/q", arrays as lists."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return _number(float(value))
    if isinstance(value, Fraction):
        return to_text(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return str(value)


def _number(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
