"""scikit-learn models, read from their coefficients."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.errors import UnsupportedModel
from ircert.frontends.sklearn import from_sklearn, is_sklearn
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine

neural_network = pytest.importorskip("sklearn.neural_network")
preprocessing = pytest.importorskip("sklearn.preprocessing")
pipeline = pytest.importorskip("sklearn.pipeline")
compose = pytest.importorskip("sklearn.compose")

FIXTURES = Path(__file__).parent / "fixtures" / "sklearn"
X = np.random.default_rng(0).normal(1.0, 3.0, size=(40, 3))
Y = np.abs(X @ np.random.default_rng(1).normal(size=(3, 4)))


def fitted(*scalers: Any, y: Any = Y, kind: Any = neural_network.MLPRegressor, **options: Any) -> Any:
    network = kind(hidden_layer_sizes=(6, 5), random_state=0, max_iter=5, **options)
    model = pipeline.make_pipeline(*scalers, network) if scalers else network
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a handful of iterations does not converge
        return model.fit(X, y)


def assert_predicts(graph: Graph, model: Any) -> None:
    points = np.random.default_rng(2).normal(0.0, 6.0, size=(50, 3))
    expected = model.predict(points).reshape(50, -1)
    np.testing.assert_allclose(graph(points), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("activation", ["relu", "identity", "tanh", "logistic"])
def test_each_activation_with_several_outputs(activation: str) -> None:
    model = fitted(activation=activation)
    graph = from_sklearn(model)
    assert (graph.input_dim, graph.output_dim) == (3, 4)
    assert_predicts(graph, model)


def test_one_output() -> None:
    model = fitted(y=Y[:, 0])
    assert_predicts(from_sklearn(model), model)


def test_a_poisson_loss_ends_in_exp() -> None:
    model = fitted()
    before = from_sklearn(model)
    model.out_activation_ = "exp"  # what loss="poisson" sets, in the versions that have it
    np.testing.assert_allclose(from_sklearn(model)(X), np.exp(before(X)))


def test_the_coefficients_are_taken_as_they_are() -> None:
    model = fitted()
    layers = [(w.T, b) for w, b in zip(model.coefs_, model.intercepts_, strict=True)]
    assert from_sklearn(model) == ircert.load(model) == ircert.load(layers)


def test_the_layers_agree_with_what_was_stored_for_several_outputs() -> None:
    graph = ircert.load(FIXTURES / "regressor_outputs_layers.npz")
    with np.load(FIXTURES / "regressor_outputs.npz") as stored:
        np.testing.assert_allclose(graph(stored["x"][:, 0, :]), stored["y"], rtol=1e-9)


@pytest.mark.parametrize(
    "scaler",
    [
        preprocessing.StandardScaler(),
        preprocessing.StandardScaler(with_mean=False),
        preprocessing.StandardScaler(with_std=False),
        preprocessing.StandardScaler(with_mean=False, with_std=False),
        preprocessing.MinMaxScaler((-1, 2)),
        preprocessing.MinMaxScaler(clip=True),
        preprocessing.MaxAbsScaler(),
        pipeline.make_pipeline(preprocessing.MinMaxScaler(), "passthrough", preprocessing.StandardScaler()),
    ],
    ids=str,
)
def test_scalers_in_front(scaler: Any) -> None:
    model = fitted(scaler)
    assert_predicts(from_sklearn(model), model)


@pytest.mark.parametrize(
    "transformer",
    [
        preprocessing.StandardScaler(),
        preprocessing.StandardScaler(with_mean=False),
        preprocessing.MinMaxScaler((-1, 2)),
        preprocessing.MaxAbsScaler(),
        None,
        pipeline.make_pipeline(preprocessing.MinMaxScaler(), "passthrough", preprocessing.StandardScaler()),
    ],
    ids=str,
)
@pytest.mark.parametrize("y", [Y, Y[:, 0]], ids=["several", "one"])
def test_targets_that_are_scaled(transformer: Any, y: Any) -> None:
    inner = pipeline.make_pipeline(
        preprocessing.StandardScaler(), neural_network.MLPRegressor(hidden_layer_sizes=(5,), max_iter=5)
    )
    model = compose.TransformedTargetRegressor(inner, transformer=transformer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    assert_predicts(from_sklearn(model), model)
    outer = pipeline.Pipeline([("first", preprocessing.MinMaxScaler()), ("second", model)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outer.fit(X, y)
    assert_predicts(from_sklearn(outer), outer)


def test_targets_that_a_function_transforms_are_refused() -> None:
    model = compose.TransformedTargetRegressor(
        neural_network.MLPRegressor(hidden_layer_sizes=(5,), max_iter=5), func=np.log1p, inverse_func=np.expm1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, np.abs(Y))
    with pytest.raises(UnsupportedModel, match=r"target's FunctionTransformer; .*`regressor_`"):
        from_sklearn(model)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.rule("F-17")
def test_a_classifier_is_its_logits(classes: int) -> None:
    labels = np.argsort(np.argsort(X[:, 0])) % classes
    model = fitted(preprocessing.StandardScaler(), y=labels, kind=neural_network.MLPClassifier)
    logits = ircert.load(model)(X)
    assert logits.shape == (40, 1 if classes == 2 else 3)
    odds = np.exp(logits)
    expected = np.c_[1 / (1 + odds), odds / (1 + odds)] if classes == 2 else odds / odds.sum(1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)


def test_a_derived_class_is_recognised() -> None:
    class Mine(neural_network.MLPRegressor):  # type: ignore[misc, name-defined]
        pass

    model = fitted(kind=Mine)
    assert is_sklearn(model)
    assert_predicts(from_sklearn(model), model)
    assert not is_sklearn(object())


def test_float32_coefficients_widen() -> None:
    model = neural_network.MLPRegressor(hidden_layer_sizes=(3,), max_iter=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X.astype(np.float32), Y.astype(np.float32))
    assert model.coefs_[0].dtype == np.float32
    first = from_sklearn(model)["h1"].op
    assert isinstance(first, Affine)
    np.testing.assert_array_equal(first.weight, model.coefs_[0].T.astype(np.float64))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (neural_network.MLPRegressor(), r"MLPRegressor has not been fitted; call its fit"),
        (neural_network.MLPClassifier(), r"MLPClassifier has not been fitted"),
        (compose.TransformedTargetRegressor(neural_network.MLPRegressor()), r"has not been fitted"),
        (preprocessing.StandardScaler(), r"cannot read a scikit-learn StandardScaler"),
        (pipeline.Pipeline([("nothing", "passthrough")]), r"no steps"),
    ],
)
def test_models_that_are_refused(model: Any, message: str) -> None:
    with pytest.raises(UnsupportedModel, match=message):
        from_sklearn(model)


def test_a_step_that_is_not_a_scaler_is_named() -> None:
    with pytest.raises(UnsupportedModel, match=r"PolynomialFeatures.*StandardScaler, MinMaxScaler, MaxAbsScaler"):
        from_sklearn(fitted(preprocessing.PolynomialFeatures()))


def test_an_unfitted_scaler_is_named() -> None:
    model = pipeline.make_pipeline(preprocessing.StandardScaler(), fitted())
    with pytest.raises(UnsupportedModel, match="StandardScaler has not been fitted"):
        from_sklearn(model)


def test_an_unknown_activation_is_named() -> None:
    model = fitted()
    model.activation = "sine"
    with pytest.raises(UnsupportedModel, match="'sine' is not known"):
        from_sklearn(model)


def test_a_coefficient_that_is_not_finite_names_the_layer() -> None:
    model = fitted()
    model.coefs_[1][0, 0] = np.nan
    with pytest.raises(UnsupportedModel, match="layer 1 of MLPRegressor: weight holds nan"):
        from_sklearn(model)


@pytest.mark.rule("F-8")
def test_scikit_learn_itself_is_not_imported() -> None:
    code = "import sys, ircert.frontends.sklearn; assert not any(m.split('.')[0] == 'sklearn' for m in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.rule("F-2")
def test_a_derived_class_that_computes_something_else_is_refused() -> None:
    network, scaler = neural_network.MLPRegressor, preprocessing.StandardScaler
    doubled = type("Doubled", (network,), {"predict": lambda self, x: 2 * network.predict(self, x)})
    shifted = type("Shifted", (scaler,), {"transform": lambda self, x: scaler.transform(self, x) + 1})
    named = type("Named", (network,), {})
    with pytest.raises(UnsupportedModel, match=r"Doubled has a method `predict` of its own.*; load"):
        from_sklearn(fitted(kind=doubled))
    with pytest.raises(UnsupportedModel, match="Shifted has a method `transform`"):
        from_sklearn(fitted(shifted()))
    model = fitted(kind=named)
    assert_predicts(from_sklearn(model), model)
    model.predict = lambda x: x
    with pytest.raises(UnsupportedModel, match="Named has a method `predict`"):
        from_sklearn(model)
