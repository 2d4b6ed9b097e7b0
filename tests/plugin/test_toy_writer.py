import json

import numpy as np
from scipy.sparse import csr_array
from toy_writer import ARRAYS, ToyJson

from ircert.programs.program import Block, Program
from ircert.testing import check_backend


def read(path):
    parts = json.loads(path.read_bytes())
    arrays = {name: np.array(parts.pop(name), dtype=kind) for name, kind in zip(ARRAYS, "dd?Udd", strict=True)}
    matrix = csr_array(np.array(parts.pop("matrix"), dtype=float).reshape(len(arrays["rhs"]), len(arrays["lower"])))
    return Program(matrix=matrix, **arrays, **{key: blocks(parts.pop(key)) for key in ("variables", "rows")}, **parts)


def blocks(sizes):
    starts = np.cumsum([0, *sizes.values()]).tolist()
    return tuple(Block(name, start, size) for (name, size), start in zip(sizes.items(), starts, strict=False))


def test_conforms():
    assert check_backend(ToyJson(), read=read).refused == ()
