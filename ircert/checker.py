"""The independent checker: verifies a certificate by exact evaluation of the network, and trusts nothing else.

It reads `spec/certificate.md` and imports the graph IR alone: no engine, no solver, no pass.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ircert.errors import FileError, IrcertError
from ircert.files import read_text
from ircert.ir.fractions_text import from_text, to_text
from ircert.ir.graph import Graph
from ircert.ir.parser import parse
from ircert.ir.sidecar import load_ir

SCHEMA = "ircert.certificate/1"
KEYS = {"schema", "kind", "problem", "norm", "center", "radius", "domain", "x", "y", "model", "other"}
Point = list[Fraction]
CLAIMS = {
    "local": "f(x) = f(y) with x != y",
    "pseudo": "f(x) = f(centre) with x != centre",
    "transform": "f(x) = f(y) with g(x) != g(y)",
}


class _Rejected(Exception):
    """What the certificate claims is not so."""


@dataclass(frozen=True)
class Collision:
    """A certificate's claim: a collision x, y in the closed ball of `radius` around `center`, cut with the box."""

    problem: str
    norm: str
    center: Point
    radius: Fraction
    domain: tuple[list[Fraction | None], list[Fraction | None]]
    x: Point
    y: Point
    model: Graph
    other: Graph | None


def check_file(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """What a certificate claims, and what is wrong with it (None: the claim is proved); FileError if unreadable."""
    try:
        collision = _collision(_fields(read_text(path)), Path(path).parent)
    except _Rejected as fault:
        return "", str(fault)
    except FileError:
        raise
    except (IrcertError, ValueError, OverflowError, RecursionError) as error:
        problem = str(error) or type(error).__name__
        raise FileError(f"not a certificate: {problem[:300]}", path=path) from None
    where = f"the closed ball of radius {to_text(collision.radius)[:60]} (norm {collision.norm})"
    claim = f"{CLAIMS[collision.problem]} in {where}, model sha256 {collision.model.sha256}"
    return claim, fault_of(collision)


def fault_of(claim: Collision) -> str | None:
    """None if the collision is one, in exact arithmetic; else the first thing that is wrong."""
    for name, point in (("x", claim.x), ("y", claim.y)):
        if not _in_ball(point, claim):
            return f"{name} lies outside the ball"
        if not _in_box(point, *claim.domain):
            return f"{name} lies outside the domain"
    if list(claim.model.exact(claim.x)) != list(claim.model.exact(claim.y)):
        return "the outputs differ"
    if claim.problem == "pseudo" and claim.y != claim.center:
        return "y is not the centre"
    if claim.other is not None:
        same = list(claim.other.exact(claim.x)) == list(claim.other.exact(claim.y))
        return "the other network does not tell the points apart" if same else None
    return "x and y are the same point" if claim.x == claim.y else None


def _in_ball(point: Point, claim: Collision) -> bool:
    offsets = [abs(v - c) for v, c in zip(point, claim.center, strict=True)]
    if claim.norm == "2":
        return sum((d * d for d in offsets), Fraction(0)) <= claim.radius**2
    return (max(offsets) if claim.norm == "inf" else sum(offsets, Fraction(0))) <= claim.radius


def _in_box(point: Point, low: Sequence[Fraction | None], high: Sequence[Fraction | None]) -> bool:
    sides = zip(point, low, high, strict=True)
    return all((a is None or a <= v) and (b is None or v <= b) for v, a, b in sides)


def _fields(text: str) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise ValueError("a field is given twice")
        return dict(pairs)

    found = json.loads(text, object_pairs_hook=unique)
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise ValueError(f'it has no "schema": "{SCHEMA}"')
    if set(found) != KEYS:
        raise ValueError(f"fields are missing or unknown: {', '.join(sorted(set(found) ^ KEYS))}")
    return found


def _collision(fields: dict[str, Any], folder: Path) -> Collision:
    for name, known in (("kind", ("collision",)), ("problem", tuple(CLAIMS)), ("norm", ("inf", "1", "2"))):
        if fields[name] not in known:
            raise ValueError(f"`{name}` must be one of {', '.join(known)}")
    if (fields["problem"] == "transform") != (fields["other"] is not None):
        raise ValueError("`other` belongs to transform, and to it alone")
    model = _model(fields["model"], folder)
    other = None if fields["other"] is None else _model(fields["other"], folder)
    size = model.input_dim
    if other is not None and other.input_dim != size:
        raise ValueError("the networks have different numbers of inputs")
    radius = _number(fields["radius"])
    if radius <= 0:
        raise ValueError("`radius` must be positive")
    center, x, y = (_point(fields[name], name, size) for name in ("center", "x", "y"))
    domain = _domain(fields["domain"], size)
    return Collision(fields["problem"], fields["norm"], center, radius, domain, x, y, model, other)


def _model(given: Any, folder: Path) -> Graph:
    """A network given as {"ir": text} or {"file": name}, each with its sha256."""
    if not isinstance(given, dict) or set(given) not in ({"ir", "sha256"}, {"file", "sha256"}):
        raise ValueError("a network is given by `ir` or `file`, and `sha256`")
    if not all(isinstance(value, str) for value in given.values()):
        raise ValueError("`ir`, `file` and `sha256` are strings")
    graph = parse(given["ir"]) if "ir" in given else load_ir(folder / given["file"])
    if graph.sha256 != given["sha256"]:
        raise _Rejected(f"the network is not the one of the certificate (sha256 {graph.sha256})")
    return graph


def _domain(given: Any, size: int) -> tuple[list[Fraction | None], list[Fraction | None]]:
    if given is None:
        return [None] * size, [None] * size
    if not isinstance(given, dict) or set(given) != {"low", "high"}:
        raise ValueError("`domain` has `low` and `high`, or is null")
    low, high = (_list(given[side], "domain", size) for side in ("low", "high"))
    return [None if v is None else _number(v) for v in low], [None if v is None else _number(v) for v in high]


def _point(given: Any, name: str, size: int) -> Point:
    return [_number(v) for v in _list(given, name, size)]


def _list(given: Any, name: str, size: int) -> list[Any]:
    if not isinstance(given, list) or len(given) != size:
        raise ValueError(f"`{name}` must be a list of {size}")
    return given


def _number(given: Any) -> Fraction:
    """An exact number: "p/q", "p", or a float in hexadecimal. JSON's own numbers are refused: readers round them."""
    if not isinstance(given, str):
        raise ValueError(f'numbers are strings such as "3/4", got {str(given)[:60]}')
    return Fraction(float.fromhex(given)) if "0x" in given else from_text(given)
