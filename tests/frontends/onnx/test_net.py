"""The graph under construction, as tensors with shapes."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.errors import UnsupportedModel
from ircert.frontends.onnx.budget import SPARE, Budget
from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.values import Comparison, Tensor


def made(size: int = 4) -> tuple[Net, Tensor]:
    net = Net(size, "/in")
    return net, Tensor(net.build.input, (2, size // 2))


def values(net: Net, tensor: Tensor, x: list[float]) -> list[float]:
    return [float(v) for v in net.graph(tensor)(x)]


def test_moves_of_entries_add_a_node_only_where_something_moves() -> None:
    net, x = made()
    assert net.select(x, x.index.reshape(4)).node == x.node
    turned = net.select(x, x.index.T)
    assert turned.shape == (2, 2)
    assert values(net, turned, [1, 2, 3, 4]) == [1, 3, 2, 4]
    assert values(net, net.broadcast(x, (2, 2, 2)), [1, 2, 3, 4]) == [1, 2, 3, 4, 1, 2, 3, 4]


def test_scaling_shifting_and_sums() -> None:
    net, x = made()
    assert net.scale(x, np.array(1.0)) is x
    assert net.shift(x, np.zeros(2)) is x
    row = net.shift(net.scale(x, np.array([2.0, -1.0])), np.array([[10.0], [20.0]]))
    assert values(net, row, [1, 2, 3, 4]) == [12, 8, 26, 16]
    assert len(net.graph(row)) == 2, "the shift became the bias of the map before it"
    assert values(net, net.add(x, net.negative(x)), [1, 2, 3, 4]) == [0, 0, 0, 0]


def test_gathered_sums() -> None:
    net, x = made()
    found = net.gather(
        x, np.array([[0, 3], [1, 1]]), np.array([[1.0, 10.0], [2.0, 3.0]]), np.array([0.5, 0.0]), shape=(2,)
    )
    assert values(net, found, [1, 2, 3, 4]) == [41.5, 10.0]


def test_constants_are_maps_that_ignore_the_input() -> None:
    net, _ = made()
    assert values(net, net.tensor(np.array([[1.5, -2.0]])), [9, 9, 9, 9]) == [1.5, -2.0]
    with pytest.raises(UnsupportedModel, match="nan or inf"):
        net.tensor(np.array([np.nan]))


def test_comparisons_are_no_numbers() -> None:
    net, x = made()
    with pytest.raises(UnsupportedModel, match="makes the network jump"):
        net.numeric(Comparison(x, x))


def test_nodes_are_named_as_in_the_model() -> None:
    net, x = made()
    net.label(x, "ignored: the first name wins")
    y = net.negative(x)
    net.label(y, "/in")
    assert [node.name for node in net.graph(y).nodes] == ["in", "in_1"]


def test_memory_is_charged_to_the_budget() -> None:
    budget = Budget(0)
    net = Net(2, "x", budget)
    x, index = Tensor(net.build.input, (2,)), np.zeros(1024, dtype=np.int64)
    net.select(x, index)
    budget.take(SPARE - 2 * 8 * 1024, "here")
    with pytest.raises(UnsupportedModel, match="far more memory"):
        net.select(x, np.zeros(2048, dtype=np.int64))
