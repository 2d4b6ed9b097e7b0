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


def stored_weights(data: bytes) -> dict[str, list[NDArray[Any]]]:
    """The arrays of each layer by its name, in their order; no array is larger than the file makes likely."""
    if find_spec("h5py") is None:
        raise MissingExtra("h5py", extra="keras", purpose="reading a .keras file")
    try:
        return _read(data)
    except OSError as error:  # h5py's word for whatever is damaged
        raise ValueError(f"its weights cannot be read: {error}") from None


def _read(data: bytes) -> dict[str, list[NDArray[Any]]]:
    import h5py

    with h5py.File(io.BytesIO(data), "r") as file:
        if "layers" not in file:
            raise ValueError("its weights have no layers")
        left = max(UNPACKED, RATIO * len(data))
        found: dict[str, list[NDArray[Any]]] = {}
        for key in list(file["layers"])[:_MOST]:
            group = _own(file["layers"], key, h5py.Group)
            if "vars" not in group:
                continue
            variables = _own(group, "vars", h5py.Group)
            name = str(variables.attrs.get("name", key))
            datasets = [_own(variables, str(k), h5py.Dataset) for k in range(len(variables))]
            for dataset in datasets:
                left -= math.prod(dataset.shape) * 8
                if left < 0 or dataset.dtype.kind != "f" or dataset.external:
                    raise ValueError(f"the weights of `{name}` are too large, or no real numbers in this file")
            if name in found:
                raise ValueError(f"two layers are named `{name}`")
            found[name] = [np.asarray(dataset) for dataset in datasets]
        return found


def _own(group: Any, name: str, kind: Any) -> Any:
    """A member of the group itself; links to other files are not followed."""
    import h5py

    if not isinstance(group.get(name, getlink=True), h5py.HardLink) or not isinstance(group[name], kind):
        raise ValueError(f"`{name}` in its weights is something else")
    return group[name]
