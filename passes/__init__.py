"""Rewrites of the IR, by the name they have in pipelines.

One line here per pass; other packages add theirs through the entry-point group `ircert.passes`.
"""

from __future__ import annotations

from typing import Any

from ircert.errors import PassError
from ircert.passes.base import Pass
from ircert.plugins import Registry

if __name__ != "ircert.passes":
    raise ImportError("import this package as `ircert.passes`, not as `passes`")

BUILT_IN = {
    "bypass-idle-relus": "ircert.passes.bypass_idle_relus:BypassIdleRelus",
    "cancel-terms": "ircert.passes.cancel_terms:CancelTerms",
    "canonicalize": "ircert.passes.canonicalize:Canonicalize",
    "dual-copy": "ircert.passes.dual_copy:DualCopy",
    "eliminate-zeros": "ircert.passes.eliminate_zeros:EliminateZeros",
    "fix-inputs": "ircert.passes.fix_inputs:FixInputs",
    "fold-residual": "ircert.passes.fold_residual:FoldResidual",
    "fuse-affine": "ircert.passes.fuse_affine:FuseAffine",
    "interval-bounds": "ircert.passes.interval_bounds:IntervalBounds",
    "lower-conv": "ircert.passes.lower_conv:LowerConv",
    "lower-rich": "ircert.passes.lower_rich:LowerRich",
    "merge-multiples": "ircert.passes.merge_multiples:MergeMultiples",
    "select-outputs": "ircert.passes.select_outputs:SelectOutputs",
    "stable-neurons": "ircert.passes.stable_neurons:StableNeurons",
    "tangent-copy": "ircert.passes.tangent_copy:TangentCopy",
}
REGISTRY: Registry[Pass[Any, Any]] = Registry(
    ("pass", "passes"), "ircert.passes", BUILT_IN, "ircert.passes.base:Pass", PassError, key="pass_name"
)


def names() -> list[str]:
    """All passes that a pipeline may name, plugins included."""
    return REGISTRY.names()


def get(name: str) -> type[Pass[Any, Any]]:
    """The class of a pass; PassError if there is none of that name."""
    return REGISTRY.get(name)
