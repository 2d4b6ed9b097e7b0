"""Front ends: what reads models, by name.

One line here per front end; other packages add theirs through the entry-point group `ircert.frontends`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ircert.errors import UnsupportedModel
from ircert.plugins import Registry

if TYPE_CHECKING:
    from ircert.frontends.base import FrontEnd

BUILT_IN = {
    "onnx": "ircert.frontends.kinds:Onnx",
    "torch": "ircert.frontends.kinds:Torch",
    "pt2": "ircert.frontends.kinds:Pt2",
    "keras": "ircert.frontends.kinds:Keras",
    "ir": "ircert.frontends.kinds:Ir",
    "npz": "ircert.frontends.kinds:Npz",
    "nnet": "ircert.frontends.kinds:Nnet",
    "safetensors": "ircert.frontends.kinds:Safetensors",
    "mat": "ircert.frontends.kinds:Mat",
    "pickles": "ircert.frontends.kinds:Pickles",
    "sklearn": "ircert.frontends.kinds:Sklearn",
    "jax-modules": "ircert.frontends.kinds:JaxModules",
    "layers": "ircert.frontends.kinds:Layers",
    "named-arrays": "ircert.frontends.kinds:NamedArrays",
}
"""In the order in which a model is shown to them; those of other packages come behind."""

REGISTRY: Registry[FrontEnd] = Registry(
    ("front end", "front ends"), "ircert.frontends", BUILT_IN, "ircert.frontends.base:FrontEnd", UnsupportedModel
)
