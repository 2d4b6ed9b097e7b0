"""Where boxes are cut that one matrix does not close, and how often before they are looked at again."""

from __future__ import annotations

import numpy as np

from ircert.engines.boxes.enclosures.enclosures import Enclosures
from ircert.engines.boxes.enclosures.splitting import scores
from ircert.engines.boxes.problem.boxes import Boxes, joined
from ircert.ir.arrays import Array, Indices

SMALL_BATCH, MOST_CUTS_AT_ONCE = 64, 4
"""With less than this part of the boxes that are worked on at once, more cuts are made at a time, up to so many."""
FEW_INPUTS = 4
"""Up to so many, where neurons change is the better guess, and boxes are looked at after every cut: few are cut until
hardly any neuron is open."""
SHARPNESS = 1.5
"""Of the share of the room of a neuron by which a half moves it: a neuron that is decided counts most."""


def cuts_at_once(batch: int, boxes: int) -> int:
    """Few boxes take as long as some more: they are cut several times before they are looked at again."""
    room = batch // SMALL_BATCH // max(1, boxes)
    return min(MOST_CUTS_AT_ONCE, max(1, room.bit_length()))


def halves(boxes: Boxes, known: Enclosures, gains: Array, cuts: int | Indices) -> tuple[Boxes, Indices]:
    """Boxes cut where most is gained, each so many times, and of which box each part is; where all are cut once, the
    first halves of all come before the second ones."""
    gains, which = np.where(known.half > 0, gains + 1e-9 * known.half, -1.0), np.arange(len(boxes))
    left = np.broadcast_to(np.asarray(cuts, dtype=np.int64), which.shape)
    while (left > 0).any():
        rest, cut = np.flatnonzero(left == 0), np.flatnonzero(left > 0)
        wanted = np.argmax(gains[:, cut], axis=0)
        parts = boxes.take(cut).halves(wanted)
        boxes, order = joined([boxes.take(rest), *parts]), np.concatenate([rest, cut, cut])
        gains, which, left = gains[:, order], which[order], left[order]
        fresh = np.arange(len(rest), len(order))
        gains[np.tile(wanted, 2), fresh] /= 2
        left[fresh] -= 1
    return boxes, which


def gains_of(known: Enclosures, weights: Array, moving: Array | None, which: Indices) -> Array:
    """How much is gained by cutting each side (inputs, boxes): where free neurons that take away most are decided in
    one half, or nearly so (with few inputs: where they change most); and where slopes move most: `moving` of all boxes
    in the wave, `which` of them are known here."""
    if moving is not None:
        return scores(known, weights) + moving[:, which]
    free = known.most > known.least
    if len(known.half) <= FEW_INPUTS:
        length = np.sqrt((known.lines**2).sum(axis=1, keepdims=True))
        shares = np.abs(known.lines) / np.maximum(length, 1e-300) * known.half
        return np.nan_to_num(np.einsum("kib,kb->ib", shares, weights * free))
    # a half moves the bounds on z by up to twice the reach of that side: the phase with less room may be gone then
    room = np.where(known.open, np.minimum(known.high, -known.low), known.high - known.low)
    reach = np.abs(known.lines) * known.half
    shares = np.minimum(1.0, reach / np.maximum(room, 1e-300)[:, None]) ** SHARPNESS
    return np.nan_to_num(np.einsum("kib,kb->ib", shares, weights * free))
