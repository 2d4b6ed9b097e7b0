"""Matrix products: with a constant on either side an affine map, else products and their sums."""

from __future__ import annotations

import math

import numpy as np

from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.ops.arithmetic import plus
from ircert.frontends.onnx.values import Call, Const, Tensor, Value, require_size
from ircert.ir.arrays import Array, freeze
from ircert.ir.ops.smooth import Product


def matmul(net: Net, a: Tensor | Const, b: Tensor | Const) -> Tensor:
    """numpy's a @ b for arrays of any dimension."""
    left, right = (_index(a), _index(b))
    left = left[None, :] if len(a.shape) == 1 else left
    right = right[:, None] if len(b.shape) == 1 else right
    shape = _product_shape(net, a.shape, b.shape, left, right)
    if isinstance(a, Tensor) and isinstance(b, np.ndarray) and _is_one_block(left, right):
        return net.affine(a, _dense(net, b.reshape(right.shape[-2:]).T), shape=shape)
    if isinstance(b, Tensor) and isinstance(a, np.ndarray) and _is_one_block(right.swapaxes(-1, -2), left):
        return net.affine(b, _dense(net, a.reshape(left.shape[-2:])), shape=shape)
    rows, columns = _terms(net, left, right)
    if isinstance(a, Tensor) and isinstance(b, np.ndarray):
        return net.gather(a, rows, net.numbers(b).ravel()[columns], shape=shape)
    if isinstance(b, Tensor) and isinstance(a, np.ndarray):
        return net.gather(b, columns, net.numbers(a).ravel()[rows], shape=shape)
    assert isinstance(a, Tensor)
    assert isinstance(b, Tensor)
    products = net.node(Product(), net.select(a, rows), net.select(b, columns), shape=rows.shape)
    return net.gather(products, products.index, np.ones(rows.shape), shape=shape)


def _index(value: Tensor | Const) -> Const:
    return np.arange(math.prod(value.shape)).reshape(value.shape)


def _is_one_block(x: Const, weight: Const) -> bool:
    """Whether x is a single row times a single matrix: then the map is the matrix itself."""
    return x.size == x.shape[-1] and weight.size == math.prod(weight.shape[-2:])


def _dense(net: Net, weight: Const) -> Array:
    own = np.array(net.numbers(weight), dtype=np.float64) + 0.0
    freeze(own)
    return own


def _product_shape(net: Net, a: tuple[int, ...], b: tuple[int, ...], left: Const, right: Const) -> tuple[int, ...]:
    if not a or not b or left.shape[-1] != right.shape[-2]:
        raise ValueError(f"shapes {a} and {b} do not multiply")
    stack = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    rows = () if len(a) == 1 else (a[-2],)
    columns = () if len(b) == 1 else (b[-1],)
    require_size(math.prod((*stack, *rows, *columns, left.shape[-1])), net.where)
    return (*stack, *rows, *columns)


def _terms(net: Net, left: Const, right: Const) -> tuple[Const, Const]:
    """For each entry of the product (rows) and each of its terms (columns): which entries are multiplied."""
    a = left[..., :, None, :]
    b = right.swapaxes(-1, -2)[..., None, :, :]
    shape = np.broadcast_shapes(a.shape, b.shape)
    terms = shape[-1]
    return np.broadcast_to(a, shape).reshape(-1, terms), np.broadcast_to(b, shape).reshape(-1, terms)


def _matmul(net: Net, call: Call) -> Value:
    return matmul(net, net.numeric(call.input(0)), net.numeric(call.input(1)))


def _gemm(net: Net, call: Call) -> Value:
    """alpha A B + beta C, with A or B transposed on demand; C may be left out."""
    a, b = (_oriented(net, net.numeric(call.input(k)), call.get(flag, 0)) for k, flag in ((0, "transA"), (1, "transB")))
    alpha, beta = call.real("alpha", 1.0), call.real("beta", 1.0)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        product: Tensor = net.tensor(alpha * (net.numbers(a) @ net.numbers(b)))
    elif isinstance(b, np.ndarray):
        product = matmul(net, a, b if alpha == 1.0 else alpha * b)
    elif isinstance(a, np.ndarray):
        product = matmul(net, a if alpha == 1.0 else alpha * a, b)
    else:
        product = net.scale(matmul(net, a, b), np.array(alpha))
    c = call.input(2)
    if c is None or beta == 0.0:
        return product
    offset = net.numeric(c)
    scaled = beta * net.numbers(offset) if isinstance(offset, np.ndarray) else net.scale(offset, np.array(beta))
    return plus(net, product, scaled)


def _oriented(net: Net, value: Tensor | Const, transpose: int) -> Tensor | Const:
    if len(value.shape) != 2:
        raise ValueError(f"Gemm multiplies matrices, got shape {value.shape}")
    if not transpose:
        return value
    return net.select(value, value.index.T) if isinstance(value, Tensor) else value.T


HANDLERS = {"Gemm": _gemm, "MatMul": _matmul}
