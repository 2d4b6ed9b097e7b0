"""A result as a few lines of text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from ircert.ir.boxed_pair import BoxedPair
from ircert.ir.ops import is_smooth
from ircert.result.radius import End

if TYPE_CHECKING:
    from ircert.result.result import Optimum, Result
    from ircert.result.witness import Witness

SHOWN = 8


@dataclass(frozen=True)
class Words:
    """What the summary of a result says.

    good, bad:        what is claimed of a ball, where it holds and where it does not
    some, most, none: what p* says: of the pair that is known, of all pairs, and where there is none
    apart:            what of a witness is apart
    evidence:         sentences in place of those that an end comes with
    """

    good: str
    bad: str
    some: str
    most: str
    none: str
    apart: str = "points"
    evidence: Mapping[str, str] = field(default_factory=dict)


WORDS = {
    "local": Words(
        good="the network is injective",
        bad="the network is not injective",
        some="two inputs of the ball {} apart have the same output",
        most="no two with the same output are more than",
        none="no two inputs of the ball have the same output",
    ),
    "pseudo": Words(
        good="no other point maps to the centre's output",
        bad="another point maps to the centre's output",
        some="an input of the ball {} away from the centre has its output",
        most="none that has it is more than",
        none="no other input of the ball has the centre's output",
    ),
    "transform": Words(
        good="the other output is a function of this one",
        bad="the other output is no function of this one",
        some="two inputs of the ball have the same output, and outputs of the other network {} apart",
        most="no such outputs are more than",
        none="inputs of the ball with the same output have the same output of the other network",
        apart="outputs of the other network",
    ),
}
TRUST = {
    "exact": "exact: proved in exact arithmetic on the loaded numbers",
    "enclosed": "exact: proved for the real functions of the loaded numbers, in arithmetic with all rounding counted",
    "solver": "solver: rests on a solver's floating-point bound",
}
SAME = "all that curves read is the same at both points, in exact arithmetic"
UNASKED = "solver: rests on bounds in floats that are not proved; no solver was asked"


def summary(result: Result, words: Words | None = None) -> str:
    """Verdict, bracket, evidence for each end, trust, witness, time; in the words of its problem, or in others."""
    words = words or WORDS[result.problem]
    lines = [f"{result.verdict}: {_claim(result, words)}"]
    if result.reason is not None:
        lines.append(f"  why        {result.reason}")
    lines += _end("certified", result.radius.certified, words) + _end("refuted", result.radius.refuted, words)
    lines += _optimum(result, words) + _witness(result, words) + _turned(result)
    unasked = result.trust == "solver" and result.backend is None
    trust = "enclosed" if result.trust == "exact" and _is_smooth(result) else result.trust
    lines.append(f"  trust      {UNASKED if unasked else TRUST[trust]}{_confirmed(result)}")
    lines += _certificate(result)
    lines.append(f"  time       {_time(result)}")
    return "\n".join(lines)


def _is_smooth(result: Result) -> bool:
    graphs = [graph for graph in (result.graph, result.other_graph) if graph is not None]
    return any(is_smooth(node.op) for graph in graphs for node in graph.nodes)


def _claim(result: Result, words: Words) -> str:
    good, bad = words.good, words.bad
    where = f"(norm {result.norm}) around {_point(result.center.tolist())}"
    where += "" if result.domain is None else ", cut with the domain"
    if result.asked_radius is not None:
        ball = f"the closed ball of radius {result.asked_radius!r} {where}"
        return {"certified": f"{good} on {ball}", "refuted": f"{bad} on {ball}"}.get(result.verdict, f"about {ball}")
    if result.radius.refuted == 0.0:
        return f"{bad} on any ball {where}, however small"
    return f"{good} on {_open(result)} {where}"


def _open(result: Result) -> str:
    certified, refuted = float(result.radius.certified), result.radius.refuted
    if math.isinf(certified):
        return "every ball"
    if refuted is None:
        limit = "no end was found" if result.verdict == "unresolved" else "nothing was found up to there"
        return f"the open ball of radius {certified!r} and {limit}"
    return f"the open ball of radius {certified!r} and on none of more than {float(refuted)!r}"


def _end(name: str, end: End | None, words: Words) -> list[str]:
    if end is None:
        return [f"  {name:<10} none"]
    return [f"  {name:<10} {float(end)!r}", f"             {words.evidence.get(end.evidence, end.evidence)}"]


def _optimum(result: Result, words: Words) -> list[str]:
    optimum = result.optimum
    if optimum is None:
        return []
    norm = "" if optimum.norm is None else f" (norm {optimum.norm})"
    lines = [
        f"  optimum    {optimum.value!r} to {optimum.bound!r}{norm}",
        f"             {_in_words(result, optimum, words)}",
    ]
    if optimum.evidence:
        lines.append(f"             the bound: {optimum.evidence}")
    if optimum.proved is not None:
        lines.append(f"             proved in exact arithmetic: at most {optimum.proved!r}")
    return lines


def _in_words(result: Result, optimum: Optimum, words: Words) -> str:
    """p* as a sentence."""
    value, bound = _short(optimum.value, up=False), _short(optimum.bound, up=True)
    if_right = " if the solver's floating-point bound is right" if optimum.trust == "solver" else ""
    if optimum.bound == 0.0:
        return f"{words.none}{if_right}"
    most = f"{words.most} {bound} {'away' if result.problem == 'pseudo' else 'apart'}{if_right}"
    return most if optimum.value == 0.0 else f"{words.some.format(value)}; {most}"


def _short(value: float, *, up: bool) -> str:
    """Six digits, rounded so that what is said with it stays true."""
    if value == 0.0 or math.isinf(value):
        return f"{value:g}"
    digits = Decimal(repr(value))
    step = Decimal(1).scaleb(digits.adjusted() - 5)
    return f"{float(digits.quantize(step, rounding=ROUND_CEILING if up else ROUND_FLOOR)):.6g}"


def _witness(result: Result, words: Words) -> list[str]:
    found = result.witness
    if found is None:
        return []
    norm = f" (norm {result.norm})" if result.optimum is not None and result.optimum.norm is not None else ""
    how = "replayed in exact arithmetic on the loaded network"
    if found.radii is not None:
        size = max(float(r) for r in found.radii.x + found.radii.y)
        how = f"in boxes of radius {size:.2g} around these, proved by interval arithmetic" if size else SAME
    return [
        f"  witness    x = {_point(found.x.tolist())}",
        f"             y = {_point(found.y.tolist())}",
        f"             {words.apart} {found.separation:.6g} apart{norm}; {how}",
        *_distance(result, found),
    ]


def _distance(result: Result, found: Witness) -> list[str]:
    """How far out boxes lie, where turned points show a smaller end."""
    end = result.radius.refuted
    if found.radii is None or result.turned is None or end is None:
        return []
    pair = BoxedPair(found.exact.x, found.exact.y, found.radii.x, found.radii.y)
    reaches = pair.reaches([Fraction(v) for v in result.center.tolist()])
    away = max(result.norm.length_up(result.norm.measure(reach)) for reach in reaches)
    if away <= float(end):
        return []
    return [f"             within {away!r} of the centre; the refuted end, which is less, is that of the turned points"]


def _turned(result: Result) -> list[str]:
    pair = result.turned
    if pair is None:
        return []
    (a, b), (c, d) = pair.determinants
    return [
        f"  turned     x = {_point(pair.x.tolist())}, determinant in [{a:.6g}, {b:.6g}]",
        f"             y = {_point(pair.y.tolist())}, determinant in [{c:.6g}, {d:.6g}]",
        "             an injective map has one orientation; proved by interval arithmetic on the loaded network",
    ]


def _confirmed(result: Result) -> str:
    """Whether somebody else said so, too."""
    written = result.certificate
    if written is None or written.sha256 is None:
        return ""
    part = "" if written.reason is None else " in part"
    return f"; confirmed{part} by the independent checker, from the certificate with sha256 {written.sha256[:12]}…"


def _certificate(result: Result) -> list[str]:
    found = result.certificate
    if found is None:
        return []
    if found.sha256 is None:
        return [f"  proof      no certificate is written: {found.reason}"]
    lines = [f"  proof      {found.file}, {found.size} bytes, written and checked; sha256 {found.sha256}"]
    lines += [f"             proves {claim.split(';')[0]}" for claim in found.claims]
    return lines + ([] if found.reason is None else [f"             {found.reason}"])


def _time(result: Result) -> str:
    phases = result.stats.get("seconds")
    parts = [f"{name} {seconds:.3f}" for name, seconds in phases.items()] if isinstance(phases, dict) else []
    engine = result.engine if result.backend is None else f"{result.engine}, {result.backend}"
    return f"{result.seconds:.3f} s with engine {engine}" + (f" ({', '.join(parts)})" if parts else "")


def _point(values: Iterable[float]) -> str:
    shown = [repr(v) for v in values]
    return f"({', '.join(shown[:SHOWN] + (['…'] if len(shown) > SHOWN else []))})"
