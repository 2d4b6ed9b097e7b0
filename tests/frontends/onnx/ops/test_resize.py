"""Resize and Upsample, in their attribute corners, against onnxruntime; and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.frontends.support import agreeing, ints, one, refusing

CASES: dict[str, Any] = {
    "resize": one("Resize", [1, 1, 2, 3], None, np.array([1, 1, 2, 2], dtype=np.float32), mode="nearest"),
    "resize_asymmetric": one(
        "Resize",
        [1, 1, 5, 3],
        None,
        np.array([1, 1, 0.6, 1.5], dtype=np.float32),
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    ),
    "resize_sizes": one("Resize", [1, 1, 5], None, None, ints(1, 1, 8), mode="nearest"),
    "resize_10": one("Resize", [1, 1, 2, 3], np.array([1, 1, 2, 2], dtype=np.float32), opset=10),
    "upsample_7": one("Upsample", [1, 1, 2, 3], opset=7, scales=[1.0, 1.0, 2.0, 3.0]),
    "upsample": one("Upsample", [1, 1, 2, 3], np.array([1, 1, 2, 2], dtype=np.float32), opset=9),
    "resize_10_uneven": one("Resize", [1, 1, 4, 3], np.array([1, 1, 0.5, 2.5], np.float32), opset=10, mode="nearest"),
    "upsample_uneven": one("Upsample", [1, 1, 4, 3], np.array([1, 1, 3, 1.5], np.float32), opset=9, mode="nearest"),
    "resize_axes": one("Resize", [1, 1, 5, 7], None, None, ints(9, 3), opset=18, axes=[3, 2]),
    **{
        f"resize_{mode}_{nearest}": one(
            "Resize",
            [1, 1, 5, 7],
            None,
            np.array([1, 1, 1.7, 0.6], dtype=np.float32),
            coordinate_transformation_mode=mode,
            nearest_mode=nearest,
        )
        for mode in ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
        for nearest in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    },
}

REFUSED: dict[str, tuple[Any, str, str]] = {
    "resize": (one("Resize", [1, 1, 2], None, np.array([1, 1, 2], np.float32), mode="linear"), "Resize", "nearest"),
    "resize_10": (
        one("Resize", [1, 1, 4], np.array([1, 1, 0.75], np.float32), opset=10, mode="nearest"),
        "Resize",
        "operator set 11",
    ),
    "upsample_shrinks": (
        one("Upsample", [1, 1, 4], np.array([1, 1, 0.5], np.float32), opset=9, mode="nearest"),
        "Upsample",
        "operator set 11",
    ),
    "resize_same_size": (
        one("Resize", [1, 1, 3], np.array([1, 1, 1.1], np.float32), opset=10, mode="nearest"),
        "Resize",
        "factor 1",
    ),
    "nearest_mode": (
        one("Resize", [1, 1, 4], None, np.array([1, 1, 0.7], np.float32), mode="nearest", nearest_mode="up"),
        "Resize",
        "nearest_mode up",
    ),
}

test_agrees_with_onnxruntime = agreeing(CASES)
test_what_is_not_read_is_refused = refusing(REFUSED)
