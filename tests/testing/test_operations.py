"""Checks of operations: ours pass, broken ones are caught."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ircert.ir.build import Builder
from ircert.ir.ops import Abs, Add, Affine, Clip, Concat, Conv, LeakyRelu, Max, MaxPool, Relu, Select
from ircert.ir.ops.base import ElementwiseOp, Op
from ircert.ir.ops.curves import Tanh
from ircert.ir.rational import Rationals
from ircert.testing import check_operation, operations

OURS: list[tuple[Op, tuple[int, ...]]] = [
    (Relu(), (3,)),
    (Abs(), (2,)),
    (Max(), (2, 2, 2)),
    (LeakyRelu(np.array([0.5, 2.0])), (2,)),
    (Clip(np.array([-1.0]), np.array([0.5])), (1,)),
    (Add(), (2, 2)),
    (Concat(), (1, 2)),
    (Select(np.array([1, 0, 1])), (2,)),
    (Affine(np.array([[1.0, -2.0]]), np.array([0.5])), (2,)),
    (MaxPool((1, 4), (2,)), (4,)),
    (Conv((1, 3), np.array([[[1.0, -1.0]]])), (3,)),
    (Tanh(), (2,)),
]


@pytest.mark.parametrize(("op", "sizes"), OURS, ids=lambda given: getattr(given, "kind", ""))
def test_ours_pass(op: Op, sizes: tuple[int, ...]) -> None:
    assert check_operation(op, *sizes).input_dim == sum(sizes)


@dataclass(frozen=True, eq=False)
class Half(ElementwiseOp):
    """max(0, x) / 2, right in every way."""

    kind = "half"

    def evaluate(self, *operands: Any) -> Any:
        return np.maximum(operands[0], 0.0) / 2

    def exact(self, *operands: Any) -> Any:
        (x,) = operands
        return Rationals(np.maximum(x.numerators, x.numerators * 0), x.denominator * 2)

    def lower(self, build: Builder, *operands: str) -> str:
        return build.affine(build.relu(operands[0]), np.eye(build.size(operands[0])) / 2)


class WrongFloats(Half):
    def evaluate(self, *operands: Any) -> Any:
        return operands[0] / 2


class WrongLowering(Half):
    def lower(self, build: Builder, *operands: str) -> str:
        return build.affine(operands[0], np.eye(build.size(operands[0])) / 2)


class NotLowered(Half):
    def lower(self, build: Builder, *operands: str) -> str:
        return build.node(Half(), *operands)


class NotEntrywise(Half):
    def evaluate(self, *operands: Any) -> Any:
        return (
            np.maximum(operands[0], 0.0) / 2 + 0 * operands[0]
            if operands[0].shape[1] == 1
            else Half().evaluate(operands[0][:, ::-1])
        )

    def exact(self, *operands: Any) -> Any:
        return Half().exact(operands[0][::-1])

    def lower(self, build: Builder, *operands: str) -> str:
        size = build.size(operands[0])
        return Half().lower(build, build.select(operands[0], range(size - 1, -1, -1)))


class DependsOnTheBatch(Half):
    def evaluate(self, *operands: Any) -> Any:
        return Half().evaluate(*operands) + (1e-15 if len(operands[0]) > 1 else 0.0)


@pytest.fixture
def unregistered(monkeypatch: pytest.MonkeyPatch) -> None:
    """These have no name that texts could be read by."""
    monkeypatch.setattr(operations, "assert_round_trips", lambda graph: None)


@pytest.mark.parametrize(
    ("op", "says"),
    [
        (WrongFloats(), "floats give"),
        (WrongLowering(), "the values differ"),
        (NotLowered(), "core operations|lower"),
        (NotEntrywise(), "entry 0 of half is another one"),
        (DependsOnTheBatch(), "other values in a batch"),
    ],
)
def test_broken_ones_are_caught(op: Op, says: str, unregistered: None) -> None:
    check_operation(Half(), 2)
    with pytest.raises(Exception, match=says):
        check_operation(op, 2)


def test_points_of_ones_own() -> None:
    check_operation(Relu(), 2, points=[[0.0, 1e-300], [-1e300, 1e300]])
