"""Which models each front end takes for its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ircert
from ircert import frontends
from ircert.errors import UnsupportedModel
from ircert.frontends.kinds import (
    Ir,
    Keras,
    Layers,
    Mat,
    NamedArrays,
    Nnet,
    Npz,
    Onnx,
    Pickles,
    Pt2,
    Safetensors,
    Torch,
)
from tests.frontends.support import one


class ExportedProgram:
    """Stands in for torch's."""


class Model:
    """Stands in for Keras'."""


Model.__module__ = "keras.src.models.model"
ExportedProgram.__module__ = "torch.export.exported_program"
LAYERS = [(np.eye(2), np.zeros(2))]
MORE = ("onnx.gz", "pt2", "exported", "nnet", "nnet.gz", "safetensors", "mat", "keras", "keras model", "pth", "dict")
ENDS = [frontends.REGISTRY.get(name)() for name in frontends.BUILT_IN]


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("net.onnx", Onnx),
        (b"\x08\x07", Onnx),
        (one("Relu", [1, 2]), Onnx),
        ("net.ir", Ir),
        ("net.npz", Npz),
        ("net.onnx.gz", Onnx),
        ("net.pt2", Pt2),
        (ExportedProgram(), Pt2),
        ("net.nnet", Nnet),
        ("net.NNET.GZ", Nnet),
        ("net.safetensors", Safetensors),
        ("net.mat", Mat),
        ("net.keras", Keras),
        (Model(), Keras),
        ("net.pth", Pickles),
        ({"fc.weight": np.eye(2)}, NamedArrays),
        (LAYERS, Layers),
        (tuple(LAYERS), Layers),
    ],
    ids=["onnx", "bytes", "proto", "ir", "npz", *MORE, "list", "tuple"],
)
def test_each_model_belongs_to_one(model: Any, kind: type) -> None:
    assert [type(end) for end in ENDS if end.accepts(model)] == [kind]


def test_nobody_takes_what_is_no_model() -> None:
    for model in (3, None, object(), "net.txt"):
        assert not any(end.accepts(model) for end in ENDS)


def test_a_torch_module_has_one_shape() -> None:
    with pytest.raises(UnsupportedModel, match="one input"):
        Torch().read(object(), shape={"x": (1, 2)})


def test_what_they_read_is_what_load_reads(tmp_path: Any) -> None:
    graph = ircert.load(LAYERS)
    assert Layers().read(LAYERS) == graph
    ircert.save(graph, tmp_path / "net.ir")
    assert Ir().read(tmp_path / "net.ir") == graph
    np.savez(tmp_path / "net.npz", W0=np.eye(2), b0=np.zeros(2))
    assert Npz().read(tmp_path / "net.npz") == graph
