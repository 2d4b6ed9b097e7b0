"""The independent checker: verifies a certificate by exact evaluation of the network, and trusts nothing else.

It reads `spec/certificate.md` and imports the graph IR alone: no engine, no solver, no pass. A certificate may come
from anybody: its numbers are read without rounding, and the work is bounded before it is done.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from ircert.errors import FileError, IrcertError
from ircert.files import beside, read_text
from ircert.ir.cost import is_affordable
from ircert.ir.evaluate import exact_values
from ircert.ir.fractions_text import ratio, to_text
from ircert.ir.graph import Graph
from ircert.ir.parser import parse
from ircert.ir.rational import Rationals, common_denominator, integer_array, integer_type
from ircert.ir.sidecar import load_ir

SCHEMA = "ircert.certificate/1"
KEYS = {"schema", "kind", "problem", "norm", "center", "radius", "domain", "x", "y", "model", "other"}
CLAIMS = {
    "local": "f(x) = f(y) with x != y",
    "pseudo": "f(x) = f(centre) with x != centre",
    "transform": "f(x) = f(y) with g(x) != g(y)",
}
MOST_PARTS, MOST_IN_ARRAYS = 2**22, 2**29
LONGEST_DENOMINATOR, MOST_BITS = 2**23, 2**31
"""Bounds on the work (C-6): lists and objects of the file, and bytes of the arrays of a network's file; bits of the
common denominator, and of numbers over it."""
Ratio = tuple[int, int]
Integer = Any  # of `integer_type`: products of long ones are quick


class _Rejected(Exception):
    """What the certificate claims is not so."""


@dataclass(frozen=True)
class Collision:
    """A certificate's claim: a collision x, y in the closed ball of `radius` around `center`, cut with a box.

    Numbers are integers over one denominator, `unit`; None is a side of the box that does not bind.
    """

    problem: str
    norm: str
    unit: Integer
    center: list[Integer]
    radius: Integer
    low: list[Integer | None]
    high: list[Integer | None]
    x: list[Integer]
    y: list[Integer]
    model: Graph
    other: Graph | None


def check_file(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """What a certificate claims, and what is wrong with it (None: the claim is proved); FileError if unreadable."""
    try:
        collision = _collision(_fields(read_text(path)), Path(path).parent)
        _require_effort(collision)
    except _Rejected as fault:
        return "", str(fault)
    except FileError:
        raise
    except (IrcertError, ValueError, OverflowError, RecursionError) as error:
        problem = str(error) or type(error).__name__
        raise FileError(f"not a certificate: {problem[:300]}", path=path) from None
    return _claim(collision), fault_of(collision)


def fault_of(claim: Collision) -> str | None:
    """None if the collision is one, in exact arithmetic; else the first thing that is wrong."""
    for name, point in (("x", claim.x), ("y", claim.y)):
        if not _in_ball(point, claim):
            return f"{name} lies outside the ball"
        if not _in_box(point, claim):
            return f"{name} lies outside the domain"
    if claim.problem == "pseudo" and claim.y != claim.center:
        return "y is not the centre"
    if claim.other is None and claim.x == claim.y:
        return "x and y are the same point"
    try:
        if not _agree(claim.model, claim):
            return "the outputs differ"
        if claim.other is not None and _agree(claim.other, claim):
            return "the other network does not tell the points apart"
    except IrcertError as error:  # a network without exact evaluation
        return str(error)
    return None


def _in_ball(point: list[Integer], claim: Collision) -> bool:
    offsets = [abs(v - c) for v, c in zip(point, claim.center, strict=True)]
    if claim.norm == "2":
        return bool(sum(d * d for d in offsets) <= claim.radius**2)
    return bool((max(offsets) if claim.norm == "inf" else sum(offsets)) <= claim.radius)


def _in_box(point: list[Integer], claim: Collision) -> bool:
    sides = zip(point, claim.low, claim.high, strict=True)
    return all((a is None or a <= v) and (b is None or v <= b) for v, a, b in sides)


def _agree(graph: Graph, claim: Collision) -> bool:
    """Whether a network has the same output at x and y."""
    p, q = (exact_values(graph, Rationals(integer_array(v), claim.unit)) for v in (claim.x, claim.y))
    pairs = zip(p.numerators, q.numerators, strict=True)
    return all(a * q.denominator == b * p.denominator for a, b in pairs)


# --- reading -------------------------------------------------------------------------------------------------------


def _fields(text: str) -> dict[str, Any]:
    if text.count("[") + text.count("{") > MOST_PARTS:
        raise ValueError(f"it has more than {MOST_PARTS} lists and objects")
    found = json.loads(text, object_pairs_hook=_unique, parse_int=_refuse, parse_float=_refuse, parse_constant=_refuse)
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise ValueError(f'it has no "schema": "{SCHEMA}"')
    if set(found) != KEYS:
        raise ValueError(f"fields are missing or unknown: {', '.join(sorted(set(found) ^ KEYS))}")
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a field is given twice")
    return dict(pairs)


def _refuse(number: str) -> NoReturn:
    raise ValueError(f'numbers are strings such as "3/4", got {number[:60]}')


def _collision(fields: dict[str, Any], folder: Path) -> Collision:
    for name, known in (("kind", ("collision",)), ("problem", tuple(CLAIMS)), ("norm", ("inf", "1", "2"))):
        if fields[name] not in known:
            raise ValueError(f"`{name}` must be one of {', '.join(known)}")
    if (fields["problem"] == "transform") != (fields["other"] is not None):
        raise ValueError("`other` belongs to transform, and to it alone")
    model = _model(fields["model"], folder)
    other = None if fields["other"] is None else _model(fields["other"], folder)
    if other is not None and other.input_dim != model.input_dim:
        raise ValueError("the networks have different numbers of inputs")
    unit, numbers = _numbers(fields, model.input_dim)
    (radius,) = numbers.pop("radius")
    if radius <= 0:
        raise ValueError("`radius` must be positive")
    return Collision(fields["problem"], fields["norm"], unit, radius=radius, model=model, other=other, **numbers)


def _model(given: Any, folder: Path) -> Graph:
    """A network given as {"ir": text} or {"file": name}, each with its sha256."""
    if not isinstance(given, dict) or set(given) not in ({"ir", "sha256"}, {"file", "sha256"}):
        raise ValueError("a network is given by `ir` or `file`, and `sha256`")
    if not all(isinstance(value, str) for value in given.values()):
        raise ValueError("`ir`, `file` and `sha256` are strings")
    if "ir" in given:
        graph = parse(given["ir"])
    else:
        graph = load_ir(beside(folder, given["file"], "a network", "the certificate"), MOST_IN_ARRAYS)
    if graph.sha256 != given["sha256"]:
        raise _Rejected(f"the network is not the one of the certificate (sha256 {graph.sha256})")
    return graph


def _numbers(fields: dict[str, Any], size: int) -> tuple[Integer, dict[str, list[Any]]]:
    """One denominator for all numbers, and their numerators over it, by name."""
    domain = {"low": None, "high": None} if fields["domain"] is None else fields["domain"]
    if not isinstance(domain, dict) or set(domain) != {"low", "high"}:
        raise ValueError("`domain` has `low` and `high`, or is null")
    given: dict[str, list[Ratio | None]] = {"radius": [_number(fields["radius"])]}
    for name in ("center", "x", "y"):
        given[name] = [_number(value) for value in _list(fields[name], name, size)]
    for name, side in domain.items():
        values = [None] * size if fields["domain"] is None else _list(side, "domain", size)
        given[name] = [None if value is None else _number(value) for value in values]
    ratios = [value for values in given.values() for value in values if value is not None]
    longest = min(LONGEST_DENOMINATOR, MOST_BITS // len(ratios))
    unit = integer_type()(common_denominator({bottom for _, bottom in ratios}, longest))
    if len(ratios) * (unit.bit_length() + max(top.bit_length() for top, _ in ratios)) > MOST_BITS:
        raise ValueError("its numbers are too long, over one denominator, to be checked")
    return unit, {name: [_over(value, unit) for value in values] for name, values in given.items()}


def _over(value: Ratio | None, unit: Integer) -> Integer | None:
    return None if value is None else integer_type()(value[0]) * (unit // value[1])


def _list(given: Any, name: str, size: int) -> list[Any]:
    if not isinstance(given, list) or len(given) != size:
        raise ValueError(f"`{name}` must be a list of {size}")
    return given


def _number(given: Any) -> Ratio:
    if not isinstance(given, str):
        raise ValueError('numbers are strings such as "3/4"')
    return ratio(given)


def _require_effort(claim: Collision) -> None:
    """Refuse networks whose exact evaluation at x and y would be endless, or fill the memory."""
    size = max(0, max(v.bit_length() for v in claim.x + claim.y) - claim.unit.bit_length() + 1)
    for graph in (claim.model, claim.other):
        if graph is not None and not is_affordable(graph, claim.unit, size):
            raise ValueError("exact evaluation of its network at these points is too long to be checked")


# --- telling -------------------------------------------------------------------------------------------------------


def _claim(claim: Collision) -> str:
    """The claim in words; what is too long to be shown is not shown in part, and a radius is rounded up."""
    radius = _shown([claim.radius], claim.unit) or f"at most {_rounded_up(claim.radius, claim.unit)}"
    center = f"({text})" if (text := _shown(claim.center, claim.unit)) else "the given centre"
    cut = ", cut with the given domain" if any(v is not None for v in claim.low + claim.high) else ""
    digests = [f"model sha256 {claim.model.sha256}"]
    digests += [f"other sha256 {claim.other.sha256}"] if claim.other is not None else []
    ball = f"the closed ball of radius {radius} around {center}"
    return f"{CLAIMS[claim.problem]} in {ball} (norm {claim.norm}){cut}; {', '.join(digests)}"


def _shown(values: list[Integer], unit: Integer) -> str | None:
    if len(values) > 8 or unit.bit_length() > 2048 or any(v.bit_length() > 2048 for v in values):
        return None
    text = ", ".join(to_text(Fraction(int(v), int(unit))) for v in values)
    return text if len(text) <= 80 else None


def _rounded_up(value: Integer, unit: Integer) -> str:
    try:
        return repr(math.nextafter(int(value) / int(unit), math.inf))
    except OverflowError:
        return f"2**{value.bit_length() - unit.bit_length() + 1}"
