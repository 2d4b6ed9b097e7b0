"""Pieces of spheres of norms 1 and 2, seen from the centre through boxes on the sides of the cube [-1, 1]^n.

x = c + r u / |u| runs through the sphere once as u runs through the sides of the cube. With m the middle of a box
there, v = u - m, p = m / |m| and s the slope of the norm at m,

    u / |u|  =  a p + k (v - (s v) p),      k = 1 / |u|,

where a = 1 in norm 1, as long as no u_j changes its sign, because |u| is linear there, and a² = 1 - k² |v - (s v) p|²
in norm 2, because both terms are orthogonal; a > 0 there, because m u > 0 on a side with at most 8 inputs. So with h
the half sides of the box, and k between two numbers,

    x  =  m' + D (v, z),  off by at most e:

the coordinate in which the side is flat stands for z, how far a piece is bent. All points of segments between such
points are of this form as well: what is said of a patch holds on the convex set that the right side describes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ircert.bounds.rounding import UNIT
from ircert.engines.boxes.problem.boxes import Boxes, faces, joined
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices

ROOM = 64 * UNIT
"""More than what a few dozen operations in floats may get wrong, in parts of numbers met on the way, for each input."""


@dataclass(frozen=True)
class Patches:
    """m' (inputs, patches), D (inputs, inputs of the cube, patches) and e (inputs, patches); half sides of boxes with
    how far pieces are bent (inputs of the cube, patches)."""

    middle: Array
    slopes: Array
    errors: Array
    half: Array

    def take(self, chosen: Indices) -> Patches:
        """Some of them."""
        return Patches(self.middle[:, chosen], self.slopes[..., chosen], self.errors[:, chosen], self.half[:, chosen])

    @cached_property
    def spread(self) -> Array:
        """How far points may be from the middle (inputs, patches)."""
        return np.asarray((np.abs(self.slopes) * self.half).sum(axis=1) + self.errors)


def sides(size: int, norm: Norm) -> Boxes:
    """The sides of the cube; for norm 1, cut where a coordinate changes its sign."""
    found = faces(Boxes(-np.ones((1, size)), np.ones((1, size))))
    if norm == Norm.ONE:
        for k in range(size):
            flat = found.low[:, k] == found.high[:, k]
            found = joined([found.take(flat), *found.take(~flat).halves(np.full(int((~flat).sum()), k))])
    return found


def patches(setting: Setting, radius: float, middle: Array, half: Array) -> Patches:
    """Those of boxes (inputs, boxes) on the sides of the cube; in norm 1 no coordinate changes its sign in one.

    Numbers of the cube are at most 1 and lengths at least 1 there, so that floats get the middle and D wrong by a few
    units of |c| + r, and the rest by a part of itself.
    """
    n, norm, center, flat = len(middle), setting.norm, setting.center[:, None], half == 0.0
    lengths = norm.lengths(middle, axis=0)
    ray = middle / lengths
    ends = np.maximum(np.abs(middle) - half, 0.0), np.abs(middle) + half
    most, least = (1.0 / norm.lengths(sizes, axis=0) for sizes in ends)
    least, most = least * (1 - n * ROOM), most * (1 + n * ROOM)
    across = np.eye(n)[:, :, None] - ray[:, None] * (ray if norm == Norm.TWO else np.sign(middle))[None]
    slopes = across * (radius * (least + most) / 2)
    errors = radius * (most - least) / 2 * (np.abs(across) * half).sum(axis=1) * (1 + n * ROOM)
    bent = np.zeros(lengths.shape)
    if norm == Norm.TWO:  # 1 - a = k² |…|² / (1 + a), and |v - (s v) p| <= |v|
        away = np.minimum((most * most) * (half**2).sum(axis=0) * (1 + n * ROOM), 1.0)
        bent = away / (1.0 + np.sqrt(np.maximum(1.0 - away, 0.0))) / 2 * (1 + n * ROOM)
    size = np.abs(center) + radius * (2.0 + half.sum(axis=0))
    # u does not move along a flat side; where nothing is bent any column serves, and with the ray D has an inverse
    slopes = np.where(flat[None], (radius * ray)[:, None], slopes)
    base = center + radius * (1.0 - bent) * ray
    return Patches(base, slopes, errors + n * ROOM * size, np.where(flat, bent, half))
