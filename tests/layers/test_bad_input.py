"""A mistake gets one clear error."""

import numpy as np
import pytest

import kerata
from kerata import backends, layers

X = np.ones((2, 3), "float32")


@pytest.fixture(autouse=True)
def on_numpy():
    with backends.use_backend("numpy"):
        yield


def test_numpy_integers_are_integers():
    layer = layers.Dense(np.int64(8))
    assert layer.get_config()["units"] == 8
    assert type(layer.units) is int


@pytest.mark.parametrize("units", (-1, 0, 2.5, "3", None, True))
def test_units(units):
    with pytest.raises(ValueError, match="`units` must be a positive integer"):
        layers.Dense(units)


def test_features_that_are_not_known():
    with pytest.raises(
        ValueError, match=r'Dense "head": the last dimension of the input must be known.*\(None, None\)'
    ):
        layers.Dense(4, name="head")(kerata.Input((None,)))


BAD = {
    "Invalid value for argument `filters`": lambda: layers.Conv2D(0, 3),
    "`kernel_size` argument must be a tuple of 2": lambda: layers.Conv2D(4, (3, 3, 3)),
    "`strides > 1` not supported": lambda: layers.Conv2D(4, 3, strides=2, dilation_rate=2),
    "evenly divisible": lambda: layers.Conv2D(5, 3, groups=2),
    "`padding` must be one of": lambda: layers.Conv2D(5, 3, padding="causal"),
    "output size would be zero": lambda: layers.Conv2D(5, 3)(np.ones((1, 2, 2, 1), "float32")),
    "must be a multiple of `groups`": lambda: layers.Conv2D(4, 3, groups=2)(np.ones((1, 4, 4, 3), "float32")),
    "expected 4 dimensions": lambda: layers.MaxPooling2D()(X),
    "expected axis -1 to have size 3": lambda: _twice(layers.Dense(2), X, np.ones((2, 4), "float32")),
    "don't fill `target_shape`": lambda: layers.Reshape((2, 2))(X),
    "Invalid permutation": lambda: layers.Permute((1, 3)),
    "leaves nothing|should be smaller": lambda: layers.Cropping1D(4)(np.ones((1, 5, 2), "float32")),
    "argument `rate`": lambda: layers.Dropout(1.5),
    "should be called on exactly 2 inputs": lambda: layers.Subtract()([X, X, X]),
    "don't broadcast": lambda: layers.Add()([X, np.ones((2, 4), "float32")]),
    "matching shapes except for the concatenation axis": lambda: layers.Concatenate()([X, np.ones((3, 3), "float32")]),
    "must divide the number of channels": lambda: layers.GroupNormalization(2)(X),
    "argument `num_heads`": lambda: layers.MultiHeadAttention(0, 3),
    "steps of key and value must be equal": lambda: layers.MultiHeadAttention(1, 3)(
        *(np.ones((1, n, 2)) for n in (4, 5, 6))
    ),
    "Equations?|must have the form": lambda: layers.EinsumDense("ab->a", 3).build((2, 3)),
    "needs an attribute `state_size`": lambda: layers.RNN(layers.Dense(3)),
    "unknown arguments 'unit'": lambda: layers.Dense(3, unit=4),
    "doesn't broadcast": lambda: layers.Softmax()(X, mask=np.ones((4, 3), bool)),
    "can't be both|`sparse` and `ragged`": lambda: layers.InputLayer(shape=(3,), sparse=True, ragged=True),
    "Could not interpret activation": lambda: layers.Dense(3, activation="rellu"),
}


def _twice(layer, first, second):
    layer(first)
    layer(second)


@pytest.mark.parametrize("message", BAD)
def test_mistakes(message):
    with pytest.raises(ValueError, match=message):
        BAD[message]()


def test_a_lambda_is_refused_unless_trusted():
    config = layers.serialize(layers.Lambda(lambda x: x * 2))
    with pytest.raises((ValueError, TypeError), match="safe_mode=False"):
        layers.deserialize(config)
    again = layers.Lambda.from_config(config["config"], safe_mode=False)
    assert (again(X) == 2).all()


def test_every_layer_takes_a_phase():
    """Layers without a `training` of their own hand it to those inside."""

    class Around(kerata.Layer):
        def __init__(self):
            super().__init__()
            self.inner = layers.Dropout(0.9, seed=1)

        def call(self, inputs):
            return self.inner(inputs)

    assert (layers.Flatten()(X, training=True) == X).all()
    assert (Around()(X) == X).all()
    assert not (Around()(X, training=True) == X).all()
