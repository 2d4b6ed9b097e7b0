"""Claims that are false, in certificates that look right: each one names what a careless checker would believe."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from flint import arb

from ircert.checker import check_text, limits, structure
from ircert.checker.__main__ import main
from ircert.checker.limits import Effort
from ircert.errors import FileError
from ircert.ir.defined import is_defined_on
from ircert.ir.enclosure import enclosed_jacobian
from ircert.ir.parser import parse
from ircert.ir.printer import HEADER


def certificate(lines: str, kind: str, **changes: Any) -> dict[str, Any]:
    graph = parse(f"{HEADER}\n{lines}")
    place = {"schema": "ircert.certificate/1", "kind": kind, "problem": "local", "norm": "inf", "radius": "2"}
    model = {"ir": str(graph), "sha256": graph.sha256}
    whole = {"center": ["0"] * graph.input_dim, "domain": None, "model": model, "other": None}
    return {**place, **whole, **changes}


def fault(content: dict[str, Any]) -> str:
    return str(check_text(json.dumps(content))[1])


POLE = """x = input(length=1)
r = reciprocal(x)
p = relu(r)
m = affine(x, weight=[[-1.0]])
n = relu(m)
k = affine(n, weight=[[-1.0]])
y = add(p, k)
return y"""
SECOND = "x = input(length=2)\ny = select(x, indices=[1])\nreturn y"
PINNED = {"low": ["1", None], "high": ["1", None]}


@pytest.mark.rule("C-17", "R-12")
def test_orientations_across_a_pole() -> None:
    """relu(1/x) + min(x, 0) is injective, and its slopes at 1 and -1 have opposite signs."""
    assert "defined between" in fault(certificate(POLE, "turned", x=["1"], y=["-1"]))


@pytest.mark.rule("C-17")
def test_a_reciprocal_of_what_is_never_0() -> None:
    """x / (1 + exp(-x)) turns near -1.28."""
    lines = """x = input(length=1)
m = affine(x, weight=[[-1.0]])
e = exp(m)
d = affine(e, weight=[[1.0]], bias=[1.0])
r = reciprocal(d)
y = product(x, r)
return y"""
    assert fault(certificate(lines, "turned", x=["1"], y=["-3"], radius="4")) == "None"
    assert is_defined_on(parse(f"{HEADER}\n{lines}"), [arb(0, 9)])


@pytest.mark.rule("C-16", "R-13")
@pytest.mark.parametrize("last", ["log", "sqrt", "reciprocal"])
def test_points_without_a_value(last: str) -> None:
    """relu(x) is 0 at both points, where the last operation has no value (log and sqrt of 0 - 1)."""
    shift = 0.0 if last == "reciprocal" else -1.0
    lines = f"x = input(length=1)\np = relu(x)\nq = affine(p, weight=[[1.0]], bias=[{shift}])\ny = {last}(q)\nreturn y"
    points = {"x": ["-1"], "y": ["-2"], "x_radii": ["0"], "y_radii": ["0"]}
    assert "defined on the boxes" in fault(certificate(lines, "boxes", **points))
    assert fault(certificate(lines.replace(f"{last}(q)", "exp(q)"), "boxes", **points)) == "None"


@pytest.mark.rule("C-16", "R-13")
@pytest.mark.parametrize(
    "last", ["select(c, indices=[1])", "affine(c, weight=sparse [1, 2] [[0, 1, 1.0]])", "add(c, c)"]
)
def test_another_network_without_a_value(last: str) -> None:
    """1 / relu(x) has no value at both points; x itself, beside it, tells them apart."""
    flat = "x = input(length=1)\na = affine(x, weight=[[0.0]])\ny = tanh(a)\nreturn y"
    lines = f"x = input(length=1)\np = relu(x)\nr = reciprocal(p)\nc = concat(r, x)\ny = {last}\nreturn y"
    points = {"x": ["-1"], "y": ["-2"], "x_radii": ["0"], "y_radii": ["0"], "problem": "transform"}
    for other, passes in ((lines, False), (lines.replace("reciprocal", "tanh"), True)):
        claim = certificate(flat, "boxes", **points) | {"other": certificate(other, "boxes")["model"]}
        assert (fault(claim) == "None") is passes


@pytest.mark.rule("C-18")
def test_a_line_that_asks_for_much() -> None:
    """A margin of 2^18 entries around one input, and 64 curves of 512 inputs one after the other."""
    margin = 2**17
    lines = f"""x = input(length=1)
w = conv(x, image=[1, 1], weight=[[[1.0]]], padding=[{margin}, {margin}])
y = average_pool(w, image=[1, {2 * margin + 1}], kernel=[{2 * margin + 1}])
return y"""
    boxes = {"x": ["1"], "y": ["-1"], "x_radii": ["1/9"], "y_radii": ["0"]}
    many = "\n".join(["x0 = input(length=512)", *(f"x{k + 1} = sin(x{k})" for k in range(64)), "return x64"])
    for claim in (
        certificate(lines, "boxes", **boxes),
        certificate(many, "turned", x=["1"] * 512, y=["0"] * 512),
    ):
        with pytest.raises(FileError, match="too much room"):
            check_text(json.dumps(claim))


@pytest.mark.rule("C-21")
@pytest.mark.parametrize("kind", ["structure", "layers"])
@pytest.mark.parametrize("radius", ["2", "inf"])
def test_a_centre_outside_the_domain(kind: str, radius: str) -> None:
    """f(x1, x2) = x2 has the value of the centre (0, 0) at (1, 0), the only such point of the domain x1 = 1."""
    steps = {"steps": "<1"} if kind == "structure" else {}
    claim = certificate(SECOND, kind, problem="pseudo", radius=radius, domain=PINNED, **steps)
    assert "centre lies outside" in fault(claim)
    assert fault(claim | {"center": ["1", "0"]}) == "None"


@pytest.mark.rule("C-22", "C-25")
def test_fractions_that_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elimination over the rationals counts the length of its numbers."""
    rows = [[2.0 ** (((7 * i + 5 * j) ** 2 % 41) * 24 - 480) for j in range(6)] for i in range(6)]
    lines = f"""x = input(length=6)
t = tanh(x)
v = affine(t, weight={rows})
w = affine(t, weight={rows[::-1]})
y = add(v, w)
z = concat(w, y)
return z"""
    spent: list[int] = []
    spend = Effort.spend

    def counted(self: Effort, effort: int) -> None:
        spent.append(effort)
        spend(self, effort)

    monkeypatch.setattr(Effort, "spend", counted)
    totals = []
    for quick in (structure.QUICK, 1):
        monkeypatch.setattr(structure, "QUICK", quick)
        spent.clear()
        fault(certificate(lines, "structure", steps="<5 +2:3"))
        totals.append(sum(spent))
    assert totals[1] > totals[0]


def test_choices_of_many_entries() -> None:
    """Rows of a Jacobian are chosen from a table that is made once."""
    size = 200
    graph = parse(f"{HEADER}\nx = input(length={size})\ny = select(x, indices={list(range(size))[::-1]})\nreturn y")
    table = enclosed_jacobian(graph, [0] * size).tolist()
    assert [row.index(arb(1)) for row in table] == list(range(size))[::-1]


@pytest.mark.rule("C-1", "C-6")
def test_packed_as_plain(tmp_path: Path) -> None:
    """A mark in front is skipped, and what is no one packed text of a reasonable size is refused."""
    text = json.dumps(certificate(SECOND, "collision", x=["1", "0"], y=["0", "0"])).encode()
    packed = gzip.compress(text)
    mark = b"\xef\xbb\xbf"
    spoilt = [packed + b"x", packed + packed, packed[:-1], packed[:-8] + bytes(8), gzip.compress(packed), text]
    bomb = gzip.compress(text + b" " * 2**27)
    for passes, contents in ((True, [packed, gzip.compress(mark + text)]), (False, [*spoilt, bomb])):
        for content in contents:
            path = tmp_path / "c.json.gz"
            path.write_bytes(content)
            assert main([str(path)]) == (0 if passes else 2)


@pytest.mark.rule("C-15")
def test_a_short_text_asks_for_much_work() -> None:
    """All neurons behind two means of 600 entries are open: elimination would take an hour."""
    size = 601
    mean = f"image=[1, {size}], kernel=[{size}]"
    lines = f"""x = input(length=1)
w = conv(x, image=[1, 1], weight=[[[1.0]]], padding=[{size // 2}, {size // 2}])
a = tanh(w)
b = average_pool(a, {mean}, padding=[{size // 2}, {size // 2}])
c = tanh(b)
y = average_pool(c, {mean})
return y"""
    claim = certificate(lines, "injective", matrix=[["1"]], cover=f"={','.join(['0'] * (2 * size))}")
    with pytest.raises(FileError, match="too long to be checked, for a certificate of its length"):
        check_text(json.dumps(claim))


@pytest.mark.rule("C-15", "C-18")
@pytest.mark.parametrize("kind", ["injective", "turned", "boxes"])
def test_a_maximum_of_many(kind: str) -> None:
    """One line would be lowered to a million nodes."""
    margin = 2**17
    lines = f"""x = input(length=1)
w = conv(x, image=[1, 1], weight=[[[1.0]]], padding=[{margin}, {margin}])
y = max_pool(w, image=[1, {2 * margin + 1}], kernel=[{2 * margin + 1}])
return y"""
    least = f"x = input(length=1)\ny = min({', '.join(['x'] * 2**15)})\nreturn y"
    points: dict[str, Any] = {"x": ["1"], "y": ["-1"]}
    fields: dict[str, dict[str, Any]] = {
        "injective": {"matrix": [["1"]], "cover": "="},
        "turned": points,
        "boxes": {**points, "x_radii": ["0"], "y_radii": ["0"]},
    }
    for text in (lines, least):
        with pytest.raises(FileError, match="maxima of more than 16384 entries"):
            check_text(json.dumps(certificate(text, kind, **fields[kind])))
    assert fault(certificate(lines, "collision", x=["-1"], y=["-2"])) == "None"


@pytest.mark.rule("C-15")
def test_work_is_for_what_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blanks, packed to a thousandth, are not paid for by their number."""
    nodes = "\n".join(f"x{k + 1} = tanh(x{k})" for k in range(20))
    lines = f"x0 = input(length=1)\n{nodes}\nreturn x20"
    text = json.dumps(certificate(lines, "injective", matrix=[["1"]], cover="=")) + " " * 10**6
    monkeypatch.setattr(limits, "AT_ONCE", 0)
    monkeypatch.setattr(limits, "BY_LENGTH", 1)
    (tmp_path / "plain.json").write_text(text)
    (tmp_path / "packed.json.gz").write_bytes(gzip.compress(text.encode()))
    assert [main([str(tmp_path / name)]) for name in ("plain.json", "packed.json.gz")] == [4, 2]
