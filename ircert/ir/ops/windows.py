"""Sliding windows over images of any dimension: the geometry that convolution and pooling share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ircert.errors import OpError
from ircert.ir.arrays import LARGEST, Indices, Mask

Number = TypeVar("Number", np.int64, np.bool_)


@dataclass(frozen=True)
class Windows:
    """A kernel moving over `extent`; padding lists the amounts before each axis, then after each axis."""

    extent: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]

    def __post_init__(self) -> None:
        axes = len(self.extent)
        for name, values, count, least in (
            ("kernel", self.kernel, axes, 1),
            ("stride", self.stride, axes, 1),
            ("dilation", self.dilation, axes, 1),
            ("padding", self.padding, 2 * axes, 0),
        ):
            if len(values) != count or any(v < least for v in values):
                raise OpError(f"{name} must be {count} integers >= {least} for an image with {axes} spatial axes")
        if math.prod(self.output) * math.prod(self.kernel) > LARGEST:
            raise OpError(f"{math.prod(self.output)} windows of {math.prod(self.kernel)} entries are too many")
        if any(n < 1 for n in self.output):
            raise OpError(f"the kernel {self.kernel} is larger than the padded image {self.extent}")

    @cached_property
    def output(self) -> tuple[int, ...]:
        """The extent of the result."""
        axes = len(self.extent)
        padded = [n + self.padding[a] + self.padding[a + axes] for a, n in enumerate(self.extent)]
        reach = [d * (k - 1) + 1 for d, k in zip(self.dilation, self.kernel, strict=True)]
        return tuple((n - r) // s + 1 for n, r, s in zip(padded, reach, self.stride, strict=True))

    @cached_property
    def positions(self) -> int:
        """How many windows there are."""
        return math.prod(self.output)

    def all_meet_image(self) -> bool:
        """Whether no window lies wholly on the padding."""
        # entries times positions are at most LARGEST, so that the fewer of them are at most 2^11
        return all(
            self._entries_reach_windows(axis) if entries < positions else self._windows_reach_image(axis)
            for axis, (entries, positions) in enumerate(zip(self.kernel, self.output, strict=True))
        )

    def _windows_reach_image(self, axis: int) -> bool:
        """Whether each window, by its own reckoning, has an entry on the image along an axis."""
        step = self.dilation[axis]
        starts = np.arange(self.output[axis]) * self.stride[axis] - self.padding[axis]
        first = np.maximum(0, -(starts // step))  # which entry of the window is the first at 0 or above
        return bool(np.all((first < self.kernel[axis]) & (starts + first * step < self.extent[axis])))

    def _entries_reach_windows(self, axis: int) -> bool:
        """The same, entry by entry: the k-th lies on the image in the windows from low[k] on, below high[k]."""
        ahead = self.padding[axis] - np.arange(self.kernel[axis]) * self.dilation[axis]
        low, high = (
            np.clip(-(-(ahead + end) // self.stride[axis]), 0, self.output[axis]) for end in (0, self.extent[axis])
        )
        return bool(high[0] == self.output[axis] and low[-1] == 0 and np.all(low[:-1] <= high[1:]))

    @cached_property
    def inside(self) -> Mask:
        """(positions, kernel size): whether that entry of the window lies on the image, not on its padding."""
        return self._index_and_mask[1]

    @cached_property
    def index(self) -> Indices:
        """(positions, kernel size): which entry of the flattened image it is (meaningless on the padding)."""
        return self._index_and_mask[0]

    @cached_property
    def _index_and_mask(self) -> tuple[Indices, Mask]:
        axes = len(self.extent)
        index: Indices = np.zeros((1, 1), dtype=np.int64)
        mask: Mask = np.ones((1, 1), dtype=np.bool_)
        for axis in range(axes):
            starts = np.arange(self.output[axis]) * self.stride[axis] - self.padding[axis]
            where = starts[:, None] + np.arange(self.kernel[axis])[None, :] * self.dilation[axis]
            valid = (where >= 0) & (where < self.extent[axis])
            index = _outer(index * self.extent[axis], where, np.add)
            mask = _outer(mask, valid, np.logical_and)
        return index, mask


def _outer(left: NDArray[Number], right: NDArray[Number], combine: np.ufunc) -> NDArray[Number]:
    """Rows and columns of both, crossed: (a, b) and (c, d) give (a*c, b*d)."""
    crossed = combine(left[:, None, :, None], right[None, :, None, :])
    return np.asarray(crossed).reshape(left.shape[0] * right.shape[0], left.shape[1] * right.shape[1])
