"""Invertible networks as torch exports them: how long loading and the answer by structure take.

    python benchmarks/invertible.py [FOLDER]

One thread (set OMP_NUM_THREADS=1), processor seconds. FOLDER is what scripts/make_fixtures_flows.py --at-size wrote;
without it the fixtures of the tests are measured. `claimed` is False for all spoilt twins.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import ircert
from ircert.structure.known import Knowledge

FIXTURES = Path(__file__).resolve().parent.parent / "tests" / "structure" / "fixtures"


def main(folder: Path) -> None:
    """A row for each model."""
    print("| network | exporter | inputs | nodes | load | structure | claimed |\n|---|---|---|---|---|---|---|")
    for path in sorted(folder.glob("*/*.onnx"), key=lambda path: (path.stem, path.parent.name)):
        start = time.process_time()
        graph = ircert.load(path)
        loaded = time.process_time()
        claimed = Knowledge(graph).is_injective
        seconds = (f"{loaded - start:.2f}", f"{time.process_time() - loaded:.2f}")
        print(
            "|",
            " | ".join(
                [path.stem, path.parent.name, str(graph.input_dim), str(len(graph.nodes)), *seconds, str(claimed)]
            ),
            "|",
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FIXTURES)
