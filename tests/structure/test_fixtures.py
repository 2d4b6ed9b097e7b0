"""Invertible networks as torch exports them: injective on the whole space, and spoilt twins that are not claimed."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import ircert
from ircert.structure.known import Knowledge

MODELS = sorted((Path(__file__).parent / "fixtures").glob("*/*.onnx"))
SPOILT = [path for path in MODELS if path.name.startswith("spoilt_")]
INJECTIVE = [path for path in MODELS if path not in SPOILT]


def name(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


@pytest.mark.rule("ST-7")
@pytest.mark.parametrize("path", INJECTIVE, ids=name)
def test_injective_on_the_whole_space(path: Path) -> None:
    graph = ircert.load(path)
    found = ircert.certify(graph, np.zeros(graph.input_dim), engine="auto", time_limit=60)
    assert (found.verdict, found.trust, float(found.radius.certified)) == ("certified", "exact", math.inf)
    assert "structure" in found.radius.certified.evidence


@pytest.mark.rule("ST-2", "ST-3", "ST-5", "ST-6")
@pytest.mark.parametrize("path", SPOILT, ids=name)
def test_spoilt_twins_are_not_claimed(path: Path) -> None:
    assert not Knowledge(ircert.load(path)).is_injective


@pytest.mark.rule("ST-7")
@pytest.mark.parametrize(
    ("twin", "verdict"),
    [
        ("freia_all_in_one", "refuted"),
        ("freia_coupling", "refuted"),
        ("made_5", "unresolved"),
    ],
)
def test_spoilt_twins_with_exp_are_searched(twin: str, verdict: str) -> None:
    """Repeated indices and singular maps are found at once; other twins have a bracket, or a part of one."""
    graph = ircert.load(next(path for path in SPOILT if path.stem == f"spoilt_{twin}"))
    assert any(node.op.kind == "exp" for node in graph.nodes)
    found = ircert.certify(graph, np.zeros(graph.input_dim), time_limit=20 if verdict == "refuted" else 1)
    assert found.verdict == verdict
    if verdict == "refuted":
        assert found.radius.refuted == 0.0
        assert found.witness is not None
    else:
        assert found.reason is not None


@pytest.mark.parametrize("path", MODELS, ids=name)
def test_it_is_what_onnxruntime_computes(path: Path) -> None:
    graph = ircert.load(path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    wanted = session.get_inputs()[0]
    x = np.random.default_rng(1).normal(size=(2, graph.input_dim)).astype(np.float32)
    y = [np.ravel(session.run(None, {wanted.name: point.reshape(wanted.shape)})[0]) for point in x]
    np.testing.assert_allclose(graph(x), y, rtol=1e-4, atol=1e-4 * max(1.0, np.abs(y).max()))


def test_there_are_as_many_as_were_made() -> None:
    assert (len(INJECTIVE), len(SPOILT)) == (45, 30)
