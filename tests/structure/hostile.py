"""Networks that look invertible and are not, each with two inputs of one output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

import ircert
from ircert.ir.arrays import Array
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.ir.ops import AveragePool, Conv, MaxPool, Relu
from ircert.ir.ops.base import Op
from ircert.ir.ops.curves import Cos, Elu, Sigmoid, Softplus, Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.piecewise import Abs, Clip, LeakyRelu, Max, Min
from ircert.ir.ops.smooth import Product, Reciprocal
from ircert.ir.ops.square import Square

TINY, HUGE, STEP = 2.0**-1074, 2.0**1000, 2.0**-52


@dataclass(frozen=True)
class Trap:
    """f(x) = f(y), x != y."""

    name: str
    graph: Graph
    x: Array
    y: Array


def trap(name: str, graph: Graph, x: object, y: object) -> Trap:
    return Trap(name, graph, np.asarray(x, dtype=float), np.asarray(y, dtype=float))


def traps() -> list[Trap]:
    """All of them."""
    return [*steep_branches(), *selections(), *scales(), *matrices(), *branches(), *functions(), *cycles()]


def steep_branches() -> Iterator[Trap]:
    """k x - c relu(x), c >= k, however c is written: -c relu(1) + k is what a negative x gives."""
    for c in (1.0, 1.0 + STEP, 1.0001, 2.0):
        for times in (1, 2):
            total = c * times
            for n in (1, 3):
                for way in ("dense", "sparse", "conv", "two layers", "two parts", "pooled", "permuted"):
                    build = ircert.Builder(n)
                    branch = _branch(build, way, total, n)
                    graph = build.graph(build.add(*[build.input] * times, *branch))
                    x, y = np.ones(n), np.full(n, (times - total) / times)
                    yield trap(f"{times} x - {total!r} relu, {way}, {n}", graph, x, y if c > 1 else 2 * x)


def _branch(build: Builder, way: str, size: float, n: int) -> list[str]:
    positive, eye = build.relu(build.input), np.eye(n)
    if way == "sparse":
        return [build.affine(positive, csr_array(-size * eye))]
    if way == "conv":
        weight = np.zeros((1, 1, 3))
        weight[0, 0, 1] = -size
        return [build.node(Conv((1, n), weight, padding=(1, 1)), positive)]
    if way == "two layers":
        return [build.affine(build.affine(positive, size * HUGE * eye / 4), -4 * eye / HUGE)]
    if way == "two parts":
        return [build.affine(positive, -size / 2 * eye)] * 2
    if way == "pooled":
        return [build.affine(build.node(AveragePool((n, 1), (1,)), positive), -size * eye)]
    if way == "permuted":
        order = np.roll(np.arange(n), 1)
        return [build.affine(build.select(positive, order), -size * eye[np.argsort(order)])]
    return [build.affine(positive, -size * eye)]


def selections() -> Iterator[Trap]:
    """What is left out by slices that overlap, by indices that come twice, by halves that are the same half."""
    for n in (2, 3, 5):
        for missing in range(n):
            indices = [i for i in range(n) if i != missing]
            for extra in indices[:2]:
                build = ircert.Builder(n)
                chosen = build.select(build.input, [*indices, extra, *indices])
                yield trap(f"{n} without {missing}", build.graph(chosen), np.zeros(n), np.eye(n)[missing])
                build = ircert.Builder(n)
                lower = build.select(build.input, indices)
                moved = build.add(build.select(build.input, [extra]), build.relu(build.select(lower, [0])))
                graph = build.graph(build.concat(lower, moved, build.affine(lower, 2 * np.eye(n - 1))))
                yield trap(f"{n} coupled without {missing}", graph, np.zeros(n), np.eye(n)[missing])
    for kernel, op in ((2, MaxPool), (2, AveragePool)):
        build = ircert.Builder(4)
        graph = build.graph(build.node(op((1, 4), (kernel,), stride=(2,)), build.input))
        x = np.array([1.0, -1.0, 0.0, 0.0])
        yield trap(op.kind, graph, x, x[[1, 0, 2, 3]])
    build = ircert.Builder(3)
    graph = build.graph(build.node(MaxPool((1, 3), (2,), padding=(1, 1)), build.input))
    yield trap("windows of one entry at both ends", graph, [5.0, 1.0, 5.0], [5.0, 2.0, 5.0])


def _scaled(scale: Sequence[Op], weight: float, bias: float) -> Graph:
    """(x0, x1 s(x0)) with s = weight * op(… x0) + bias."""
    build = ircert.Builder(2)
    kept, moved = build.select(build.input, [0]), build.select(build.input, [1])
    s = kept
    for op in scale:
        s = build.node(op, s)
    s = build.affine(s, [[weight]], [bias])
    return build.graph(build.concat(kept, build.node(Product(), s, moved)))


def scales() -> Iterator[Trap]:
    """Scales that are 0 somewhere."""
    at_zero: list[tuple[Sequence[Op], float, float]] = [
        *(
            ([op], weight, 0.0)
            for op in (Tanh(), Abs(), Clip(np.array(0.0), np.array(1.0)), Elu())
            for weight in (1.0, -TINY, HUGE)
        ),
        *(([Exp()], w, -w) for w in (1.0, -2.0, HUGE, TINY)),
        *(([Sigmoid()], w, -w / 2) for w in (1.0, -4.0, HUGE, 2 * TINY)),
        *(([Abs(), Exp()], w, -w) for w in (1.0, -1.0, HUGE)),
        *(([LeakyRelu(np.array(s)), Abs()], 1.0, 0.0) for s in (0.5, -1.0)),
        ([Abs(), Tanh()], 1.0, 0.0),
        ([Tanh(), Abs(), Exp()], 1.0, -1.0),
        ([Exp(), Reciprocal()], 1.0, -1.0),
        ([Clip(np.array(-1.0), np.array(1.0))], 1.0, 0.0),
    ]
    for ops, weight, bias in at_zero:
        kinds = " ".join(op.kind for op in ops)
        yield trap(f"scale {weight!r} {kinds} + {bias!r}", _scaled(ops, weight, bias), [0.0, 1.0], [0.0, 2.0])
    for way in range(4):  # exp - exp, exp times 0, itself, and a square
        build = ircert.Builder(2)
        kept, moved = build.select(build.input, [0]), build.select(build.input, [1])
        grown = build.node(Exp(), kept)
        scale = [
            build.affine(build.concat(grown, grown), [[1.0, -1.0]]),
            build.affine(grown, [[0.0]]),
            build.add(grown, build.affine(grown, [[-1.0]])),
            build.node(Product(), grown, build.relu(kept)),
        ][way]
        graph = build.graph(build.concat(kept, build.node(Product(), moved, scale)))
        yield trap(f"scale that cancels {way}", graph, [0.0, 1.0], [0.0, 2.0])
    build = ircert.Builder(1)  # x (1 + relu(4 - 2 x)): the scale is never 0, and reads what it scales
    scale = build.affine(build.relu(build.affine(build.input, [[-2.0]], [4.0])), [[1.0]], [1.0])
    yield trap("scale of itself", build.graph(build.node(Product(), build.input, scale)), [1.0], [3.0])
    build = ircert.Builder(1)
    yield trap("square", build.graph(build.node(Product(), build.input, build.input)), [1.0], [-1.0])
    build = ircert.Builder(1)
    exact = build.affine(build.input, [[1.0]])
    yield trap("square of two names", build.graph(build.node(Product(), build.input, exact)), [1.0], [-1.0])


def matrices() -> Iterator[Trap]:
    """Singular ones with numbers of all sizes."""
    for scale in (1.0, TINY, HUGE, 0.1):
        for n in (2, 3, 4):
            for sparse in (False, True):
                weight = np.eye(n) * scale
                weight[n - 1] = weight[0] * 4
                build = ircert.Builder(n)
                graph = build.graph(build.affine(build.input, csr_array(weight) if sparse else weight))
                yield trap(f"row twice {scale!r} {n}", graph, np.zeros(n), np.eye(n)[n - 1])
                ones = np.full((n, n), scale)
                ones[0] *= TINY / scale if scale == 1.0 else 1
                build = ircert.Builder(n)
                graph = build.graph(build.affine(build.input, ones))
                yield trap(f"ones {scale!r} {n}", graph, np.zeros(n), np.eye(n)[0] - np.eye(n)[1])
    for channels in (2, 3):  # 1x1 convolutions whose filters depend on each other
        weight = np.eye(channels)
        weight[-1] = weight[0] - (weight[1] if channels > 2 else 0)
        image = (channels, 2, 2)
        build = ircert.Builder(4 * channels)
        graph = build.graph(build.node(Conv(image, weight[:, :, None, None]), build.input))
        x = np.zeros((channels, 4))
        x[-1, 0] = 1.0
        yield trap(f"1x1 convolution {channels}", graph, np.zeros(4 * channels), x.ravel())
    build = ircert.Builder(2)  # regular factors of which one loses an input
    first = build.affine(build.input, [[1.0, 0.0], [0.0, 0.0]])
    yield trap("triangle with 0", build.graph(build.affine(first, [[1.0, 1.0], [0.0, 1.0]])), [0.0, 0.0], [0.0, 1.0])


def branches() -> Iterator[Trap]:
    """Sums whose branch reads more than the part it is added to, or the part itself."""
    for size in (0.25, 0.5, 0.875):
        build = ircert.Builder(2)  # the branch is small, but reads the other input, which is not known
        a, b = build.select(build.input, [0]), build.select(build.input, [1])
        total = build.add(a, build.affine(build.relu(b), [[size]]))
        yield trap(f"outside {size}", build.graph(build.concat(total, total)), [size, 0.0], [0.0, 1.0])
        build = ircert.Builder(2)
        a, b = build.select(build.input, [0]), build.select(build.input, [1])
        total = build.add(a, build.affine(a, [[size]]), build.affine(b, [[1 + size]]))
        yield trap(f"both {size}", build.graph(build.concat(total, build.relu(total))), [1.0, 0.0], [0.0, 1.0])
    for sign in (1.0, -1.0):
        build = ircert.Builder(1)
        graph = build.graph(build.add(build.input, build.affine(build.node(Abs(), build.input), [[sign]])))
        yield trap(f"x + {sign} |x|", graph, [-sign], [-2 * sign])
        build = ircert.Builder(2)
        turned = build.select(build.input, [1, 0])
        graph = build.graph(build.add(build.input, build.affine(turned, sign * np.eye(2))))
        yield trap(f"x + {sign} turned", graph, [0.0, 0.0], [1.0, -sign])
    build = ircert.Builder(2)  # the maximum of the parts, beside the minimum
    a, b = build.select(build.input, [0]), build.select(build.input, [1])
    yield trap("sorted", build.graph(build.concat(build.node(Max(), a, b), build.node(Min(), a, b))), [0, 1], [1, 0])


def functions() -> Iterator[Trap]:
    """Functions that are not strictly monotone, between maps that are regular."""
    flat: list[tuple[Op, float, float]] = [
        (LeakyRelu(np.array(0.0)), -1.0, -2.0),
        (LeakyRelu(np.array(-0.5)), 0.5, -1.0),
        (LeakyRelu(np.array(-TINY)), TINY, -1.0),
        (Elu(0.0), -1.0, -2.0),
        (Elu(-0.5), 0.5 * (1 - np.exp(-1.0)), -1.0),
        (Clip(np.array(-1.0), np.array(1.0)), 2.0, 3.0),
        (Abs(), 1.0, -1.0),
        (Relu(), -1.0, -2.0),
        (Cos(), 1.0, -1.0),
        (Square(), 1.0, -1.0),
    ]
    for op, x, y in flat:
        for n in (1, 2):
            build = ircert.Builder(n)
            turned = build.affine(build.input, np.eye(n)[::-1])
            graph = build.graph(build.affine(build.node(op, turned), 2 * np.eye(n), np.ones(n)))
            yield trap(f"{op.kind} {op.attributes()} {n}", graph, np.full(n, x), np.full(n, y))
    build = ircert.Builder(2)
    slopes = LeakyRelu(np.array([1.0, 0.0]))
    yield trap("one slope of 0", build.graph(build.node(slopes, build.input)), [0.0, -1.0], [0.0, -2.0])
    build = ircert.Builder(1)
    bent = build.node(Softplus(), build.node(Abs(), build.input))
    yield trap("softplus of |x|", build.graph(build.concat(bent, build.node(Tanh(), bent))), [1.0], [-1.0])


def cycles() -> Iterator[Trap]:
    """Reversible blocks in which both parts read each other as they were."""
    for size in (1.0, 2.0, 4.0):
        build = ircert.Builder(2)
        a, b = build.select(build.input, [0]), build.select(build.input, [1])
        first = build.add(a, build.affine(b, [[-size]]))
        second = build.add(b, build.affine(a, [[-1 / size]]))
        yield trap(f"cycle {size}", build.graph(build.concat(first, second)), [0.0, 0.0], [size, 1.0])
        build = ircert.Builder(2)  # the same with relu: at positive points alone
        a, b = build.select(build.input, [0]), build.select(build.input, [1])
        first = build.add(a, build.affine(build.relu(b), [[-size]]))
        second = build.add(b, build.affine(build.relu(a), [[-1 / size]]))
        yield trap(f"cycle of relus {size}", build.graph(build.concat(first, second)), [size, 1.0], [2 * size, 2.0])
    for n in (2, 3, 5):  # an autoregressive map whose first output reads its own input
        build = ircert.Builder(n)
        hidden = build.relu(build.affine(build.input, np.tril(np.ones((n, n)))))
        graph = build.graph(build.add(build.input, build.affine(hidden, -np.tril(np.ones((n, n))))))
        x, y = np.zeros(n), np.zeros(n)
        x[-1], y[-1] = 1.0, 2.0
        yield trap(f"wrong mask {n}", graph, x, y)
