"""p12* of a digits network and its pruned twins, beside the paper's program on solvers with the same time.

    python benchmarks/optimum.py [--seconds 60] [--pruned 30,50,70] [--radii 0.02,0.05,0.1] [--who ircert,highs,gurobi]
    python benchmarks/optimum.py --smooth --seconds 5

A network 64-32-16-10 (scikit-learn's MLPRegressor) is trained on scikit-learn's digits; its twins lose the smallest
weights of each layer. With `--smooth` random tanh networks with fewer outputs than inputs, each beside another one of
8 hidden neurons, in place of these. The question is `transform` around the first image, with pixels in [0, 1]: how far
apart can the twin's outputs be where the network's agree? A row has the value (exact for ircert; what the solver says
of its own point for solvers), the bound, their ratio, the trust, and the seconds. Needs scikit-learn, which ircert does
not.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import pairwise
from typing import Any

import numpy as np

import ircert
from ircert.backends.base import Solver

Layers = list[tuple[Any, Any]]


def digits() -> tuple[Layers, Any]:
    """The layers of a trained network, and the images as numbers from 0 to 1."""
    from sklearn.datasets import load_digits
    from sklearn.neural_network import MLPRegressor

    data = load_digits()
    images = data.data / 16.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MLPRegressor(hidden_layer_sizes=(32, 16), random_state=0, max_iter=300)
        model.fit(images, np.eye(10)[data.target])
    return [(weight.T.copy(), bias) for weight, bias in zip(model.coefs_, model.intercepts_, strict=True)], images


def pruned(layers: Layers, share: float) -> Layers:
    """The network without the smallest weights of each layer."""
    return [(np.where(np.abs(w) <= np.quantile(np.abs(w), share), 0.0, w), b) for w, b in layers]


def smooth(seconds: float) -> None:
    """The rows of networks with curves."""
    print("| tanh | radius | value | bound | ratio | trust | s |\n|---|---|---|---|---|---|---|")
    for sizes in ((2, 16, 1), (3, 16, 2), (4, 16, 8, 2), (10, 20, 5), (64, 32, 16, 10)):
        rng = np.random.default_rng(1)
        network, twin = (
            ircert.load(
                [(rng.normal(size=(b, a)) * scale / np.sqrt(a), rng.normal(size=b) * 0.3) for a, b in pairwise(shape)],
                activation="tanh",
            )
            for shape, scale in ((sizes, 2.0), ((sizes[0], 8, 3), 1.0))
        )
        center = rng.uniform(-0.3, 0.3, sizes[0])
        for radius in (0.05, 0.5):
            row = by_ircert(network, twin, center, radius, seconds, None)
            print(f"| {'-'.join(map(str, sizes))} | {radius} | {row} |", flush=True)


def by_ircert(network: Any, twin: Any, center: Any, radius: float, seconds: float, domain: Any = (0.0, 1.0)) -> str:
    """The bracket that certify gives."""
    found = ircert.certify(
        network, center, "transform", twin, radius=radius, domain=domain, time_limit=seconds, optimum=True
    )
    assert found.optimum is not None
    value, bound, trust = found.optimum
    return f"{value:.6f} | {bound:.6f} | {bound / value:.3f} | {trust} | {found.seconds:.1f}"


def by_solver(name: str, network: Any, twin: Any, center: Any, radius: float, seconds: float) -> str:
    """What a solver says about the paper's program, with our bounds of neurons."""
    query = ircert.Query("transform", center, radius, "inf", twin, (0.0, 1.0))
    begin, solver = time.perf_counter(), ircert.backends.get(name)
    assert isinstance(solver, Solver), f"{name} solves nothing"
    try:
        found = solver.solve(ircert.program(network, query), time_limit=seconds)
    except ircert.IrcertError as error:
        return f"refused: {str(error).splitlines()[0]}"
    taken = time.perf_counter() - begin
    value, bound = found.value or 0.0, float("inf") if found.bound is None else found.bound
    ratio = f"{bound / value:.3f}" if value > 0 else "-"
    return f"{value:.6f} | {bound:.6f} | {ratio} | solver | {taken:.1f}"


def main() -> None:
    """Print a table, a row as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pruned", default="30,50,70")
    parser.add_argument("--radii", default="0.02,0.05,0.1")
    parser.add_argument("--who", default="ircert,highs,gurobi")
    parser.add_argument("--smooth", action="store_true")
    options = parser.parse_args()
    if options.smooth:
        smooth(options.seconds)
        return
    layers, images = digits()
    network, center = ircert.load(layers), images[0]
    print("| pruned | radius | by | value | bound | ratio | trust | s |\n|---|---|---|---|---|---|---|---|")
    for percent in options.pruned.split(","):
        twin = ircert.load(pruned(layers, float(percent) / 100))
        for radius in options.radii.split(","):
            for who in options.who.split(","):
                asked = network, twin, center, float(radius), options.seconds
                row = by_ircert(*asked) if who == "ircert" else by_solver(who, *asked)
                print(f"| {percent} % | {radius} | {who} | {row} |", flush=True)


if __name__ == "__main__":
    main()
