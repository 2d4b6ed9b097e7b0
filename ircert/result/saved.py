"""A saved result as a certificate of its refuted end: with the model it has all that the checker needs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ircert.errors import IrcertError
from ircert.geometry.norm import norm_of
from ircert.ir.fractions_text import ratio
from ircert.ir.graph import Graph
from ircert.result.certificate import Shown, text_of
from ircert.result.json_form import SCHEMA
from ircert.result.reading import number, vector
from ircert.result.witness import TurnedPair, Witness
from ircert.witnesses.replay import Witness as ExactPair

NEAR = Fraction(1, 2**30)
"""An end lies at most so far below what its witness shows, relatively (R-3)."""


def certificate_of(saved: str, graph: Graph, other: Graph | None = None) -> str:
    """The text of a certificate that shows the refuted end of a saved result; IrcertError if there is none.

    The sha256 are those of the result: the checker says whether these are the networks.
    """
    try:
        fields = json.loads(saved)
        if not isinstance(fields, dict) or fields.get("schema") != SCHEMA:
            raise ValueError(f'it has no "schema": "{SCHEMA}"')
        return _written(fields, graph, other)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise IrcertError(f"not a saved result with a refuted end: {str(error)[:200]}") from None


def _written(fields: Mapping[str, Any], graph: Graph, other: Graph | None) -> str:
    asked, end = fields["asked"]["radius"], fields["radius"]["refuted"]
    shown = Shown(
        vector(fields["center"]),
        norm_of(fields["norm"]),
        None if asked is None else float(asked),
        None if fields["witness"] is None else _witness(fields["witness"]),
        None if fields.get("turned") is None else _turned(fields["turned"]),
    )
    part = shown.part
    proved = Fraction(*ratio(part["radius"]))
    if asked is None and end != 0 and not (end is not None and proved <= Fraction(number(end)) * (1 + NEAR)):
        raise ValueError("what it has refutes no ball as small as its end")
    domain = None if fields["domain"] is None else (vector(fields["domain"]["low"]), vector(fields["domain"]["high"]))
    models = [
        None if model is None else {"ir": str(model), "sha256": str(fields[name]["sha256"])}
        for name, model in (("model", graph), ("other", other))
    ]
    assert models[0] is not None
    return text_of((fields["problem"], fields["norm"], shown.center, domain), [part], (models[0], models[1]))


def _exact(fields: Mapping[str, Any]) -> ExactPair:
    x, y = ([Fraction(*ratio(value)) for value in fields[name]] for name in ("x", "y"))
    return ExactPair(x, y)


def _witness(fields: Mapping[str, Any]) -> Witness:
    radii = None if fields.get("radii") is None else _exact(fields["radii"])
    return Witness(vector(fields["x"]), vector(fields["y"]), math.nan, math.nan, _exact(fields["exact"]), radii)


def _turned(fields: Mapping[str, Any]) -> TurnedPair:
    nothing = (-math.inf, math.inf)
    return TurnedPair(vector(fields["x"]), vector(fields["y"]), (nothing, nothing), _exact(fields["exact"]))
