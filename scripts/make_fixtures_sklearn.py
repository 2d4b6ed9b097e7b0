"""Make tests/frontends/fixtures/sklearn: scikit-learn's MLPRegressor as skl2onnx writes it.

Made with Python 3.11, scikit-learn 1.9.1, skl2onnx 1.20.0, onnx 1.23.2, onnxruntime 1.31.1, numpy 2.4.6:

    pip install scikit-learn skl2onnx onnxruntime && python scripts/make_fixtures_sklearn.py

A regressor with several outputs goes wrong in skl2onnx: a batch of (3, 4) outputs comes out as (12, 1). That file is
kept beside the coefficients of its model, for the test that reads them directly.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from fixture_tools import FIXTURES, run_each, store, strip
from skl2onnx import to_onnx
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

POINTS = 6


def main() -> None:
    """Fit and export."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    one, four = np.abs(x).sum(axis=1), np.abs(x @ rng.normal(size=(3, 4)))
    options: dict[str, Any] = {"hidden_layer_sizes": (6, 5), "random_state": 0, "max_iter": 40}
    folder = FIXTURES / "sklearn"
    folder.mkdir(parents=True, exist_ok=True)
    export(folder / "regressor.onnx", MLPRegressor(**options).fit(x, one), x, np.float32)
    export(folder / "regressor_double.onnx", MLPRegressor(**options).fit(x, one), x, np.float64)
    export(folder / "regressor_tanh.onnx", MLPRegressor(activation="tanh", **options).fit(x, one), x, np.float32)
    standard = make_pipeline(StandardScaler(), MLPRegressor(**options)).fit(x, one)
    export(folder / "pipeline_standard.onnx", standard, x, np.float32)
    minmax = make_pipeline(MinMaxScaler(), MLPRegressor(activation="identity", **options)).fit(x, one)
    export(folder / "pipeline_minmax.onnx", minmax, x, np.float32)
    several_outputs(folder / "regressor_outputs.onnx", MLPRegressor(**options).fit(x, four), x)


def export(path: Path, model: Any, x: Any, dtype: type) -> None:
    """One regressor with one output, through skl2onnx."""
    points = x[:POINTS].astype(dtype)
    path.write_bytes(to_onnx(model, points, target_opset=18).SerializeToString())
    strip(path)
    store(path, points[:, None, :], model.predict(points.astype(np.float64)))
    print(path.name, path.stat().st_size)


def several_outputs(path: Path, model: MLPRegressor, x: Any) -> None:
    """The exporter's file, which has the wrong output shape for a batch, and the coefficients it was made from."""
    points = x[:POINTS]
    path.write_bytes(to_onnx(model, points.astype(np.float32), target_opset=18).SerializeToString())
    strip(path)
    layers = {f"W{k}": w.T for k, w in enumerate(model.coefs_)} | {f"b{k}": b for k, b in enumerate(model.intercepts_)}
    np.savez(path.with_name("regressor_outputs_layers.npz"), **layers)
    y = model.predict(points)
    np.savez(path.with_suffix(".npz"), x=points[:, None, :], y=y)
    print(path.name, "one point at a time agrees:", np.allclose(run_each(path, points[:, None, :]), y, atol=1e-5))


if __name__ == "__main__":
    main()
