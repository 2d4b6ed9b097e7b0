""".mat files: which way the weights lie, what stands between them, and claims that are not believed."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

import ircert
from ircert.errors import FileError

RANDOM = np.random.default_rng(1)
W = [RANDOM.normal(size=(4, 2)), RANDOM.normal(size=(4, 4)), RANDOM.normal(size=(1, 4))]
B = [RANDOM.normal(size=len(w)) for w in W]
GRAPH = ircert.load(list(zip(W, B, strict=True)))


def saved(folder: Path, variables: dict[str, Any], **options: Any) -> Path:
    savemat(folder / "net.mat", variables, **options)
    return folder / "net.mat"


def cell(*values: Any) -> Any:
    made = np.empty((1, len(values)), dtype=object)
    for k, value in enumerate(values):
        made[0, k] = value
    return made


@pytest.mark.rule("F-18")
@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("word", ["W", "w"])
def test_numbered_layers_either_way(start: int, word: str, tmp_path: Path) -> None:
    biases = {f"b{k}": b for k, b in enumerate(B, start)}
    for turned in ([w.T for w in W], W):
        path = saved(tmp_path, {f"{word}{k}": w for k, w in enumerate(turned, start)} | biases, do_compression=True)
        assert ircert.load(path, activation="relu") == GRAPH


@pytest.mark.rule("F-18")
def test_cells_with_the_names_of_activations(tmp_path: Path) -> None:
    cells = {"W": cell(*W), "b": cell(*(b[:, None] for b in B)), "number_of_layers": 3}
    assert ircert.load(saved(tmp_path, cells), activation="relu") == GRAPH
    named = cells | {"act_fcns": cell("poslin", "poslin", "purelin")}
    assert ircert.load(saved(tmp_path, named)) == GRAPH
    assert ircert.load(saved(tmp_path, cells | {"act_fcns": ["relu", "relu", "linear"]})) == GRAPH


@pytest.mark.rule("F-18")
def test_the_layout_of_nnv(tmp_path: Path) -> None:
    cells = {"W": cell(*W), "b": cell(*B)}
    assert ircert.load(saved(tmp_path, {"net": cells | {"act_fcns": ["relu", "relu", "linear"]}})) == GRAPH
    assert ircert.load(saved(tmp_path, {"weights": cell(*W), "biases": cell(*B)}), activation="relu") == GRAPH
    clipped = ircert.load(saved(tmp_path, cells | {"act_fcns": ["relu1", "relu2", "linear"]}))
    inner = np.clip(np.clip(0.3 * W[0] @ np.ones(2) + B[0], 0, 1) @ W[1].T + B[1], -1, 1)
    np.testing.assert_allclose(clipped([0.3, 0.3]), inner @ W[2].T + B[2])
    flat = {"W": cell(*(w[:, :, None, None] for w in W)), "b": cell(*B), "act_fcns": ["relu", "relu", "linear"]}
    assert ircert.load(saved(tmp_path, flat)) == GRAPH
    square = [[1.0, 2.0], [3.0, 4.0]]  # either way fits: the layout says which it is
    one = ircert.load(saved(tmp_path, {"W": cell(square), "b": cell([0.0, 0.0]), "act_fcns": ["linear"]}))
    np.testing.assert_array_equal(one([1.0, 0.0]), [1.0, 3.0])


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"W1": W[0], "b1": B[0], "W2": W[1], "b2": B[1]}, 'does not say what stands between .*activation="relu"'),
        ({"W1": [[1.0, 2.0], [3.0, 4.0]]}, r"do not tell whether W is \(out, in\) or \(in, out\); save it as .npz"),
        ({"W1": W[0], "b1": np.ones(7)}, "do not fit one another"),
        ({"W1": W[0], "mystery": 3.0}, "the variable `mystery` is not known"),
        ({"W1": W[0], "W3": W[2]}, "one of them is missing"),
        ({"W2": W[0]}, "not numbered from 0 or 1"),
        ({"b1": B[0]}, "there are no weights W1"),
        ({"W": W[0]}, "there are weights `W` and no `b`"),
        ({"W": cell(*W), "b": cell(*B[:2])}, "there are 3 weights and 2 biases"),
        ({"W": cell("text"), "b": cell(B[0])}, "exportONNXNetwork"),
        ({"W": W[0], "b": B[0], "act_fcns": cell("hardlim")}, "the activation 'hardlim' is not known"),
        ({"W1": np.ones((2, 2, 2))}, "exportONNXNetwork"),
        ({"weights": cell(*W)}, "there are weights `weights` and no `biases`"),
        ({"layers": cell("a"), "weights": {"w": W[0]}}, "a list of layers of NNV; it was made from an .onnx file"),
        ({"net": {"a": 1.0}}, "there are no weights W1"),
        ({"W": cell(np.eye(2)), "b": cell(np.ones(2)), "net": {"a": 1.0}}, "the variable `net` is not known"),
    ],
)
def test_what_is_not_a_chain_of_layers(variables: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=says):
        ircert.load(saved(tmp_path, variables))


def test_version_7_3_is_named(tmp_path: Path) -> None:
    (tmp_path / "net.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(512))
    with pytest.raises(FileError, match=r"version 7\.3, which is HDF5; save it with the option -v7"):
        ircert.load(tmp_path / "net.mat")


def header() -> bytes:
    buffer = io.BytesIO()
    savemat(buffer, {})
    return buffer.getvalue()[:128]


def element(kind: int, body: bytes) -> bytes:
    return struct.pack("<II", kind, len(body)) + body.ljust(-(-len(body) // 8) * 8, b"\0")


def matrix(kind: int, sizes: tuple[int, ...], rest: bytes = b"") -> bytes:
    flags = element(6, struct.pack("<II", kind, 0))
    dimensions = element(5, struct.pack(f"<{len(sizes)}i", *sizes))
    return element(14, flags + dimensions + element(1, b"W") + rest)


@pytest.mark.rule("F-6")
@pytest.mark.parametrize(
    ("body", "says"),
    [
        (matrix(1, (10**9, 1)), "claims the sizes"),
        (matrix(6, (2**30, 2**30), element(9, bytes(8))), "claims the sizes"),
        (matrix(6, (-1, 1), element(9, bytes(8))), "claims the sizes"),
        (matrix(1, (1, 1), matrix(1, (10**9, 1))), "claims the sizes"),
        (struct.pack("<II", 14, 10**6) + b"short   ", "longer than the file"),
        (element(14, element(6, bytes(8))), "an array has no sizes"),
        (struct.pack("<II", 15, len(packed := zlib.compress(bytes(2**27)))) + packed, "unpack to far more"),
    ],
    ids=["cell", "array", "negative", "inner", "short", "sizes", "packed"],
)
def test_claims_are_not_believed(body: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "net.mat").write_bytes(header() + body)
    with pytest.raises(FileError, match=says):
        ircert.load(tmp_path / "net.mat")
