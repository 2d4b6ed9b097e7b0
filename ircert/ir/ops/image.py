"""Convolution and pooling on flat vectors: `image` says how the operand reads as (channels, axis, axis, …)."""

from __future__ import annotations

import math
import reprlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from ircert.errors import OpError
from ircert.ir.arrays import LARGEST, Array, Indices, Sparse, freeze, tensor
from ircert.ir.ops.base import Op, SizeMismatch
from ircert.ir.ops.core import Affine
from ircert.ir.ops.piecewise import Max
from ircert.ir.ops.windows import Windows
from ircert.ir.rational import Rationals

if TYPE_CHECKING:
    from ircert.ir.build import Builder


MOST_ENTRIES = 2**26
"""Of a convolution or pool written out as a matrix."""
MOST_AXES = 30
"""Of an image, beside its channels: arrays have hardly more, and each takes its time."""


@dataclass(frozen=True, eq=False)
class ImageOp(Op):
    """An operation on an image (channels, axes…), stored flat in row-major order."""

    image: tuple[int, ...]

    def __post_init__(self) -> None:
        for name in ("image", "kernel", "stride", "padding", "dilation"):
            if hasattr(self, name):
                object.__setattr__(self, name, _integers(getattr(self, name), name))
        if len(self.image) < 2 or min(self.image) < 1 or math.prod(self.image) > LARGEST:
            shown = reprlib.repr(self.image)
            raise OpError(f"image must be (channels, axis, …), positive and of at most {LARGEST} entries, got {shown}")
        if len(self.image) > MOST_AXES + 1:
            raise OpError(f"image has {len(self.image) - 1} spatial axes; at most {MOST_AXES} are accepted")

    def _check_size(self, size: int) -> None:
        if size != math.prod(self.image):
            raise SizeMismatch(
                f"image {self.image} has {math.prod(self.image)} entries but its operand has size {size}"
            )

    def _require_entries(self, entries: int) -> None:
        """Refuse to write out an operation that says in one line what takes gigabytes."""
        if entries > MOST_ENTRIES:
            raise OpError(f"{self.kind}: written out it has {entries} entries; at most {MOST_ENTRIES} are accepted")

    def _default_windows(self) -> None:
        """Fill in stride, padding and dilation where they were left empty."""
        axes = len(self.image) - 1
        for name, default in (("stride", (1,) * axes), ("padding", (0,) * 2 * axes), ("dilation", (1,) * axes)):
            if not getattr(self, name):
                object.__setattr__(self, name, default)


@dataclass(frozen=True, eq=False)
class LinearImageOp(ImageOp):
    """An image operation that is an affine map, and lowers to a sparse one."""

    @cached_property
    def affine(self) -> Affine:
        """The same map with a sparse matrix."""
        self._require_entries(self.entries)
        return self._affine()

    @property
    def entries(self) -> int:
        """How many entries the sparse matrix has at most."""
        raise TypeError(f"{self.kind} must say how large its matrix is")

    def _affine(self) -> Affine:
        raise TypeError(f"{self.kind} must say which affine map it is")

    def size(self, *sizes: int) -> int:
        raise TypeError(f"{self.kind} must say how large its result is")

    def evaluate(self, *operands: Array) -> Array:
        return self.affine.evaluate(*operands)

    def exact(self, *operands: Rationals) -> Rationals:
        return self.affine.exact(*operands)

    def lower(self, build: Builder, *operands: str) -> str:
        return build.node(self.affine, *operands)


@dataclass(frozen=True, eq=False)
class Conv(LinearImageOp):
    """Cross-correlation with weight (out channels, in channels / groups, kernel axes…), as in every framework."""

    kind = "conv"
    weight: Array
    bias: Array | None = None
    stride: tuple[int, ...] = ()
    padding: tuple[int, ...] = ()
    dilation: tuple[int, ...] = ()
    groups: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._default_windows()
        weight = tensor(self.weight, "weight", ndim=len(self.image) + 1)
        out, channels = weight.shape[:2]
        bias = tensor(np.zeros(out) if self.bias is None else self.bias, "bias", ndim=1)
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "bias", bias)
        if not _is_integer(self.groups) or self.groups < 1 or out % self.groups or out < 1:
            raise OpError(f"groups must divide the {out} output channels, got {reprlib.repr(self.groups)}")
        object.__setattr__(self, "groups", int(self.groups))
        if channels * self.groups != self.image[0]:
            raise OpError(f"weight {weight.shape} with {self.groups} groups does not fit {self.image[0]} channels")
        if len(bias) != out:
            raise OpError(f"weight has {out} output channels but bias has {len(bias)} entries")
        _ = self.windows  # checks them

    @cached_property
    def windows(self) -> Windows:
        """Where the kernel lies on the image."""
        return Windows(self.image[1:], self.weight.shape[2:], self.stride, self.padding, self.dilation)

    def size(self, *sizes: int) -> int:
        self._check_size(sizes[0])
        return self.weight.shape[0] * self.windows.positions

    @property
    def entries(self) -> int:
        return self.weight.size * self.windows.positions

    def _affine(self) -> Affine:
        out, channels = self.weight.shape[:2]
        pixels = math.prod(self.image[1:])
        inside = np.repeat(self.windows.inside[:, None, :], channels, axis=1)
        counts = inside.sum(axis=(1, 2))
        columns = (np.arange(channels)[:, None] * pixels + self.windows.index[:, None, :])[inside]
        per_channel = len(columns)
        wide = math.prod(self.image) > np.iinfo(np.int32).max or out * per_channel > np.iinfo(np.int32).max
        indices = np.empty(out * per_channel, dtype=np.int64 if wide else np.int32)
        data = np.empty(out * per_channel)
        for o in range(out):
            part = slice(o * per_channel, (o + 1) * per_channel)
            indices[part] = columns + o // (out // self.groups) * channels * pixels
            data[part] = np.broadcast_to(self.weight[o].reshape(1, channels, -1), inside.shape)[inside]
        starts = np.concatenate([[0], np.cumsum(np.tile(counts, out))]).astype(indices.dtype)
        weight: Sparse = csr_array((data, indices, starts), shape=(len(starts) - 1, math.prod(self.image)))
        assert self.bias is not None
        return Affine(freeze(weight), np.repeat(self.bias, self.windows.positions))


@dataclass(frozen=True, eq=False)
class PoolOp(ImageOp):
    """An operation on each window of each channel."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...] = ()
    padding: tuple[int, ...] = ()
    dilation: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._default_windows()
        _ = self.windows  # checks them

    @cached_property
    def windows(self) -> Windows:
        """Where the kernel lies on the image."""
        return Windows(self.image[1:], self.kernel, self.stride, self.padding, self.dilation)

    @property
    def entries(self) -> int:
        """How many entries all windows have together."""
        return self.image[0] * self.windows.positions * math.prod(self.kernel)

    def size(self, *sizes: int) -> int:
        self._check_size(sizes[0])
        return self.image[0] * self.windows.positions


@dataclass(frozen=True, eq=False)
class AveragePool(PoolOp, LinearImageOp):
    """The mean of each window: its sum times the double nearest to 1 / count.

    count is the kernel's size with `count_padding`, else the number of entries that lie on the image.
    """

    kind = "average_pool"
    count_padding: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.count_padding, bool):
            raise OpError(f"count_padding must be true or false, got {reprlib.repr(self.count_padding)}")

    def _affine(self) -> Affine:
        channels, pixels = self.image[0], math.prod(self.image[1:])
        inside = self.windows.inside
        present = inside.sum(axis=1)
        count = np.full_like(present, inside.shape[1]) if self.count_padding else np.maximum(present, 1)
        share = np.repeat(1.0 / count, present)
        columns = (np.arange(channels)[:, None] * pixels + self.windows.index[inside][None, :]).ravel()
        starts = np.concatenate([[0], np.cumsum(np.tile(present, channels))])
        shape = (channels * self.windows.positions, math.prod(self.image))
        weight: Sparse = csr_array((np.tile(share, channels), columns, starts), shape=shape)
        return Affine(freeze(weight))


@dataclass(frozen=True, eq=False)
class MaxPool(PoolOp):
    """The largest entry of each window; padding never wins, a window wholly on the padding is an error."""

    kind = "max_pool"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.windows.all_meet_image():
            raise OpError("a window lies wholly on the padding; reduce the padding")

    @cached_property
    def members(self) -> Indices:
        """(kernel size, outputs): the operand's entries to compare; padding repeats an entry of the same window."""
        self._require_entries(self.entries)
        inside, index = self.windows.inside, self.windows.index
        first = np.take_along_axis(index, inside.argmax(axis=1)[:, None], axis=1)
        window = np.where(inside, index, first)
        offsets = np.arange(self.image[0]) * math.prod(self.image[1:])
        return (offsets[:, None, None] + window[None]).reshape(-1, window.shape[1]).T

    def evaluate(self, *operands: Array) -> Array:
        return np.maximum.reduce([operands[0][:, member] for member in self.members])

    def exact(self, *operands: Rationals) -> Rationals:
        (x,) = operands
        return Rationals(np.maximum.reduce(x.numerators[self.members]), x.denominator)

    def lower(self, build: Builder, *operands: str) -> str:
        """A tree of max over the entries of a window, all windows at once."""
        return Max().lower(build, *(build.select(operands[0], member) for member in self.members))


def _integers(values: object, what: str) -> tuple[int, ...]:
    if not isinstance(values, list | tuple) or not all(_is_integer(v) for v in values):
        raise OpError(f"{what} must be a list of integers, got {reprlib.repr(values)}")
    if any(abs(v) > LARGEST for v in values):
        raise OpError(f"{what} holds a number above {LARGEST}")
    return tuple(int(v) for v in values)


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
