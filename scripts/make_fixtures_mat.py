"""Make tests/frontends/fixtures/mat: networks as MATLAB's users save them, by scipy (no MATLAB is needed):

    pip install scipy && python scripts/make_fixtures_mat.py

Made with scipy 1.17.1 and numpy 2.4.6. `numbered` has w1, b1, … with w (in, out), packed; `cells` W{k} (out, in) and
b{k}, with the names of activations.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import savemat

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "frontends" / "fixtures" / "mat"
SIZES = (3, 8, 8, 2)


def main() -> None:
    """Both files, with values computed by numpy as MATLAB would."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(5)
    weights = [random.normal(size=(n, m)) for m, n in pairwise(SIZES)]
    biases = [random.normal(size=(n, 1)) for n in SIZES[1:]]
    x = random.normal(size=(40, SIZES[0]))
    numbered = {f"w{k}": w.T for k, w in enumerate(weights, 1)} | {f"b{k}": b.T for k, b in enumerate(biases, 1)}
    savemat(FOLDER / "numbered.mat", numbered, do_compression=True)
    cells: dict[str, Any] = {"W": cell(weights), "b": cell(biases), "act_fcns": cell(["poslin", "tansig", "purelin"])}
    savemat(FOLDER / "cells.mat", cells | {"number_of_layers": 3})
    for name, second in (("numbered", lambda z: np.maximum(z, 0)), ("cells", np.tanh)):
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
