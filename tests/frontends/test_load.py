"""One door for every kind of model: which keywords belong to which, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ircert
from ircert import frontends
from ircert.errors import FileError, UnsupportedModel
from ircert.frontends.load import FOR, READ, front_end

LAYERS = [(np.eye(2), None)] * 2


@pytest.mark.rule("F-10")
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"outputs": ["y"]}, "`outputs` is for ONNX models; leave it out"),
        ({"layers": ["a"]}, r"`layers` is for weights by name, as in \.safetensors; leave it out"),
        ({"normalisation": "none"}, r"`normalisation` is for \.nnet files; leave it out"),
    ],
)
def test_keywords_of_other_kinds_are_refused(options: Any, says: str) -> None:
    with pytest.raises(UnsupportedModel, match=says):
        ircert.load(LAYERS, **options)


def test_a_graph_takes_no_keywords() -> None:
    graph = ircert.load(LAYERS)
    assert ircert.load(graph) is graph
    with pytest.raises(UnsupportedModel, match="`activation` is for models that are weights alone"):
        ircert.load(graph, activation="relu")


def test_endings_that_are_offered_are_read() -> None:
    for ending in READ:
        assert type(front_end(f"net{ending}")).__name__ != "Pickles"
    with pytest.raises(FileError, match=", ".join(READ).replace(".", r"\.")):
        front_end("net.txt")


def test_every_keyword_belongs_to_a_front_end() -> None:
    known = {name for kind in frontends.BUILT_IN for name in frontends.REGISTRY.get(kind).options}
    assert set(FOR) < known
