"""ONNX names as names of the IR: readable, and of its alphabet."""

from __future__ import annotations

import re

_NOISE = re.compile(r"_output_0$|:0$")
_LONGEST = 150  # leaves room for a number in the IR's limit of 200


def sanitised(name: str) -> str:
    """`/fc1/Gemm_output_0` becomes `fc1.Gemm`; anything else keeps its letters and digits."""
    short = _NOISE.sub("", name).strip("/").replace("/", ".")
    clean = re.sub(r"[^A-Za-z0-9_.]+", "_", short)[-_LONGEST:]
    return clean if re.match(r"[A-Za-z_]", clean) else f"_{clean}"
