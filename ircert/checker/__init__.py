"""The independent checker: verifies a certificate in exact arithmetic, and trusts nothing else.

It reads `spec/certificate.md` and imports the graph IR alone: no engine, no solver, no pass. A certificate may come
from anybody: its numbers are read without rounding, and the work is bounded. Here certificates are read, and collisions
checked by exact evaluation; `injective` checks proofs that there are none.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from ircert.checker import injective
from ircert.checker.injective import Injective
from ircert.errors import FileError, IrcertError
from ircert.files import LARGEST_TEXT, beside, read_bytes, read_text
from ircert.ir.cost import is_affordable
from ircert.ir.evaluate import exact_values
from ircert.ir.fractions_text import ratio, to_text
from ircert.ir.graph import Graph
from ircert.ir.parser import parse
from ircert.ir.rational import Rationals, common_denominator, integer_array, integer_type
from ircert.ir.sidecar import load_ir

SCHEMA = "ircert.certificate/1"
KEYS = {"schema", "kind", "problem", "norm", "center", "radius", "domain", "model", "other"}
KINDS = {"collision": {"x", "y"}, "injective": {"matrix", "cover"}}
"""Fields of all certificates, and those of each kind."""
GOOD = {
    "local": "f(x) != f(y) for all x != y",
    "pseudo": "f(x) != f(centre) for all x != centre",
    "transform": "g(x) is a function of f(x)",
}
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
    claim, fault = checked(path)
    return "" if claim is None else _claim(claim), fault


def checked(path: str | os.PathLike[str]) -> tuple[Collision | Injective | None, str | None]:
    """A certificate (None where its network is another one), and what is wrong with it."""
    try:
        claim = _claimed(_fields(_text(path)), Path(path).parent)
        if isinstance(claim, Injective):
            return claim, injective.fault_of(claim)
        _require_effort(claim)
        return claim, fault_of(claim)
    except _Rejected as fault:
        return None, str(fault)
    except FileError:
        raise
    except (IrcertError, ValueError, OverflowError, RecursionError) as error:
        problem = str(error) or type(error).__name__
        raise FileError(f"not a certificate: {problem[:300]}", path=path) from None


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


def _text(path: str | os.PathLike[str]) -> str:
    """The text of a file, unpacked if its name ends in .gz, as far as it is not too long."""
    if not os.fspath(path).endswith(".gz"):
        return read_text(path)
    try:
        unpacking = zlib.decompressobj(16 + zlib.MAX_WBITS)
        found = unpacking.decompress(read_bytes(path, LARGEST_TEXT), LARGEST_TEXT)
    except zlib.error as error:
        raise ValueError(f"it is not packed by gzip ({error})") from None
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError(f"its packed text is not whole, or has more than {LARGEST_TEXT} bytes")
    return found.decode()


def _fields(text: str) -> dict[str, Any]:
    if text.count("[") + text.count("{") > MOST_PARTS:
        raise ValueError(f"it has more than {MOST_PARTS} lists and objects")
    found = json.loads(text, object_pairs_hook=_unique, parse_int=_refuse, parse_float=_refuse, parse_constant=_refuse)
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise ValueError(f'it has no "schema": "{SCHEMA}"')
    _one_of(found, "kind", KINDS)
    if wrong := set(found) ^ KEYS ^ KINDS[found["kind"]]:
        raise ValueError(f"fields are missing or unknown: {', '.join(sorted(wrong))}")
    return found


def _one_of(fields: dict[str, Any], name: str, known: Iterable[str]) -> None:
    if fields.get(name) not in (*known,):
        raise ValueError(f"`{name}` must be one of {', '.join(known)}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a field is given twice")
    return dict(pairs)


def _refuse(number: str) -> NoReturn:
    raise ValueError(f'numbers are strings such as "3/4", got {number[:60]}')


def _claimed(fields: dict[str, Any], folder: Path) -> Collision | Injective:
    _one_of(fields, "problem", CLAIMS)
    _one_of(fields, "norm", ("inf", "1", "2"))
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
    if fields["kind"] == "collision":
        return Collision(fields["problem"], fields["norm"], unit, radius=radius, model=model, other=other, **numbers)
    if not isinstance(fields["matrix"], list):
        raise ValueError("`matrix` is a list of rows")
    matrix = [[_integer(v) for v in _list(row, "matrix", model.output_dim)] for row in fields["matrix"]]
    cover = injective.read_cover(fields["cover"])
    plain = {name: [None if v is None else int(v) for v in values] for name, values in numbers.items()}
    place: dict[str, Any] = {"unit": int(unit), "radius": int(radius), **plain}
    return Injective(fields["problem"], fields["norm"], model=model, other=other, matrix=matrix, cover=cover, **place)


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
    for name in ("center", "x", "y") if fields["kind"] == "collision" else ("center",):
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


def _integer(given: Any) -> int:
    top, bottom = _number(given)
    if bottom != 1 or abs(top) > injective.LARGEST:
        raise ValueError(f"entries of `matrix` are integers of at most {injective.LARGEST}")
    return top


def _require_effort(claim: Collision) -> None:
    """Refuse networks whose exact evaluation at x and y would be endless, or fill the memory."""
    size = max(0, max(v.bit_length() for v in claim.x + claim.y) - claim.unit.bit_length() + 1)
    for graph in (claim.model, claim.other):
        if graph is not None and not is_affordable(graph, claim.unit, size):
            raise ValueError("exact evaluation of its network at these points is too long to be checked")


# --- telling -------------------------------------------------------------------------------------------------------


def _claim(claim: Collision | Injective) -> str:
    """The claim in words; what is too long to be shown is not shown in part, and a radius is rounded up."""
    radius = _shown([claim.radius], claim.unit) or f"at most {_rounded_up(claim.radius, claim.unit)}"
    center = f"({text})" if (text := _shown(claim.center, claim.unit)) else "the given centre"
    cut = ", cut with the given domain" if any(v is not None for v in claim.low + claim.high) else ""
    digests = [f"model sha256 {claim.model.sha256}"]
    digests += [f"other sha256 {claim.other.sha256}"] if claim.other is not None else []
    ball = f"the closed ball of radius {radius} around {center}"
    told = CLAIMS if isinstance(claim, Collision) else GOOD
    return f"{told[claim.problem]} in {ball} (norm {claim.norm}){cut}; {', '.join(digests)}"


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
