"""Make tests/frontends/fixtures/mat: networks as MATLAB's users save them, by scipy (no MATLAB is needed):

    pip install scipy && python scripts/make_fixtures_mat.py

Made with scipy 1.17.1 and numpy 2.4.6. `numbered` has w1, b1, … with w (in, out), packed; `cells` W{k} (out, in) and
b{k}, with the names of activations in a cell; `nnv` the same as NNV's examples have it, with names in rows of
characters and scalings beside them; `controller` as one struct.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import savemat

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "frontends" / "fixtures" / "mat"
SIZES = (3, 8, 8, 2)


def main() -> None:
    """All files, with values computed by numpy as MATLAB would."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(5)
    weights = [random.normal(size=(n, m)) for m, n in pairwise(SIZES)]
    biases = [random.normal(size=(n, 1)) for n in SIZES[1:]]
    x = random.normal(size=(40, SIZES[0]))
    numbered = {f"w{k}": w.T for k, w in enumerate(weights, 1)} | {f"b{k}": b.T for k, b in enumerate(biases, 1)}
    savemat(FOLDER / "numbered.mat", numbered, do_compression=True)
    cells: dict[str, Any] = {"W": cell(weights), "b": cell(biases), "act_fcns": cell(["poslin", "tansig", "purelin"])}
    savemat(FOLDER / "cells.mat", cells | {"number_of_layers": 3})
    rows: dict[str, Any] = {"W": cell(weights), "b": cell(biases), "act_fcns": ["relu", "relu2", "linear"]}
    scaling = {"means_for_scaling": np.zeros(4), "range_for_scaling": np.ones(4), "number_of_inputs": 3}
    savemat(FOLDER / "nnv.mat", rows | scaling | {"layer_sizes": SIZES[1:], "is_symmetric": 0})
    inner = {"W": cell(weights), "b": cell(biases), "activation_fcns": ["relu   ", "sigmoid", "linear "]}
    savemat(FOLDER / "controller.mat", {"controller": inner | {"number_of_layers": 3}}, do_compression=True)
    seconds: dict[str, Callable[[Any], Any]] = {"numbered": lambda z: np.maximum(z, 0), "cells": np.tanh}
    seconds |= {"nnv": lambda z: np.clip(z, -1, 1), "controller": lambda z: 1 / (1 + np.exp(-z))}
    for name, second in seconds.items():
        h = np.maximum(weights[0] @ x.T + biases[0], 0)
        y = weights[2] @ second(weights[1] @ h + biases[1]) + biases[2]
        np.savez(FOLDER / f"{name}.npz", x=x, y=y.T)


def cell(values: list[Any]) -> Any:
    """A cell of one row."""
    made = np.empty((1, len(values)), dtype=object)
    for k, value in enumerate(values):
        made[0, k] = value
    return made


if __name__ == "__main__":
    main()
