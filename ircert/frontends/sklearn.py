"""scikit-learn's MLPRegressor and MLPClassifier, read from their coefficients, alone or between scalers.

The attributes of the fitted objects are all that is needed: scikit-learn itself is not imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ircert.errors import UnsupportedModel
from ircert.ir.arrays import diagonal, identity
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine, Clip, Op, Relu
from ircert.ir.ops.curves import Sigmoid, Tanh
from ircert.ir.ops.exp import Exp

_ACTIVATIONS: dict[str, type[Op] | None] = {
    "identity": None,
    "relu": Relu,
    "tanh": Tanh,
    "logistic": Sigmoid,
    "exp": Exp,
}


def is_sklearn(model: object) -> bool:
    """Whether the object is one of scikit-learn's (or of a class derived from one)."""
    return any(kind.__module__.split(".")[0] == "sklearn" for kind in type(model).__mro__)


def from_sklearn(model: Any) -> Graph:
    """The function `predict` of a fitted MLPRegressor, or of a Pipeline of scalers that ends in one; the target may be
    scaled too (TransformedTargetRegressor). Of an MLPClassifier, its logits: the numbers before softmax or logistic.

    Coefficients are the stored numbers. A StandardScaler or MaxAbsScaler divides: that is a product with the double
    nearest to 1 / scale, rounded once, here.
    """
    stages = _stages(model)
    networks = [stage.estimator for stage in stages if stage.act is _network]
    for last in [stage.estimator for stage in stages[-1:] if not networks]:
        raise UnsupportedModel(
            f"cannot read a scikit-learn {_kind(last)}",
            remedy="give a fitted MLPRegressor or MLPClassifier, or a Pipeline of scalers that ends in one",
        )
    if len(networks) != 1:
        raise UnsupportedModel("the pipeline has no steps", remedy="end it with an MLPRegressor")
    _require_fitted(networks[0], "coefs_", "intercepts_", "out_activation_")
    build = Builder(networks[0].coefs_[0].shape[0])
    x = build.input
    for stage in stages:
        x = stage.act(build, x, stage.estimator)
    return build.graph(x)


@dataclass(frozen=True)
class _Stage:
    """A fitted estimator, and what of it stands in the graph."""

    act: Callable[[Builder, str, Any], str]
    estimator: Any


def _stages(model: Any) -> list[_Stage]:
    """What runs one after the other; steps that do nothing are left out."""
    names = _names(model)
    if "Pipeline" in names:
        _require_own(model, "predict")
        steps = [estimator for _, estimator in model.steps if estimator not in (None, "passthrough")]
        return [stage for step in steps for stage in _stages(step)]
    if "TransformedTargetRegressor" in names:
        _require_own(model, "predict")
        _require_fitted(model, "regressor_", "transformer_")
        return [*_stages(model.regressor_), *_undone(model.transformer_)]
    return [_Stage(_network if names & _NETWORKS else _scaled, model)]


def _undone(transformer: Any) -> list[_Stage]:
    """What takes targets back to their units; of several scalers the last first."""
    if "Pipeline" in _names(transformer):
        steps = [estimator for _, estimator in transformer.steps if estimator not in (None, "passthrough")]
        return [stage for step in reversed(steps) for stage in _undone(step)]
    if "FunctionTransformer" in _names(transformer) and transformer.inverse_func is None:
        return []  # what a TransformedTargetRegressor has that transforms nothing
    return [_Stage(_unscaled, transformer)]


def _network(build: Builder, x: str, model: Any) -> str:
    _require_own(model, "predict", "_predict", "_forward_pass_fast", "predict_proba")
    last = len(model.coefs_) - 1
    end = "identity" if "MLPClassifier" in _names(model) else model.out_activation_
    for k, (weight, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        name = "y" if k == last else f"h{k + 1}"
        try:
            x = build.node(Affine(weight.T, bias), x, name=name)
        except ValueError as error:
            raise UnsupportedModel(str(error), where=f"layer {k} of {_kind(model)}") from None
        x = _activated(build, x, end if k == last else model.activation, name=f"a{k + 1}")
    return x


def _activated(build: Builder, x: str, activation: str, *, name: str) -> str:
    if activation not in _ACTIVATIONS:
        raise UnsupportedModel(
            f"the activation {activation!r} is not known", remedy=f"use one of {', '.join(_ACTIVATIONS)}"
        )
    op = _ACTIVATIONS[activation]
    return x if op is None else build.node(op(), x, name=name)


def _require_own(model: Any, *methods: str) -> None:
    """Refuse a derived class that computes something else than its coefficients say."""
    for method in methods:
        owner = next((kind for kind in type(model).__mro__ if method in vars(kind)), None)
        if method in vars(model) or (owner is not None and owner.__module__.split(".")[0] != "sklearn"):
            raise UnsupportedModel(
                f"{_kind(model)} has a method `{method}` of its own, which the coefficients do not show",
                remedy="load the scikit-learn model without it, and apply what it adds to the data or the result",
            )


def _require_fitted(model: Any, *attributes: str) -> None:
    if not all(hasattr(model, name) for name in attributes):
        raise UnsupportedModel(f"this {_kind(model)} has not been fitted", remedy="call its fit(X, y) first")


# --- scalers --------------------------------------------------------------------------------------------------------


def _scaled(build: Builder, x: str, scaler: Any) -> str:
    _require_own(scaler, "transform")
    for name, apply in _SCALERS.items():
        if name in _names(scaler):
            return apply(build, x, scaler)
    raise UnsupportedModel(
        f"cannot read the pipeline step {_kind(scaler)}",
        remedy=f"only {', '.join(_SCALERS)} may stand before the MLPRegressor; apply other steps to the data instead",
    )


def _unscaled(build: Builder, x: str, scaler: Any) -> str:
    """The inverse of a scaler of targets."""
    _require_own(scaler, "inverse_transform")
    for name, undo in _INVERSES.items():
        if name in _names(scaler):
            return undo(build, x, scaler)
    raise UnsupportedModel(
        f"cannot undo the target's {_kind(scaler)}",
        remedy=f"only {', '.join(_INVERSES)} may scale the target; load the inner `regressor_` instead",
    )


def _standard(build: Builder, x: str, scaler: Any) -> str:
    """(x - mean) / scale; either may be switched off."""
    _require_fitted(scaler, "mean_", "scale_")
    if scaler.with_mean:
        x = build.affine(x, identity(build.size(x)), -np.asarray(scaler.mean_, dtype=np.float64), name="centred")
    return build.affine(x, diagonal(1.0 / np.asarray(scaler.scale_)), name="scaled") if scaler.with_std else x


def _standard_back(build: Builder, x: str, scaler: Any) -> str:
    """x * scale + mean; either may be switched off."""
    _require_fitted(scaler, "mean_", "scale_")
    if scaler.with_std:
        x = build.affine(x, diagonal(np.asarray(scaler.scale_)), name="unscaled")
    return build.affine(x, identity(build.size(x)), scaler.mean_, name="moved") if scaler.with_mean else x


def _min_max(build: Builder, x: str, scaler: Any) -> str:
    """x * scale + min, cut to the feature range if the scaler says so."""
    _require_fitted(scaler, "scale_", "min_")
    x = build.affine(x, diagonal(np.asarray(scaler.scale_)), scaler.min_, name="scaled")
    return _clipped(build, x, *scaler.feature_range) if scaler.clip else x


def _min_max_back(build: Builder, x: str, scaler: Any) -> str:
    """(x - min) / scale."""
    _require_fitted(scaler, "scale_", "min_")
    x = build.affine(x, identity(build.size(x)), -np.asarray(scaler.min_, dtype=np.float64), name="moved")
    return build.affine(x, diagonal(1.0 / np.asarray(scaler.scale_)), name="unscaled")


def _max_abs(build: Builder, x: str, scaler: Any) -> str:
    """x / scale, cut to [-1, 1] if the scaler says so."""
    _require_fitted(scaler, "scale_")
    x = build.affine(x, diagonal(1.0 / np.asarray(scaler.scale_)), name="scaled")
    return _clipped(build, x, -1.0, 1.0) if getattr(scaler, "clip", False) else x


def _max_abs_back(build: Builder, x: str, scaler: Any) -> str:
    """x * scale."""
    _require_fitted(scaler, "scale_")
    return build.affine(x, diagonal(np.asarray(scaler.scale_)), name="unscaled")


def _clipped(build: Builder, x: str, low: float, high: float) -> str:
    return build.node(Clip(np.array([low]), np.array([high])), x, name="clipped")


_SCALERS: dict[str, Callable[[Builder, str, Any], str]] = {
    "StandardScaler": _standard,
    "MinMaxScaler": _min_max,
    "MaxAbsScaler": _max_abs,
}
_INVERSES: dict[str, Callable[[Builder, str, Any], str]] = {
    "StandardScaler": _standard_back,
    "MinMaxScaler": _min_max_back,
    "MaxAbsScaler": _max_abs_back,
}
_NETWORKS = {"MLPRegressor", "MLPClassifier"}


def _names(model: object) -> set[str]:
    """The names of the scikit-learn classes that the object is an instance of."""
    return {kind.__name__ for kind in type(model).__mro__ if kind.__module__.split(".")[0] == "sklearn"}


def _kind(model: object) -> str:
    return type(model).__name__
