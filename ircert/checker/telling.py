"""What a certificate says, in words."""

from __future__ import annotations

import math
from fractions import Fraction

from ircert.checker.collision import Pair
from ircert.checker.injective import Injective
from ircert.checker.reading import Claim, Integer
from ircert.checker.smooth import Boxes, Turned
from ircert.checker.structure import Composed, Layers, Structure
from ircert.checker.walking import Steps
from ircert.ir.fractions_text import to_text

READABLE = 12
"""Characters of a rational number that people see through."""
SHOWN = 40
"""Steps that are shown."""
BAD = {
    "local": "f(x) = f(y) with x != y",
    "pseudo": "f(x) = f(centre) with x != centre",
    "transform": "f(x) = f(y) with g(x) != g(y)",
}
GOOD = {
    "local": "f(x) != f(y) for all x != y",
    "pseudo": "f(x) != f(centre) for all x != centre",
    "transform": "g(x) is a function of f(x)",
}

EXACT = "both points were evaluated in exact rationals: the outputs are equal (C-4)"
BEFORE_CURVES = "at both points, in exact rationals, all is equal that curves read, so the outputs are (C-16)"
_WHY: dict[type[Claim], str] = {
    Layers: "every layer is injective: matrices of full column rank, strictly increasing functions (C-20)",
    Boxes: "interval arithmetic shows a solution of f(x) = f(y), in some inputs, in the boxes (C-16)",
    Turned: "the Jacobian has determinants of opposite signs at two points, by interval arithmetic (C-17)",
}


def told(claim: Claim) -> str:
    """The claim in words; what is too long to be shown is not shown in part, and a radius is rounded to the safe side:
    up for a collision, down for a ball that is good."""
    center = f"({text})" if (text := _shown(claim.center, claim.unit)) else "the given centre"
    cut = ", cut with the given domain" if any(v is not None for v in claim.low + claim.high) else ""
    digests = [f"model sha256 {claim.model.sha256}"]
    digests += [f"other sha256 {claim.other.sha256}"] if claim.other is not None else []
    good = not claim.refutes
    says = (GOOD if good else BAD)[claim.problem]
    if claim.radius is None:
        return f"{says} everywhere{cut}; {', '.join(digests)}"
    radius = _shown([claim.radius], claim.unit) or _rounded(claim.radius, claim.unit, upward=not good)
    radius += f" (about {int(claim.radius) / int(claim.unit):.6g})" if "/" in radius and len(radius) > READABLE else ""
    ball = f"the closed ball of radius {radius} around {center}"
    return f"{says} in {ball} (norm {claim.norm}){cut}; {', '.join(digests)}"


def explained(claim: Claim) -> str:
    """The claim that passed, and why it is true."""
    if isinstance(claim, Structure) and not isinstance(claim, Layers):
        head = claim.head if isinstance(claim, Composed) else None
        return "\n".join([told(claim), *_steps(claim), *([] if head is None else _cover(head))])
    if isinstance(claim, Injective):
        return "\n".join([told(claim), *_cover(claim)])
    numbers = _layers(claim) if isinstance(claim, Layers) else _points(claim) if isinstance(claim, Pair) else []
    points = isinstance(claim, Boxes) and not any(claim.radii)
    return "\n".join([told(claim), f"  {BEFORE_CURVES if points else _WHY.get(type(claim), EXACT)}", *numbers])


def _points(claim: Pair) -> list[str]:
    """Where the points, or the middles of boxes, are; a long number is shown as a float beside it."""
    found = [f"    {name} = {_point(point, claim.unit)}" for name, point in (("x", claim.x), ("y", claim.y))]
    if isinstance(claim, Boxes):
        found.append(
            f"    radii of the boxes: {_point(claim.x_radii, claim.unit)}, {_point(claim.y_radii, claim.unit)}"
        )
    return found


def _point(point: list[Integer], unit: Integer) -> str:
    exact = _shown(point, unit)
    if exact is not None:
        return f"({exact})"
    try:
        shown = [f"{int(v) / int(unit):.9g}" for v in point[:8]]
    except OverflowError:
        return "numbers that are too long to be shown"
    return f"about ({', '.join(shown)}{', …' if len(point) > 8 else ''})"


def _layers(claim: Layers) -> list[str]:
    """Each layer, with its sizes."""
    sizes, nodes = claim.model.sizes, [node for node in claim.model.nodes if node.operands]
    shown = [f"    {n.name}: {n.op.kind}, {sizes[n.operands[0]]} to {sizes[n.name]}" for n in nodes[:SHOWN]]
    return shown + ([f"    … and {len(nodes) - SHOWN} more layers"] if len(nodes) > SHOWN else [])


def _steps(claim: Structure) -> list[str]:
    """The steps that were taken, if they are not too many."""
    names = [node.name for node in Steps(claim.model, claim.other).steps]
    way = {"<": "what is known of {} says something about what it reads (C-22 to C-24)", ">": "{} is computed"}
    way["+"] = "rows of {} are combinations of known rows of {} (C-22)"
    way["~"] = "{} is k s + g(s), which determines s = {}: g is a contraction in the norm {} (C-23)"
    shown = []
    for token in claim.steps[:SHOWN]:
        parts = token[1:].split(":")
        shown.append("    " + way[token[0]].format(*(names[int(k)] for k in parts[:2]), *parts[2:3]))
    shown += [f"    … and {len(claim.steps) - SHOWN} more steps"] if len(claim.steps) > SHOWN else []
    end = f"all of `{claim.head.model.output}`" if isinstance(claim, Composed) and claim.head else "all that is claimed"
    return [f"  from what the network returns follows, step by step (C-21), {end}:", *shown]


def _cover(claim: Injective) -> list[str]:
    """What one matrix and its cover say."""
    counts, graph = claim.counts, claim.model
    ends = {"=": "positive definite (C-11)", "!": "empty (C-12)", "-": "outside of the ball (C-13)"}
    leaves = ", ".join(f"{counts[kind]} {words}" for kind, words in ends.items() if counts[kind])
    rows = (f"    ({', '.join(map(str, row))})" for row in claim.matrix) if graph.input_dim <= 8 else ()
    where = "of every linear region" if all(node.op.piecewise_linear for node in graph.nodes) else "of every point"
    return [
        f"  one matrix C makes v.C J v > 0 for the Jacobian J {where} and all v != 0, so that",
        "  (x - y).C (f(x) - f(y)) > 0 for all x != y (C-8); C, times any positive number:",
        *rows,
        f"  by {counts['/']} cuts of boxes and {counts['?']} divisions by sides of a neuron the ball was divided",
        f"  into {sum(counts[kind] for kind in ends)} parts (C-9): {leaves}",
        f"  in definite parts up to {counts['most open']} of {counts['neurons']} neurons are open (relus or curves)",
        "  all of it was computed again in integers; none of it was believed",
    ]


def _shown(values: list[Integer], unit: Integer) -> str | None:
    if len(values) > 8 or unit.bit_length() > 2048 or any(v.bit_length() > 2048 for v in values):
        return None
    text = ", ".join(to_text(Fraction(int(v), int(unit))) for v in values)
    return text if len(text) <= 80 else None


def _rounded(value: Integer, unit: Integer, *, upward: bool) -> str:
    try:
        found = int(value) / int(unit)
    except OverflowError:
        bits = value.bit_length() - unit.bit_length()
        return f"at most 2**{bits + 1}" if upward else f"at least 2**{bits - 1}"
    if upward:
        return f"at most {math.nextafter(found, math.inf)!r}"
    return f"at least {max(0.0, math.nextafter(found, 0.0))!r}"
