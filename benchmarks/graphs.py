"""Graphs of realistic size: how long building, canonicalising and evaluating takes, and how much memory.

    python benchmarks/graphs.py

Times are shown with what the same arithmetic costs in bare numpy or scipy, measured in the same run, because machines
are noisy and ratios are not.
"""

from __future__ import annotations

import resource
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from timing import timed

import ircert
from ircert.ir.ops import Conv, LeakyRelu, MaxPool
from ircert.passes.pipeline import Pipeline


def million_weights() -> None:
    rng = np.random.default_rng(0)
    sizes = [100, 700, 700, 600, 100]
    layers = [(rng.standard_normal((m, n)) / np.sqrt(n), rng.standard_normal(m)) for n, m in pairwise(sizes)]
    batch = rng.standard_normal((1000, sizes[0]))

    def build() -> ircert.Graph:
        made = ircert.Builder(sizes[0])
        x = made.input
        for weight, bias in layers[:-1]:
            x = made.node(LeakyRelu([0.01]), made.affine(x, weight, bias))
        return made.graph(made.affine(x, *layers[-1]))

    def bare() -> np.ndarray:
        x = batch
        for weight, bias in layers[:-1]:
            x = x @ weight.T + bias
            x = np.where(x >= 0, x, 0.01 * x)
        return x @ layers[-1][0].T + layers[-1][1]

    graph = build()
    canonical = Pipeline.parse("canonicalize")(graph)
    assert np.allclose(canonical(batch), bare())
    base = timed(bare)
    print(f"{sum(w.size for w, _ in layers):,} weights, leaky relu, batch of 1,000 (bare numpy: {base:.3f} s)")
    print(f"  build            {timed(build):7.3f} s")
    print(f"  sha256           {timed(lambda: build().sha256):7.3f} s (with building)")
    for passes in ("canonicalize", "fuse-affine", "canonicalize,eliminate-zeros", "canonicalize,fold-residual"):
        print(f"  {passes:<30} {timed(lambda p=passes: Pipeline.parse(p)(graph), 1):7.3f} s")
    print(f"  evaluate, as loaded    {timed(lambda: graph(batch)) / base:5.2f} x bare numpy")
    print(f"  evaluate, canonical    {timed(lambda: canonical(batch)) / base:5.2f} x bare numpy")
    first, again = timed(lambda: build().exact(batch[0]), 1), timed(lambda: graph.exact(batch[0]), 2)
    print(f"  exact, one point       {first:7.3f} s; another point of the same graph {again:.3f} s")


def convolutions(channels: int) -> None:
    rng = np.random.default_rng(0)

    def build() -> ircert.Graph:
        made = ircert.Builder(3 * 32 * 32)
        x, depth, side = made.input, 3, 32
        for _ in range(3):
            weight = rng.standard_normal((channels, depth, 3, 3)) / np.sqrt(9 * depth)
            x = made.node(Conv((depth, side, side), weight, np.zeros(channels), (1, 1), (1, 1, 1, 1)), x)
            x = made.relu(x)
            depth = channels
        x = made.node(MaxPool((depth, side, side), (2, 2), (2, 2)), x)
        return made.graph(made.affine(x, rng.standard_normal((10, depth * 256))))

    # A new graph each time: an operation remembers its sparse matrix.
    lowering = timed(lambda: Pipeline.parse("lower-conv")(build()), 2)
    lowered = Pipeline.parse("lower-conv")(build())
    stored = sum(
        node.op.weight.nnz for node in lowered.nodes if isinstance(getattr(node.op, "weight", None), csr_array)
    )
    del lowered
    whole = timed(lambda: Pipeline.parse("canonicalize")(build()), 2)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"three 3x3 convolutions of {channels} channels on 32x32x3: {stored:,} nonzeros")
    print(f"  lower-conv       {lowering:7.3f} s")
    print(f"  canonicalize     {whole:7.3f} s (max-pooling too)")
    print(f"  peak memory of this process so far {peak:.2f} GB")


def storage() -> None:
    rng = np.random.default_rng(0)
    print("sparse against dense storage, 1000x1000 weights, time for a batch of 1,000 (sparse / dense)")
    batch = rng.standard_normal((1000, 1000))
    for density in (0.01, 0.03, 0.1, 0.3):
        weight = rng.standard_normal((1000, 1000)) * (rng.random((1000, 1000)) < density)
        sparse = csr_array(weight)
        ratio = timed(lambda s=sparse: (s @ batch.T).T) / timed(lambda w=weight: batch @ w.T)
        one = timed(lambda s=sparse: s @ batch[0], 20) / timed(lambda w=weight: w @ batch[0], 20)
        print(f"  density {density:4.2f}: batch {ratio:5.2f}, one point {one:5.2f}, bytes {1.5 * density:5.3f}")


if __name__ == "__main__":
    convolutions(16)
    convolutions(32)
    million_weights()
    storage()
