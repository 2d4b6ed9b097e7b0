"""Make tests/frontends/fixtures/keras and tf2onnx: the same small keras models through both of their exporters.

Made with Python 3.11, tensorflow-cpu 2.21.0, keras 3.15.1, tf2onnx 1.17.0, onnx 1.23.2, onnxruntime 1.31.1, numpy
2.4.6:

    pip install tensorflow-cpu keras tf2onnx onnxruntime && python scripts/make_fixtures_keras.py
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
import tf2onnx
from fixture_tools import FIXTURES, store, strip
from keras import layers

POINTS = 6


def dense() -> list[keras.Layer]:
    """Two dense layers; the biases are zero, and the exporter drops them."""
    return [keras.Input((3,)), layers.Dense(6, activation="relu"), layers.Dense(2)]


def dense_normalised() -> list[keras.Layer]:
    """Given statistics, then dense layers."""
    normalise = layers.Normalization(mean=[1.0, -2.0, 0.5], variance=[4.0, 0.3, 1.0])
    return [keras.Input((3,)), layers.Rescaling(0.5, 1.0), normalise, *_leaky()]


def refused_normalised() -> list[keras.Layer]:
    """Statistics learnt from data: both exporters lose the mean and leave an input of that shape in its place."""
    normalise = layers.Normalization()
    normalise.adapt(np.random.default_rng(1).normal(2.0, 3.0, size=(50, 3)))
    return [keras.Input((3,)), normalise, *_leaky()]


def _leaky() -> list[keras.Layer]:
    return [layers.Dense(5, activation="leaky_relu"), layers.Dense(2, bias_initializer="normal")]


def dense_batch_norm() -> list[keras.Layer]:
    """Dense layers around a batch normalisation, then Dropout."""
    return [
        keras.Input((3,)),
        layers.Dense(6),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Dropout(0.3),
        layers.Dense(2),
    ]


def dense_smooth() -> list[keras.Layer]:
    """Activations that are not piecewise linear."""
    return [
        *(keras.Input((3,)), layers.Dense(4, activation="tanh"), layers.Dense(4, activation="elu")),
        *(
            layers.Dense(4, activation="softplus"),
            layers.Dense(4, activation="silu"),
            layers.Dense(2, activation="sigmoid"),
        ),
    ]


def conv() -> list[keras.Layer]:
    """Images in NHWC, with strides, `same` padding, both poolings and Flatten."""
    return [
        *(keras.Input((6, 6, 2)), layers.Conv2D(3, 3, strides=2, padding="same", activation="relu")),
        *(
            layers.MaxPooling2D(2, strides=1),
            layers.Conv2D(2, 2, bias_initializer="normal"),
            layers.Flatten(),
            layers.Dense(2),
        ),
    ]


def conv_pooled() -> list[keras.Layer]:
    """A depthwise convolution, average pooling with padding, and a global mean."""
    return [
        *(keras.Input((5, 5, 2)), layers.DepthwiseConv2D(2, depth_multiplier=2), layers.ReLU(max_value=6.0)),
        *(layers.AveragePooling2D(2, padding="same"), layers.GlobalAveragePooling2D(), layers.Dense(2)),
    ]


def conv_1d() -> list[keras.Layer]:
    """A convolution over one axis, which tf2onnx wraps into Unsqueeze and Squeeze."""
    return [
        keras.Input((7, 2)),
        layers.Conv1D(3, 3, dilation_rate=2, activation="relu"),
        layers.Flatten(),
        layers.Dense(2),
    ]


def reshaped() -> list[keras.Layer]:
    """Reshape, Permute, ZeroPadding, PReLU."""
    return [
        *(
            keras.Input((12,)),
            layers.Reshape((2, 3, 2)),
            layers.ZeroPadding2D(1),
            layers.Conv2D(2, 2),
            layers.Permute((3, 1, 2)),
        ),
        *(layers.PReLU("uniform"), layers.Flatten(), layers.Dense(2)),
    ]


MODELS: tuple[Callable[[], list[keras.Layer]], ...] = (
    *(dense, dense_normalised, refused_normalised, dense_batch_norm, dense_smooth),
    *(conv, conv_pooled, conv_1d, reshaped),
)


def residual() -> keras.Model:
    """A skip connection, a concatenation, a maximum and an average of two branches."""
    x = keras.Input((4,))
    a, b = layers.Dense(4, activation="relu")(x), layers.Dense(4)(x)
    joined = layers.Concatenate()([layers.Add()([x, a]), layers.Maximum()([a, b]), layers.Average()([x, b])])
    return keras.Model(x, layers.Dense(2)(layers.Subtract()([joined, layers.LeakyReLU()(joined)])))


def main() -> None:
    """Every model through both exporters."""
    for make in MODELS:
        keras.utils.set_random_seed(len(make.__name__))
        export(make.__name__, keras.Sequential(make()))
    keras.utils.set_random_seed(0)
    export("residual", residual())


def export(name: str, model: keras.Model) -> None:
    """The model by keras.Model.export and by tf2onnx, with the values that keras computes."""
    x = np.random.default_rng(2).normal(size=(POINTS, 1, *model.input_shape[1:])).astype(np.float32)
    y = np.stack([model(point).numpy() for point in x])
    for exporter, write in (("keras", by_keras), ("tf2onnx", by_tf2onnx)):
        path = FIXTURES / exporter / f"{name}.onnx"
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, model)
        strip(path)
        if not name.startswith("refused_"):
            store(path, x, y)
        print(exporter, name, path.stat().st_size)


def by_keras(path: Path, model: keras.Model) -> None:
    """keras' own door."""
    model.export(path, format="onnx", verbose=False)


def by_tf2onnx(path: Path, model: keras.Model) -> None:
    """tf2onnx on the traced function."""
    signature = [tf.TensorSpec((None, *model.input_shape[1:]), tf.float32, name="input")]
    tf2onnx.convert.from_function(
        tf.function(lambda x: model(x, training=False)), input_signature=signature, opset=15, output_path=str(path)
    )


if __name__ == "__main__":
    main()
