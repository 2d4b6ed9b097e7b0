"""Reading certificates: strictly, without rounding, and never more than can be checked (C-1 to C-3, C-6, C-7)."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from ircert.checker import injective
from ircert.checker.collision import Collision, Integer
from ircert.checker.injective import Injective
from ircert.checker.layers import Layers
from ircert.checker.smooth import Boxes, Turned
from ircert.checker.structure import Composed, Structure, head_of, read_steps
from ircert.files import LARGEST_TEXT, beside, read_bytes, read_text
from ircert.ir.fractions_text import ratio
from ircert.ir.graph import Graph
from ircert.ir.parser import parse
from ircert.ir.rational import common_denominator, integer_type
from ircert.ir.sidecar import load_ir

SCHEMA = "ircert.certificate/1"
KEYS = {"schema", "kind", "problem", "norm", "center", "radius", "domain", "model", "other"}
POINTS: dict[str, tuple[str, ...]] = {
    "collision": ("x", "y"),
    "boxes": ("x", "y", "x_radii", "y_radii"),
    "turned": ("x", "y"),
}
POINTS |= {"injective": (), "layers": (), "structure": (), "composed": ()}
KINDS: dict[str, set[str]] = {kind: set(names) for kind, names in POINTS.items()}
KINDS |= {"injective": {"matrix", "cover"}, "structure": {"steps"}, "composed": {"steps", "at", "matrix", "cover"}}
"""Fields of all certificates, those of each kind that have a number for each input, and all of each kind."""
REFUTATIONS: dict[str, type[Collision]] = {"collision": Collision, "boxes": Boxes, "turned": Turned}
PROBLEMS = ("local", "pseudo", "transform")
MOST_PARTS, MOST_IN_ARRAYS = 2**22, 2**29
LONGEST_DENOMINATOR, MOST_BITS = 2**23, 2**31
"""Bounds on the work (C-6): lists and objects of the file, and bytes of the arrays of a network's file; bits of the
common denominator, and of numbers over it."""
Ratio = tuple[int, int]
Claim: TypeAlias = Collision | Injective


class Rejected(Exception):
    """What the certificate claims is not so."""


def text_of(path: str | os.PathLike[str]) -> str:
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


def fields_of(text: str) -> list[dict[str, Any]]:
    """The fields of every claim of a certificate."""
    if text.count("[") + text.count("{") > MOST_PARTS:
        raise ValueError(f"it has more than {MOST_PARTS} lists and objects")
    found = json.loads(text, object_pairs_hook=_unique, parse_int=_refuse, parse_float=_refuse, parse_constant=_refuse)
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise ValueError(f'it has no "schema": "{SCHEMA}"')
    if found.get("kind") != "bracket":
        return [_complete(found)]
    if set(found) != KEYS - {"radius"} | {"parts"} or not isinstance(found["parts"], list) or len(found["parts"]) != 2:
        raise ValueError("a bracket has all fields but `radius`, and two `parts`")
    common = {name: found[name] for name in KEYS - {"radius", "kind"}}
    if not all(isinstance(part, dict) and not set(part) & set(common) for part in found["parts"]):
        raise ValueError("the parts of a bracket have `kind`, `radius` and the fields of their kind")
    return [_complete({**common, **part}) for part in found["parts"]]


def _complete(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of one claim, if these are all."""
    _one_of(fields, "kind", KINDS)
    if wrong := set(fields) ^ KEYS ^ KINDS[fields["kind"]]:
        raise ValueError(f"fields are missing or unknown: {', '.join(sorted(wrong))}")
    return fields


def _one_of(fields: dict[str, Any], name: str, known: Iterable[str]) -> None:
    if fields.get(name) not in (*known,):
        raise ValueError(f"`{name}` must be one of {', '.join(known)}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a field is given twice")
    return dict(pairs)


def _refuse(number: str) -> NoReturn:
    raise ValueError(f'numbers are strings such as "3/4", got {number[:60]}')


def claims_of(text: str, folder: Path) -> list[Claim]:
    """What a certificate claims; ValueError or IrcertError if unreadable, Rejected where a network is another one."""
    found = fields_of(text)
    models = {name: None if found[0][name] is None else _model(found[0][name], folder) for name in ("model", "other")}
    if models["model"] is None:
        raise ValueError("`model` is missing")
    return [_claimed(fields, models["model"], models["other"]) for fields in found]


def _claimed(fields: dict[str, Any], model: Graph, other: Graph | None) -> Claim:
    _one_of(fields, "problem", PROBLEMS)
    _one_of(fields, "norm", ("inf", "1", "2"))
    if (fields["problem"] == "transform") != (fields["other"] is not None):
        raise ValueError("`other` belongs to transform, and to it alone")
    if other is not None and other.input_dim != model.input_dim:
        raise ValueError("the networks have different numbers of inputs")
    unit, numbers = _numbers(fields, model.input_dim)
    (radius,) = numbers.pop("radius")
    if radius is not None and radius <= 0:
        raise ValueError("`radius` must be positive")
    if (kind := REFUTATIONS.get(fields["kind"])) is not None:
        return kind(fields["problem"], fields["norm"], unit, radius=radius, model=model, other=other, **numbers)
    plain = {name: [None if v is None else int(v) for v in values] for name, values in numbers.items()}
    place: dict[str, Any] = {"unit": int(unit), "radius": None if radius is None else int(radius), **plain}
    place |= {"problem": fields["problem"], "norm": fields["norm"], "model": model, "other": other}
    if fields["kind"] == "layers":
        return Layers(matrix=[], cover=[], **place)
    if "steps" in fields:
        place["steps"] = read_steps(fields["steps"])
    if fields["kind"] == "structure":
        return Structure(matrix=[], cover=[], **place)
    if not isinstance(fields["matrix"], list):
        raise ValueError("`matrix` is a list of rows")
    head = head_of(model, fields["at"]) if fields["kind"] == "composed" else model
    matrix = [[_integer(v) for v in _list(row, "matrix", head.output_dim)] for row in fields["matrix"]]
    cover = injective.read_cover(fields["cover"])
    if fields["kind"] == "composed":
        return Composed(matrix=matrix, cover=cover, head=head, **place)
    return Injective(matrix=matrix, cover=cover, **place)


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
        raise Rejected(f"the network is not the one of the certificate (sha256 {graph.sha256})")
    return graph


def _numbers(fields: dict[str, Any], size: int) -> tuple[Integer, dict[str, list[Any]]]:
    """One denominator for all numbers, and their numerators over it, by name."""
    domain = {"low": None, "high": None} if fields["domain"] is None else fields["domain"]
    if not isinstance(domain, dict) or set(domain) != {"low", "high"}:
        raise ValueError("`domain` has `low` and `high`, or is null")
    infinite = fields["radius"] == "inf" and fields["kind"] not in REFUTATIONS
    given: dict[str, list[Ratio | None]] = {"radius": [None if infinite else _number(fields["radius"])]}
    for name in ("center", *POINTS[fields["kind"]]):
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
