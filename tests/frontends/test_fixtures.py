"""Models that real exporters wrote: each loads and agrees with its framework and with onnxruntime, or is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

import ircert
from ircert.errors import IrcertError

FIXTURES = Path(__file__).parent / "fixtures"
MODELS = sorted(FIXTURES.glob("*/*.onnx"))
ACCEPTED = [path for path in MODELS if not path.name.startswith("refused_")]
REFUSED = {
    "refused_argsort": "TopK",
    "refused_two_inputs": "several inputs",
    "refused_two_outputs": "several outputs",
    "refused_embedding": "int64",
    "refused_normalised": "several inputs",
    "refused_tree_ensemble": "TreeEnsembleRegressor",
}


def name(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def values(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """The stored points, flat (N, n), and the framework's outputs there, flat (N, m)."""
    with np.load(path.with_suffix(".npz")) as stored:
        return stored["x"].reshape(len(stored["x"]), -1), stored["y"].reshape(len(stored["y"]), -1)


def assert_close(found: NDArray[Any], expected: NDArray[Any]) -> None:
    """To 1e-5 of the largest output: the framework computed in float32."""
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * max(1.0, np.abs(expected).max()))


def run(path: Path, x: NDArray[Any]) -> NDArray[Any]:
    """onnxruntime's outputs, point by point: most files fix the batch at 1."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    wanted, *dangling = session.get_inputs()
    shape = [n if isinstance(n, int) else 1 for n in wanted.shape]
    dtype = np.float64 if wanted.type == "tensor(double)" else np.float32
    feed = {value.name: np.zeros(value.shape, dtype=np.float32) for value in dangling}
    outputs = [session.run(None, feed | {wanted.name: point.astype(dtype).reshape(shape)})[0] for point in x]
    return np.stack([np.asarray(output).reshape(-1) for output in outputs])


@pytest.mark.parametrize("path", ACCEPTED, ids=name)
def test_it_agrees_with_the_framework(path: Path) -> None:
    x, y = values(path)
    assert_close(ircert.load(path)(x), y)


@pytest.mark.parametrize("path", ACCEPTED, ids=name)
def test_it_agrees_with_onnxruntime_at_other_points(path: Path) -> None:
    graph = ircert.load(path)
    x = np.random.default_rng(1).normal(scale=3.0, size=(20, graph.input_dim)).astype(np.float32)
    assert_close(graph(x), run(path, x))


@pytest.mark.parametrize("path", [path for path in MODELS if path not in ACCEPTED], ids=name)
def test_it_is_refused_by_name(path: Path) -> None:
    with pytest.raises(IrcertError, match=REFUSED[path.stem]) as caught:
        ircert.load(path)
    assert caught.value.remedy


@pytest.mark.parametrize("path", ACCEPTED, ids=name)
def test_its_text_reads_back(path: Path) -> None:
    graph = ircert.load(path)
    assert ircert.parse(str(graph)) == graph


def test_every_refusal_and_every_exporter_is_there() -> None:
    assert {path.stem for path in MODELS if path not in ACCEPTED} == set(REFUSED)
    folders = {path.parent.name for path in MODELS}
    assert folders == {"torch_dynamo", "torch_script", "keras", "tf2onnx", "sklearn", "public", "torch_files"}


def test_fixtures_stay_small() -> None:
    sizes = [file.stat().st_size for file in FIXTURES.rglob("*") if file.is_file()]
    assert max(sizes) < 50_000
    assert sum(sizes) < 1_000_000
