"""Boxes of points, many at once: every neuron between two parallel planes over its box.

With x = m + h ε, |ε| <= 1, each entry of a node is A (x - m) + b, off by at most e. An open relu is s z + μ, off by
at most μ, for its slope s = u / (u - l); its error is new, so that rows of outputs taken backward know all signs, and
layers above know those of the errors that have columns (`noise`). A curve lies between two parallel lines as well
(`ircert/bounds/curves.py`), and its slopes between two numbers. States have columns for A, b, e, a bound on the sum of
all absolute values behind an entry (for rounding errors), and errors that are followed.
Balls of norms 1 and 2 bound neurons too: A (x - c) is bounded on the box cut with the ball (`support`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ircert.bounds.rounding import UNIT, between, slack
from ircert.engines.boxes.enclosures.batches import Batches, inverses, padded, times
from ircert.engines.boxes.enclosures.noise import Noise
from ircert.engines.boxes.enclosures.patches import Patches, patches
from ircert.engines.boxes.enclosures.support import upper
from ircert.engines.boxes.enclosures.tilts import Tilts
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array, Indices, Mask

UNDERFLOW = 1e-300
"""More than all that is lost where coefficients are too small for floats, for values of size 1."""


@dataclass(frozen=True)
class Enclosures:
    """What is known on each box; the last axis counts the boxes.

    on, off, open:  relus whose phase is decided, and those for which it is not
    low, high:      bounds on every z
    least, most:    bounds on the slope of every neuron
    slopes, shifts: s and μ of every neuron; spreads: what it may be off by then, which is μ for a relu
    lines:          A of every neuron; values, errors: its b, and its e with all rounding
    output:         A of the constrained outputs; of patches about, for the place on the sphere
    total:          a bound on the sum of all absolute values on the way
    sizes:          per affine map, the sums of absolute values behind its entries, for rounding errors
    depths:         per neuron, a bound on |z|
    place, radius:  the ball that they hold in
    tilts:          of curves, how their slopes move with the point; None without curves, or where nobody asked
    patches:        where boxes lie on the sides of a cube and stand for pieces of a sphere; `half` and all lines are
                    those of patches then, `middle` is a point close to the sphere
    """

    middle: Array
    half: Array
    on: Mask
    off: Mask
    open: Mask
    low: Array
    high: Array
    least: Array
    most: Array
    slopes: Array
    shifts: Array
    spreads: Array
    depths: Array
    lines: Array
    values: Array
    errors: Array
    output: Array
    total: Array
    sizes: dict[str, Array]
    place: Setting
    radius: float
    tilts: Tilts | None = None
    patches: Patches | None = None

    def take(self, chosen: Indices) -> Enclosures:
        """Those of some boxes, perhaps several times."""
        names = ["middle", "half", "on", "off", "open", "low", "high", "least", "most", "slopes", "shifts", "spreads"]
        names += ["depths", "lines", "values", "errors", "output", "total"]
        sizes = {name: size[:, chosen] for name, size in self.sizes.items()}
        tilts = None if self.tilts is None else self.tilts.take(chosen)
        patches = None if self.patches is None else self.patches.take(chosen)
        parts = {name: getattr(self, name)[..., chosen] for name in names}
        return replace(self, **parts, sizes=sizes, tilts=tilts, patches=patches)


def enclose(
    network: Batches, low: Array, high: Array, radius: float, *, tilted: bool = False, on_sphere: bool = False
) -> Enclosures:
    """Enclosures of boxes, given by their corners (boxes, inputs), as far as they lie in the ball.

    tilted:    also how slopes of curves move with the point
    on_sphere: boxes lie on the sides of a cube, for the pieces of the sphere behind them
    """
    n, count = network.size, len(low)
    middle = np.ascontiguousarray(between(low, high).T)
    half = np.nextafter(np.maximum(high.T - middle, middle - low.T) * (1 + 4 * UNIT), np.inf)
    half = np.where(high.T > low.T, half, 0.0)  # a flat side is its middle
    setting, neurons, found = network.setting, network.setting.neurons, None
    spread = half
    if on_sphere:
        found = patches(setting, radius, middle, half)
        middle, half, spread = found.middle, found.half, found.spread
    on, off, opened = (np.zeros((neurons, count), dtype=bool) for _ in range(3))
    lows, highs, least, most, slopes, shifts, spreads = (np.zeros((neurons, count)) for _ in range(7))
    depths, values, errors = (np.zeros((neurons, count)) for _ in range(3))
    lines = np.zeros((neurons, n, count))
    tilts = Tilts.none(neurons, n, count) if tilted and network.curves else None
    sizes: dict[str, Array] = {}
    total = (np.abs(middle) + spread).sum(axis=0)
    lost = UNDERFLOW * (1.0 + half.sum(axis=0))  # entries of A that are too small for floats, times the box
    noise = Noise(n + 3, len(network.followed))

    def reach(state: Array) -> Array:
        return (np.abs(state[:, :n]) * half).sum(axis=1)

    def affine(name: str, state: Array) -> Array:
        result = times(network.weights[name], state)
        result[:, n] += network.biases[name][:, None]
        sums = times(network.absolute[name], state[:, n + 1 : n + 3])
        sizes[name] = sums[:, 1] + np.abs(network.biases[name])[:, None]
        result[:, n + 1] = sums[:, 0] * (1 + 8 * network.terms * UNIT) + slack(2 * network.terms, sizes[name]) + lost
        result[:, n + 2] = sizes[name]
        total[:] += sizes[name].sum(axis=0)
        return result

    def neuron(name: str, state: Array) -> Array:
        where = network.setting.relus[name]
        b, error = state[:, n], state[:, n + 1] + noise.reach(state)
        wide = (reach(state) + error) * (1 + 8 * network.terms * UNIT)
        size = np.abs(b) + wide
        wide = wide + slack(network.terms, size)
        low, high = b - wide, b + wide
        values[where], errors[where] = b, error + 2 * slack(network.terms, size)
        if norm != "inf" and found is None:
            low, high = within_ball(state, error, low, high, every=name in network.curves)
        lows[where], highs[where], depths[where], lines[where] = low, high, size, state[:, :n]
        total[:] += size.sum(axis=0)
        return curve(name, where, state, size) if name in network.curves else relu(name, where, state, size)

    def relu(name: str, where: slice, state: Array, size: Array) -> Array:
        low, high = lows[where], highs[where]
        on[where], off[where] = low >= 0, high <= 0
        opened[where] = open_ = ~on[where] & ~off[where]
        least[where], most[where] = on[where], on[where] | open_
        s = np.where(open_, np.clip(high / np.where(open_, high - low, 1.0), 0.0, 1.0), on[where])
        # relu(z) - s z lies in [0, top]; half of it is the shift, and half what remains
        top = np.where(open_, np.maximum(-s * low, (1 - s) * high), 0.0) * (1 + 8 * UNIT)
        slopes[where], shifts[where], spreads[where] = s, top / 2, top / 2
        result = state * s[:, None]
        result[:, n] += top / 2
        off_by = top / 2 * (1 + 8 * UNIT)
        result[:, n + 1] += slack(network.terms, np.where(s > 0, size, 0.0)) + lost
        result[:, n + 2] = s * size + top
        if name in network.followed:
            result, off_by = noise.followed(result, off_by)
        result[:, n + 1] += off_by
        return result

    def curve(name: str, where: slice, state: Array, size: Array) -> Array:
        (least[where], most[where]), near = network.curves[name].around(lows[where], highs[where])
        slopes[where], shifts[where], spreads[where] = near.slope, near.shift, near.error
        result = state * near.slope[:, None]
        result[:, n] += near.shift
        if tilts is not None:
            slope = network.curves[name].slope_lines(lows[where], highs[where])
            tilts.learn(where, slope, state, errors[where], half)
        size = np.abs(near.slope) * size + np.abs(near.shift) + near.error
        result[:, n + 1] = np.abs(result[:, n + 1]) + near.error * (1 + 8 * UNIT) + slack(network.terms, size) + lost
        result[:, n + 2] = size
        return result

    norm, offset = setting.norm, setting.center[:, None] - middle
    # offsets from the centre, rounded outward
    lowest, highest = np.nextafter(low - setting.center, -np.inf), np.nextafter(high - setting.center, np.inf)
    crossing: Mask = np.asarray(norm.lengths(np.maximum(-lowest, highest)) > radius)  # inside, a ball bounds nothing

    def within_ball(state: Array, errors: Array, low: Array, high: Array, *, every: bool) -> tuple[Array, Array]:
        open_ = np.ones_like(low, dtype=bool) if every else ~(low >= 0) & ~(high <= 0)
        which, boxes = np.nonzero(open_ & crossing)
        line = state[which, :n, boxes]
        value = state[which, n, boxes] + (line * offset.T[boxes]).sum(axis=1)
        size = np.abs(state[which, n, boxes]) + (np.abs(line) * np.abs(offset.T[boxes])).sum(axis=1)
        error = errors[which, boxes] * (1 + 8 * network.terms * UNIT) + 1e-300 * radius
        above, below = (upper(norm, sign * line, lowest[boxes], highest[boxes], radius) for sign in (1.0, -1.0))
        low, high = low.copy(), high.copy()
        low[which, boxes] = np.fmax(low[which, boxes], value - _outward(below, error, size, network))
        high[which, boxes] = np.fmin(high[which, boxes], value + _outward(above, error, size, network))
        return low, high

    def add(parts: list[Array]) -> Array:
        parts = padded(parts)
        result = parts[0].copy()
        for part in parts[1:]:
            result += part
        result[:, n + 1] += slack(len(parts) + network.terms, result[:, n + 2])
        return result

    start = np.zeros((n, n + 3, count))
    start[np.arange(n), np.arange(n)] = 1.0
    start[:, n] = middle
    if found is not None:
        start[:, :n], start[:, n + 1] = found.slopes, found.errors
    start[:, n + 2] = reach(start) + np.abs(middle) + start[:, n + 1]
    with np.errstate(all="ignore"):
        output = network.forward_to_output(start, affine, neuron, add)[:, :n].copy()
        if found is not None:
            output = np.einsum("mkb,kib->mib", output, inverses(found.slopes)[0])
    return Enclosures(
        *(middle, half, on, off, opened, lows, highs, least, most, slopes, shifts, spreads),
        *(depths, lines, values, errors, output, total, sizes),
        *(setting, radius, tilts, found),
    )


def _outward(bound: Array, error: Array, size: Array, network: Batches) -> Array:
    """bound + error, and what floats may get wrong in it and in values of some size that it is added to."""
    return bound + error + slack(2 * network.terms, size + np.abs(bound) + error)


def ranges(network: Batches, boxes: Enclosures, rows: Array) -> tuple[Array, Array]:
    """(value, reach): rows (constrained, rows, boxes) of the outputs are within `reach` of `value` on the whole box."""
    tilt, value, off = planes(network, boxes, rows)
    with np.errstate(all="ignore"):
        reach = (np.abs(tilt) * boxes.half[:, None]).sum(axis=0)
        return value, reach * (1 + 16 * network.terms * UNIT) + off


def planes(network: Batches, boxes: Enclosures, rows: Array) -> tuple[Array, Array, Array]:
    """(tilt, value, off): rows (constrained, rows, boxes) of the outputs are within `off` of value + tilt·(x - middle).

    tilt: (inputs, rows, boxes); of patches, with the place on the cube
    """
    value, off = np.zeros(rows.shape[1:]), np.zeros(rows.shape[1:])

    def affine(name: str, given: Array) -> Array:
        nonlocal value, off
        value = value + (given * network.biases[name][:, None, None]).sum(axis=0)
        off = off + slack(4 * network.terms, (np.abs(given) * boxes.sizes[name][:, None]).sum(axis=0))
        return times(network.transposed[name], given)

    def relu(name: str, given: Array) -> Array:
        nonlocal value, off
        where = network.setting.relus[name]
        absolute = np.abs(given)
        value = value + (given * boxes.shifts[where][:, None]).sum(axis=0)
        off = off + (absolute * boxes.spreads[where][:, None]).sum(axis=0)
        off = off + slack(4 * network.terms, (absolute * boxes.depths[where][:, None]).sum(axis=0))
        return given * boxes.slopes[where][:, None]

    with np.errstate(all="ignore"):
        last = network.backward(rows, affine, relu)
        value = value + (last * boxes.middle[:, None]).sum(axis=0)
        spread, given = boxes.half, last
        if boxes.patches is not None:
            spread = boxes.patches.spread
            off = off + (np.abs(last) * boxes.patches.errors[:, None]).sum(axis=0)
            last = np.einsum("irb,ikb->krb", last, boxes.patches.slopes)
        size = np.abs(value) + off + (np.abs(given) * (np.abs(boxes.middle) + spread)[:, None]).sum(axis=0)
        rounding = slack(4 * network.terms, size) + UNDERFLOW * (1.0 + boxes.total)
    return last, value, off * (1 + 16 * network.terms * UNIT) + rounding
