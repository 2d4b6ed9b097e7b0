"""Certificates of results: for a ball that is good, for one that is not, or for both ends of a bracket.

What is written has passed the checker. A ball that was decided is proved as it is. Of a search the good end is proved
as far as covers do not grow too much: close to a fold they may grow without end.
"""

from __future__ import annotations

import gzip
import hashlib
import math
import os
from typing import Any

import numpy as np

from ircert.certificates.growing import MOST_NODES, NoCover
from ircert.certificates.proving import Proof, Proving
from ircert.checker import check_text
from ircert.errors import IrcertError
from ircert.files import replacing
from ircert.geometry.place import Place
from ircert.limits import Deadline, Undecided, until
from ircert.result.certificate import Written, injective, joined, refutation
from ircert.result.result import Result

FIRST = 0.99
"""The part of a certified radius that is proved first …"""
HIGHER = (0.999, 0.9999, 1.0)
"""… then these, as long as covers do not grow too fast …"""
LOWER = (0.9, 0.75, 0.5, 0.25)
"""… or else the first of these for which there is one."""
BITS = 20
"""… of radii that are chosen here."""
SHARE = 0.6
"""The part of the time that proofs may take; the checker needs some, too."""
GROWTH, ROOM = 4, 2_000
"""How many times as many nodes, and how many more, the cover of the next larger ball may have."""


def write(result: Result, path: str | os.PathLike[str], deadline: Deadline) -> Written:
    """Write what a result claims, as far as it can be proved to the checker; never later than the deadline."""
    name = os.fspath(path)
    file = name.encode("utf-8", "backslashreplace").decode()  # names that are no text are shown as far as they are
    with until(Deadline(SHARE * deadline.left())):
        parts, reason = _parts(result)
    if not parts:
        return Written(file, reason=reason)
    try:
        text = joined(result, parts)
        claims, fault = check_text(text, stop=deadline.passed)
    except IrcertError as error:
        return Written(file, reason=str(error))
    if fault is not None:
        return Written(file, reason=f"the checker does not confirm it: {fault}")
    content = gzip.compress(text.encode(), mtime=0) if name.endswith(".gz") else text.encode()
    with replacing(name) as target:
        target.write(content)
    return Written(file, tuple(claims.split("\n")), hashlib.sha256(content).hexdigest(), len(content), reason)


def _parts(result: Result) -> tuple[list[dict[str, Any]], str | None]:
    """What can be proved, and why not more."""
    bad = [] if result.witness is None and result.turned is None else [refutation(result)]
    if result.verdict == "refuted" or float(result.radius.certified) == 0.0:
        return bad, None if bad else "no collision was found"
    try:
        proof = _proof(result)
    except (NoCover, np.linalg.LinAlgError, IrcertError) as error:
        return bad, f"no proof of the good end: {error}"
    except Undecided:
        return bad, "no proof of the good end: time is over"
    except KeyboardInterrupt:
        return bad, "no proof of the good end: interrupted"
    good = injective(proof.radius, proof.matrix, proof.cover)
    return [good, *bad], None


def _proof(result: Result) -> Proof:
    """Of the ball that was asked about, or of the largest that is found below the certified radius."""
    if result.trust == "solver":
        raise NoCover("the answer rests on a solver's float bound")
    size = result.graph.input_dim
    low, high = result.domain or (np.full(size, -np.inf), np.full(size, np.inf))
    proving = Proving(result.graph, Place(result.center, result.norm, low, high))
    if result.asked_radius is not None:
        return proving.prove(result.asked_radius)
    radius = float(result.radius.certified)
    return proving.prove_everywhere() if math.isinf(radius) else _largest(proving, radius)


def _largest(proving: Proving, radius: float) -> Proof:
    found, why = None, NoCover("there is none")
    for part in (FIRST, *LOWER):
        try:
            found = proving.prove(_short(part * radius), MOST_NODES)
            break
        except NoCover as error:
            why = error
    if found is None:
        raise why
    for part in HIGHER if found.radius == _short(FIRST * radius) else ():
        try:
            larger = part * radius if part == 1.0 else _short(part * radius)
            found = proving.prove(larger, GROWTH * len(found.cover) + ROOM)
        except (NoCover, Undecided):
            break
    return found


def _short(radius: float) -> float:
    """A number of few bits, hardly less."""
    mantissa, exponent = math.frexp(radius)
    return math.ldexp(math.floor(math.ldexp(mantissa, BITS)), exponent - BITS) or radius
