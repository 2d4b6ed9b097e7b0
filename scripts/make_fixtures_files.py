"""Make tests/frontends/fixtures/torch_files and torch_export: torch modules as .onnx, .onnx.gz, .pt2, .safetensors.

Made with Python 3.12, torch 2.13.0 (CPU), onnxscript 0.7.2, safetensors 0.8.0, onnx 1.23.2, numpy 2.5.4:

    pip install torch==2.13.0 onnx onnxscript onnxruntime safetensors && python scripts/make_fixtures_files.py

The programs in torch_export are those modules of `torch_modules` whose ONNX files and values are in `torch_dynamo`.
"""

from __future__ import annotations

import gzip
import io
import json
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fixture_tools import FIXTURES, store, strip
from make_fixtures_torch import randomise_statistics
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import nn
from torch_modules import ACCEPTED, DYNAMIC

FOLDER = FIXTURES / "torch_files"
POINTS = 40
PROGRAMS = (
    *("mlp_double", "mlp_dynamic", "batch_norm_first", "conv_dynamic", "conv_same", "max_pool", "average_pool_ceil"),
    *("leaky_relu", "where_leaky", "chunk", "gather", "view_dynamic", "silu", "softplus"),
)


def mlp() -> nn.Module:
    """One network in four kinds of files."""
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 2))


def main() -> None:
    """Every file."""
    warnings.simplefilter("ignore")
    FOLDER.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(22)
    module = mlp().eval()
    example = (torch.randn(1, 3),)
    path = FOLDER / "mlp.onnx"
    torch.onnx.export(module, example, path, dynamo=True, verbose=False, external_data=False)
    strip(path)
    (FOLDER / "mlp.onnx.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    x = 2 * torch.randn(POINTS, 1, 3)
    store(path, x.numpy(), outputs(module, x))
    save_program(FOLDER / "mlp.pt2", module, example)
    save_file(module.state_dict(), FOLDER / "mlp.safetensors")
    torch.save(module.state_dict(), FOLDER / "refused_pickle.pt")
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.trace(module, example), buffer)
    rewrite(buffer, FOLDER / "refused_script.pt", lambda name, data: None if name.endswith(".debug_pkl") else data)
    narrow = mlp().bfloat16()
    save_file(narrow.state_dict(), FOLDER / "bfloat16.safetensors")
    np.savez(FOLDER / "bfloat16.npz", x=x.numpy(), y=outputs(narrow.double(), x.double()))


def programs() -> None:
    """The same modules, with the same numbers, as `make_fixtures_torch` makes."""
    folder = FIXTURES / "torch_export"
    folder.mkdir(exist_ok=True)
    for name in PROGRAMS:
        torch.manual_seed(sum(map(ord, name)))
        module = ACCEPTED[name].make().eval()
        randomise_statistics(module)
        dtype = torch.float64 if ACCEPTED[name].double else torch.float32
        example = torch.randn(ACCEPTED[name].shape, dtype=dtype)
        shapes = ({0: torch.export.Dim("batch")},) if name in DYNAMIC else None
        save_program(folder / f"{name}.pt2", module.to(dtype), (example,), shapes)


def save_program(path: Path, module: nn.Module, example: tuple[torch.Tensor, ...], shapes: Any = None) -> None:
    """By torch.export.save, without the stack traces of this machine; torch reads the result."""
    buffer = io.BytesIO()
    torch.export.save(torch.export.export(module, example, dynamic_shapes=shapes), buffer)
    rewrite(buffer, path, without_traces)
    found = torch.export.load(path).module()(*example)
    assert torch.equal(found, module(*example)), path
    print(path.name, path.stat().st_size)


def without_traces(name: str, data: bytes) -> bytes:
    """The graph without where its nodes come from."""
    if "/models/" not in name:
        return data
    content = json.loads(data)
    for node in content["graph_module"]["graph"]["nodes"]:
        node["metadata"] = {}
    return json.dumps(content, separators=(",", ":")).encode()


def rewrite(buffer: io.BytesIO, path: Path, change: Callable[[str, bytes], bytes | None]) -> None:
    """An archive with members changed or left out."""
    with zipfile.ZipFile(buffer) as whole, zipfile.ZipFile(path, "w") as clean:
        for name in whole.namelist():
            data = change(name, whole.read(name))
            if data is not None:
                clean.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def outputs(module: nn.Module, x: torch.Tensor) -> NDArray[Any]:
    """What the module computes, point by point."""
    with torch.no_grad():
        return np.asarray(torch.stack([module(point) for point in x]).numpy())


if __name__ == "__main__":
    main()
    programs()
