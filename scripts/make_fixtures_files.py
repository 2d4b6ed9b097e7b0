"""Make tests/frontends/fixtures/torch_files: torch modules as .onnx, .onnx.gz, .pt2, .safetensors, and what is refused.

Made with Python 3.12, torch 2.13.0 (CPU), onnxscript 0.7.2, safetensors 0.8.0, onnx 1.23.2, numpy 2.5.4:

    pip install torch==2.13.0 onnx onnxscript onnxruntime safetensors && python scripts/make_fixtures_files.py

Programs (.pt2) are made of modules of `torch_modules`, whose ONNX files are in `torch_dynamo` already.
"""

from __future__ import annotations

import gzip
import warnings
from typing import Any

import numpy as np
import torch
from fixture_tools import FIXTURES, store, strip
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import nn

FOLDER = FIXTURES / "torch_files"
POINTS = 40


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
    save_file(module.state_dict(), FOLDER / "mlp.safetensors")
    torch.save(module.state_dict(), FOLDER / "refused_pickle.pt")
    torch.jit.trace(module, example).save(FOLDER / "refused_script.pt")
    narrow = mlp().bfloat16()
    save_file(narrow.state_dict(), FOLDER / "bfloat16.safetensors")
    np.savez(FOLDER / "bfloat16.npz", x=x.numpy(), y=outputs(narrow.double(), x.double()))


def outputs(module: nn.Module, x: torch.Tensor) -> NDArray[Any]:
    """What the module computes, point by point."""
    with torch.no_grad():
        return np.asarray(torch.stack([module(point) for point in x]).numpy())


if __name__ == "__main__":
    main()
