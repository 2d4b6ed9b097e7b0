"""Make tests/frontends/fixtures/keras_files: small Keras models as .keras files, with the values that Keras computes.

Made with Python 3.12, keras 3.15.1 on jax 0.12.0.1, h5py 3.16.0:

    pip install keras jax h5py && python scripts/make_fixtures_keras_files.py [NAME…]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np
from keras import layers

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "frontends" / "fixtures" / "keras_files"
POINTS = 40


def dense() -> keras.Model:
    """Layers, batch normalisation with statistics of its own, dropout, activations by name and by layer."""
    return keras.Sequential(
        [
            *(keras.Input((3,)), layers.Rescaling(0.5, 1.0), layers.Dense(6, activation="relu")),
            *(layers.BatchNormalization(), layers.Dropout(0.3), layers.Dense(5, use_bias=False), layers.LeakyReLU()),
            *(layers.Dense(4, activation="gelu"), layers.Dense(4), layers.ReLU(max_value=6.0), layers.Dense(2)),
        ]
    )


def conv() -> keras.Model:
    """Images with channels last: strides, `same` padding, both poolings, depthwise, and a residual sum."""
    x = keras.Input((6, 6, 2))
    a = layers.Conv2D(3, 3, strides=2, padding="same", activation="relu")(layers.ZeroPadding2D(1)(x))
    a = layers.BatchNormalization()(a)
    b = layers.Add()([a, layers.DepthwiseConv2D(1, depth_multiplier=1)(a)])
    c = layers.MaxPooling2D(2)(b)
    d = layers.AveragePooling2D(2, padding="same")(b)
    joined = layers.Concatenate()([layers.Flatten()(c), layers.Flatten()(d), layers.GlobalAveragePooling2D()(b)])
    return keras.Model(x, layers.Dense(2)(joined))


def nested() -> keras.Model:
    """Models in a model: Sequential, functional with two inputs and two outputs, one in another, one called twice."""
    mixed = keras.Sequential([keras.Input((3,)), layers.Dense(5, activation="relu"), layers.Dense(3)], name="mixed")
    x = keras.Input((3,))
    step = keras.Model(x, layers.Add()([x, mixed(x)]), name="step")
    a, b = keras.Input((3,)), keras.Input((3,))
    both = keras.Model([a, b], [layers.Subtract()([a, b]), a], name="both")
    start = keras.Input((3,))
    gap, end = both([step(step(start)), start])
    return keras.Model(start, layers.Concatenate()([layers.ReLU()(gap), end]))


def chain() -> keras.Model:
    """Models in a Sequential one, which begins with one of them."""
    x = keras.Input((6, 6, 1))
    a = layers.Conv2D(2, 3, strides=2, padding="same", activation="relu")(x)
    images = keras.Model(x, layers.Flatten()(layers.BatchNormalization()(a)), name="images")
    head = keras.Sequential(
        [keras.Input((18,)), keras.Sequential([keras.Input((18,)), layers.Dense(4)]), layers.ReLU()]
    )
    return keras.Sequential([keras.Input((6, 6, 1)), images, head, layers.Dense(2)])


MODELS: tuple[Callable[[], keras.Model], ...] = (dense, conv, nested, chain)


def main(names: list[str]) -> None:
    """The named models, or all, with weights and statistics that are not trivial."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(7)
    for make in [each for each in MODELS if not names or each.__name__ in names]:
        keras.utils.set_random_seed(8)
        model = make()
        model.set_weights([w + random.uniform(-0.4, 0.5, size=w.shape).astype(w.dtype) for w in model.get_weights()])
        model.save(FOLDER / f"{make.__name__}.keras")
        x = random.normal(size=(POINTS, *model.input_shape[1:])).astype(np.float32)
        np.savez(FOLDER / f"{make.__name__}.npz", x=x, y=np.asarray(model(x)))


if __name__ == "__main__":
    main(sys.argv[1:])
