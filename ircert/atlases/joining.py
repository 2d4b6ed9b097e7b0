"""Rows of blocks made one table: cross-checked, and narrowed by what other centres say where they are open."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace

import numpy as np

from ircert.atlases.asked import Asked
from ircert.atlases.chain import WITNESS, inside
from ircert.atlases.layout import Layout
from ircert.atlases.neighbours import best_balls, best_witnesses
from ircert.atlases.row import OTHER_SHARD, Row
from ircert.atlases.table import Atlas
from ircert.engines.judge import NOTHING
from ircert.engines.refutation import BrokenProof
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.result.radius import End, Radius

NOT_ASKED = "it was not computed: time was over, the run was interrupted, or it belongs to another shard"
MOST_PAIRS = 4e8
"""Pairs of centres that are compared; of more, as many centres as that allows, evenly chosen."""
SLACK = 1e-9
"""How far, relatively, a certified ball may reach beyond a witness before it is called a contradiction: floats only
look for contradictions, and exact arithmetic decides them."""


def joined(
    asked: Asked,
    layout: Layout,
    rows: Mapping[str, Row],
    seconds: float,
    *,
    interrupted: bool,
    own: Container[str] | None = None,
) -> Atlas:
    """The table of all centres; BrokenProof where rows contradict each other (A-4).

    own: the keys of the centres of this shard, where it is one
    """
    done = sorted(rows.values(), key=lambda row: row.at)
    if asked.is_lipschitz:
        cross_check(done, asked.norm)
    found: list[Row] = []
    for i, center in enumerate(layout.centers):
        row = rows.get(asked.key_of(center))
        found.append(_missing(asked, center, i, own) if row is None else replace(row, at=i))
    if asked.is_lipschitz:
        found = narrowed(asked, found, done)
    return Atlas(asked, layout, tuple(found), seconds, interrupted)


def _missing(asked: Asked, center: Array, at: int, own: Container[str] | None) -> Row:
    key = asked.key_of(center)
    return Row(
        key=key,
        at=at,
        center=tuple(center.tolist()),
        certified=0.0,
        refuted=None,
        verdict="unresolved",
        trust="exact",
        evidence=(NOTHING, None),
        shown=None,
        engine="",
        way="none",
        seconds=0.0,
        reason=NOT_ASKED if own is None or key in own else OTHER_SHARD,
        final=False,
    )


def cross_check(rows: list[Row], norm: Norm) -> None:
    """BrokenProof where a certified ball holds the witness that refutes another one: such a pair is in no good ball."""
    balls = [row for row in rows if row.certified > 0 and row.trust == "exact"]
    refuting = [row for row in rows if row.shown is not None and row.shown.kind != "turned"]
    if not balls or not refuting:
        return
    step = max(1, round(len(balls) * len(refuting) / MOST_PAIRS))
    refuting = refuting[::step]
    x, y = _points(refuting)
    centers, radii = np.array([row.center for row in balls]), np.array([row.certified for row in balls])
    nearest, which = best_witnesses(centers, x, y, norm)
    for i in np.flatnonzero(nearest < radii * (1 + SLACK)).tolist():
        shown = refuting[which[i]].shown
        assert shown is not None
        if shown.distance(balls[i].exact_center, norm) < radii[i]:
            raise BrokenProof(
                f"the certified ball around centre {balls[i].at} holds the witness of centre {refuting[which[i]].at}"
            )


def narrowed(asked: Asked, rows: list[Row], done: list[Row]) -> list[Row]:
    """Rows whose brackets are open, with the better ends that other centres give them."""
    at = [i for i, row in enumerate(rows) if row.verdict == "unresolved"]
    if not at:
        return rows
    rows = list(rows)
    targets = np.array([rows[i].center for i in at])
    exact = [row for row in done if row.trust == "exact"]
    if exact:
        centers, radii = np.array([row.center for row in exact]), np.array([row.certified for row in exact])
        best, which = best_balls(targets, centers, radii, asked.norm)
        for i, radius, k in zip(at, best.tolist(), which.tolist(), strict=True):
            radius = min(radius, asked.limit(np.array(rows[i].center))) if radius < np.inf else radius
            if radius > rows[i].certified:
                evidence = (inside(exact[k]), rows[i].evidence[1])
                rows[i] = replace(rows[i], certified=radius, evidence=evidence, way="neighbours", trust="exact")
    refuting = [row for row in done if row.shown is not None]
    _, which = best_witnesses(targets, *_points(refuting), asked.norm)
    for i, k in zip(at, which.tolist(), strict=True):
        if k >= 0:
            rows[i] = _refuted_by(rows[i], refuting[k], asked)
    for i in at:
        rows[i] = _settled(rows[i], asked)
    return rows


def _refuted_by(row: Row, other: Row, asked: Asked) -> Row:
    """A row with the witness of another one, where it lies nearer than its own."""
    assert other.shown is not None
    distance = other.shown.distance(row.exact_center, asked.norm)
    if (row.refuted is not None and distance >= row.refuted) or distance > asked.limit(np.array(row.center)):
        return row
    evidence = row.evidence[0], WITNESS.format(f"{float(other.shown.x[0]):.6g}, …")
    return replace(row, refuted=distance, shown=other.shown, evidence=evidence)


def _settled(row: Row, asked: Asked) -> Row:
    """The verdict of a bracket that may be closed now."""
    refuted = None if row.refuted is None else End(row.refuted, "")
    try:
        closed = Radius(End(row.certified, ""), refuted).closed(asked.tol)
    except ValueError as error:
        raise BrokenProof(f"brackets of neighbouring centres contradict each other: {error}") from None
    if closed or row.certified >= asked.limit(np.array(row.center)):
        return replace(row, verdict="certified", reason=None)
    return row


def _points(rows: list[Row]) -> tuple[Array, Array]:
    """The witnesses of rows, rounded."""
    pairs = [(row.shown.x, row.shown.y) for row in rows if row.shown is not None]
    size = len(rows[0].center) if rows else 1
    x, y = (np.array([[float(v) for v in pair[k]] for pair in pairs]).reshape(-1, size) for k in range(2))
    return x, y
