"""What the train_*.py scripts share: data from a flow, training and pruning with scikit-learn, saving and measuring.

Weights are rounded to float32 numbers before they are measured and saved: the rounded numbers are the network.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import ircert

try:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPRegressor
except ImportError:
    sys.exit("training needs the package `scikit-learn`; install it with: pip install 'ircert[training]'")

FOLDER = Path(__file__).resolve().parents[1] / "ircert" / "data" / "networks"
SEED = 0
TEST_POINTS = 5000
TEST_SEED = 1

# Pruning: Adam's steps per stage and their rates; the share of zeros grows in the first stages.
BATCH = 250
STEPS = 4000
RATES = (1e-3, 1e-3, 1e-3, 3e-4, 1e-4)
PRUNING_STAGES = 2
PRUNE_EVERY = 100

Array = NDArray[np.float64]
Field = Callable[[Array], Array]
Layers = list[tuple[Array, Array]]


def flow(field: Field, starts: Array, time: float) -> Array:
    """Where each start (a row) is after some time: scipy's DOP853, to about ten digits."""

    def end(start: Array) -> Array:
        solution = solve_ivp(lambda _, x: field(x), (0.0, time), start, method="DOP853", rtol=1e-10, atol=1e-10)
        return solution.y[:, -1]

    return np.array([end(start) for start in starts])


def sample(low: list[float], high: list[float], count: int, seed: int) -> Array:
    """Uniformly random points of a box, one per row."""
    return np.random.default_rng(seed).uniform(low, high, size=(count, len(low)))


def fit(x: Array, y: Array, hidden: tuple[int, ...], *, alpha: float = 1e-2, iterations: int = 5000) -> Layers:
    """The layers (W, b) of a relu network trained by L-BFGS with weight decay alpha, in so many iterations at most."""
    model = MLPRegressor(
        hidden_layer_sizes=hidden, solver="lbfgs", alpha=alpha, max_iter=iterations, max_fun=10**6, random_state=SEED
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # large networks end at the limit; `report` says how good
        model.fit(x, y[:, 0] if y.shape[1] == 1 else y)  # scikit-learn wants one output without an axis of its own
    return _layers(model)


def prune(layers: Layers, x: Array, y: Array, share: float, *, seed: int) -> Layers:
    """Gradual magnitude pruning (Zhu and Gupta, 2018): the given share of each weight matrix becomes zero.

    Adam takes one step per random batch and the masks are applied after each, so that a weight once zero stays zero.
    The share of zeros rises as share * (1 - (1 - t)^3), t from 0 to 1, in the first stages; the others fine-tune what
    is left, at falling rates. There is no weight decay: it would make zeros of its own (weights of units that no point
    reaches). The seed draws the batches.
    """
    rng = np.random.default_rng(seed)
    hidden = tuple(len(b) for _, b in layers[:-1])
    model = MLPRegressor(
        hidden_layer_sizes=hidden, alpha=0.0, batch_size=BATCH, max_iter=1, warm_start=True, random_state=seed
    )
    masks = [np.ones_like(weight.T) for weight, _ in layers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # max_iter=1 is meant
        model.fit(x[:BATCH], y[:BATCH])
        for k, (weight, bias) in enumerate(layers):
            model.coefs_[k][:], model.intercepts_[k][:] = weight.T, bias
        for t in range(STEPS * len(RATES)):
            batch = rng.choice(len(x), BATCH, replace=False)
            if t % STEPS == 0:  # fit starts Adam anew from the weights at hand; partial_fit goes on
                model.set_params(learning_rate_init=RATES[t // STEPS]).fit(x[batch], y[batch])
            else:
                model.partial_fit(x[batch], y[batch])
            done = (t + 1) / (PRUNING_STAGES * STEPS)
            if done <= 1 and (t + 1) % PRUNE_EVERY == 0:
                wanted = share * (1 - (1 - done) ** 3)
                masks = [_mask(weight * mask, wanted) for weight, mask in zip(model.coefs_, masks, strict=True)]
            for weight, mask in zip(model.coefs_, masks, strict=True):
                weight *= mask
    return _layers(model)


def _mask(weight: Array, share: float) -> Array:
    """Zero for the given share of entries that are smallest in magnitude, one for the rest."""
    mask = np.ones(weight.size)
    mask[np.argsort(np.abs(weight), axis=None, kind="stable")[: round(share * weight.size)]] = 0
    return mask.reshape(weight.shape)


def _layers(model: MLPRegressor) -> Layers:
    def rounded(a: Array) -> Array:
        return a.astype(np.float32).astype(np.float64)

    return [(rounded(w.T), rounded(b)) for w, b in zip(model.coefs_, model.intercepts_, strict=True)]


def save(name: str, network: Layers | ircert.Graph, x: Array, y: Array) -> None:
    """Write a bundled network and print its error at test points x with values y."""
    graph = network if isinstance(network, ircert.Graph) else ircert.load(network)
    path = FOLDER / f"{name}.onnx"
    ircert.save(graph, path)
    report(path, graph, x, y)


def report(path: Path, graph: ircert.Graph, x: Array, y: Array) -> None:
    """Print the size of a file, and the error and mean R² of its network at points x with values y."""
    errors = np.mean((graph(x) - y) ** 2, axis=0)
    error, explained = np.sqrt(errors.mean()), 1 - np.mean(errors / y.var(axis=0))
    size = path.stat().st_size
    print(f"{path.name}: {size} bytes, root mean square error {error:.4f}, R² {explained:.5f}", flush=True)


def train(
    name: str, f: Callable[[Array], Array], low: list[float], high: list[float], *, points: int, **options: float
) -> None:
    """Learn f on a box from random points with the layer sizes at the end of the name, e.g. -3-16-16-2, and save.

    The options are those of `fit`.
    """
    x, test = sample(low, high, points, SEED), sample(low, high, TEST_POINTS, TEST_SEED)
    hidden = tuple(int(size) for size in name.split("-") if size.isdigit())[1:-1]
    save(name, fit(x, f(x), hidden, **options), test, f(test))
