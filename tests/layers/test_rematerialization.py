"""What is computed twice: the same numbers, less memory."""

import numpy as np
import pytest

import kerata
from kerata import layers, ops, transforms

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(16, 8)).astype("float32"), RNG.normal(size=(16, 4)).astype("float32")
MODES = {
    "full": {},
    "activations": {},
    "larger_than": {"output_size_threshold": 100},
    "list_of_layers": {"layer_names": ["wide"]},
}


def _model(mode, options):
    kerata.utils.set_random_seed(0)

    def make():
        return kerata.Sequential(
            [
                kerata.Input((8,)),
                layers.Dense(32, activation="gelu", kernel_regularizer="l2", name="wide"),
                layers.BatchNormalization(),
                layers.Dropout(0.3, seed=3),
                layers.Dense(4),
            ]
        )

    if mode is None:
        return make()
    with kerata.RematScope(mode, **options):
        return make()


def _trained(model, eagerly):
    model.compile("adam", "mse", run_eagerly=eagerly)
    losses = [float(np.asarray(model.train_on_batch(X, Y))) for _ in range(3)]
    return losses, [v.numpy() for v in model.variables]


@pytest.mark.parametrize("eagerly", [True, False])
def test_numbers_are_the_same(training_backend, eagerly):
    wanted, variables = _trained(_model(None, {}), eagerly)
    for mode, options in MODES.items():
        losses, found = _trained(_model(mode, options), eagerly)
        np.testing.assert_allclose(losses, wanted, rtol=1e-5)
        for a, b in zip(found, variables, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_functions(training_backend):
    calls, factor = [], kerata.Variable(np.ones(4, "float32"))

    def noisy(x, seed):
        calls.append(1)
        return ops.sum(kerata.random.dropout(x * factor, 0.5, seed=seed) ** 2)

    x = ops.convert_to_tensor(np.arange(1, 5, dtype="float32"))
    plain, again = (kerata.random.SeedGenerator(1) for _ in range(2))
    wanted = transforms.value_and_grad(lambda: noisy(x, plain), [factor])()
    calls.clear()
    found = transforms.value_and_grad(lambda: kerata.remat(lambda v: noisy(v, again))(x), [factor])()
    np.testing.assert_allclose(float(found[0]), float(wanted[0]))
    np.testing.assert_allclose(ops.convert_to_numpy(found[1][0]), ops.convert_to_numpy(wanted[1][0]))
    # The seed went on once, though it was drawn from twice.
    np.testing.assert_array_equal(plain.state.numpy(), again.state.numpy())


def test_memory():
    torch = pytest.importorskip("torch")
    kept = {}

    def note(tensor):
        kept[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor

    class Block(layers.Layer):
        def __init__(self):
            super().__init__()
            self.inner = [layers.Dense(64, activation="gelu") for _ in range(8)]

        def call(self, x):
            for layer in self.inner:
                x = layer(x)
            return x

    from kerata import backends

    found = []
    with backends.use_backend("torch"):
        for mode in (None, "full"):
            with kerata.RematScope(mode):
                blocks = [Block() for _ in range(2)]
            x = torch.randn(512, 64)
            for block in blocks:
                block(x)
            kept.clear()
            weights = {v.value.data_ptr() for block in blocks for v in block.variables}
            with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
                for block in blocks:
                    x = block(x)
            found.append(sum(size for pointer, size in kept.items() if pointer not in weights))
    # Of each block its input is kept, rather than two tensors of its size a layer.
    assert found[1] < found[0] / 7


def test_errors_say_what():
    with pytest.raises(ValueError, match="'all'"):
        kerata.RematScope("all")
