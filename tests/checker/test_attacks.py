"""Whatever is done to a true certificate, it passes only if its claim is still true."""

from __future__ import annotations

import json
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.errors import IrcertError
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.testing import mlps
from tests.checker.test_checker import embedded
from tests.checker.truth import is_true, value_of, verdict
from tests.effort import examples


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


# --- true certificates ---------------------------------------------------------------------------------------------

small = st.fractions(-8, 8, max_denominator=1000)
dyadic = st.integers(-16, 16).map(lambda k: k / 8)


def blind_to(direction: list[float], rest: Graph) -> Graph:
    """rest(a x1 + b x2): it does not see a move along (b, -a)."""
    build = Builder(2)
    return build.graph(build.insert(rest, build.affine(build.input, [direction])))


def shown(value: Fraction, draw: Any) -> str:
    """A number in any of its spellings."""
    spellings = [f"{value.numerator}/{value.denominator}", f"{value.numerator * 6}/{value.denominator * 6}"]
    if value.denominator == 1:
        spellings += [str(value.numerator), f"{'-' if value < 0 else '+'}00{abs(value.numerator)}"]
    if float(value) == value:
        spellings.append(float(value).hex())
    return str(draw(st.sampled_from(spellings)))


@st.composite
def true_certificates(draw: Any) -> dict[str, Any]:
    """A pair that a network does not tell apart, in a ball that just holds it, or in a larger one."""
    a, b = draw(dyadic), draw(dyadic)
    graph = blind_to([a, b], draw(mlps(inputs=1, width=3, depth=3)))
    y = [draw(small), draw(small)]
    t = draw(small.filter(bool)) if (a, b) != (0, 0) else Fraction(1)
    step = [Fraction(b) * t, Fraction(-a) * t] if (a, b) != (0, 0) else [Fraction(1), Fraction(2)]
    x = [v + d for v, d in zip(y, step, strict=True)]
    problem = draw(st.sampled_from(["local", "pseudo", "transform"]))
    center = y if problem == "pseudo" else [draw(small), draw(small)]
    norm = draw(st.sampled_from(["inf", "1", "2"]))
    offsets = [[abs(v - m) for v, m in zip(point, center, strict=True)] for point in (x, y)]
    radius = max(max(o) if norm == "inf" else sum(o) for o in offsets)  # never too small for norm 2 either
    domain = None
    if draw(st.booleans()):
        low, high = (
            ([shown(choose(p, q), draw), None]) for choose, (p, q) in ((min, (x[0], y[0])), (max, (x[0], y[0])))
        )
        domain = {"low": low, "high": high}
    other = None
    if problem == "transform":
        other = embedded(ircert.load([([[1.0, 0.0], [0.0, 1.0]], None)]))
    return {
        "schema": "ircert.certificate/1",
        "kind": "collision",
        "problem": problem,
        "norm": norm,
        "center": [shown(v, draw) for v in center],
        "radius": shown(radius + draw(st.sampled_from([0, 0, Fraction(1, 7), 5])), draw),
        "domain": domain,
        "x": [shown(v, draw) for v in x],
        "y": [shown(v, draw) for v in y],
        "model": embedded(graph),
        "other": other,
    }


# --- attacks -------------------------------------------------------------------------------------------------------

ALPHABET = '0123456789abcdefxp./+-_ eEinfNaXP\n,"１٣²\u2212\u00a0'
places = st.sampled_from(
    ["center", "radius", "x", "y", "low", "high", "norm", "problem", "sha256", "ir", "domain", "other"]
)


def nudged(draw: Any, text: str) -> str:
    """Almost the same number: by less than a float can tell, written exactly."""
    try:
        value = value_of(text)
    except (AssertionError, ValueError, ZeroDivisionError):
        return text
    moved = value + draw(st.sampled_from([-1, 1])) * Fraction(1, 2 ** draw(st.sampled_from([1, 30, 53, 60, 200, 1100])))
    if moved.denominator & (moved.denominator - 1) == 0 and draw(st.booleans()):
        digits = -(-(moved.denominator.bit_length() - 1) // 4)
        scaled = abs(moved) * 16**digits
        return f"{'-' if moved < 0 else ''}0x{int(scaled):x}p-{4 * digits}"
    return f"{moved.numerator}/{moved.denominator}"


def typed(draw: Any, text: str) -> str:
    """The text with a few characters put in, taken out or exchanged."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        kept = at + draw(st.integers(0, 2))
        text = text[:at] + draw(st.text(ALPHABET, max_size=3)) + text[kept:]
    return text


def longer(draw: Any, text: str) -> str:
    """More hexadecimal digits than a float has."""
    if "0x" not in text:
        return text
    head, p, exponent = text.partition("p")
    return (
        head + ("" if "." in head else ".") + draw(st.text("0123456789abcdef", min_size=1, max_size=40)) + p + exponent
    )


def changed(draw: Any, value: Any) -> Any:
    """A string, or what else JSON has."""
    if not isinstance(value, str) or draw(st.integers(0, 9)) == 0:
        return draw(
            st.sampled_from([None, True, False, 0, 1, -0.0, 0.5, 10**400, float("nan"), float("inf"), [], {}, "", "1"])
        )
    return draw(st.sampled_from([nudged, nudged, longer, longer, typed]))(draw, value)


def attacked(draw: Any, given: dict[str, Any]) -> dict[str, Any]:
    """A certificate with one thing changed."""
    made: dict[str, Any] = json.loads(json.dumps(given))
    place, domain = draw(places), made["domain"]
    if place in ("sha256", "ir"):
        made["model"][place] = typed(draw, made["model"][place])
    elif place in ("low", "high"):
        sides = domain if isinstance(domain, dict) and domain else {"low": ["-9", None], "high": ["9", None]}
        sides[place][draw(st.integers(0, 1))] = draw(st.sampled_from(["0", "-1/3", "0x1p0", None, "8"]))
        made["domain"] = sides
    elif place in ("norm", "problem"):
        made[place] = draw(st.sampled_from(["inf", "1", "2", "local", "pseudo", "transform", 2, None, ["inf"]]))
    elif isinstance(made[place], list) and made[place]:
        at = draw(st.integers(0, len(made[place]) - 1))
        made[place][at] = changed(draw, made[place][at])
    else:
        made[place] = changed(draw, made[place])
    return made


@pytest.mark.rule("C-2", "C-4")
@given(true_certificates())
def test_true_certificates_pass(folder: Path, given: dict[str, Any]) -> None:
    text = json.dumps(given)
    assert is_true(text)
    assert verdict(folder, text) == 0


@pytest.mark.rule("C-2", "C-4")
@examples(150)
@given(st.data())
def test_what_passes_is_true_and_what_is_rejected_is_not(folder: Path, data: st.DataObject) -> None:
    made = data.draw(true_certificates())
    for _ in range(data.draw(st.integers(1, 2))):
        made = attacked(data.draw, made)
    text = json.dumps(made)
    found = verdict(folder, text)
    if found == 0:
        assert is_true(text)
    elif found == 4:
        with suppress(
            KeyError, TypeError, ValueError, IrcertError
        ):  # a network of another sha256, and more wrong with it
            assert not is_true(text)


@pytest.mark.rule("C-1")
@examples(100)
@given(st.data())
def test_damaged_files_never_crash_the_checker(folder: Path, data: st.DataObject) -> None:
    text = json.dumps(data.draw(true_certificates()))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        kept = at + data.draw(st.sampled_from([0, 1, 5, 100]))
        text = text[:at] + data.draw(st.text(max_size=3)) + text[kept:]
    if verdict(folder, text) == 0:
        assert is_true(text)
