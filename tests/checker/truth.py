"""Whether a certificate is true, found without the checker's code.

Numbers are read digit by digit, networks evaluated in plain loops of Fractions.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from scipy.sparse import csr_array

import ircert
from ircert.checker import check_file
from ircert.errors import FileError
from ircert.ir.graph import Graph


def verdict(folder: Path, content: Any) -> int:
    """What the checker says, as an exit code: 0 passed, 4 rejected, 2 unreadable, in one line of readable length."""
    path = folder / "c.json"
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        return 0 if check_file(path)[1] is None else 4
    except FileError as error:
        said = str(error)
    assert said.isprintable()
    assert len(said) < 1000
    return 2


def value_of(text: str) -> Fraction:
    """A number, digit by digit."""
    sign, text = (-1 if text.startswith("-") else 1), text.removeprefix("-" if text.startswith("-") else "+")
    if text.startswith("0x"):
        digits, _, exponent = text[2:].partition("p")
        whole, _, rest = digits.partition(".")
        scale = Fraction(2) ** int(exponent or "0")
        return sign * scale * _in_base(whole + rest, 16) / 16 ** len(rest)
    top, slash, bottom = text.partition("/")
    return Fraction(sign * _in_base(top, 10), _in_base(bottom, 10) if slash else 1)


def _in_base(digits: str, base: int) -> int:
    total = 0
    for digit in digits:
        total = total * base + "0123456789abcdef"[:base].index(digit)
    assert digits
    return total


def outputs(graph: Graph, x: list[Fraction]) -> list[Fraction]:
    """The network's outputs, in plain loops; the networks here have affine maps, relu, add, concat and select."""
    values: dict[str, list[Fraction]] = {graph.input: x}
    for node in graph.nodes:
        a = [values[name] for name in node.operands]
        op: Any = node.op
        match op.kind:
            case "affine":
                weight = op.weight.toarray() if isinstance(op.weight, csr_array) else op.weight
                rows = zip(weight.tolist(), op.bias.tolist(), strict=True)
                values[node.name] = [
                    sum((Fraction(w) * v for w, v in zip(r, a[0], strict=True)), Fraction(b)) for r, b in rows
                ]
            case "relu":
                values[node.name] = [max(v, Fraction(0)) for v in a[0]]
            case "add":
                values[node.name] = [sum(column, Fraction(0)) for column in zip(*a, strict=True)]
            case "concat":
                values[node.name] = [v for part in a for v in part]
            case "select":
                values[node.name] = [a[0][i] for i in op.indices.tolist()]
            case other:
                assert other == "input"
    return values[graph.output]


def is_true(text: str) -> bool:
    """Whether a certificate's text makes a true claim about the network that its sha256 names."""
    c = json.loads(text)
    f, g = (None if c[name] is None else ircert.parse(c[name]["ir"]) for name in ("model", "other"))
    assert f is not None
    if f.sha256 != c["model"]["sha256"] or (g is not None and g.sha256 != c["other"]["sha256"]):
        return False
    center, x, y = ([value_of(v) for v in c[name]] for name in ("center", "x", "y"))
    radius = value_of(c["radius"])
    for point in (x, y):
        offsets = [abs(v - m) for v, m in zip(point, center, strict=True)]
        lengths = {"inf": max(offsets), "1": sum(offsets)}
        inside = sum(d * d for d in offsets) <= radius * radius if c["norm"] == "2" else lengths[c["norm"]] <= radius
        if not inside or not _in_domain(point, c["domain"]):
            return False
    if radius <= 0 or outputs(f, x) != outputs(f, y):
        return False
    if c["problem"] == "transform":
        return g is not None and outputs(g, x) != outputs(g, y)
    return x != y and (c["problem"] == "local" or y == center)


def _in_domain(point: list[Fraction], domain: Any) -> bool:
    if domain is None:
        return True
    sides = zip(point, domain["low"], domain["high"], strict=True)
    return all((a is None or value_of(a) <= v) and (b is None or v <= value_of(b)) for v, a, b in sides)
