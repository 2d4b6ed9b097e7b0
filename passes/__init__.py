"""Rewrites of the IR, by the name they have in pipelines.

One line here per pass; other packages add theirs through the entry-point group `ircert.passes`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ircert.errors import PassError
from ircert.passes.base import Pass

if __name__ != "ircert.passes":
    raise ImportError("import this package as `ircert.passes`, not as `passes`")

BUILT_IN = {
    "canonicalize": "ircert.passes.canonicalize:Canonicalize",
    "eliminate-zeros": "ircert.passes.eliminate_zeros:EliminateZeros",
    "fix-inputs": "ircert.passes.fix_inputs:FixInputs",
    "fold-residual": "ircert.passes.fold_residual:FoldResidual",
    "fuse-affine": "ircert.passes.fuse_affine:FuseAffine",
    "lower-conv": "ircert.passes.lower_conv:LowerConv",
    "product": "ircert.passes.product:Product",
    "select-outputs": "ircert.passes.select_outputs:SelectOutputs",
}


def names() -> list[str]:
    """All passes that a pipeline may name, plugins included."""
    return sorted({*BUILT_IN, *(point.name for point in _plugins())})


def get(name: str) -> type[Pass[Any, Any]]:
    """The class of a pass; PassError if there is none of that name."""
    if name in BUILT_IN:
        module, _, kind = BUILT_IN[name].partition(":")
        found: type[Pass[Any, Any]] = getattr(import_module(module), kind)
        return found
    for point in _plugins():
        if point.name == name:
            return _load_plugin(point)
    raise PassError("there is no such pass", pass_name=name[:60], remedy=f"the passes are {', '.join(names())}")


def _plugins() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group="ircert.passes"))


def _load_plugin(point: EntryPoint) -> type[Pass[Any, Any]]:
    origin = point.dist.name if point.dist else point.value
    try:
        found = point.load()
    except Exception as error:
        raise PassError(
            f"the plugin {point.value} of {origin} cannot be loaded ({type(error).__name__}: {error})",
            pass_name=point.name,
            remedy=f"repair or uninstall {origin}",
        ) from error
    if not (isinstance(found, type) and issubclass(found, Pass) and getattr(found, "name", None) == point.name):
        raise PassError(
            f"the plugin {point.value} of {origin} is not a Pass named `{point.name}`",
            pass_name=point.name,
            remedy="derive it from ircert.passes.base.Pass and give it the entry point's name",
        )
    return found
