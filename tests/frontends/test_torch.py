"""The torch frontend as far as it goes without torch: recognition, the input's shape, and what is missing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest

import ircert
from ircert.errors import MissingExtra, UnsupportedModel
from ircert.frontends import torch as frontend
from ircert.frontends.torch import first_layer_shape, from_torch, is_torch

FIXTURES = Path(__file__).parent / "fixtures" / "torch_dynamo"


class Module:
    """Stands in for torch.nn.Module: parts, own parameters, a mode."""

    def __init__(self, *parts: Module, own: int = 0, **attributes: int) -> None:
        self.parts, self.own, self.training = parts, own, True
        self.__dict__.update(attributes)

    def modules(self) -> Iterator[Module]:
        yield self
        for part in self.parts:
            yield from part.modules()

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        yield from [SimpleNamespace(is_floating_point=lambda: True, dtype=np.float32, device="cpu")] * self.own
        if recurse:
            for part in self.parts:
                yield from part.parameters()

    def eval(self) -> None:
        for part in self.modules():
            part.training = False

    def __call__(self, x: Any) -> Any:
        if x.shape != (1, 3):
            raise RuntimeError("shapes cannot be multiplied\nand much more")
        return x


Module.__module__ = "torch.nn.modules.module"


class Linear(Module):
    pass


class BatchNorm1d(Module):
    pass


class Conv2d(Module):
    pass


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A package `torch` whose exporter answers with a stored model."""
    seen = SimpleNamespace(training=None)

    def export(module: Module, example: Any, **options: object) -> Any:
        seen.training, seen.example = [part.training for part in module.modules()], example
        if getattr(module, "broken", False):
            raise ValueError("no symbolic") from KeyError("aten::strange")
        return SimpleNamespace(model_proto=onnx.load(FIXTURES / "mlp_dynamic.onnx"))

    fake: Any = ModuleType("torch")
    fake.onnx = SimpleNamespace(export=export)
    fake.zeros = np.zeros
    fake.no_grad = lambda: np.errstate()
    fake.as_tensor = lambda x: SimpleNamespace(detach=lambda: SimpleNamespace(to=lambda **_: np.asarray(x)))
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.setattr(frontend, "find_spec", lambda name: ModuleSpec(name, None))
    return seen


def test_modules_are_recognised_by_their_class() -> None:
    assert is_torch(Module())
    assert is_torch(Linear())
    assert not is_torch(ircert.load([([[1.0]], None)]))


@pytest.mark.rule("F-13")
def test_torchscript_is_refused() -> None:
    class ScriptModule(Module):
        pass

    class TracedModule(ScriptModule):
        pass

    with pytest.raises(UnsupportedModel, match="TorchScript, whose code is not read; give the module"):
        from_torch(TracedModule())


@pytest.mark.rule("F-8")
@pytest.mark.parametrize("absent", ["torch", "onnxscript"])
def test_a_missing_package_is_named_with_its_extra(absent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontend, "find_spec", lambda name: None if name == absent else ModuleSpec(name, None))
    with pytest.raises(MissingExtra, match=rf"`{absent}`.*pip install 'ircert\[torch\]'"):
        from_torch(Module())


@pytest.mark.parametrize(
    ("module", "size"),
    [
        (Linear(own=1, in_features=3), 3),
        (Module(Module(), Linear(own=2, in_features=5), Linear(own=2, in_features=7)), 5),
        (Module(BatchNorm1d(own=2, num_features=4), Linear(own=1, in_features=4)), 4),
    ],
)
def test_the_first_layer_gives_the_size_of_the_input(module: Module, size: int) -> None:
    assert first_layer_shape(module) == (1, size)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (Module(Conv2d(own=2, in_channels=3)), r"first layer, Conv2d, .*example="),
        (Linear(own=1, in_features=0), r"first layer, Linear, .*shape="),
        (Module(own=1), r"first layer, Module"),
        (Module(), r"no parameters .*example="),
    ],
)
def test_other_first_layers_need_an_example(module: Module, message: str) -> None:
    with pytest.raises(UnsupportedModel, match=message):
        first_layer_shape(module)


def test_the_export_sees_eval_mode_and_the_module_keeps_its_own(torch: SimpleNamespace) -> None:
    module = Module(Linear(own=2, in_features=3), Module())
    module.parts[1].training = False
    graph = from_torch(module)
    assert graph == ircert.load(FIXTURES / "mlp_dynamic.onnx")
    assert torch.training == [False, False, False]
    assert [part.training for part in module.modules()] == [True, True, False]


@pytest.mark.parametrize("options", [{"shape": (1, 3)}, {"example": [[1.0, 2.0, 3.0]]}])
def test_a_shape_or_an_example_is_taken(torch: SimpleNamespace, options: Any) -> None:
    from_torch(Module(), **options)
    assert torch.example[0].shape == (1, 3)


def test_a_wrong_shape_is_named_in_one_line(torch: SimpleNamespace) -> None:
    module = Module()
    with pytest.raises(UnsupportedModel, match=r"shape \(1, 5\) \(RuntimeError: shapes cannot be multiplied\); give"):
        from_torch(module, shape=(1, 5))
    assert module.training


def test_a_module_that_torch_cannot_export_names_the_cause(torch: SimpleNamespace) -> None:
    with pytest.raises(UnsupportedModel, match=r"cannot export this module \(KeyError: 'aten::strange'\)"):
        from_torch(Module(broken=1), shape=(1, 3))


def test_load_takes_modules(torch: SimpleNamespace) -> None:
    module = Module(Linear(own=1, in_features=3))
    assert ircert.load(module) == ircert.load(module, shape=(1, 3)) == ircert.load(FIXTURES / "mlp_dynamic.onnx")
    with pytest.raises(UnsupportedModel, match="`outputs` is for ONNX models"):
        ircert.load(module, outputs=["y"])


@pytest.mark.parametrize("shape", [(1, -1), (0, 3), "abc", 1.5, 4, (1.5, 3), {"x": (1, 3)}])
def test_shapes_that_cannot_be(shape: Any) -> None:
    with pytest.raises(UnsupportedModel, match=r"the shape cannot be|has one input"):
        ircert.load(Linear(own=1, in_features=3), shape=shape)
