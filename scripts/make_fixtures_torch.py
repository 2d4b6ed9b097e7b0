"""Make tests/frontends/fixtures/torch_dynamo and torch_script: every module of `torch_modules` by both exporters.

Made with Python 3.11, torch 2.13.0 (CPU), onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.31.1, numpy 2.4.6:

    pip install torch==2.13.0 onnx onnxscript onnxruntime && python scripts/make_fixtures_torch.py [NAME…]
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from fixture_tools import FIXTURES, store, strip
from torch_modules import ACCEPTED, DYNAMIC, REFUSED, Spec

POINTS = 6


def main(names: list[str]) -> None:
    """Export the named modules, or all."""
    warnings.simplefilter("ignore")
    for exporter, write in (("torch_dynamo", by_dynamo), ("torch_script", by_script)):
        folder = FIXTURES / exporter
        folder.mkdir(parents=True, exist_ok=True)
        for name, spec in {**ACCEPTED, **REFUSED}.items():
            if not names or name in names:
                make(folder / f"{name}.onnx", name, spec, write)


def make(
    path: Path, name: str, spec: Spec, write: Callable[[Path, str, torch.nn.Module, tuple[torch.Tensor, ...]], None]
) -> None:
    """One model file with its values."""
    torch.manual_seed(sum(map(ord, name)))
    module = spec.make().eval()
    randomise_statistics(module)
    dtype = torch.float64 if spec.double else torch.float32
    module = module.to(dtype)
    shapes = spec.shape if isinstance(spec.shape, list) else [spec.shape]
    example = tuple(
        torch.randn(shape, dtype=dtype) if spec.dtype is None else torch.zeros(shape, dtype=spec.dtype)
        for shape in shapes
    )
    write(path, name, module, example)
    strip(path)
    if name in ACCEPTED:
        batch = [1] if name in DYNAMIC else list(example[0].shape[:1])
        x = 2 * torch.randn([POINTS, *batch, *example[0].shape[1:]], dtype=dtype)
        with torch.no_grad():
            y = torch.stack([module(point) for point in x])
        store(path, x.numpy(), y.numpy())
    print(path.parent.name, name, path.stat().st_size)


def by_dynamo(path: Path, name: str, module: torch.nn.Module, example: tuple[torch.Tensor, ...]) -> None:
    """The exporter that torch uses by default, with weights in a file beside the model."""
    shapes = ({0: torch.export.Dim("batch")},) if name in DYNAMIC else None
    torch.onnx.export(module, example, path, dynamo=True, external_data=True, dynamic_shapes=shapes, verbose=False)


def by_script(path: Path, name: str, module: torch.nn.Module, example: tuple[torch.Tensor, ...]) -> None:
    """The older exporter, through TorchScript."""
    free = {"input": {0: "batch"}, "output": {0: "batch"}} if name in DYNAMIC else None
    names = ["input"] if len(example) == 1 else None
    torch.onnx.export(
        module, example, path, dynamo=False, input_names=names, output_names=["output"], dynamic_axes=free
    )


def randomise_statistics(module: torch.nn.Module) -> None:
    """Give normalisation layers statistics that are not the trivial ones."""
    for layer in module.modules():
        if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
            layer.running_mean = torch.randn_like(layer.running_mean)
            layer.running_var = torch.rand_like(layer.running_var) + 0.5
            torch.nn.init.normal_(layer.weight)
            torch.nn.init.normal_(layer.bias)
        elif isinstance(layer, torch.nn.LayerNorm):
            torch.nn.init.normal_(layer.weight)
            torch.nn.init.normal_(layer.bias)


if __name__ == "__main__":
    main(sys.argv[1:])
