"""scikit-learn's MLPRegressor, read from its coefficients, alone or behind scalers in a Pipeline.

The attributes of the fitted objects are all that is needed: scikit-learn itself is not imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ircert.errors import UnsupportedModel
from ircert.ir.arrays import diagonal, identity
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine, Clip, Op, Relu
from ircert.ir.ops.curves import Sigmoid, Tanh
from ircert.ir.ops.smooth import Exp

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
    """The function `predict` of a fitted MLPRegressor, or of a Pipeline of scalers that ends in one.

    Coefficients are the stored numbers. A StandardScaler or MaxAbsScaler divides: that is a product with the double
    nearest to 1 / scale, rounded once, here.
    """
    *scalers, regressor = _steps(model)
    _require_regressor(regressor)
    _require_own(model, "predict")
    _require_own(regressor, "predict", "_predict", "_forward_pass_fast")
    for scaler in scalers:
        _require_own(scaler, "transform")
    build = Builder(regressor.coefs_[0].shape[0])
    x = build.input
    for scaler in scalers:
        x = _scaled(build, x, scaler)
    return build.graph(_network(build, x, regressor))


def _network(build: Builder, x: str, model: Any) -> str:
    last = len(model.coefs_) - 1
    for k, (weight, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        name = "y" if k == last else f"h{k + 1}"
        try:
            x = build.node(Affine(weight.T, bias), x, name=name)
        except ValueError as error:
            raise UnsupportedModel(str(error), where=f"layer {k} of {_kind(model)}") from None
        x = _activated(build, x, model.out_activation_ if k == last else model.activation, name=f"a{k + 1}")
    return x


def _activated(build: Builder, x: str, activation: str, *, name: str) -> str:
    if activation not in _ACTIVATIONS:
        raise UnsupportedModel(
            f"the activation {activation!r} is not known", remedy=f"use one of {', '.join(_ACTIVATIONS)}"
        )
    op = _ACTIVATIONS[activation]
    return x if op is None else build.node(op(), x, name=name)


def _steps(model: Any) -> list[Any]:
    """The estimators that run one after the other; steps that do nothing are left out."""
    if "Pipeline" not in _names(model):
        return [model]
    steps = [
        step for _, estimator in model.steps if estimator not in (None, "passthrough") for step in _steps(estimator)
    ]
    if not steps:
        raise UnsupportedModel("the pipeline has no steps", remedy="end it with an MLPRegressor")
    return steps


def _require_regressor(model: Any) -> None:
    names = _names(model)
    if "MLPClassifier" in names:
        raise UnsupportedModel(
            "an MLPClassifier predicts labels, which is not a continuous function",
            remedy="with relu inside, load its logits as a list: [(w.T, b) for w, b in zip(coefs_, intercepts_)]",
        )
    if "MLPRegressor" not in names:
        raise UnsupportedModel(
            f"cannot read a scikit-learn {_kind(model)}",
            remedy="give a fitted MLPRegressor, or a Pipeline of scalers that ends in one",
        )
    _require_fitted(model, "coefs_", "intercepts_", "out_activation_")


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
    for name, apply in _SCALERS.items():
        if name in _names(scaler):
            return apply(build, x, scaler)
    raise UnsupportedModel(
        f"cannot read the pipeline step {_kind(scaler)}",
        remedy=f"only {', '.join(_SCALERS)} may stand before the MLPRegressor; apply other steps to the data instead",
    )


def _standard(build: Builder, x: str, scaler: Any) -> str:
    """(x - mean) / scale; either may be switched off."""
    _require_fitted(scaler, "mean_", "scale_")
    if scaler.with_mean:
        x = build.affine(x, identity(build.size(x)), -np.asarray(scaler.mean_, dtype=np.float64), name="centred")
    return build.affine(x, diagonal(1.0 / np.asarray(scaler.scale_)), name="scaled") if scaler.with_std else x


def _min_max(build: Builder, x: str, scaler: Any) -> str:
    """x * scale + min, cut to the feature range if the scaler says so."""
    _require_fitted(scaler, "scale_", "min_")
    x = build.affine(x, diagonal(np.asarray(scaler.scale_)), scaler.min_, name="scaled")
    return _clipped(build, x, *scaler.feature_range) if scaler.clip else x


def _max_abs(build: Builder, x: str, scaler: Any) -> str:
    """x / scale, cut to [-1, 1] if the scaler says so."""
    _require_fitted(scaler, "scale_")
    x = build.affine(x, diagonal(1.0 / np.asarray(scaler.scale_)), name="scaled")
    return _clipped(build, x, -1.0, 1.0) if getattr(scaler, "clip", False) else x


def _clipped(build: Builder, x: str, low: float, high: float) -> str:
    return build.node(Clip(np.array([low]), np.array([high])), x, name="clipped")


_SCALERS: dict[str, Callable[[Builder, str, Any], str]] = {
    "StandardScaler": _standard,
    "MinMaxScaler": _min_max,
    "MaxAbsScaler": _max_abs,
}


def _names(model: object) -> set[str]:
    """The names of the scikit-learn classes that the object is an instance of."""
    return {kind.__name__ for kind in type(model).__mro__ if kind.__module__.split(".")[0] == "sklearn"}


def _kind(model: object) -> str:
    return type(model).__name__
