"""The weights of a .keras file: HDF5, by the package h5py."""

from __future__ import annotations

import io
import math
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ircert.errors import MissingExtra
from ircert.files import RATIO, UNPACKED

_MOST = 2**16
_DEEPEST = 64


def stored_weights(data: bytes) -> dict[str, Any]:
    """The arrays of each layer by its name, in their order, and such a mapping again for a model that is a layer; no
    array is larger than the file makes likely."""
    if find_spec("h5py") is None:
        raise MissingExtra("h5py", extra="keras", purpose="reading a .keras file")
    import h5py

    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            return _Reading(max(UNPACKED, RATIO * len(data))).layers(file)
    except OSError as error:  # h5py's word for whatever is damaged
        raise ValueError(f"its weights cannot be read: {error}") from None


class _Reading:
    """How many bytes and groups may still be read."""

    def __init__(self, left: int) -> None:
        self.left, self.groups, self.depth = left, _MOST, _DEEPEST

    def layers(self, model: Any) -> dict[str, Any]:
        """The weights of the layers of a model."""
        import h5py

        if "layers" not in model:
            raise ValueError("its weights have no layers")
        found: dict[str, Any] = {}
        self.depth -= 1
        layers = _own(model, "layers", h5py.Group)
        for key in layers:
            self.groups -= 1
            if min(self.groups, self.depth) < 0:
                raise ValueError("its weights have too many layers")
            group = _own(layers, key, h5py.Group)
            if "vars" not in group:
                continue
            name, arrays = self._arrays(group, key)
            if name in found:
                raise ValueError(f"two layers are named `{name}`")
            found[name] = self.layers(group) if "layers" in group and not arrays else arrays
        self.depth += 1
        return found

    def _arrays(self, group: Any, key: str) -> tuple[str, list[NDArray[Any]]]:
        import h5py

        variables = _own(group, "vars", h5py.Group)
        name = str(variables.attrs.get("name", key))
        datasets = [_own(variables, str(k), h5py.Dataset) for k in range(len(variables))]
        for dataset in datasets:
            self.left -= math.prod(dataset.shape) * 8
            if self.left < 0 or dataset.dtype.kind != "f" or dataset.external:
                raise ValueError(f"the weights of `{name}` are too large, or no real numbers in this file")
        return name, [np.asarray(dataset) for dataset in datasets]


def _own(group: Any, name: str, kind: Any) -> Any:
    """A member of the group itself; links to other files are not followed."""
    import h5py

    if not isinstance(group.get(name, getlink=True), h5py.HardLink) or not isinstance(group[name], kind):
        raise ValueError(f"`{name}` in its weights is something else")
    return group[name]
