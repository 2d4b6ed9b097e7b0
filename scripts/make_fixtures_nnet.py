"""Make tests/frontends/fixtures/nnet with the format's own reader and writer, from a checkout of github.com/sisl/NNet:

    git clone https://github.com/sisl/NNet && python scripts/make_fixtures_nnet.py NNet

Made with its commits 01d7e58 (utils/writeNNet.py) and 2d9dcf9 (python/nnet.py), and numpy 2.5. Points lie within the
least and greatest inputs: outside, that reader forgets to subtract the mean, and jumps.
"""

from __future__ import annotations

import gzip
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "frontends" / "fixtures" / "nnet"
SIZES = (3, 8, 6, 2)


def main(checkout: str) -> None:
    """One small network, plain and packed, with what the reader computes."""
    sys.path[:0] = [f"{checkout}/utils", f"{checkout}/python"]
    from nnet import NNet
    from writeNNet import writeNNet

    random = np.random.default_rng(22)
    weights = [random.normal(size=(n, m)) for m, n in pairwise(SIZES)]
    biases = [random.normal(size=n) for n in SIZES[1:]]
    low, high = [-10.0, -3.141593, 100.0], [20.0, 3.141593, 1200.0]
    means, ranges = [1.25, 0.0, 650.0, 7.5188840201], [30.0, 6.28318530718, 1100.0, 373.94992]
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "mlp.nnet"
    writeNNet(weights, biases, low, high, means, ranges, str(path))
    (FOLDER / "mlp.nnet.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    x = random.uniform(low, high, size=(40, SIZES[0]))
    reader = NNet(str(path))
    np.savez(path.with_suffix(".npz"), x=x, y=np.stack([reader.evaluate_network(point) for point in x]))


if __name__ == "__main__":
    main(sys.argv[1])
