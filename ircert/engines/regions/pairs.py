"""Which pairs of cells may collide: image boxes that meet and that no line separates.

A linear form on the output space that is > 0 on f(P) away from the common vertices of P and Q, and <= 0 on f(Q), leaves
only common points to collide. Candidates for such forms are the edges of the images in coordinate planes of the output
space and, with three or more outputs, normals of the images. Floats with error bounds: a pair is dropped only if its
separation is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ircert.engines.regions.complex import Complex
from ircert.engines.regions.forms import LEAST, UNIT
from ircert.engines.regions.tables import Ids
from ircert.ir.arrays import Array

CHUNK = 1 << 16
"""Pairs that are looked at together."""

MOST_PLANES = 6

SLANTS = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 0.5], [1.0, -0.5], [0.5, 1.0], [-0.5, 1.0]]).T


@dataclass(frozen=True)
class Images:
    """The images of some cells: values (cells, width, outputs) at the vertices, and a bound of their error per cell."""

    cells: Ids
    vertices: Ids
    used: NDArray[np.bool_]
    values: Array
    error: Array
    low: Array
    high: Array

    def spans(self, plane: tuple[int, int]) -> tuple[Array, Array]:
        """(cells, directions): where the images begin and end along a few slanted directions of a plane."""
        along = self.values[:, :, plane] @ SLANTS
        slack = (self.error[:, None] + 4 * UNIT * np.abs(self.values[:, :, plane]).max(axis=(1, 2))[:, None]) * 4
        low = np.where(self.used[:, :, None], along, np.inf).min(axis=1) - slack
        return low, np.where(self.used[:, :, None], along, -np.inf).max(axis=1) + slack

    @staticmethod
    def of(complex_: Complex, cells: Ids, outputs: list[int]) -> Images:
        """The images under some of the outputs."""
        vertices, used = complex_.polygons[cells], complex_.used[cells]
        width = int(complex_.count[cells].max(initial=1))
        vertices, used = vertices[:, :width], used[:, :width]
        forms = complex_.maps.value[outputs][:, :, cells]
        errors = complex_.maps.error[outputs][:, :, cells]
        u, v = np.moveaxis(complex_.points[vertices], 2, 0)
        blur = complex_.blur[vertices]
        with np.errstate(invalid="ignore", over="ignore"):
            (a, b, c), (da, db, dc) = (np.moveaxis(t, 1, 0)[:, :, :, None] for t in (forms, errors))
            values = a * u + b * v + c
            size = np.abs(a * u) + np.abs(b * v) + np.abs(c)
            error = da * np.abs(u) + db * np.abs(v) + dc + (np.abs(a) + da + np.abs(b) + db) * blur + 4 * UNIT * size
        values = np.moveaxis(values, 0, 2)
        worst = np.where(used, error.max(axis=0, initial=0.0), 0.0).max(axis=1) * (1 + 2.0**-20) + LEAST
        worst = np.where(np.isfinite(worst), worst, np.inf)
        with np.errstate(invalid="ignore", over="ignore"):
            low = np.where(used[:, :, None], values, np.inf).min(axis=1) - worst[:, None]
            high = np.where(used[:, :, None], values, -np.inf).max(axis=1) + worst[:, None]
        return Images(
            cells, vertices, used, values, worst, np.nan_to_num(low, nan=-np.inf), np.nan_to_num(high, nan=np.inf)
        )


def touching_boxes(images: Images) -> Iterator[tuple[Ids, Ids]]:
    """Pairs i, j of images whose boxes meet, in chunks: a sweep along the output with the most distinct boxes."""
    spans = images.high - images.low
    reach = images.high.max(axis=0) - images.low.min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        thickness = np.nan_to_num(spans.mean(axis=0) / reach, nan=1.0)
    axis = int(np.argmin(thickness))
    order = np.argsort(images.low[:, axis], kind="stable")
    low, high = images.low[order], images.high[order]
    ends = np.searchsorted(low[:, axis], high[:, axis], side="right")
    counts = np.maximum(ends - np.arange(len(order)) - 1, 0)
    edges = np.searchsorted(np.cumsum(counts), np.arange(CHUNK, counts.sum() + CHUNK, CHUNK), side="left") + 1
    start = 0
    for end in np.unique(np.minimum(edges, len(order))).tolist():
        n = counts[start:end]
        i = np.repeat(np.arange(start, end), n)
        j = i + 1 + np.arange(len(i)) - np.repeat(np.cumsum(n) - n, n)
        meet = ((low[i] <= high[j]) & (low[j] <= high[i])).all(axis=1)
        if meet.any():
            yield order[i[meet]], order[j[meet]]
        start = end


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what is not finite is in doubt
def doubtful_pairs(
    complex_: Complex,
    cells: Ids,
    outputs: list[int],
    beyond: NDArray[np.bool_] | None = None,
    between: Callable[[], None] = lambda: None,
) -> Ids:
    """(pairs, 2): the pairs of cells whose images could not be separated; of those with one cell `beyond`, if given."""
    images = Images.of(complex_, cells, outputs)
    found = [np.empty((0, 2), dtype=np.int64)]
    if len(cells) > 1:
        for i, j in touching_boxes(images):
            if beyond is not None:
                wanted = beyond[i] | beyond[j]
                i, j = i[wanted], j[wanted]
            for k in range(0, len(i), CHUNK // 4):
                between()
                a, b = i[k : k + CHUNK // 4], j[k : k + CHUNK // 4]
                doubt = _unseparated(images, a, b)
                found.append(np.stack([cells[a[doubt]], cells[b[doubt]]], axis=1))
    return np.concatenate(found)


def _unseparated(images: Images, i: Ids, j: Ids) -> NDArray[np.bool_]:
    """Which pairs no candidate form separates."""
    left = np.arange(len(i))
    outputs = images.values.shape[2]
    for plane in list(combinations(range(outputs), 2))[:MOST_PLANES]:
        left = left[~_separated_in_plane(images, i[left], j[left], plane)]
    for axes in list(combinations(range(outputs), 3))[:MOST_PLANES]:
        for a, b in ((i, j), (j, i)):
            left = left[~_normal_separates(images, a[left], b[left], axes)]
    doubt = np.zeros(len(i), dtype=bool)
    doubt[left] = True
    return doubt


def _separated_in_plane(images: Images, i: Ids, j: Ids, plane: tuple[int, int]) -> NDArray[np.bool_]:
    """Whether the images are surely separated in a coordinate plane; which lines to try depends on what they share."""
    same = images.vertices[i][:, :, None] == images.vertices[j][:, None, :]
    same &= images.used[i][:, :, None] & images.used[j][:, None, :]
    shared = same.sum(axis=(1, 2))
    done = np.zeros(len(i), dtype=bool)

    neighbours = np.flatnonzero(shared == 2)  # they lie on both sides of their common edge, unless one is turned over
    first, second = (
        _orientation(images.values[k[neighbours]][:, :, plane], images.error[k[neighbours]]) for k in (i, j)
    )
    done[neighbours] = first * second > 0

    one = np.flatnonzero(shared == 1)  # only lines through the common vertex can do
    at = np.nonzero(same[one].any(axis=2))[1][:, None], np.nonzero(same[one].any(axis=1))[1][:, None]
    done[one] = _edge_separates(images, i[one], j[one], plane, at[0])
    done[one] |= _edge_separates(images, j[one], i[one], plane, at[1])

    none = np.flatnonzero(shared == 0)
    low, high = images.spans(plane)
    done[none] = ((low[i[none]] > high[j[none]]) | (low[j[none]] > high[i[none]])).any(axis=1)
    for a, b in ((i, j), (j, i)):
        none = np.flatnonzero((shared == 0) & ~done)
        everywhere = np.broadcast_to(np.arange(images.used.shape[1]), (len(none), images.used.shape[1]))
        done[none] = _edge_separates(images, a[none], b[none], plane, everywhere)
    return done


def _edge_separates(images: Images, i: Ids, j: Ids, plane: tuple[int, int], at: Ids) -> NDArray[np.bool_]:
    """Whether a line along or between the edges at vertices `at` of image i has image j strictly beyond it.

    Common vertices on the line do not count. Lines between the edges at a vertex are needed where an edge of j
    continues an edge of i, as it does where a map has no kink.
    """
    p, q = images.values[i][:, :, plane], images.values[j][:, :, plane]
    ids = images.vertices[i]
    rows = np.arange(len(i))[:, None]
    count = images.used[i].sum(axis=1)[:, None]
    after, before = (at + 1) % count, (at - 1) % count
    error = np.maximum(images.error[i], images.error[j])[:, None]
    inside = _orientation(p, images.error[i])[:, None]
    here, out, into = p[rows, at], p[rows, after] - p[rows, at], p[rows, at] - p[rows, before]
    between, proper = _bisectors(out, into, inside, error)
    beyond = _beyond(np.concatenate([out, into, between], axis=1), np.tile(here, (1, 3, 1)), q, inside, error)
    other = images.vertices[j][:, None, :]
    own, head, tail = (other == ids[rows, k][:, :, None] for k in (at, after, before))
    common = np.concatenate([own | head, own | tail, own], axis=1)
    separates = (beyond | common | ~images.used[j][:, None, :]).all(axis=2)
    real = at < count
    return (separates & np.concatenate([real, real, real & proper], axis=1)).any(axis=1) & (inside[:, 0] != 0)


def _beyond(direction: Array, anchor: Array, q: Array, inside: Array, error: Array) -> NDArray[np.bool_]:
    """(pairs, lines, vertices): which points q lie surely on the outer side of lines through anchors."""
    away = q[:, None, :, :] - anchor[:, :, None, :]
    with np.errstate(invalid="ignore", over="ignore"):
        cross = direction[:, :, None, 0] * away[..., 1] - direction[:, :, None, 1] * away[..., 0]
        a, b = np.abs(direction).sum(axis=2)[:, :, None], np.abs(away).sum(axis=3)
        # differences are off by at most 2 `error` in every coordinate
        bound = 2 * error[:, :, None] * (a + b + 4 * error[:, :, None]) + 8 * UNIT * a * b
        return cross * inside[:, :, None] < -bound * (1 + 2.0**-20) - 1e-300


def _bisectors(edge: Array, last: Array, inside: Array, error: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Directions between the edge into a vertex and the one out of it, as long as edges; and where that is sure."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        sizes = [np.abs(t).sum(axis=2, keepdims=True) for t in (edge, last)]
        middle = (edge / sizes[0] + last / sizes[1]) * np.minimum(*sizes)
        proper = np.ones(edge.shape[:2], dtype=bool)
        for a, b in ((last, middle), (middle, edge)):
            cross = (a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]) * inside
            size = np.abs(a).sum(axis=2), np.abs(b).sum(axis=2)
            proper &= cross > (4 * error * (size[0] + size[1] + error) + 8 * UNIT * size[0] * size[1]) + 1e-300
    return np.nan_to_num(middle, posinf=0.0, neginf=0.0), proper


def _orientation(p: Array, error: Array) -> Array:
    """+1 or -1 where a projected image surely runs counter-clockwise or clockwise, else 0."""
    first, second = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    with np.errstate(invalid="ignore", over="ignore"):
        cross = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
        size = np.abs(first).sum(axis=1) + np.abs(second).sum(axis=1)
        bound = 8 * error * (size + error) + 8 * UNIT * size * size + LEAST
        return np.where(np.abs(cross) > bound, np.sign(cross), 0.0)


def _normal_separates(images: Images, i: Ids, j: Ids, axes: tuple[int, int, int]) -> NDArray[np.bool_]:
    """Whether image j lies strictly on one side of the plane of image i in a 3-space, common points apart."""
    p, q = images.values[i][:, :, axes], images.values[j][:, :, axes]
    error = np.maximum(images.error[i], images.error[j])[:, None]
    first, second = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    away = q - p[:, :1]
    with np.errstate(invalid="ignore", over="ignore"):
        normal = np.cross(first, second)
        value = (away * normal[:, None, :]).sum(axis=2)
        a, b, c = (np.abs(t).sum(axis=-1) for t in (first, second, away))
        a, b = a[:, None], b[:, None]
        # the error of a product of three factors, each off by at most 2 `error` in every coordinate
        bound = 8 * error * (a * b + a * c + b * c + 8 * error * (a + b + c + error)) + 64 * UNIT * a * b * c
        positive, negative = value > bound * (1 + 2.0**-20) + 1e-300, value < -bound * (1 + 2.0**-20) - 1e-300
    common = (images.vertices[j][:, :, None] == np.where(images.used[i], images.vertices[i], -1)[:, None, :]).any(
        axis=2
    )
    free = common | ~images.used[j]
    return (positive | free).all(axis=1) | (negative | free).all(axis=1)
