"""Models of every kind, built by the same code with Keras or Kerata: `ARCHITECTURES[name](keras)`.

Run as a script, it is the side of the real Keras: it writes and reads files in a process of its own.
"""

import json
import os
import sys

import numpy as np

RNG = np.random.default_rng(0)


def features(*shape):
    return RNG.normal(size=shape).astype("float32")


def tokens(*shape, below=11):
    return RNG.integers(0, below, size=shape).astype("int32")


X = {
    "features": features(6, 8),
    "images": features(6, 9, 9, 3),
    "sequence": features(6, 5, 4),
    "tokens": tokens(6, 5),
    "pair": [features(6, 8), features(6, 8)],
    "named": {"left": features(6, 8), "right": features(6, 3)},
}


def mlp(k):
    return k.Sequential(
        [
            k.Input((8,)),
            k.layers.Dense(7, activation="relu", kernel_regularizer=k.regularizers.L2(0.01)),
            k.layers.BatchNormalization(),
            k.layers.Dropout(0.3, seed=1),
            k.layers.Dense(4, activation="softmax", kernel_initializer="he_normal", name="head"),
        ],
        name="mlp",
    )


def cnn(k):
    return k.Sequential(
        [
            k.Input((9, 9, 3)),
            k.layers.Rescaling(0.5, offset=0.1),
            k.layers.Conv2D(4, 3, strides=2, padding="same", activation="relu"),
            k.layers.DepthwiseConv2D(3, padding="same"),
            k.layers.MaxPooling2D(2),
            k.layers.AveragePooling2D(2, padding="same"),
            k.layers.Conv2D(5, 1, use_bias=False),
            k.layers.GlobalAveragePooling2D(),
            k.layers.Reshape((5, 1)),
            k.layers.Flatten(),
            k.layers.Dense(4),
            k.layers.Activation("tanh"),
        ]
    )


def shared(k):
    left, right = k.Input((8,), name="left"), k.Input((8,), name="right")
    tower = k.layers.Dense(6, activation="gelu", name="tower")
    a, b = tower(left), tower(right)
    joined = k.layers.Concatenate()([a, b, k.layers.Add()([a, b])])
    return k.Model([left, right], [k.layers.Dense(4)(joined), k.layers.Dense(2, name="second")(a)])


def named(k):
    left, right = k.Input((8,), name="left"), k.Input((3,), name="right")
    joined = k.layers.Concatenate()([left, right])
    outputs = {"a": k.layers.Dense(4, name="a")(joined), "b": k.layers.Dense(2, name="b")(left)}
    return k.Model({"left": left, "right": right}, outputs)


def with_ops(k):
    x = k.Input((8,))
    h = k.layers.Dense(6)(x)
    h = 2 - h * 0.5 + h**2 / 3
    h = k.ops.concatenate([h, k.ops.relu(h[:, 1:4])], axis=-1)
    h = k.ops.reshape(h, (-1, 3, 3))
    h = k.ops.matmul(h, np.eye(3, dtype="float32"))
    h = k.ops.sum(h, axis=-1, keepdims=True) + k.ops.mean(h, axis=(1, 2), keepdims=True)
    h = k.ops.softmax(k.ops.squeeze(h, -1))
    return k.Model(x, k.layers.Dense(4)(k.ops.maximum(h, 0.1)))


def nested(k):
    inner = k.Sequential([k.Input((8,)), k.layers.Dense(5), k.layers.BatchNormalization()], name="inner")
    x = k.Input((8,))
    middle = k.Model(x, k.layers.Dense(8)(inner(x)), name="middle")
    y = k.Input((8,))
    return k.Model(y, k.layers.Dense(4)(middle(middle(y))), name="outer")


def transformer(k):
    x = k.Input((5,), dtype="int32")
    h = k.layers.Embedding(11, 6)(x)
    a = k.layers.MultiHeadAttention(2, 3, dropout=0.1)(h, h)
    h = k.layers.LayerNormalization()(h + a)
    h = k.layers.Dense(6)(k.layers.Dense(9, activation="gelu")(h))
    return k.Model(x, k.layers.Dense(4)(k.layers.Flatten()(h)))


def masked_lstm(k):
    return k.Sequential(
        [
            k.Input((5,), dtype="int32"),
            k.layers.Embedding(11, 6, mask_zero=True),
            k.layers.LSTM(4, return_sequences=True),
            k.layers.LSTM(3),
            k.layers.Dense(4),
        ]
    )


def half(k):
    return k.Sequential(
        [
            k.Input((8,)),
            k.layers.Dense(7, dtype="mixed_bfloat16"),
            k.layers.Dense(6, dtype="bfloat16"),
            k.layers.Dense(4, dtype="float32"),
        ]
    )


def _block(k):
    @k.saving.register_keras_serializable("tests")
    class Block(k.layers.Layer):
        """Layers in attributes of every kind, variables of its own, and no `get_config`."""

        def __init__(self, units, **kwargs):
            super().__init__(**kwargs)
            self.zed = k.layers.Dense(units)
            self._hidden = k.layers.Dense(units)
            self.many = [k.layers.Dense(units), [k.layers.Dense(units)], k.layers.BatchNormalization()]
            self.named = {"b": k.layers.Dense(units), "a": k.layers.Dense(units, name="custom")}

        def build(self, input_shape):
            self.moving = self.add_weight(shape=(1,), initializer="ones", trainable=False)
            self.scale = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="scale")
            shape = tuple(input_shape)
            for layer in (self.zed, self._hidden, self.many[0], self.many[1][0], *self.named.values()):
                layer.build(shape)
                shape = (*shape[:-1], layer.units)
            self.many[2].build(shape)

        def call(self, x, training=None):
            x = x * self.scale + self.moving
            for layer in (self.zed, self._hidden, self.many[0], self.many[1][0], *self.named.values()):
                x = layer(x)
            return self.many[2](x, training=training)

    return Block


def custom_objects(k):
    """The classes that the architectures' models have, as files call them."""
    block = _block(k)
    return {"tests>Block": block, "tests>Net": _net(k, block)}


def _net(k, block):
    @k.saving.register_keras_serializable("tests")
    class Net(k.Model):
        def __init__(self, units=5, **kwargs):
            super().__init__(**kwargs)
            self.blocks = [block(units), block(units)]
            self.seq = k.Sequential([k.layers.Dense(units), k.layers.Dense(units)])
            self.head = k.layers.Dense(4)
            self.again = self.head
            self.tracker = k.metrics.Mean()

        def call(self, x, training=None):
            for b in self.blocks:
                x = b(x, training=training)
            return self.head(self.seq(x))

        def get_config(self):
            return {"units": 5}

    return Net


def subclassed(k):
    model = _net(k, _block(k))()
    model(X["features"])
    return model


def custom_layer_in_functional(k):
    x = k.Input((8,))
    return k.Model(x, k.layers.Dense(4)(_block(k)(6, name="block")(x)))


ARCHITECTURES = {
    "mlp": (mlp, "features", lambda k: k.optimizers.Adam(0.01)),
    "cnn": (cnn, "images", lambda k: k.optimizers.SGD(0.01, momentum=0.9, nesterov=True)),
    "shared": (shared, "pair", lambda k: k.optimizers.RMSprop(0.01)),
    "named": (named, "named", lambda k: k.optimizers.Adam(0.01, clipnorm=1.0)),
    "with_ops": (with_ops, "features", lambda k: k.optimizers.AdamW(0.01, weight_decay=0.01)),
    "nested": (nested, "features", lambda k: k.optimizers.Adam(0.01, use_ema=True)),
    "transformer": (
        transformer,
        "tokens",
        lambda k: k.optimizers.Adam(k.optimizers.schedules.CosineDecay(0.01, 100)),
    ),
    "masked_lstm": (masked_lstm, "tokens", lambda k: k.optimizers.Adam(0.01, gradient_accumulation_steps=2)),
    "half": (
        half,
        "features",
        lambda k: k.optimizers.Adam(k.optimizers.schedules.ExponentialDecay(0.01, 10, 0.9)),
    ),
    "subclassed": (subclassed, "features", lambda k: k.optimizers.Adam(0.01)),
    "custom_layer_in_functional": (
        custom_layer_in_functional,
        "features",
        lambda k: k.optimizers.RMSprop(0.01, centered=True, momentum=0.1),
    ),
}


# Those that the older format can hold.
IN_ONE_H5 = ("mlp", "cnn", "shared", "masked_lstm")


def inputs(name):
    return X[ARCHITECTURES[name][1]]


def trained(k, name, epochs=2):
    """The model of this name, trained a little."""
    build, _, optimizer = ARCHITECTURES[name]
    model = build(k)
    found = model(inputs(name))
    model.compile(optimizer(k), "mse", jit_compile=False)
    model.fit(inputs(name), _targets(found), batch_size=3, epochs=epochs, shuffle=False, verbose=0)
    return model


def train_on(model, name):
    """One more step. Returns its loss."""
    return float(np.ravel(model.train_on_batch(inputs(name), _targets(model(inputs(name)))))[0])


def _targets(outputs):
    if isinstance(outputs, dict):
        return {key: np.ones(tuple(o.shape), "float32") for key, o in outputs.items()}
    if isinstance(outputs, (list, tuple)):
        return [np.ones(tuple(o.shape), "float32") for o in outputs]
    return np.ones(tuple(outputs.shape), "float32")


def write(k, name, folder):
    """Save a trained model in every form, with its predictions and what one more step gives."""
    model = trained(k, name)
    path = os.path.join(folder, name)
    model.save(path + ".keras")
    model.save_weights(path + ".weights.h5")
    if name in IN_ONE_H5:
        model.save(path + ".h5")
    np.savez(path + ".outputs.npz", *outputs(k, model, name))
    np.savez(path + ".optimizer.npz", *state(k, model.optimizer))
    np.savez(path + ".loss.npz", train_on(model, name))


def read(k, name, folder):
    """How far a model loaded from a file, and one with its weights alone, are from the one saved."""
    path = os.path.join(folder, name)
    with keras_names(k, name):
        model = k.saving.load_model(path + ".keras")
    other = ARCHITECTURES[name][0](k)
    other.load_weights(path + ".weights.h5")
    wanted = stored(path + ".outputs.npz")
    legacy = {}
    if name in IN_ONE_H5:
        # Keras can't read the compile settings that it writes there.
        loaded = k.saving.load_model(path + ".h5", compile=k.__name__ != "keras")
        legacy["legacy"] = difference(outputs(k, loaded, name), wanted)
        if k.__name__ != "keras":
            legacy["legacy optimizer"] = difference(state(k, loaded.optimizer), stored(path + ".optimizer.npz"))
    return legacy | {
        "model": difference(outputs(k, model, name), wanted),
        "weights": difference(outputs(k, other, name), wanted),
        "optimizer": difference(state(k, model.optimizer), stored(path + ".optimizer.npz")),
    }


def outputs(k, model, name):
    """What a model computes, as a list of arrays in a settled order."""
    found = model(inputs(name), training=False)
    if isinstance(found, dict):
        found = [found[key] for key in sorted(found)]
    found = found if isinstance(found, (list, tuple)) else [found]
    return [np.asarray(k.ops.convert_to_numpy(o), "float32") for o in found]


def state(k, optimizer):
    return [np.asarray(k.ops.convert_to_numpy(v.value), "float32") for v in optimizer.variables]


def stored(path):
    with np.load(path) as file:
        return [file[key] for key in file.files]


def difference(found, wanted):
    """The largest one, or what is wrong with the shapes."""
    if [f.shape for f in found] != [w.shape for w in wanted]:
        return f"shapes {[f.shape for f in found]} instead of {[w.shape for w in wanted]}"
    return max((float(np.max(np.abs(f - w), initial=0)) for f, w in zip(found, wanted)), default=0.0)


def keras_names(k, name):
    """The classes of this architecture, as a scope."""
    custom = name in ("subclassed", "custom_layer_in_functional")
    return k.saving.custom_object_scope(custom_objects(k) if custom else {})


# Layers one by one: `{name: (shape of the input, function that makes it)}`.
LAYERS = {
    "Dense": ((4,), lambda ls: ls.Dense(3)),
    "EinsumDense": ((4,), lambda ls: ls.EinsumDense("ab,bc->ac", output_shape=3, bias_axes="c")),
    "BatchNormalization": ((4,), lambda ls: ls.BatchNormalization(scale=False)),
    "LayerNormalization": ((4,), lambda ls: ls.LayerNormalization()),
    "RMSNormalization": ((4,), lambda ls: ls.RMSNormalization()),
    "GroupNormalization": ((4,), lambda ls: ls.GroupNormalization(2)),
    "SpectralNormalization": ((4,), lambda ls: ls.SpectralNormalization(ls.Dense(3))),
    "PReLU": ((4,), lambda ls: ls.PReLU()),
    "Conv1D": ((8, 3), lambda ls: ls.Conv1D(2, 3)),
    "Conv2D": ((8, 8, 3), lambda ls: ls.Conv2D(2, 3, use_bias=False)),
    "Conv2DTranspose": ((8, 8, 3), lambda ls: ls.Conv2DTranspose(2, 3)),
    "Conv3D": ((2, 2, 2, 1), lambda ls: ls.Conv3D(2, 1)),
    "DepthwiseConv2D": ((8, 8, 3), lambda ls: ls.DepthwiseConv2D(3)),
    "SeparableConv2D": ((8, 8, 3), lambda ls: ls.SeparableConv2D(2, 3)),
    "LSTM": ((3, 4), lambda ls: ls.LSTM(2, dropout=0.1)),
    "GRU": ((3, 4), lambda ls: ls.GRU(2)),
    "GRU reset before": ((3, 4), lambda ls: ls.GRU(2, reset_after=False)),
    "SimpleRNN": ((3, 4), lambda ls: ls.SimpleRNN(2)),
    "Bidirectional": ((3, 4), lambda ls: ls.Bidirectional(ls.GRU(2))),
    "TimeDistributed": ((3, 4), lambda ls: ls.TimeDistributed(ls.Dense(2))),
    "RNN of cells": ((3, 4), lambda ls: ls.RNN([ls.LSTMCell(2), ls.GRUCell(3)])),
    "Dropout": ((4,), lambda ls: ls.Dropout(0.1, seed=1)),
    "GaussianNoise": ((4,), lambda ls: ls.GaussianNoise(0.1)),
    "Softmax": ((4,), lambda ls: ls.Softmax()),
}


def describe_layers(k):
    """`{name: (datasets in a file, config)}` of a model of one layer; the error where it can't be made."""
    import traceback

    found = {}
    for name, (shape, make) in LAYERS.items():
        try:
            layer = make(k.layers)
            datasets = datasets_of(k.Sequential([k.Input(shape), layer]))
            found[name] = json.loads(json.dumps([datasets, k.saving.serialize_keras_object(layer)]))
        except Exception:
            found[name] = traceback.format_exc()
    return found


def datasets_of(model):
    import tempfile

    import h5py

    found = {}

    def visit(path, item):
        found[path] = [list(item.shape), str(item.dtype)] if hasattr(item, "shape") else None

    with tempfile.TemporaryDirectory() as folder:
        model.save_weights(os.path.join(folder, "m.weights.h5"))
        with h5py.File(os.path.join(folder, "m.weights.h5")) as file:
            file.visititems(visit)
    return found


def main(what, folder, *names):
    import traceback

    import keras

    results = {}
    for name in names or ARCHITECTURES:
        try:
            results[name] = {"write": write, "read": read}[what](keras, name, folder)
        except Exception:
            results[name] = traceback.format_exc()
        keras.backend.clear_session()
    with open(os.path.join(folder, f"{what}.json"), "w") as file:
        json.dump(results, file)
    if what == "write":
        with open(os.path.join(folder, "layers.json"), "w") as file:
            json.dump(describe_layers(keras), file)


if __name__ == "__main__":
    main(*sys.argv[1:])
