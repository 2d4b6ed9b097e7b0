"""Small questions with known answers, and the checks that every engine, ours or a third party's, must pass."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ircert.engines.asking import ask
from ircert.engines.base import OPTIONS, Engine, Question
from ircert.engines.judge import Judgement, judge
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.limits import Deadline

SECONDS = 10.0
"""More than enough for each question; an engine that needs longer leaves it open."""
FARTHEST = 8.0


@dataclass(frozen=True)
class KnownRadius:
    """A question about balls, and the largest radius that is good: 0 for none, infinite for all."""

    name: str
    question: Question
    radius: float


@dataclass(frozen=True)
class EngineReport:
    """What `check_engine` saw: the questions that were answered, left open and refused."""

    answered: tuple[str, ...]
    open: tuple[str, ...]
    refused: tuple[str, ...]


def known_radii() -> list[KnownRadius]:
    """Folds, bends and flat networks of one and two inputs, in all problems and norms."""
    return [
        KnownRadius(f"{name} {problem} {norm}", _question(graph, problem, norm, other), radius)
        for norm in Norm
        for name, graph, problem, other, radius in _networks()
    ]


def check_engine(engine: Engine) -> EngineReport:
    """Assert that an engine never says anything wrong of small questions, whatever it leaves open.

    Checked: that it declares options that exist; for each question it does not refuse, as a search and about balls on
    both sides of the radius, that the judgement of its answer (witnesses are replayed exactly) agrees with what is
    known; that the same search has the same answer; and that it gives what it has when there is no time at all.
    """
    assert engine.options <= OPTIONS.keys(), f"{engine.name} declares options that no engine has"
    found: dict[str, list[str]] = {"answered": [], "open": [], "refused": []}
    for known in known_radii():
        if engine.refusal(known.question) is not None:
            found["refused"].append(known.name)
            continue
        verdicts = [_checked(engine, known, question).verdict for question in _asked(known)]
        found["open" if "unresolved" in verdicts else "answered"].append(known.name)
    assert found["answered"] or found["open"], f"{engine.name} refuses every question"
    return EngineReport(*(tuple(names) for names in found.values()))


def _networks() -> Iterator[tuple[str, Graph, str, Graph | None, float]]:
    """Name, network, problem, other network and radius, around 0."""
    for size in (1, 2):
        fold, same = _kinked(size, 0.5, -2.0), _kinked(size, 0.5, 0.0)
        yield f"fold{size}", fold, "local", None, 0.5
        yield f"fold{size}", fold, "pseudo", None, 1.0
        yield f"fold{size}", fold, "transform", same, 0.5
        yield f"bent{size}", same, "transform", fold, math.inf
        for problem in ("local", "pseudo"):
            yield f"bend{size}", _kinked(size, 0.5, 1.0), problem, None, math.inf
        yield f"flat{size}", _kinked(size, -0.5, -1.0), "local", None, 0.0
        yield f"flat{size}", _kinked(size, -0.5, -1.0), "pseudo", None, 0.0


def _kinked(size: int, at: float, factor: float) -> Graph:
    """x, but with factor · relu(x1 - at) added to the first coordinate."""
    build = Builder(size)
    unit = np.eye(size)
    kink = build.relu(build.affine(build.input, unit[:1], [-at]))
    return build.graph(build.affine(build.concat(build.input, kink), np.hstack([unit, factor * unit[:, :1]])))


def _question(graph: Graph, problem: str, norm: Norm, other: Graph | None) -> Question:
    place = Place.everywhere(np.zeros(graph.input_dim), norm)
    return Question(graph, other, problem, place, None, FARTHEST, tol=1e-3)


def _asked(known: KnownRadius) -> list[Question]:
    """The search, and balls that are good or bad for sure."""
    radii = [0.9 * known.radius, 1.1 * known.radius] if 0 < known.radius < FARTHEST else [1.0]
    return [known.question, *(replace(known.question, radius=radius) for radius in radii)]


def _checked(engine: Engine, known: KnownRadius, question: Question) -> Judgement:
    first = _judged(engine, known, question, SECONDS)
    if question.radius is None:
        again = _judged(engine, known, question, SECONDS)
        assert first.radius == again.radius, f"{engine.name} gives two answers to one question ({known.name})"
        _judged(engine, known, question, 0.0)
    return first


def _judged(engine: Engine, known: KnownRadius, question: Question, seconds: float) -> Judgement:
    """The judgement of the answer after so much time, which is true."""
    question = replace(question, deadline=Deadline(seconds))
    found = judge(question, ask(engine, question))
    _check_true(engine, known, question, found)
    return found


def _check_true(engine: Engine, known: KnownRadius, question: Question, found: Judgement) -> None:
    said = f"{engine.name}, {known.name}, radius {question.radius}: {found.verdict}, {found.radius}"
    good = found.radius.certified if question.radius is None else min(found.radius.certified, question.radius)
    assert good <= known.radius, f"{said}, but the largest good radius is {known.radius}"
    assert found.radius.refuted is None or found.radius.refuted >= known.radius, f"{said}, but it is {known.radius}"
    if question.radius is not None:
        wrong = "refuted" if question.radius < known.radius else "certified"
        assert found.verdict != wrong, f"{said}, but the largest good radius is {known.radius}"
