"""What the fixture scripts share: clean an exported file, store expected values, and check them with onnxruntime."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

FIXTURES = Path(__file__).resolve().parent.parent / "tests" / "frontends" / "fixtures"
LIMIT = 50_000  # bytes: fixtures stay small


def strip(path: Path) -> None:
    """Remove what names the exporting machine (stack traces, doc strings); nodes, names and numbers stay."""
    model = onnx.load(path, load_external_data=False)
    model.doc_string = ""
    for holder in (model, model.graph, *model.graph.node, *model.graph.value_info, *model.graph.initializer):
        _forget(holder)
    for value in (*model.graph.input, *model.graph.output):
        _forget(value)
    for function in model.functions:
        for holder in (function, *function.node):
            _forget(holder)
    path.write_bytes(model.SerializeToString(deterministic=True))


def _forget(holder: Any) -> None:
    holder.doc_string = ""
    del holder.metadata_props[:]


def store(path: Path, x: NDArray[Any], y: NDArray[Any], *, rtol: float = 1e-5) -> None:
    """Save points x (N, …) and the framework's outputs y (N, …) beside the model, if onnxruntime agrees."""
    found = run_each(path, x)
    y = np.asarray(y).reshape(len(x), -1)
    scale = max(1.0, float(np.abs(y).max()))
    if found.shape != y.shape or not np.allclose(found, y, rtol=rtol, atol=rtol * scale):
        raise SystemExit(f"{path}: onnxruntime disagrees with the framework")
    np.savez(path.with_suffix(".npz"), x=x, y=y)
    _check_size(path)


def run_each(path: Path, x: NDArray[Any]) -> NDArray[Any]:
    """onnxruntime's outputs at each point, flattened to (N, m); a free dimension counts as 1."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    wanted, *dangling = session.get_inputs()  # keras leaves inputs behind that no node reads
    shape = [n if isinstance(n, int) else 1 for n in wanted.shape]
    dtype = np.float64 if wanted.type == "tensor(double)" else np.float32
    feed = {value.name: np.zeros(value.shape, dtype=np.float32) for value in dangling}
    outputs = [session.run(None, feed | {wanted.name: point.astype(dtype).reshape(shape)})[0] for point in x]
    return np.stack([np.asarray(output).reshape(-1) for output in outputs])


def _check_size(path: Path) -> None:
    for file in path.parent.glob(path.stem + ".*"):
        if file.stat().st_size > LIMIT:
            print(f"{file} has {file.stat().st_size} bytes, more than {LIMIT}", file=sys.stderr)


def main(paths: list[str]) -> None:
    """For files whose framework is not at hand: store onnxruntime's own values at random points."""
    for path in map(Path, paths):
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        shape = [n if isinstance(n, int) else 1 for n in session.get_inputs()[0].shape]
        x = np.random.default_rng(0).normal(size=(6, *shape)).astype(np.float32)
        store(path, x, run_each(path, x))


if __name__ == "__main__":
    main(sys.argv[1:])
