"""Networks with tanh, SiLU and GELU beside relu networks of the same task and size: brackets of largest radii.

    python benchmarks/smooth.py [--short 10] [--long 60] [--only NAME] [--norm inf]

All are bundled; around 0, tol 1e-4, engine `auto`, one thread. Seconds and limits are of processor time (`asking.py`):
--short for 2 and 3 inputs, --long for 4 and 6. `times relu` is the ratio of seconds where both brackets are closed.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from asking import Answered, Asked

import ircert
from ircert.data.networks import bundled

TASKS = {
    "vanderpol-{}2-32-32-2": "short",
    "lorenz-{}3-16-16-3": "short",
    "coupled-vanderpol-{}4-32-32-4": "long",
    "coupled-vanderpol-{}6-24-24-6": "long",
}
ACTIVATIONS = ("", "tanh-", "silu-", "gelu-")
TOLERANCE = 1e-4


def _row(found: Answered, relu: Answered) -> str:
    if found.verdict == "error":
        return f"— | — | — | — | {found.evidence}"
    refuted = "—" if found.refuted is None else f"{found.refuted:.7g}"
    ratio = "—" if not found.refuted or not found.certified else f"{found.refuted / found.certified:.5f}"
    closed = found.verdict == relu.verdict == "certified"
    times = f"{found.seconds / relu.seconds:.1f}" if closed else "—"
    return f"{found.certified:.7g} | {refuted} | {ratio} | {found.seconds:.2f} s | {times}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", type=float, default=10.0)
    parser.add_argument("--long", type=float, default=60.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--norm", default="inf")
    options = parser.parse_args()
    print("| network | limit | certified | refuted | ratio | processor | times relu |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for task, kind in TASKS.items():
            if not task.startswith(options.only):
                continue
            limit, relu = float(getattr(options, kind)), None
            for word in ACTIVATIONS:
                name = task.format(word)
                path = Path(folder) / f"{name}.onnx"
                ircert.save(bundled(name), path)
                found = Asked(str(path), limit, {"tol": TOLERANCE, "norm": options.norm}).answer()
                relu = relu or found
                print(f"| {name} | {limit:g} s | {_row(found, relu)} |", flush=True)


if __name__ == "__main__":
    main()
