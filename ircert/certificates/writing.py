"""Certificates of results: for a ball that is good, for one that is not, or for both ends of a bracket.

What is written has passed the checker. A ball that was decided is proved as it is. Of a search the good end is proved
as far as covers do not grow too much: close to a fold they may grow without end.
"""

from __future__ import annotations

import gzip
import hashlib
import math
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from ircert.certificates.growing import NoCover
from ircert.certificates.proving import Proof, Proving
from ircert.certificates.structure import front, steps_to
from ircert.checker import check_text
from ircert.checker.limits import TooLong
from ircert.checker.structure import Known, head_of
from ircert.errors import IrcertError
from ircert.files import replacing
from ircert.geometry.place import Place
from ircert.ir.fractions_text import from_text
from ircert.ir.graph import Graph
from ircert.ir.parser import parse
from ircert.limits import Deadline, OutOfTime, Undecided, left, until
from ircert.result.certificate import Written, composed, injective, joined, layers, refutation, structure
from ircert.result.result import Result
from ircert.structure.known import Knowledge

FIRST = 0.99
"""The part of a certified radius that is proved first …"""
HIGHER = (0.999, 0.9999, 1.0)
"""… then these, as long as covers do not grow too fast …"""
LOWER = (0.9, 0.75, 0.5, *(4.0**-k for k in range(1, 15)))
"""… or else the first of these for which there is one. (For `pseudo` a ball may be good far beyond the first fold.)"""
FINITE = (1024.0, 64.0, 8.0, *(4.0**-k for k in range(8)))
"""Radii of balls, in parts of the centre, where the whole space has no proof."""
ENOUGH = 1.001
"""A ball of so many times a domain's reach holds it, also when its radius is written in few bits."""
BITS = 20
"""… of radii that are chosen here."""
SHARE = 0.6
"""The part of the time that proofs may take; the checker needs some, too."""
PATIENCE = 0.6
"""The part of what is left of that time which one ball may take."""
GROWTH, ROOM = 4, 2_000
"""How many times as many nodes, and how many more, the cover of the next larger ball may have."""


def write(result: Result, path: str | os.PathLike[str], deadline: Deadline) -> Written:
    """Write what a result claims, as far as it can be proved to the checker; never later than the deadline."""
    name = os.fspath(path)
    file = name.encode("utf-8", "backslashreplace").decode()  # names that are no text are shown as far as they are
    best, reason = _checked(result, deadline)
    if best is None:
        return Written(file, reason=reason)
    text, claims = best
    content = gzip.compress(text.encode(), mtime=0) if name.lower().endswith(".gz") else text.encode()
    with replacing(name) as target:
        target.write(content)
    return Written(file, tuple(claims.split("\n")), hashlib.sha256(content).hexdigest(), len(content), reason)


def _checked(result: Result, deadline: Deadline) -> tuple[tuple[str, str] | None, str | None]:
    """The text that proves most, with the claims that the checker confirmed; and why not more."""
    bad = [] if result.witness is None and result.turned is None else [refutation(result)]
    if result.verdict == "refuted" or float(result.radius.certified) == 0.0:
        return _alone(result, bad, "no collision was found")
    best, why, proved = None, "", "0"
    try:
        for good in _proofs(result, deadline):
            best = _confirmed(result, [good, *bad], deadline.passed)
            proved = good["radius"]
    except (NoCover, TooLong, np.linalg.LinAlgError, IrcertError) as error:
        why = str(error)
    except Undecided:
        why = "time is over"
    except KeyboardInterrupt:
        why = "interrupted"
    if best is None:
        return _alone(result, bad, f"no proof of the good end: {why} (the search: {result.radius.certified.evidence})")
    return best, _shortfall(result, proved, why)


def _shortfall(result: Result, proved: str, why: str) -> str | None:
    """Why the ball that is proved is smaller than the one that is claimed, if it is."""
    claimed = _claimed(result)
    radius = math.inf if proved == "inf" else float(from_text(proved))
    if radius >= claimed or (result.asked_radius is None and radius >= _place(result).reach):
        return None
    whole = "the whole space" if math.isinf(claimed) else f"the radius {claimed:.6g}"
    evidence = result.radius.certified.evidence
    return f"it proves the radius {radius:.6g}; {whole} rests on the search alone ({evidence}): {why}"


def _alone(result: Result, bad: list[dict[str, Any]], reason: str) -> tuple[tuple[str, str] | None, str | None]:
    """What refutes alone, which is checked at once, however late it is."""
    if not bad:
        return None, reason
    try:
        good = float(result.radius.certified) > 0 and result.verdict != "refuted"
        return _confirmed(result, bad, None), reason if good else None
    except (NoCover, IrcertError) as error:
        return None, str(error)


def _confirmed(result: Result, parts: list[dict[str, Any]], stop: Callable[[], bool] | None) -> tuple[str, str]:
    """The text of a certificate that passes, and its claims."""
    text = joined(result, parts)
    try:
        claims, fault = check_text(text, stop=stop)
    except IrcertError:
        if stop is not None and stop():
            raise OutOfTime from None
        raise
    if fault is not None:
        raise NoCover(f"the checker does not confirm it: {fault}")
    return text, claims


def _proofs(result: Result, deadline: Deadline) -> Iterator[dict[str, Any]]:
    """Of the ball that was asked about, or of larger and larger ones below the certified radius."""
    if result.trust == "solver":
        raise NoCover("the answer rests on a solver's float bound")
    if (part := _by_layers(result)) is not None:
        yield part
        return
    known = _known(result, deadline)
    if known is not None and known.is_enough:
        yield structure(_claimed(result), known.claim.steps)
        return
    at = None if known is None else front(known)
    head = result.network if at is None else head_of(result.network, at)
    for proof in _covers(result, head, deadline):
        part = injective(proof.radius, proof.matrix, proof.cover)
        yield part if known is None or at is None else composed(part, known.claim.steps, at)


def _by_layers(result: Result) -> dict[str, Any] | None:
    """Injective by its structure: the checker needs no proof but the network."""
    part = layers(_claimed(result))
    with suppress(IrcertError):
        return part if check_text(joined(result, [part]))[1] is None else None
    return None


def _known(result: Result, deadline: Deadline) -> Known | None:
    """What follows from the network's output, step by step."""
    graph = parse(str(result.graph))  # nodes in the order that the checker sees
    try:
        with until(Deadline(SHARE * deadline.left())):
            return steps_to(graph, result.other_graph, Knowledge(graph))
    except (OutOfTime, TooLong):
        return None


def _claimed(result: Result) -> float:
    return result.asked_radius or float(result.radius.certified)


def _covers(result: Result, head: Graph, deadline: Deadline) -> Iterator[Proof]:
    """With one matrix, for the network or a part of it that says as much."""
    with until(Deadline(SHARE * deadline.left())):
        proving = Proving(head, _place(result))
        why: NoCover | None = None
        if result.asked_radius is not None:
            found = proving.prove(result.asked_radius)
        else:
            found, why = _first(proving, float(result.radius.certified))
    yield found
    if why is not None:
        raise why
    top = float(result.radius.certified)
    for part in HIGHER if result.asked_radius is None and math.isfinite(top) else ():
        with until(Deadline(SHARE * deadline.left())):
            larger = top if part == 1.0 else _short(part * top)
            found = proving.prove(larger, GROWTH * len(found.cover) + ROOM)
        yield found


def _place(result: Result) -> Place:
    everywhere = Place.everywhere(result.center, result.norm)
    return everywhere if result.domain is None else everywhere.within(*result.domain)


def _first(proving: Proving, radius: float) -> tuple[Proof, NoCover | None]:
    """Of the whole space, or of a ball that is hardly smaller than a given one; else of a smaller ball, with the
    reason."""
    why: NoCover | None = None
    if math.isinf(radius):
        try:
            return proving.prove_everywhere(), None
        except NoCover as error:
            why = error
    size = max(1.0, float(np.abs(proving.place.center).max()))
    radii = [part * radius for part in (FIRST, *LOWER)] if math.isfinite(radius) else [part * size for part in FINITE]
    if math.isinf(radius) and max(radii) < proving.place.reach < math.inf:
        radii.insert(0, ENOUGH * proving.place.reach)
    for each in radii:
        try:
            with until(Deadline(PATIENCE * left())):
                return proving.prove(_short(each)), why
        except NoCover as error:
            why = why or error
        except Undecided:
            why = why or NoCover("a cover takes too long to be found")
    raise why or NoCover("there is none")


def _short(radius: float) -> float:
    """A number of few bits, hardly less."""
    mantissa, exponent = math.frexp(radius)
    return math.ldexp(math.floor(math.ldexp(mantissa, BITS)), exponent - BITS) or radius
