"""Certificates of injectivity: what is true passes, and nothing false does, whatever somebody writes."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.certificates.proving import Proving
from ircert.checker import check_text, explain, limits
from ircert.checker.definite import positive_definite
from ircert.data.networks import bundled
from ircert.errors import FileError
from ircert.geometry.place import Place
from ircert.result.certificate import injective
from tests.checker.second import positive, proves
from tests.effort import examples
from tests.test_files import at_most

BENT = ircert.parse(str(ircert.load([([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -0.5]], None)])))
"""relu(x) - relu(x - 1) / 2: injective where x > 0."""


def written(graph: ircert.Graph, center: list[Any], **fields: Any) -> dict[str, Any]:
    found = {
        "schema": "ircert.certificate/1", "kind": "injective", "problem": "local", "norm": "inf",
        "center": [str(v) for v in center], "domain": None, "other": None,
        "model": {"ir": str(graph), "sha256": graph.sha256},
    }  # fmt: skip
    return {**found, **fields}


def fault(certificate: dict[str, Any]) -> str | None:
    """What the checker says; both implementations agree on what is readable."""
    text = json.dumps(certificate)
    found = check_text(text)[1]
    assert proves(text) or found is not None, "only the first checker passes it"
    return found


def accepted(certificate: dict[str, Any]) -> bool:
    try:
        return fault(certificate) is None
    except FileError:
        return False


@pytest.mark.rule("C-7", "C-8", "C-9", "C-15")
@pytest.mark.parametrize(
    ("center", "radius", "cover", "passes"),
    [
        ("2", "1", "=", True),
        ("2", "1", "=4", False),
        ("2", "3/2", "=4", True),
        ("2", "2", "=4", True),
        ("2", "9/4", "=4,4", False),
        ("2", "2", "=4,4", False),
        ("2", "2", "=", False),
        ("4", "2", "=", True),
        ("2", "2", "/0 =4 =", True),
        ("2", "2", "/0 = =4", False),
        ("2", "2", "/0 =4", False),
        ("2", "2", "/0 =4 = =", False),
        ("2", "2", "/1 =4 =", False),
        ("2", "2", "?1 = =", True),
        ("2", "2", "?1 ?1 = = =", False),
        ("2", "2", "?2 = =", False),
        ("2", "2", "-", False),
        ("2", "2", "?1 = !1:1", False),
        ("2", "2", "?0 =4 !0:1", False),
        ("4", "2", "?1 = !1:1", True),
        ("4", "2", "?1 = !0:1", False),
    ],
)
def test_a_bent_line(center: str, radius: str, cover: str, passes: bool) -> None:
    given = written(BENT, [center], radius=radius, matrix=[["8"]], cover=cover)
    assert (fault(given) is None) == passes


@pytest.mark.parametrize(
    "cover", ["", " =4", "=4 ", "=4  =4", "=04444", "x", "=-1", "/", "?", "!1", "!1:", "=4,", "/+1", "=٤"]
)
def test_what_is_no_cover(cover: str) -> None:
    with pytest.raises(FileError):
        check_text(json.dumps(written(BENT, [2], radius="1", matrix=[["8"]], cover=cover)))


@pytest.mark.parametrize(
    "fields",
    [
        {"matrix": [["1/2"]]},
        {"matrix": [["8", "8"]]},
        {"matrix": "8"},
        {"matrix": [[8]]},
        {"matrix": [["8" * 60]]},
        {"radius": "0"},
        {"radius": "-1"},
        {"cover": ["=4"]},
        {"x": ["1"]},
        {"kind": "injectiv"},
        {"other": {}},
    ],
)
def test_what_is_no_certificate(fields: dict[str, Any]) -> None:
    with pytest.raises(FileError):
        check_text(json.dumps({**written(BENT, [2], radius="1", matrix=[["8"]], cover="=4"), **fields}))


@pytest.mark.parametrize("matrix", [[], [["8"], ["8"]], [["-8"]], [["0"]]])
def test_wrong_matrices(matrix: list[list[str]]) -> None:
    assert fault(written(BENT, [2], radius="1", matrix=matrix, cover="=4")) is not None


@pytest.mark.rule("C-9")
def test_a_domain_cuts_the_ball() -> None:
    """relu is flat below 0, and nothing else there is asked about."""
    given = written(BENT, [2], radius="5", matrix=[["8"]], cover="=4")
    assert fault(given) is not None
    assert fault({**given, "domain": {"low": ["0"], "high": [None]}}) is None
    assert fault({**given, "domain": {"low": ["-1/8"], "high": [None]}}) is not None
    assert fault({**given, "domain": {"low": ["3"], "high": [None]}}) == "the centre lies outside the domain"
    assert fault({**given, "domain": {"low": ["2"], "high": ["2"]}}) == "no input is free"


@pytest.mark.rule("C-8")
def test_the_whole_space() -> None:
    """x - relu(x) / 2 is injective everywhere, relu is not."""
    slow = ircert.load([([[1.0], [-1.0]], None), ([[0.5, -1.0]], None)])
    assert fault(written(slow, [0], radius="inf", matrix=[["8"]], cover="?0 ?1 = = =4")) is not None  # both may be on
    build = ircert.Builder(1)
    bent = build.graph(build.add(build.input, build.affine(build.relu(build.input), [[-0.5]])))
    assert fault(written(bent, [0], radius="inf", matrix=[["8"]], cover="=4")) is None
    assert fault(written(bent, [0], radius="inf", matrix=[["8"]], cover="?0 = =")) is None
    for cover in ("/0 =4 =4", "-", "?0 = !0:1"):
        assert fault(written(bent, [0], radius="inf", matrix=[["8"]], cover=cover)) is not None
    boxed = {"domain": {"low": ["-1"], "high": [None]}, "radius": "inf", "matrix": [["8"]], "cover": "=4"}
    assert fault(written(bent, [0], **boxed)) is None
    assert fault(written(bent, [-2], **boxed)) is not None  # the centre lies outside


@pytest.mark.rule("C-8")
def test_the_whole_space_with_a_pinned_input() -> None:
    """x_0 + 2 x_1 tells points apart that differ in x_1 alone."""
    graph = ircert.load([([[1.0, 2.0]], None)])
    pinned = {"domain": {"low": ["3", None], "high": ["3", None]}, "radius": "inf", "cover": "="}
    assert fault(written(graph, [3, 0], matrix=[["8"]], **pinned)) is None
    assert fault(written(graph, [3, 0], matrix=[["8"], ["8"]], **pinned)) is not None
    assert fault(written(graph, [3, 0], matrix=[["8"], ["8"]], **{**pinned, "domain": None})) is not None


@pytest.mark.rule("C-13")
@pytest.mark.parametrize(("norm", "passes"), [("1", True), ("2", False), ("inf", False)])
def test_boxes_outside_of_the_ball(norm: str, passes: bool) -> None:
    """x - relu(x1 + x2 - 3/2) (1, 1) folds in a corner of the box around a ball, which is outside or not."""
    build = ircert.Builder(2)
    neuron = build.relu(build.affine(build.input, [[1.0, 1.0]], [-1.5]))
    graph = build.graph(build.add(build.input, build.affine(neuron, [[-1.0], [-1.0]])))
    unit = [["8", "0"], ["0", "8"]]
    given = written(graph, [0, 0], norm=norm, radius="1", matrix=unit, cover="/0 = /1 = /0 = /1 = -")
    assert (fault(given) is None) == passes


@cache
def example() -> tuple[dict[str, Any], Fraction]:
    """A certificate close to the largest radius of a network, and that radius."""
    graph = bundled("vanderpol-2-10-10-2")
    largest = ircert.certify(graph, [0, 0]).radius.refuted
    assert largest is not None
    radius = float(largest) * 0.999
    proof = Proving(graph, Place.everywhere(np.zeros(2))).prove(radius)
    found = written(graph, [0, 0], **injective(proof.radius, proof.matrix, proof.cover))
    return found, Fraction(float(largest))


@pytest.mark.rule("C-10", "C-11", "C-12", "C-14")
def test_both_checkers_pass_a_real_certificate(tmp_path: Path) -> None:
    found, _ = example()
    assert {token[0] for token in found["cover"].split(" ")} == set("/?=!")
    assert fault(found) is None
    (tmp_path / "c.json").write_text(json.dumps(found))
    told, wrong = explain(tmp_path / "c.json")
    assert wrong is None
    assert "one matrix C makes" in told
    for problem, other in (("pseudo", None), ("transform", found["model"])):
        assert fault({**found, "problem": problem, "other": other}) is None


def nodes(change: Callable[[list[str], random.Random], None]) -> Callable[[dict[str, Any], random.Random], None]:
    def changed(content: dict[str, Any], dice: random.Random) -> None:
        tokens = content["cover"].split(" ")
        change(tokens, dice)
        content["cover"] = " ".join(tokens)

    return changed


def swap(tokens: list[str], dice: random.Random) -> None:
    i, j = dice.randrange(len(tokens)), dice.randrange(len(tokens))
    tokens[i], tokens[j] = tokens[j], tokens[i]


def thin(tokens: list[str], dice: random.Random) -> None:
    """A division and one of its parts are left out: the other part stands for both."""
    starts = [k for k, token in enumerate(tokens) if token[:1] in ("/", "?")]
    start = dice.choice(starts)
    first = end(tokens, start + 1)
    kept = tokens[start + 1 : first] if dice.random() < 0.5 else tokens[first : end(tokens, first)]
    tokens[start : end(tokens, first)] = kept


def end(tokens: list[str], start: int) -> int:
    left = 1
    while left:
        left += 1 if tokens[start][0] in "/?" else -1
        start += 1
    return start


def retype(tokens: list[str], dice: random.Random) -> None:
    k = dice.randrange(len(tokens))
    tokens[k] = dice.choice(["-", "=", "!0:1", "/0", "/1", "?3", "=" + ",".join(["40"] * dice.randrange(8))])


def renumber(tokens: list[str], dice: random.Random) -> None:
    k = dice.randrange(len(tokens))
    digits = [i for i, letter in enumerate(tokens[k]) if letter.isdigit()]
    if digits:
        i = dice.choice(digits)
        tokens[k] = tokens[k][:i] + str(dice.randrange(10)) + tokens[k][i + 1 :]


def larger(content: dict[str, Any], dice: random.Random) -> None:
    content["radius"] = str(Fraction(content["radius"]) * dice.choice([Fraction(1002, 1000), Fraction(2), Fraction(9)]))


def entry(content: dict[str, Any], dice: random.Random) -> None:
    row = dice.choice(content["matrix"])
    row[dice.randrange(2)] = str(int(row[0]) + dice.randrange(-(2**60), 2**60))


def moved(content: dict[str, Any], dice: random.Random) -> None:
    content["center"][dice.randrange(2)] = str(Fraction(dice.randrange(-100, 100), 50))


def foreign(content: dict[str, Any], dice: random.Random) -> None:
    graph = bundled(dice.choice(["vanderpol-2-16-16-2", "vanderpol-2-32-32-2"]))
    content["model"] = {"ir": str(graph), "sha256": dice.choice([graph.sha256, content["model"]["sha256"]])}


def norm(content: dict[str, Any], dice: random.Random) -> None:
    content["norm"] = dice.choice(["1", "2"])


def cut(content: dict[str, Any], dice: random.Random) -> None:
    content["cover"] = content["cover"][: dice.randrange(len(content["cover"]))]


CHANGES = [nodes(swap), nodes(thin), nodes(retype), nodes(renumber), larger, entry, moved, foreign, norm, cut]


def corrupted(count: int) -> None:
    """No corrupted certificate passes that claims something false: a ball that reaches the nearest fold."""
    found, largest = example()
    dice = random.Random(7)
    passed = 0
    for _ in range(count):
        content = copy.deepcopy(found)
        for change in dice.sample(CHANGES, dice.choice([1, 1, 2])):
            with suppress(IndexError):  # what was changed before is no tree any more
                change(content, dice)
        try:
            if check_text(json.dumps(content))[1] is not None:
                continue
        except FileError:
            continue
        passed += 1
        assert content["model"]["sha256"] == found["model"]["sha256"]
        reach = Fraction(content["radius"]) + max(abs(Fraction(v)) for v in content["center"])
        inner = Fraction(content["radius"]) - max(abs(Fraction(v)) for v in content["center"])
        assert inner < largest
        if reach >= largest:  # the centre moved, or the norm is another one: the ball may be good
            graph = ircert.parse(content["model"]["ir"])
            center = [float(Fraction(v)) for v in content["center"]]
            radius = float(Fraction(content["radius"]))
            assert ircert.certify(graph, center, radius=radius, norm=content["norm"]).verdict == "certified"
    assert 0 < passed < count / 2


@pytest.mark.rule("C-15")
def test_corrupted_certificates() -> None:
    corrupted(150)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_ten_thousand_corrupted_certificates() -> None:
    corrupted(10_000)


@st.composite
def folded(draw: st.DrawFn) -> dict[str, Any]:
    """A claim about a network that folds inside of the ball, x -> (|x1|, …) and layers after it, with any proof."""
    dice = random.Random(draw(st.integers(0, 2**32)))
    width = dice.choice([2, 3])
    first = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    second = [[dice.choice([1.0, 2.0, -0.5]) for _ in range(2)] for _ in range(width)]
    weight = [[a, a, b, -b] for a, b in second]
    graph = ircert.load([(first, None), (weight, [dice.choice([0.0, 1.0]) for _ in second]), (np.eye(width), None)])
    matrix = [[str(dice.randrange(-9, 10) * 2**40) for _ in range(width)] for _ in range(2)]
    tokens: list[str] = []
    left = 1
    while left:
        kind = dice.choice("/?=!-") if len(tokens) < 12 else dice.choice("=!-")
        left += 1 if kind in "/?" else -1
        tokens.append(
            {
                "/": f"/{dice.randrange(2)}",
                "?": f"?{dice.randrange(4 + width)}",
                "=": "=" + ",".join(str(dice.randrange(60, 90)) for _ in range(dice.randrange(5))),
                "!": f"!{dice.randrange(4 + width)}:{dice.randrange(9)}",
                "-": "-",
            }[kind]
        )
    center = [dice.choice(["0", "1/2", "-1/3"]), "0"]
    return written(
        graph, center, norm=dice.choice(["inf", "1", "2"]), radius="1", matrix=matrix, cover=" ".join(tokens)
    )


@examples(150)
@given(folded())
def test_nobody_proves_what_is_false(certificate: dict[str, Any]) -> None:
    assert not accepted(certificate)


@examples(150)
@given(st.integers(1, 5), st.integers(0, 2**32), st.sampled_from([1, 10**6, 10**60]))
def test_positive_definite_matrices(size: int, seed: int, scale: int) -> None:
    """By exact elimination; a matrix that is definite by a hair alone may be refused."""
    dice = random.Random(seed)
    roots = [[dice.randrange(-9, 10) for _ in range(size)] for _ in range(size)]
    table = [[scale * sum(a * b for a, b in zip(x, y, strict=True)) for y in roots] for x in roots]
    for i in range(size):
        table[i][i] += dice.randrange(-3, 4) * scale
    lower = [row[: i + 1] for i, row in enumerate(table)]
    exact = positive(list(range(size)), {(i, j): Fraction(table[i][j]) for i in range(size) for j in range(size)})
    assert positive_definite(lower) == exact
    singular = [[4 * scale, 2 * scale], [2 * scale, scale]]
    assert not positive_definite([singular[0][:1], singular[1]])


@pytest.mark.parametrize("limit", ["MOST_WEIGHTS", "MOST_BITS", "MOST_WORDS", "MOST_EFFORT", "DEEPEST", "MOST_PARTS"])
def test_work_is_bounded(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = json.dumps(written(BENT, [2], radius="3/2", matrix=[["8"]], cover="=4"))
    assert check_text(given)[1] is None
    monkeypatch.setattr(limits, limit, 3 if limit != "DEEPEST" else 0)
    with pytest.raises(FileError, match=r"too many|too long|entries, or|more than"):
        check_text(given)


def test_thousands_of_open_neurons() -> None:
    """They are refused before each gets a column as long as the layer."""
    build = ircert.Builder(1)
    graph = build.graph(build.relu(build.affine(build.input, np.ones((9_000, 1)))))
    matrix = [["1"] * graph.output_dim]
    with pytest.raises(FileError, match="too many neurons"):
        check_text(json.dumps(written(graph, [0], radius="1", matrix=matrix, cover="=")))


def test_deep_covers_and_time() -> None:
    deep = " ".join(["/0"] * 2000)
    with pytest.raises(FileError, match="on a way down"):
        check_text(json.dumps(written(BENT, [2], radius="1", matrix=[["8"]], cover=deep)))
    with pytest.raises(FileError, match="time is over"):
        check_text(json.dumps(written(BENT, [2], radius="1", matrix=[["8"]], cover="=")), stop=lambda: True)


MANY = 2**15
LINE = "ircert.ir/1\nx = input(length=1)\n"
FIRST = f"ircert.ir/1\nx = input(length={MANY})\ny = select(x, indices=[0])\nreturn y\n"
WIDE = f"{LINE}y = affine(x, weight=[{', '.join(['[1]'] * 2**13)}])\nz = relu(y)\nreturn z\n"
SUM = f"{LINE}y = affine(x, weight=[[0.5]])\nz = add(y{', x' * 10_000})\nt = relu(z)\nreturn t\n"
POOLS = f"ircert.ir/1\nx = input(length={2**11 - 1})\n" + "".join(
    f"a{k} = average_pool(x, image=[1, {2**11 - 1}], kernel=[{2**10}], stride=[1])\n" for k in range(40)
)
POOLS += f"s = add({', '.join(f'a{k}' for k in range(40))})\ny = select(s, indices=[0])\nreturn y\n"
LONG = "1" + "0" * 200_000


@pytest.mark.rule("C-6", "C-15")
@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (FIRST, {"cover": "="}),
        (FIRST, {"cover": " ".join(["/0"] * 1000 + ["="] * 1001)}),
        (WIDE, {"cover": "=", "radius": LONG}),
        (SUM, {"cover": "=", "radius": LONG}),
        (POOLS, {"cover": "="}),
    ],
    ids=["inputs", "cuts", "digits", "operands", "pools"],
)
def test_small_files_that_fill_the_memory(text: str, fields: dict[str, Any]) -> None:
    """Inputs times free inputs, boxes of a way down, and digits of every number are counted beforehand."""
    graph = ircert.parse(text)
    matrix = [["1"] * graph.output_dim] * graph.input_dim
    given = json.dumps(written(graph, [0] * graph.input_dim, **{"radius": "1", "matrix": matrix, **fields}))
    with at_most(200), pytest.raises(FileError, match="too long"):
        check_text(given)


def test_all_work_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Relus without matrices between them, cuts, and boxes outside of the ball take their time, too."""
    lines = "".join(f"a{k} = relu(a{k - 1})\n" for k in range(1, 200))
    chain = ircert.parse(f"ircert.ir/1\nx = input(length=1)\na0 = relu(x)\n{lines}return a199\n")
    plane = ircert.parse("ircert.ir/1\nx = input(length=2)\nreturn x\n")
    corner = " ".join(["/0 = /1 =", "/0"] + ["/0"] * 300 + ["-"] * 302)
    unit = [["1", "0"], ["0", "1"]]
    monkeypatch.setattr(limits, "MOST_EFFORT", 2**16)
    for content in (
        written(chain, [2], radius="1", matrix=[["1"]], cover="/0 = ="),
        written(plane, [0, 0], radius=f"1/1{'0' * 2000}1", norm="2", matrix=unit, cover=corner),
    ):
        with pytest.raises(FileError, match="takes too long"):
            check_text(json.dumps(content))


def test_leaves_that_are_longer_than_the_network() -> None:
    for leaf in ("=" + ",".join(["9999"] * 500_000), "?0 = !" + ",".join(["0:1"] * 500_000)):
        given = json.dumps(written(BENT, [2], radius="1", matrix=[["8"]], cover=leaf))
        with at_most(60):
            assert "not closed" in str(check_text(given)[1])
