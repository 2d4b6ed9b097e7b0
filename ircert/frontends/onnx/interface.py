"""Which graph inputs become the network's input vector, and of what shape."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
from onnx.helper import tensor_dtype_to_np_dtype

from ircert.errors import UnsupportedModel
from ircert.frontends.onnx.tensors import FLOATS, type_name
from ircert.frontends.onnx.values import Const, require_size

Inputs = Mapping[str, Any] | Sequence[str] | None
Shape = Mapping[str, Sequence[int]] | Sequence[int] | None


@dataclass(frozen=True)
class Options:
    """The user's wishes about inputs and outputs, as `ircert.load` takes them."""

    inputs: Inputs = None
    outputs: Sequence[str] | str | None = None
    batch: bool | None = None
    shape: Shape = None


def free_inputs(declared: Mapping[str, Any], used: Sequence[str], options: Options) -> list[str]:
    """The names of the graph inputs that form the input vector, in order."""
    names = _chosen_inputs(declared, used, options)
    if len(names) > 1 and options.shape is not None and not isinstance(options.shape, Mapping):
        raise UnsupportedModel("one shape is given for several inputs", remedy="give shape={name: (…), …}")
    return names


def _chosen_inputs(declared: Mapping[str, Any], used: Sequence[str], options: Options) -> list[str]:
    if isinstance(options.inputs, Mapping):
        bound = [name for name, value in options.inputs.items() if value is not None]
        chosen = [name for name, value in options.inputs.items() if value is None]
        if not chosen:
            return _only([name for name in used if name not in bound], declared)
        _require_all(used, [*chosen, *bound])
        return chosen
    if options.inputs is not None:
        chosen = chosen_names(options.inputs)
        _require_all(used, chosen)
        return chosen
    return _only(list(used), declared)


def _require_all(used: Sequence[str], given: Sequence[str]) -> None:
    missing = [name for name in used if name not in given]
    if missing:
        raise UnsupportedModel(
            f"the graph also needs its input `{missing[0]}`",
            remedy=f"name it in inputs=[…] (command line: --inputs), or bind it: inputs={{{missing[0]!r}: array}}",
        )


def bound_inputs(declared: Mapping[str, Any], options: Options) -> dict[str, Const]:
    """The graph inputs that the user binds to arrays, in the types that the model declares."""
    if not isinstance(options.inputs, Mapping):
        return {}
    return {name: _bound(declared[name], value) for name, value in options.inputs.items() if value is not None}


def _bound(info: Any, value: Any) -> Const:
    kind = info.type.tensor_type.elem_type
    try:
        array = np.asarray(value).astype(tensor_dtype_to_np_dtype(kind))
    except (ValueError, TypeError, KeyError) as error:
        raise UnsupportedModel(f"it cannot be bound to this value ({error})", where=f"input `{info.name}`") from None
    dims = [d.dim_value for d in info.type.tensor_type.shape.dim]
    fits = len(dims) == array.ndim and all(n in (0, m) for n, m in zip(dims, array.shape, strict=True))
    if info.type.tensor_type.HasField("shape") and not fits:
        wanted = ", ".join(str(n or "?") for n in dims)
        raise UnsupportedModel(
            f"it is bound to an array of shape {array.shape}",
            where=f"input `{info.name}`",
            remedy=f"the model takes the shape ({wanted})",
        )
    return array


def input_shape(info: Any, options: Options) -> tuple[int, ...]:
    """The shape of a graph input of floats; a leading symbolic dimension is the batch, of which one sample is read."""
    _require_floats(info)
    given = _given_shape(info.name, options)
    has_shape = info.type.tensor_type.HasField("shape")
    declared = [d.dim_value if d.HasField("dim_value") else d.dim_param for d in info.type.tensor_type.shape.dim]
    if given is None and not has_shape:
        raise _unknown_shape(info.name, "has no shape")
    if given is not None and has_shape:
        _require_agreement(info.name, given, declared)
    dims: list[int | str] = declared if given is None else list(given)
    dims = _one_sample(dims, options.batch if given is None else False)
    if not all(isinstance(n, int) and n > 0 for n in dims):
        raise _unknown_shape(info.name, f"has the shape [{', '.join(str(n) or '?' for n in dims)}]")
    shape = tuple(int(n) for n in dims)
    require_size(math.prod(shape), f"input `{info.name}`")
    return shape


def _one_sample(dims: list[int | str], batch: bool | None) -> list[int | str]:
    """The leading dimension replaced by 1 if it is the batch: symbolic (of several), or declared so by `batch`."""
    symbolic = len(dims) > 1 and not (isinstance(dims[0], int) and dims[0] > 0)
    is_batch = symbolic if batch is None else batch
    return [1, *dims[1:]] if is_batch and dims else dims


def _require_agreement(name: str, given: Sequence[int], declared: list[int | str]) -> None:
    """A shape that is given may fill in what the model leaves open and change the batch, no more."""
    fixed = zip(given[1:], declared[1:], strict=False)
    if len(given) != len(declared) or any(isinstance(n, int) and n > 0 and n != m for m, n in fixed):
        raise UnsupportedModel(
            f"the shape {tuple(given)} contradicts the model's [{', '.join(str(n) or '?' for n in declared)}]",
            where=f"input `{name}`",
            remedy="give numbers for the open dimensions only",
        )


def _given_shape(name: str, options: Options) -> tuple[int, ...] | None:
    shape = options.shape.get(name) if isinstance(options.shape, Mapping) else options.shape
    return None if shape is None else checked_shape(shape, f"input `{name}`")


def checked_shape(shape: Any, where: str | None = None) -> tuple[int, ...]:
    """A shape that a user gives: positive integers."""
    try:
        if isinstance(shape, str | bytes | Mapping):
            raise TypeError
        numbers = tuple(index(n) for n in shape)
        if any(n < 1 for n in numbers):
            raise TypeError
    except TypeError:
        raise UnsupportedModel(
            f"the shape cannot be {shape!r:.60}", where=where, remedy="give positive integers, as in shape=(1, 3)"
        ) from None
    return numbers


def _unknown_shape(name: str, problem: str) -> UnsupportedModel:
    return UnsupportedModel(
        f"it {problem}, which leaves its size open",
        where=f"input `{name}`",
        remedy=f"give shape={{{name!r}: (1, …)}} (command line: --shape 1,…), or batch=True if the first is a batch",
    )


def _require_floats(info: Any) -> None:
    if not info.type.HasField("tensor_type"):
        raise UnsupportedModel("it is not a tensor", where=f"input `{info.name}`", remedy="export a model of tensors")
    kind = info.type.tensor_type.elem_type
    if kind not in FLOATS:
        raise UnsupportedModel(
            f"it takes {type_name(kind)}, not real numbers",
            where=f"input `{info.name}`",
            remedy=f"bind it to a constant: load(…, inputs={{{info.name!r}: array}})",
        )


def _only(names: list[str], declared: Mapping[str, Any]) -> list[str]:
    if len(names) == 1:
        return names
    if not names and len(declared) == 1:
        return list(declared)
    if not names:
        raise UnsupportedModel(
            "the output does not depend on an input", remedy=f"the graph's inputs are {_listed(declared)}"
        )
    raise UnsupportedModel(
        f"the graph has several inputs: {_listed(names)}",
        remedy=f"join them, inputs={names!r} (command line: --inputs {','.join(names)}), "
        f"or bind all but one to arrays, inputs={{{names[-1]!r}: array}}",
    )


def require_known(declared: Mapping[str, Any], options: Options) -> None:
    """Refuse wishes about inputs that the graph does not have, or that cannot be wishes."""
    named = chosen_names(options.inputs)
    shaped = list(options.shape) if isinstance(options.shape, Mapping) else []
    for name in [*named, *shaped]:
        if name not in declared:
            raise UnsupportedModel(f"the graph has no input `{name}`", remedy=f"its inputs are {_listed(declared)}")
    twice = [name for name in named if named.count(name) > 1]
    if twice:
        raise UnsupportedModel(f"the input `{twice[0]}` is named twice", remedy="name each input once")
    if not isinstance(options.batch, bool | np.bool_ | None):
        raise UnsupportedModel(f"`batch` cannot be {options.batch!r:.60}", remedy="give True or False")
    if options.batch and options.shape is not None:
        raise UnsupportedModel(
            "both a shape and batch=True are given", remedy="a shape says everything: its first number is the batch"
        )


def chosen_names(names: Any, what: str = "inputs") -> list[str]:
    """The names that a user gives: one, several, or the keys of a mapping."""
    if isinstance(names, str):
        return [names]
    if names is None or (isinstance(names, Iterable) and not isinstance(names, bytes)):
        listed = list(names or ())
        if all(isinstance(name, str) for name in listed):
            return listed
    raise UnsupportedModel(f"`{what}` cannot be {names!r:.60}", remedy=f"give names: {what}=['a', 'b']")


def _listed(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"
