"""Reading certificates: strictly, without rounding, and never more than can be checked (C-1 to C-3, C-6, C-7)."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self, TypeAlias

from ircert.checker.limits import LONGEST_DENOMINATOR, MOST_BITS, MOST_EFFORT, MOST_IN_ARRAYS, require_few_parts
from ircert.files import beside
from ircert.ir.fractions_text import ratio
from ircert.ir.graph import Graph
from ircert.ir.parser import parse
from ircert.ir.rational import common_denominator, integer_type
from ircert.ir.sidecar import load_ir

SCHEMA = "ircert.certificate/1"
KEYS = {"schema", "kind", "problem", "norm", "center", "radius", "domain", "model", "other"}
Ratio: TypeAlias = tuple[int, int]
Fields: TypeAlias = dict[str, Any]
Integer: TypeAlias = Any  # of `integer_type`, whose products of long numbers are quick, or int
Stop: TypeAlias = Callable[[], bool]


class Rejected(Exception):
    """What the certificate claims is not so."""


@dataclass(frozen=True)
class Claim(ABC):
    """What a certificate says about the closed ball of `radius` around `center`, cut with a box; a class for each kind.

    Numbers are integers over one denominator, `unit`; None is a side of the box that does not bind, and as a radius the
    whole space. Each kind has fields of its own, of which `points` have a number for each input.

    length: how many characters the certificate has, which say how much work it may ask for
    """

    fields: ClassVar[tuple[str, ...]] = ()
    points: ClassVar[tuple[str, ...]] = ()
    refutes: ClassVar[bool] = False
    problem: str
    norm: str
    unit: Integer
    center: list[Integer]
    radius: Integer | None
    low: list[Integer | None]
    high: list[Integer | None]
    model: Graph
    other: Graph | None
    length: int = field(default=MOST_EFFORT, kw_only=True)

    @classmethod
    def read(cls, place: Fields, fields: Fields) -> Self:
        """The claim, of what all kinds have and its own fields; ValueError where these are unreadable."""
        return cls(**place)

    @abstractmethod
    def fault(self, stop: Stop) -> str | None:
        """None if the claim is proved; else the first thing that is wrong. TooLong once `stop` says so."""

    def measure(self, sizes: Iterable[Integer]) -> Integer:
        """The norm of a vector with these absolute values, squared in the norm 2."""
        if self.norm == "2":
            return sum(size * size for size in sizes)
        return max(sizes) if self.norm == "inf" else sum(sizes)

    def in_box(self, point: list[Integer], reach: list[Integer] | None = None) -> bool:
        """Whether the points around one, as far as `reach` in each input, lie in the domain."""
        places = zip(point, reach or [0] * len(point), self.low, self.high, strict=True)
        return all((a is None or a <= v - r) and (b is None or v + r <= b) for v, r, a, b in places)

    @property
    def pinned(self) -> set[int]:
        """Inputs that the domain leaves one number."""
        return {j for j, (a, b) in enumerate(zip(self.low, self.high, strict=True)) if a is not None and a == b}


Kinds: TypeAlias = Mapping[str, type[Claim]]


def claims_of(text: str, folder: Path, kinds: Kinds, length: int) -> list[Claim]:
    """What a certificate claims; ValueError or IrcertError if unreadable, Rejected where a network is another one."""
    found = fields_of(text, kinds)
    model, other = (None if found[0][name] is None else _model(found[0][name], folder) for name in ("model", "other"))
    if model is None:
        raise ValueError("`model` is missing")
    place = {"model": model, "other": other, "length": length}
    return [_claimed(fields, kinds[fields["kind"]], place) for fields in found]


def fields_of(text: str, kinds: Kinds) -> list[Fields]:
    """The fields of every claim of a certificate."""
    require_few_parts(text)
    found = json.loads(text, object_pairs_hook=_unique, parse_int=_refuse, parse_float=_refuse, parse_constant=_refuse)
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise ValueError(f'it has no "schema": "{SCHEMA}"')
    if found.get("kind") != "bracket":
        return [_complete(found, kinds)]
    if set(found) != KEYS - {"radius"} | {"parts"} or not isinstance(found["parts"], list) or len(found["parts"]) != 2:
        raise ValueError("a bracket has all fields but `radius`, and two `parts`")
    common = {name: found[name] for name in KEYS - {"radius", "kind"}}
    if not all(isinstance(part, dict) and not set(part) & set(common) for part in found["parts"]):
        raise ValueError("the parts of a bracket have `kind`, `radius` and the fields of their kind")
    return [_complete({**common, **part}, kinds) for part in found["parts"]]


def _complete(fields: Fields, kinds: Kinds) -> Fields:
    """The fields of one claim, if these are all."""
    kind = kinds[_one_of(fields, "kind", kinds)]
    if wrong := set(fields) ^ KEYS ^ set(kind.fields):
        raise ValueError(f"fields are missing or unknown: {', '.join(sorted(wrong))}")
    return fields


def _one_of(fields: Fields, name: str, known: Iterable[str]) -> str:
    if fields.get(name) not in (*known,):
        raise ValueError(f"`{name}` must be one of {', '.join(known)}")
    return str(fields[name])


def _unique(pairs: list[tuple[str, Any]]) -> Fields:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a field is given twice")
    return dict(pairs)


def _refuse(number: str) -> NoReturn:
    raise ValueError(f'numbers are strings such as "3/4", got {number[:60]}')


def _claimed(fields: Fields, kind: type[Claim], place: Fields) -> Claim:
    model, other = place["model"], place["other"]
    place = {**place, "problem": _one_of(fields, "problem", ("local", "pseudo", "transform"))}
    place["norm"] = _one_of(fields, "norm", ("inf", "1", "2"))
    if (fields["problem"] == "transform") != (other is not None):
        raise ValueError("`other` belongs to transform, and to it alone")
    if other is not None and other.input_dim != model.input_dim:
        raise ValueError("the networks have different numbers of inputs")
    unit, numbers = _numbers(fields, kind, model.input_dim)
    if not kind.refutes:  # they are short
        numbers = {name: [None if v is None else int(v) for v in values] for name, values in numbers.items()}
    radius = numbers.pop("radius")[0]
    if radius is not None and radius <= 0:
        raise ValueError("`radius` must be positive")
    return kind.read({**place, **numbers, "radius": radius, "unit": unit if kind.refutes else int(unit)}, fields)


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


def _numbers(fields: Fields, kind: type[Claim], size: int) -> tuple[Integer, dict[str, list[Any]]]:
    """One denominator for all numbers, and their numerators over it, by name."""
    domain = fields["domain"]
    if domain is None:
        domain = {"low": [None] * size, "high": [None] * size}
    if not isinstance(domain, dict) or set(domain) != {"low", "high"}:
        raise ValueError("`domain` has `low` and `high`, or is null")
    infinite = fields["radius"] == "inf" and not kind.refutes
    given: dict[str, list[Ratio | None]] = {"radius": [None if infinite else number(fields["radius"])]}
    for name in ("center", *kind.points):
        given[name] = [number(value) for value in listed(fields[name], name, size)]
    for name, side in domain.items():
        given[name] = [None if value is None else number(value) for value in listed(side, "domain", size)]
    ratios = [value for values in given.values() for value in values if value is not None]
    longest = min(LONGEST_DENOMINATOR, MOST_BITS // len(ratios))
    unit = integer_type()(common_denominator({bottom for _, bottom in ratios}, longest))
    if len(ratios) * (unit.bit_length() + max(top.bit_length() for top, _ in ratios)) > MOST_BITS:
        raise ValueError("its numbers are too long, over one denominator, to be checked")
    return unit, {name: [_over(value, unit) for value in values] for name, values in given.items()}


def _over(value: Ratio | None, unit: Integer) -> Integer | None:
    return None if value is None else integer_type()(value[0]) * (unit // value[1])


def listed(given: Any, name: str, size: int) -> list[Any]:
    """A list of so many things."""
    if not isinstance(given, list) or len(given) != size:
        raise ValueError(f"`{name}` must be a list of {size}")
    return given


def number(given: Any) -> Ratio:
    """(p, q) of a number p/q."""
    if not isinstance(given, str):
        raise ValueError('numbers are strings such as "3/4"')
    return ratio(given)


def tokens_of(given: Any, name: str, pattern: Any, most: int) -> list[str]:
    """A string of at most so many words with one blank between two, each of which has the form of a pattern."""
    if not isinstance(given, str):
        raise ValueError(f"`{name}` is a string")
    if given.count(" ") >= most:
        raise ValueError(f"`{name}` has more than {most} parts")
    tokens = given.split(" ")
    for token in tokens:
        if pattern.fullmatch(token) is None:
            raise ValueError(f"not a part of `{name}`: {token[:60]!r}")
    return tokens
