"""The colours of cells: sign and size of the determinant, or the smallest singular value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import ListedColormap, LogNorm, SymLogNorm
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from numpy.typing import NDArray

from ircert.ir.arrays import Array
from ircert.plotting.data import Maps

DECADES = 4
"""Sizes further below the largest one share the lightest tint."""


@dataclass(frozen=True)
class Colouring:
    """A number for each cell, which of them are grey instead, and how numbers become colours."""

    values: Array
    singular: NDArray[np.bool_]
    cmap: Any
    norm: Any
    label: str
    ticks: list[float]

    def decorate(self, bar: Any) -> None:
        """Put the ticks on a colourbar."""
        shown = "{:+g}" if bar.vmin < 0 else "{:g}"
        bar.ax.yaxis.set_major_locator(FixedLocator(self.ticks))
        bar.ax.yaxis.set_minor_locator(NullLocator())
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: shown.format(value).replace("-", "−")))


def colouring(regions: Maps, ends: tuple[float, float] | None = None) -> Colouring:
    """Determinants where there are any, else singular values; `ends` are the sizes that colours tell apart."""
    return (_by_singular_value if regions.determinants is None else _by_determinant)(regions, ends)


def common_ends(panels: Iterable[Maps]) -> tuple[float, float]:
    """Sizes for the colours of several panels."""
    norms = [colouring(panel).norm for panel in panels]
    lows = [norm.linthresh if isinstance(norm, SymLogNorm) else norm.vmin for norm in norms]
    high = max(norm.vmax for norm in norms)
    return max(min(lows), high / 10**DECADES), high


def _by_determinant(regions: Maps, ends: tuple[float, float] | None) -> Colouring:
    """Blue below zero, red above, with a step in between: a small determinant is pale, but its sign is not in doubt.

    The sign is the exact one; only the size is a float's.
    """
    signs = np.asarray(regions.signs, dtype=np.float64)
    sizes = np.maximum(np.abs(np.asarray(regions.determinants, dtype=np.float64)), np.finfo(float).tiny)
    low, high = _range(sizes[signs != 0]) if ends is None else ends
    norm = SymLogNorm(linthresh=low, linscale=0.15, vmin=-high, vmax=high)
    ticks = _ticks(low, high)
    return Colouring(signs * sizes, signs == 0, _blue_red(), norm, "det Df", [-t for t in reversed(ticks)] + ticks)


def _by_singular_value(regions: Maps, ends: tuple[float, float] | None) -> Colouring:
    """σ_min of Df. With fewer outputs than inputs every cell is singular and none is greyed out for it."""
    matrices = np.asarray(regions.matrices, dtype=np.float64)
    count, outputs, inputs = matrices.shape
    sizes: Array = np.linalg.svd(matrices, compute_uv=False)[:, -1].astype(np.float64) if count else np.zeros(0)
    singular = np.asarray(regions.signs) == 0 if outputs >= inputs else sizes == 0
    low, high = _range(sizes[~singular]) if ends is None else ends
    cmap = ListedColormap(matplotlib.colormaps["YlOrBr"](np.linspace(0.0, 0.6, 256)), name="ircert-size")
    label = "smallest singular value of Df"
    return Colouring(sizes, singular, cmap, LogNorm(low, high, clip=True), label, _ticks(low, high))


def _blue_red() -> ListedColormap:
    base = matplotlib.colormaps["RdBu_r"]
    halves = [base(np.linspace(*ends, 256)) for ends in ((0.16, 0.41), (0.59, 0.84))]
    return ListedColormap(np.vstack(halves), name="ircert-sign")


def _range(sizes: Array) -> tuple[float, float]:
    """The sizes worth a colour of their own, at least one decade."""
    high = float(sizes.max()) if len(sizes) else 1.0
    high = high if high > 0 else 1.0
    low = float(sizes.min()) if len(sizes) else 0.0
    return min(max(low, high / 10**DECADES), high / 10), high


def _ticks(low: float, high: float) -> list[float]:
    """1, 10, 100, …, and 2 and 5 in between where there is room."""
    decades = np.log10(high / low)
    steps = (1,) if decades > 3 else (1, 3) if decades > 1.7 else (1, 2, 5)
    powers = range(int(np.floor(np.log10(low))), int(np.floor(np.log10(high))) + 1)
    ticks = [float(f"{step}e{power}") for power in powers for step in steps]
    return [tick for tick in ticks if low <= tick <= high]
