"""Make tests/structure/fixtures/torch_dynamo and torch_script: the modules of `torch_flows` and `torch_more_flows`.

Made with Python 3.11, torch 2.13.0 (CPU), onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.31.1, numpy 2.4.6:

    pip install torch==2.13.0 onnx onnxscript onnxruntime && python scripts/make_fixtures_flows.py [NAME…]
    python scripts/make_fixtures_flows.py --at-size FOLDER    # networks that are too large to be kept
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from fixture_tools import FIXTURES, run_each, strip
from make_fixtures_torch import by_dynamo, by_script, randomise_statistics
from torch_flows import AT_SIZE, FLOWS, NOT_IN_SCRIPT
from torch_modules import Spec
from torch_more_flows import MORE_FLOWS

HERE = FIXTURES.parent.parent / "structure" / "fixtures"
EXPORTERS = {"torch_dynamo": by_dynamo, "torch_script": by_script}


def main(arguments: list[str]) -> None:
    """Export the named modules, or all."""
    warnings.simplefilter("ignore")
    at_size = arguments[:1] == ["--at-size"]
    folder = Path(arguments[1]) if at_size else HERE
    for name, spec in (AT_SIZE if at_size else {**FLOWS, **MORE_FLOWS}).items():
        if at_size or not arguments or name in arguments:
            for exporter in ("torch_dynamo",) if name in NOT_IN_SCRIPT else EXPORTERS:
                make(folder / exporter, exporter, name, spec)


def make(folder: Path, exporter: str, name: str, spec: Spec) -> None:
    """One model file, whose values onnxruntime and torch agree about; a single file, for weights are few."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.onnx"
    torch.manual_seed(sum(map(ord, name)))
    module = spec.make().eval()
    randomise_statistics(module)
    assert not isinstance(spec.shape, list)
    EXPORTERS[exporter](path, name, module, (torch.randn(spec.shape),))
    strip(path)
    inline(path)
    x = torch.randn((2, *spec.shape))
    with torch.no_grad():
        y = torch.stack([module(point) for point in x]).numpy().reshape(2, -1)
    if not np.allclose(run_each(path, x.numpy()), y, rtol=1e-4, atol=1e-5 * max(1.0, np.abs(y).max())):
        raise SystemExit(f"{path}: onnxruntime disagrees with torch")
    print(exporter, name, path.stat().st_size)


def inline(path: Path) -> None:
    """Weights from the file beside the model into the model."""
    import onnx

    model = onnx.load(path)
    beside = path.with_name(path.name + ".data")
    if beside.exists():
        onnx.save(model, path)
        beside.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
