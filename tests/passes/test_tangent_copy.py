from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from hypothesis import given

import ircert
from ircert.errors import IrcertError
from ircert.ir.graph import Graph
from ircert.passes.pipeline import Pipeline
from ircert.passes.tangent_copy import TangentCopy
from ircert.testing import assert_preserves, graphs, sample_points


@pytest.mark.rule("P-1", "P-2", "P-3", "P-6", "P-15")
@given(graphs(rich=False))
def test_it_is_the_limit_of_difference_quotients(graph: Graph) -> None:
    """The lift compares with quotients over an exact step of 2^-4096, at kinks (the origin, corners) too."""
    assert_preserves(TangentCopy(), graph)


@pytest.mark.rule("P-15")
@pytest.mark.parametrize(("x", "v", "slope"), [(1, -1, -1), (-1, -1, 1), (0, 1, 1), (0, -1, 1), (0, 0, 0)])
def test_at_a_kink_it_is_one_sided(x: int, v: int, slope: int) -> None:
    build = ircert.Builder(1)
    absolute = build.affine(build.relu(build.affine(build.input, [[1.0], [-1.0]])), [[1.0, 1.0]])
    made = TangentCopy().run(build.graph(absolute)).result
    assert made.exact([x, v]).tolist() == [abs(x), slope]


@pytest.mark.rule("P-15")
def test_it_jumps_so_it_cannot_be_canonical() -> None:
    made = TangentCopy().run(ircert.load([([[1.0]], None), ([[1.0]], None)])).result
    values = [made.exact([Fraction(k, 10**30), 1])[1] for k in (-1, 1)]
    assert values == [0, 1]
    with pytest.raises(IrcertError, match="choose"):
        Pipeline.parse("canonicalize").run(made)
    with pytest.raises(IrcertError, match="no pass lowers choose, so run it before that comes in, or leave it out"):
        Pipeline.parse("interval-bounds").run(made)


def test_another_runtime_reads_it(tmp_path: Path) -> None:
    made = TangentCopy().run(ircert.load([([[1.0, 2.0], [0.5, -1.0]], [0.5, 0.25]), ([[1.0, 1.0]], None)])).result
    ircert.save(made, tmp_path / "made.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "made.onnx")
    points = sample_points(made)
    kind = session.get_inputs()[0]
    given = points.astype(np.float64 if "double" in kind.type else np.float32)
    found = np.concatenate([session.run(None, {kind.name: row[None]})[0] for row in given])
    assert np.allclose(found, made(points), rtol=1e-5, atol=1e-5)
