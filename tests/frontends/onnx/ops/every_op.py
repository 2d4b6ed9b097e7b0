"""The models of all families of ops: what other tests try on every op."""

from __future__ import annotations

from typing import Any

from tests.frontends.onnx.ops import (
    test_activations,
    test_arithmetic,
    test_einsum,
    test_extremes,
    test_image,
    test_layout,
    test_linear,
    test_normalise,
    test_reduce,
    test_resize,
)

FAMILIES = (
    *(test_linear, test_arithmetic, test_activations, test_extremes, test_layout, test_einsum),
    *(test_resize, test_reduce, test_image, test_normalise),
)


def _joined(name: str) -> dict[str, Any]:
    """The models that the families keep under this name; no two have one key."""
    parts = [getattr(family, name, {}) for family in FAMILIES]
    joined = {key: built for part in parts for key, built in part.items()}
    assert len(joined) == sum(map(len, parts))
    return joined


PIECEWISE_LINEAR = _joined("CASES")
SMOOTH = _joined("SMOOTH")
