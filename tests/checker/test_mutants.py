"""Certificates of every kind, corrupted: what the checker still passes, a second one confirms.

One thing or two of a true certificate are changed: a number, a node of the cover, a step, the place, a field, or a
weight of the network, with its sha256 as it was or made to fit.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.certificates.proving import Proving
from ircert.checker import check_text
from ircert.errors import FileError, IrcertError
from ircert.geometry.place import Place
from ircert.ir.graph import Graph
from ircert.result.certificate import injective
from tests.checker import second, second_structure, test_structure
from tests.checker.test_curves import network as curved
from tests.checker.test_injective import example, written
from tests.checker.truth import is_true
from tests.structure.flows import couplings, residual

Fields = dict[str, Any]
KINDS = ("injective", "curves", "collision", "bracket", "structure", "composed", "layers")
ODD: list[Any] = [None, True, 0, 1.5, [], {}, "", "1", [["8", "0"], ["0", "8"]], "injective", "layers"]
NUMBERS = ["0", "1", "-1", "1/2", "-1/3", "2", "1/1099511627776", "1000000007", "inf", "nan", "1e5", "", "01", "-0"]


def covered(graph: Graph, radius: float) -> Fields:
    proof = Proving(graph, Place.everywhere(np.zeros(graph.input_dim))).prove(radius)
    return written(graph, [0] * graph.input_dim, **injective(radius, proof.matrix, proof.cover))


@cache
def true(kind: str) -> list[Fields]:
    """Certificates that pass."""
    rng = np.random.default_rng(0)
    fold = ircert.load([([[1, 0], [-1, 0], [0, 1], [0, -1]], None), ([[1, 1, 0, 0], [0, 0, 1, 1]], None)])  # |x|
    pair = written(fold, ["0", "0"], radius="1", kind="collision", x=["1/2", "1/3"], y=["-1/2", "1/3"])
    match kind:
        case "injective":
            return [example()[0], covered(bent(), 0.5)]
        case "curves":
            return [covered(curved(word), 0.5) for word in ("tanh", "silu", "mish", "elu 1.67", "square")]
        case "collision":
            return [pair]
        case "bracket":
            good = written(fold, ["2", "2"], radius="1", matrix=[["8", "0"], ["0", "8"]], cover="=")
            bad = {"kind": "collision", "radius": "3", "x": ["1/2", "1"], "y": ["-1/2", "1"]}
            parts = [{k: good.pop(k) for k in ("kind", "radius", "matrix", "cover")}, bad]
            return [{**good, "kind": "bracket", "parts": parts}]
        case "structure":
            graphs = [couplings(rng, 4, 2), couplings(rng, 4, 2, scaled=True), residual(rng, 3, 2, 0.9)]
            return [json.loads(test_structure.written(graph, test_structure.steps(graph))) for graph in graphs]
        case "composed":
            return [tailed()]
    chain = ircert.parse(
        "ircert.ir/1\nx = input(length=2)\na = affine(x, weight=[[1, 2], [3, 4]], bias=[1, 0])\nb = tanh(a)\n"
        "c = affine(b, weight=[[1, 0.5], [0, 1], [1, 1]])\nreturn c\n"
    )
    return [written(chain, ["0", "0"], radius="inf", kind="layers")]


def bent() -> Graph:
    """x + B relu(A x + b), hardly more than x."""
    rng = np.random.default_rng(3)
    build = ircert.Builder(2)
    first, bias = np.round(rng.normal(size=(6, 2)) * 8) / 8, [0.25, 0, -0.25, 0.5, 0, -0.5]
    hidden = build.relu(build.affine(build.input, first, bias))
    return build.graph(build.add(build.input, build.affine(hidden, np.round(rng.normal(size=(2, 6)) * 4) / 32)))


def tailed() -> Fields:
    """relu(x) - relu(x - 1)/2 of two inputs where both are positive, then exp of it."""
    text = (
        "ircert.ir/1\nx = input(length=2)\na = affine(x, weight=[[1, 0.25], [0, 1]])\nb = relu(a)\n"
        "c = affine(b, weight=[[1, 0], [0.5, 1]])\nd = exp(c)\nreturn d\n"
    )
    fields = {"radius": "1", "kind": "composed", "matrix": [["8", "0"], ["0", "8"]], "cover": "=", "at": "c"}
    return written(ircert.parse(text), ["3", "2"], **fields, steps="<4")


# --- one change each -----------------------------------------------------------------------------------------------


def number(fields: Fields, dice: random.Random) -> None:
    """Any number of the place, the points or C."""
    lists = [fields["center"], *(fields[k] for k in ("x", "y") if k in fields), *fields.get("matrix", [])]
    chosen = dice.choice(lists)
    chosen[dice.randrange(len(chosen))] = dice.choice(NUMBERS)


def place(fields: Fields, dice: random.Random) -> None:
    radii = ["0", "-1", "1/8", "3/4", "5/4", "3", "40", "inf", "1/1000000007"]
    match dice.randrange(4):
        case 0:
            fields["radius"] = dice.choice(radii)
        case 1:
            fields["norm"] = dice.choice(["1", "2", "inf", 2])
        case 2:
            fields["problem"] = dice.choice(["local", "pseudo", "transform"])
        case _:
            size = len(fields["center"])
            sides = [[dice.choice([None, *NUMBERS[:6]]) for _ in range(size)] for _ in range(2)]
            fields["domain"] = dict(zip(("low", "high"), sides, strict=True))


def words(fields: Fields, dice: random.Random) -> None:
    """Nodes of a cover or steps: left out, doubled, swapped, renumbered."""
    name = dice.choice([k for k in ("cover", "steps") if k in fields] or ["kind"])
    tokens = fields[name].split(" ")
    i, j = dice.randrange(len(tokens)), dice.randrange(len(tokens))
    match dice.randrange(5):
        case 0:
            del tokens[i]
        case 1:
            tokens.insert(i, tokens[j])
        case 2:
            tokens[i], tokens[j] = tokens[j], tokens[i]
        case 3:
            tokens[i] = re.sub(r"\d+", lambda found: str(max(0, int(found[0]) + dice.randrange(-2, 3))), tokens[i])
        case _:
            tokens[i] = dice.choice(["-", "=", "/0", "?0", "!0:1", "<1", ">2", tokens[i][:-1]])
    fields[name] = " ".join(tokens)


def field(fields: Fields, dice: random.Random) -> None:
    name = dice.choice(sorted(fields))
    if dice.random() < 0.3:
        del fields[name]
    else:
        fields[name] = dice.choice(ODD)


def weight(fields: Fields, dice: random.Random) -> None:
    """Another network, and mostly its own sha256."""
    model = fields["model"]
    places = list(re.finditer(r"(?<=[\[ ])-?\d[\d.e+-]*(?=[,\]])", model["ir"]))
    if not places:
        return
    found = dice.choice(places)
    value = dice.choice(["0", "1", "-1", "0.5", "-" + found[0], "1e30", "3"]).replace("--", "")
    text = model["ir"][: found.start()] + value + model["ir"][found.end() :]
    model["ir"] = text
    if dice.random() < 0.9:
        model["sha256"] = ircert.parse(text).sha256


CHANGES: list[Callable[[Fields, random.Random], None]] = [number, place, words, words, field, weight, weight]


def confirmed(text: str) -> bool:
    """Whether a second checker, or exact evaluation, says so too."""
    given = json.loads(text)
    for part in given.get("parts", [{}]):
        fields = {**given, **part}
        kind = fields["kind"]
        if kind == "layers":
            count = len(ircert.parse(fields["model"]["ir"]).nodes)
            fields |= {"kind": "structure", "steps": " ".join(f"<{k}" for k in reversed(range(count)))}
        found = json.dumps(fields)
        checks = {"collision": is_true, "injective": second.proves}
        if not checks.get(kind, second_structure.proves)(found):
            return False
    return True


def corrupted(count: int, seed: int) -> Counter[str]:
    """Change true certificates that often; how many passed, were rejected, and were unreadable, of each kind."""
    dice, found = random.Random(seed), Counter[str]()
    for k in range(count):
        kind = KINDS[k % len(KINDS)]
        fields = copy.deepcopy(dice.choice(true(kind)))
        before = json.dumps(fields)
        for _ in range(dice.choice([1, 1, 2])):
            attack(fields, dice)
        text = json.dumps(fields)
        try:
            good = check_text(text)[1] is None
        except FileError:
            found[f"{kind} unreadable"] += 1
            continue
        found[f"{kind} {'passed' if good else 'rejected'}"] += 1
        assert not good or text == before or confirmed(text), text
    return found


def attack(fields: Fields, dice: random.Random) -> None:
    """Change a thing, in a part of a bracket mostly."""
    try:
        part = dice.choice(fields["parts"]) if "parts" in fields and dice.random() < 0.6 else None
        target = fields if part is None else {**fields, **part}
        dice.choice(CHANGES)(target, dice)
        if part is not None:
            part |= {name: target[name] for name in part if name in target}
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, IrcertError):
        fields["norm"] = dice.choice(["1", "2"])  # what was to be changed is not there any more


@pytest.mark.parametrize("kind", KINDS)
def test_true_ones_pass(kind: str) -> None:
    for fields in true(kind):
        text = json.dumps(fields)
        assert check_text(text)[1] is None
        assert confirmed(text)


@pytest.mark.rule("C-4", "C-15", "C-21", "C-25", "C-29")
def test_corrupted_certificates_of_all_kinds() -> None:
    found = corrupted(280, 0)
    assert all(found[f"{kind} rejected"] for kind in KINDS if kind != "layers")


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_ten_thousand_of_all_kinds() -> None:
    corrupted(10_000, 1)
