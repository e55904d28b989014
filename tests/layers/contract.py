"""What every layer keeps: one function, one clause. Keras's own layer, run beside, is the oracle."""

import functools

import numpy as np

from kerata import backends, layers, ops
from kerata.core import dtypes, tree
from kerata.core.masks import get_mask, set_mask
from kerata.graph.tensor import KerasTensor

# Results in half precision against those in float32: a few units in the last place of sums of a few products.
HALF = {"mixed_bfloat16": 0.1, "mixed_float16": 0.02}
# Trained by their layer, but without influence on the output where nothing is masked or gated.
GRADIENT_TOLERANCE = 2e-4


def close(found, wanted, tolerance, what=""):
    found, wanted = tree.flatten(found), tree.flatten(wanted)
    assert len(found) == len(wanted), what
    for a, b in zip(found, wanted, strict=True):
        a, b = host(a), host(b)
        assert a.shape == b.shape, f"{what}: {a.shape} {b.shape}"
        np.testing.assert_allclose(
            a.astype("float64"), b.astype("float64"), rtol=tolerance, atol=tolerance, err_msg=what
        )


def host(x):
    return x if isinstance(x, np.ndarray) else np.asarray(x) if np.isscalar(x) else _host(x)


def _host(x):
    if backends.current().is_tensor(x):
        return ops.convert_to_numpy(x)
    return np.asarray(x)


# ------------------------------------------------------------------ the oracle


class Reference:
    """A sample's layer in Keras: weights, output, mask, weights after a training step."""

    def __init__(self, sample, keras):
        self.layer = sample.make(keras.layers)
        self.output = self.layer(*sample.inputs, **sample.call)
        randomized = [_random_like(w) for w in self.layer.weights]
        self.layer.set_weights(randomized)
        if hasattr(self.layer, "finalize_state"):
            # Keras's adapted layers heed new weights from here on.
            self.layer.finalize_state()
        self.weights = randomized
        self.names = [w.path.split("/")[-1] for w in self.layer.weights]
        self.output = keras.tree.map_structure(np.asarray, self.layer(*sample.inputs, **sample.call))
        self.mask = self._mask(sample, keras)
        self.trained = self.after = None
        if sample.trained:
            trained = self.layer(*sample.inputs, **sample.call, training=True)
            self.trained = keras.tree.map_structure(np.asarray, trained)
            self.after = self.layer.get_weights()
        self.config = sample.make(keras.layers).get_config()

    def _mask(self, sample, keras):
        """Mask of the output when the first input, a sequence, has one; `None`: it has none, or there's nothing to ask."""
        if not takes_mask(sample):
            return None
        inputs = [keras.KerasTensor(x.shape, x.dtype.name) for x in sample.inputs]
        given = keras.KerasTensor(inputs[0].shape[:2], "bool")
        inputs[0]._keras_mask = given
        output = keras.tree.flatten(self.layer(*inputs))[0]
        found = getattr(output, "_keras_mask", None)
        if found is None or found is given or len(inputs) > 1:
            return None if found is None else steps_mask(sample.inputs[0])
        # Values of a mask of the layer's own.
        return np.asarray(
            keras.tree.flatten(self.layer.compute_mask(sample.inputs[0], steps_mask(sample.inputs[0])))[0]
        )


def takes_mask(sample):
    """Whether the sample is of a layer called on one plain sequence, which may have a mask."""
    first = sample.inputs[0]
    return not isinstance(first, list) and first.ndim == 3 and not sample.call and sample.name != "Softmax"


class Masked(np.ndarray):
    """A NumPy array that can carry a mask."""


def steps_mask(x):
    mask = np.ones(x.shape[:2], bool)
    mask[0, 1:] = False
    return mask


def _random_like(weight):
    """Weights with values everywhere, also where a layer begins with zeros; moving variances are positive."""
    rng = np.random.default_rng(int(np.prod(weight.shape)))
    sign = rng.choice([-1, 1], size=weight.shape) if weight.trainable else 1
    return (rng.uniform(0.2, 0.8, size=weight.shape) * sign).astype(weight.dtype)


@functools.cache
def reference(index, keras):
    from layer_samples import SAMPLES

    return Reference(SAMPLES[index], keras)


# ------------------------------------------------------------------ clauses


def built(sample, ref, **more):
    """Our layer, built by a call, with Keras's weights."""
    layer = sample.make(layers, **more)
    layer(*sample.inputs, **sample.call)
    layer.set_weights([np.asarray(w) for w in ref.weights])
    return layer


def same_as_keras(sample, ref):
    """Weights in the same order, of the same names and shapes; the same outputs, in inference and training."""
    layer = sample.make(layers)
    layer(*sample.inputs, **sample.call)
    assert [w.path.split("/")[-1] for w in layer.weights] == ref.names
    assert [tuple(w.shape) for w in layer.weights] == [w.shape for w in ref.weights]
    assert [w.trainable for w in layer.weights] == [w.trainable for w in ref.layer.weights]
    layer.set_weights(ref.weights)
    close(layer(*sample.inputs, **sample.call), ref.output, sample.tolerance, "inference")
    if sample.trained:
        close(layer(*sample.inputs, **sample.call, training=True), ref.trained, sample.tolerance, "training")
        close(layer.get_weights(), ref.after, sample.tolerance, "weights after training")
    if ref.layer.losses:
        close(layer.losses, [np.asarray(v) for v in ref.layer.losses], 1e-4, "losses")


def symbolic_is_eager(sample, batch):
    """Shapes and dtypes that are inferred are those of the real output."""
    eager = sample.make(layers)(*sample.inputs, **sample.call)
    layer = sample.make(layers)
    inputs, call = tree.map_structure(lambda x: _symbol(x, batch), (sample.inputs, sample.call))
    outputs = layer(*inputs, **call)
    tree.assert_same_structure(outputs, eager)
    for s, e in zip(tree.flatten(outputs), tree.flatten(eager), strict=True):
        expected = (batch, *tuple(e.shape)[1:]) if e.shape else ()
        assert s.shape == expected, f"inferred {s.shape}, real {tuple(e.shape)}"
        assert s.dtype == dtypes.standardize_dtype(e.dtype)
    if len(sample.inputs) == 1 and not sample.call and not isinstance(sample.inputs[0], list):
        shape = (batch, *sample.inputs[0].shape[1:])
        found = sample.make(layers).compute_output_shape(shape)
        assert found == tree.map_structure(lambda t: t.shape, outputs)


def _symbol(x, batch):
    return KerasTensor((batch, *x.shape[1:]), x.dtype.name) if isinstance(x, np.ndarray) else x


def config_round_trip(sample, ref):
    """The config is Keras's, and makes an equal layer."""
    layer = sample.make(layers)
    config = layer.get_config()
    named = {"name", *sample.differs}
    ours, theirs = (
        {k: v for k, v in _plain(c).items() if k not in named and v is not None} for c in (config, ref.config)
    )
    assert ours == theirs
    again = type(layer).from_config(config)
    assert _plain(again.get_config()) == _plain(config)
    serialized = layers.serialize(layer)
    assert _plain(layers.serialize(layers.deserialize(serialized))) == _plain(serialized)


def _plain(value):
    """Configs without what says nothing: lists for tuples, no names of inner layers made up by counting."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if k != "shared_object_id"}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    # Keras rounds some numbers to float32.
    return float(f"{value:.6g}") if isinstance(value, float) else value


def masks_as_keras(sample, ref):
    """A mask goes in and comes out as in Keras."""
    layer = built(sample, ref)
    x = ops.convert_to_tensor(sample.inputs[0])
    x = x.view(Masked) if isinstance(x, np.ndarray) else x
    set_mask(x, ops.convert_to_tensor(steps_mask(x)))
    mask = get_mask(tree.flatten(layer(x, *sample.inputs[1:]))[0])
    assert (mask is None) == (ref.mask is None)
    if mask is not None:
        assert np.array_equal(host(mask), ref.mask)


def half_precision(sample, ref, policy):
    """Computed in half precision, kept in float32, and about the same."""
    layer = built(sample, ref, dtype=policy)
    assert all(w.dtype == "float32" for w in layer.weights if dtypes.is_float(w.dtype))
    outputs = layer(*sample.inputs, **sample.call)
    for output in tree.flatten(outputs):
        assert dtypes.standardize_dtype(output.dtype) == layer.compute_dtype
    wide = tree.map_structure(lambda t: ops.cast(t, "float32"), outputs)
    close(wide, ref.output, HALF[policy] * (1 + max(np.abs(o).max() for o in tree.flatten(ref.output))), policy)


def gradients(sample, ref):
    """Gradients of the outputs' weighted sum with respect to the trainable weights, as NumPy arrays."""
    layer = built(sample, ref)
    b = backends.current()
    inputs = tree.map_structure(lambda x: ops.convert_to_tensor(x) if isinstance(x, np.ndarray) else x, sample.inputs)
    others = [v.value for v in layer.non_trainable_variables]

    def loss(params, *_):
        outputs, _ = layer.stateless_call(params, others, *inputs, **sample.call)
        total = 0.0
        for output in tree.flatten(outputs):
            weights = np.cos(np.arange(np.prod(output.shape), dtype="float32")).reshape(tuple(output.shape))
            total = total + ops.sum(ops.cast(output, "float32") * ops.convert_to_tensor(weights))
        return total, None

    params = [v.value for v in layer.trainable_variables]
    if not params:
        return []
    _, found = b.value_and_grad(loss)(params)
    found = [host(g) for g in found]
    assert all(np.isfinite(g).all() for g in found)
    assert any(np.abs(g).max() > 0 for g in found)
    return found
