"""`torch.compile` of ops, layers and models: one graph, and the numbers of the eager call."""

import numpy as np
import pytest

import kerata
from kerata import backends, layers, ops

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def on_torch():
    torch._dynamo.reset()
    with backends.use_backend("torch"):
        yield


def whole(function):
    """Compiled without a break, or an error."""
    return torch.compile(function, backend="eager", fullgraph=True)


def image(*shape):
    return torch.from_numpy(np.random.default_rng(0).normal(size=shape).astype("float32"))


OPS = {
    "two tensors": lambda x: ops.add(x, x),
    "a number": lambda x: ops.multiply(x, 2.0),
    "operators": lambda x: ops.mean(ops.exp(x) * 2 - 1, axis=-1, keepdims=True),
    "a shape": lambda x: ops.reshape(x, (-1, 2)),
    "several": lambda x: ops.concatenate([x, ops.softmax(x)], axis=0),
    "an equation": lambda x: ops.einsum("ab,cb->ac", x, x),
    "another dtype": lambda x: ops.cast(x, "int32") + 1,
}


@pytest.mark.parametrize("name", OPS)
def test_ops(name):
    x = image(4, 6)
    np.testing.assert_allclose(whole(OPS[name])(x), OPS[name](x), rtol=1e-5)


def perceptron():
    return kerata.Sequential([layers.Input((3,)), layers.Dense(4, activation="relu"), layers.Dense(2)]), image(5, 3)


def convolutional():
    inputs = layers.Input((8, 8, 3))
    x = layers.BatchNormalization()(layers.Conv2D(4, 3, activation="relu")(inputs))
    x = layers.Dropout(0.5)(layers.Flatten()(layers.MaxPooling2D()(x)))
    return kerata.Model(inputs, layers.Dense(2)(x)), image(2, 8, 8, 3)


def transformer():
    inputs = layers.Input((5,), dtype="int32")
    x = layers.LayerNormalization()(layers.Embedding(10, 8)(inputs))
    x = layers.Add()([x, layers.MultiHeadAttention(2, 4)(x, x)])
    return kerata.Model(inputs, layers.Dense(2)(layers.GlobalAveragePooling1D()(x))), torch.arange(10).int().reshape(
        2, 5
    )


def recurrent():
    return kerata.Sequential([layers.Input((5, 3)), layers.LSTM(4)]), image(2, 5, 3)


def half():
    model = kerata.Sequential([layers.Input((3,)), layers.Dense(4, dtype="mixed_bfloat16"), layers.Dense(2)])
    return model, image(5, 3)


@pytest.mark.parametrize("make", [perceptron, convolutional, transformer, recurrent, half])
def test_models(make):
    model, x = make()
    eager = model(x).detach()
    compiled = whole(model)
    np.testing.assert_allclose(compiled(x).detach(), eager, rtol=1e-5, atol=1e-6)
    compiled(x).sum().backward()
    assert all(p.grad is not None for p in model.parameters() if p.requires_grad)


class Block(layers.Layer):
    """As users write them."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense, self.dropout = layers.Dense(50), layers.Dropout(0.9, seed=1)

    def call(self, x):
        return self.dropout(self.dense(x) + 10)


def test_layers_of_ones_own_follow_the_phase():
    block, x = Block(), image(4, 3)
    block(x)
    compiled = whole(block)
    for _ in range(2):
        assert (compiled(x) != 0).all()
        share = (compiled(x, training=True) == 0).float().mean()
        assert 0.7 < share < 1


def test_what_is_compiled_sees_the_outer_call():
    """The phase comes from the layer around it, and changes with it."""

    class Outer(layers.Layer):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.block(image(4, 3))
            self.compiled = whole(lambda x: self.block(x))

        def call(self, x):
            return self.compiled(x)

    x = image(4, 3)
    outer = Outer()
    assert (outer(x) != 0).all()
    assert (outer(x, training=True) == 0).any()
    assert (outer(x) != 0).all()
