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
    left = (1, *a.shape) if len(a.shape) == 1 else a.shape
    right = (*b.shape, 1) if len(b.shape) == 1 else b.shape
    shape = _product_shape(a.shape, b.shape, left, right)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        require_size(math.prod(shape), net.where)
        return net.tensor(net.numbers(a) @ net.numbers(b))
    if isinstance(a, Tensor) and isinstance(b, np.ndarray) and _is_row(left) and _is_matrix(right):
        return net.affine(a, _dense(net, b.reshape(right[-2:]).T), shape=shape)
    if isinstance(b, Tensor) and isinstance(a, np.ndarray) and _is_column(right) and _is_matrix(left):
        return net.affine(b, _dense(net, a.reshape(left[-2:])), shape=shape)
    rows, columns = _terms(net, left, right)
    if isinstance(a, Tensor) and isinstance(b, np.ndarray):
        return net.gather(a, rows, net.numbers(b).ravel()[columns], shape=shape)
    if isinstance(b, Tensor) and isinstance(a, np.ndarray):
        return net.gather(b, columns, net.numbers(a).ravel()[rows], shape=shape)
    products = net.node(
        Product(), net.select(net.tensor(a), rows), net.select(net.tensor(b), columns), shape=rows.shape
    )
    return net.gather(products, products.index, np.ones(rows.shape), shape=shape)


def _is_row(shape: tuple[int, ...]) -> bool:
    """A single row times a single matrix is the matrix's own affine map: no need to spread it."""
    return math.prod(shape[:-1]) == 1


def _is_column(shape: tuple[int, ...]) -> bool:
    return math.prod(shape[:-2]) * shape[-1] == 1


def _is_matrix(shape: tuple[int, ...]) -> bool:
    return math.prod(shape[:-2]) == 1


def _dense(net: Net, weight: Const) -> Array:
    own = np.ascontiguousarray(net.numbers(weight)) + 0.0
    freeze(own)
    return own


def _product_shape(
    a: tuple[int, ...], b: tuple[int, ...], left: tuple[int, ...], right: tuple[int, ...]
) -> tuple[int, ...]:
    if not a or not b or left[-1] != right[-2]:
        raise ValueError(f"shapes {a} and {b} do not multiply")
    stack = np.broadcast_shapes(left[:-2], right[:-2])
    rows = () if len(a) == 1 else (a[-2],)
    columns = () if len(b) == 1 else (b[-1],)
    return (*stack, *rows, *columns)


def _terms(net: Net, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[Const, Const]:
    """For each entry of the product (rows) and each of its terms (columns): which entries are multiplied."""
    stack = np.broadcast_shapes(left[:-2], right[:-2])
    shape = (*stack, left[-2], right[-1], left[-1])
    require_size(math.prod(shape), net.where)
    a = np.arange(math.prod(left)).reshape(left)[..., :, None, :]
    b = np.arange(math.prod(right)).reshape(right).swapaxes(-1, -2)[..., None, :, :]
    return np.broadcast_to(a, shape).reshape(-1, left[-1]), np.broadcast_to(b, shape).reshape(-1, left[-1])


def _matmul(net: Net, call: Call) -> Value:
    return matmul(net, net.numeric(call.input(0)), net.numeric(call.input(1)))


def _gemm(net: Net, call: Call) -> Value:
    """alpha A B + beta C, with A or B transposed on demand; C may be left out."""
    a, b = (_oriented(net, net.numeric(call.input(k)), call.get(flag, 0)) for k, flag in ((0, "transA"), (1, "transB")))
    alpha, beta = call.real("alpha", 1.0), call.real("beta", 1.0)
    if isinstance(b, np.ndarray):
        product = matmul(net, a, b if alpha == 1.0 else alpha * net.numbers(b))
    elif isinstance(a, np.ndarray):
        product = matmul(net, a if alpha == 1.0 else alpha * net.numbers(a), b)
    else:
        product = net.scale(matmul(net, a, b), np.array(alpha))
    c = call.input(2)
    if c is None or beta == 0.0:
        return product
    offset = net.numeric(c)
    if np.broadcast_shapes(product.shape, offset.shape) != product.shape:
        raise call.refuse(f"C of shape {offset.shape} is larger than the product, {product.shape}")
    scaled = beta * net.numbers(offset) if isinstance(offset, np.ndarray) else net.scale(offset, np.array(beta))
    return plus(net, product, scaled)


def _oriented(net: Net, value: Tensor | Const, transpose: int) -> Tensor | Const:
    if len(value.shape) != 2:
        raise ValueError(f"Gemm multiplies matrices, got shape {value.shape}")
    if not transpose:
        return value
    return net.select(value, value.index.T) if isinstance(value, Tensor) else value.T


HANDLERS = {"Gemm": _gemm, "MatMul": _matmul}
