"""Certificates by structure: chains of injective layers, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.checker import check_text, limits
from ircert.errors import FileError
from ircert.ir.ops import LeakyRelu
from ircert.ir.ops.curves import Tanh
from tests.checker.test_injective import written

TURN = [[1.0, 2.0], [3.0, 4.0]]
FLAT = [[1.0, 2.0], [2.0, 4.0]]


def chain(*layers: Any) -> ircert.Graph:
    build = ircert.Builder(2)
    node = build.input
    for layer in layers:
        node = build.affine(node, layer) if isinstance(layer, list) else build.node(layer, node)
    return build.graph(node)


def passes(graph: ircert.Graph, **fields: Any) -> bool:
    fields = {"kind": "layers", "radius": "inf", **fields}
    return check_text(json.dumps(written(graph, [0] * graph.input_dim, **fields)))[1] is None


@pytest.mark.rule("C-20")
@pytest.mark.parametrize(
    ("layers", "good"),
    [
        ((TURN,), True),
        ((TURN, LeakyRelu(np.array([0.1])), TURN, Tanh(), [*TURN, [0.0, 1.0]]), True),
        ((FLAT,), False),
        ((TURN, LeakyRelu(np.array([0.0]))), False),
        ((TURN, LeakyRelu(np.array([0.1, -0.1])), TURN), False),
        (([[1.0, 0.0]],), False),
        ((TURN, [[1.0, 1.0]]), False),
    ],
)
def test_chains(layers: tuple[Any, ...], good: bool) -> None:
    assert passes(chain(*layers)) == good
    assert passes(chain(*layers), radius="3/2", problem="pseudo") == good


def test_what_is_no_chain() -> None:
    build = ircert.Builder(2)
    assert not passes(build.graph(build.add(build.input, build.affine(build.input, TURN))))
    assert not passes(build.graph(build.add(build.input, build.affine(build.input, TURN), build.input)))
    assert not passes(build.graph(build.relu(build.input)))
    assert not passes(build.graph(build.select(build.input, [1, 1])))
    assert passes(build.graph(build.select(build.input, [1, 0, 1])))


def test_ranks_are_exact() -> None:
    """1 + 2^-52 and 1 differ; floats that are only nearly dependent have full rank."""
    assert passes(chain([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]))
    assert passes(chain([[2.0**-1000, 2.0**-1000], [0.0, 2.0**900]]))
    assert not passes(chain([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]))


def test_written_by_certify(tmp_path: Any) -> None:
    path = tmp_path / "c.json"
    result = ircert.certify(chain(TURN, LeakyRelu(np.array([0.1])), TURN), [0, 0], certificate=path)
    assert result.certificate is not None
    assert json.loads(path.read_text())["kind"] == "layers"
    assert "everywhere" in result.certificate.claims[0]


def test_work_is_bounded_for_all_layers_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_EFFORT", 10_000)
    assert passes(chain(TURN, TURN))
    with pytest.raises(FileError, match="too long"):
        passes(chain(*[TURN] * 12))
