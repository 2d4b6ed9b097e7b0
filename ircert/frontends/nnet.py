""".nnet files: networks of relus in text, with how their inputs and outputs were normalised.

The lines, behind comments that begin with `//`: the numbers of layers, inputs and outputs and the widest layer; the
sizes of all layers; a flag that nobody reads; least and greatest inputs; means and ranges of the inputs and, last, of
the outputs; then for each layer the rows of its weights and the entries of its bias, one line each.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from itertools import pairwise
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from ircert.errors import FileError, UnsupportedModel
from ircert.files import read_text
from ircert.ir.arrays import LARGEST, diagonal, identity
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.ir.ops import Clip

Numbers = NDArray[np.float64]
NORMALISATIONS = ("none", "affine", "clipped")


def from_nnet(path: str | os.PathLike[str], normalisation: str | None = None) -> Graph:
    """The network of the file; decimal numbers mean the nearest doubles.

    `none` (by default): the layers alone, whose inputs are normalised numbers. `affine`: (x - mean) / range before them
    and y range + mean behind, so that inputs and outputs have their units; a division is a product with the double
    nearest to 1 / range. `clipped`: inputs are cut to the file's least and greatest ones before that.
    """
    asked = "none" if normalisation is None else normalisation
    if asked not in NORMALISATIONS:
        raise UnsupportedModel(f"`normalisation` cannot be {asked!r:.60}", remedy="use none, affine or clipped")
    return _Reader(path).graph(asked)


class _Reader:
    """Takes the lines in their order; what is wrong is said with the line's number."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self.number = 0
        self._lines = self._numbered(read_text(path))

    def _numbered(self, text: str) -> Iterator[str]:
        for self.number, line in enumerate(text.splitlines(), 1):
            if line.strip() and not line.lstrip().startswith("//"):
                yield line

    def graph(self, normalisation: str) -> Graph:
        """The whole file."""
        sizes = self._sizes()
        self._row(1, "the flag", exactly=False)
        low, high = (self._row(sizes[0], f"the {word} inputs") for word in ("least", "greatest"))
        mean, scale = (self._row(sizes[0] + 1, word) for word in ("means", "ranges"))
        build = Builder(sizes[0])
        x = build.input
        if normalisation != "none":
            self._require_ranges(low, high, scale)
            x = _clipped(build, x, low, high) if normalisation == "clipped" else x
            x = build.affine(x, identity(sizes[0]), -mean[:-1], name="centred")
            x = build.affine(x, diagonal(1.0 / scale[:-1]), name="scaled")
        x = self._layers(build, x, sizes)
        if next(self._lines, None) is not None:
            self._fail("something follows the last layer")
        if normalisation != "none":
            x = build.affine(x, scale[-1] * identity(sizes[-1]), np.full(sizes[-1], mean[-1]), name="units")
        return build.graph(x)

    def _layers(self, build: Builder, x: str, sizes: list[int]) -> str:
        for k, (before, behind) in enumerate(pairwise(sizes), 1):
            weight = np.array([self._row(before, f"a row of the weights of layer {k}") for _ in range(behind)])
            bias = np.array([self._row(1, f"an entry of the bias of layer {k}")[0] for _ in range(behind)])
            last = k == len(sizes) - 1
            x = build.affine(x, weight, bias, name="y" if last else f"h{k}")
            x = x if last else build.relu(x, name=f"a{k}")
        return x

    def _sizes(self) -> list[int]:
        """The sizes of all layers, the input's first, which the first line has to confirm."""
        layers, inputs, outputs, *_ = (self._integer(v) for v in self._row(3, "the first line", exactly=False))
        if layers > LARGEST:
            self._fail(f"it claims {layers} layers")
        sizes = [self._integer(v) for v in self._row(layers + 1, "the sizes of the layers")]
        if (sizes[0], sizes[-1]) != (inputs, outputs):
            self._fail(f"the layers {sizes} do not fit {inputs} inputs and {outputs} outputs"[:200])
        return sizes

    def _row(self, count: int, what: str, *, exactly: bool = True) -> Numbers:
        line = next(self._lines, None)
        if line is None:
            self._fail(f"the file ends before {what}")
        try:
            numbers = np.array([float(part) for part in line.strip().rstrip(",").split(",")])
        except ValueError:
            self._fail(f"{what}: {line.strip()[:40]!r} are no numbers separated by commas")
        if len(numbers) < count or (exactly and len(numbers) != count):
            self._fail(f"{what}: {len(numbers)} numbers where {count} are meant")
        if not np.isfinite(numbers).all():
            self._fail(f"{what}: a number is not finite")
        return numbers

    def _integer(self, number: float) -> int:
        if not (1 <= number <= LARGEST and math.floor(number) == number):
            self._fail(f"{number:g} where a size is meant")
        return int(number)

    def _require_ranges(self, low: Numbers, high: Numbers, scale: Numbers) -> None:
        if not (scale > 0).all() or not np.isfinite(1.0 / scale).all():
            raise FileError("a range is not positive", path=self.path, remedy="read it with normalisation none")
        if not (low <= high).all():
            raise FileError("a least input is above the greatest", path=self.path, remedy="read it as affine or none")

    def _fail(self, problem: str) -> NoReturn:
        raise FileError(
            f"not a readable .nnet file (line {self.number}: {problem})", path=self.path, remedy="write it again"
        ) from None


def _clipped(build: Builder, x: str, low: Numbers, high: Numbers) -> str:
    return build.node(Clip(low, high), x, name="clipped")
