"""A torch module as a layer: its parameters are the weights, its buffers are saved, its pickle isn't trusted."""

import copy
import pickle

import numpy as np
import pytest

import kerata
from kerata import backends, layers, ops

torch = pytest.importorskip("torch")
X = np.ones((4, 2), "float32")
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def on_torch():
    with backends.use_backend("torch"):
        yield


def module():
    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))


def test_parameters_are_the_weights():
    inner = module()
    layer = layers.TorchModuleWrapper(inner)
    assert len(layer.trainable_weights) == 4
    assert layer.weights[0].value is inner[0].weight
    layer.weights[0].assign(np.zeros((3, 2)))
    assert not inner[0].weight.any()
    assert [n for n, _ in layer.named_parameters()][0] == "module.0.weight"


def test_symbolic_shape_and_phase():
    layer = layers.TorchModuleWrapper(module())
    assert layer(kerata.Input((2,))).shape == (None, 3)
    layer(X, training=False)
    assert not layer.module.training
    layer(X, training=True)
    assert layer.module.training


def test_state_goes_to_files_and_code_is_refused():
    layer, other = layers.TorchModuleWrapper(module()), layers.TorchModuleWrapper(module())
    layer(X, training=True)
    store = {}
    layer.save_own_variables(store)
    assert "1.running_mean" in store
    other.load_own_variables({k: np.asarray(v) for k, v in store.items()})
    assert torch.equal(other(X, training=False), layer(X, training=False))
    with pytest.raises(ValueError, match="safe_mode=False"):
        layers.TorchModuleWrapper.from_config(layer.get_config())
    again = layers.TorchModuleWrapper.from_config(layer.get_config(), safe_mode=False)
    assert torch.equal(again(X, training=False), layer(X, training=False))


def test_only_on_torch():
    with backends.use_backend("numpy"), pytest.raises(ValueError, match="torch backend only"):
        layers.TorchModuleWrapper(module())


class Holder(kerata.Model):
    """A module among the attributes, used by its own names too; and a variable that no `add_weight` made."""

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Dropout(0.5))
        self.scale = kerata.Variable(np.ones(3, "float32"), name="scale")
        self.dense = layers.Dense(1)

    def call(self, x, training=None):
        return self.dense(self.inner(x) * self.scale) + 0 * self.inner[0].weight.sum()


def test_modules_in_attributes_are_trained_and_told_the_phase():
    model = Holder()
    model.compile("sgd", "mse")
    model.fit(X, X[:, :1], verbose=0)
    assert isinstance(model.inner, layers.TorchModuleWrapper) and len(model.trainable_weights) == 5
    before = model.get_weights()
    model.fit(X, X[:, :1], verbose=0)
    assert all(np.any(a != b) for a, b in zip(before, model.get_weights(), strict=True))
    np.testing.assert_array_equal(model.predict(X, verbose=0), model.predict(X, verbose=0))
    assert set(model.state_dict()) == {
        "scale", "dense.kernel", "dense.bias", "inner.module.0.weight", "inner.module.0.bias",
    }  # fmt: skip


def test_copies_hold_their_own_parameters():
    dense, model = layers.Dense(2), Holder()
    dense(X), model(X)
    for layer in (dense, model):
        for copied in (copy.deepcopy(layer), pickle.loads(pickle.dumps(dense))):
            assert {id(p) for p in copied.parameters()} == {id(v.value) for v in copied.weights}
            assert not {id(p) for p in copied.parameters()} & {id(p) for p in layer.parameters()}


def test_functional_call_and_its_gradients():
    model = kerata.Sequential([layers.Dense(3, "tanh"), layers.Dense(1)])
    x = torch.tensor(X)
    want = model(x)
    given = {name: p.detach() * 0 for name, p in model.named_parameters()}
    call = torch.func.functional_call
    assert not call(model, given, (x,)).any() and torch.equal(model(x), want)
    given = {name: p.detach() for name, p in model.named_parameters()}
    model(x).sum().backward()
    for name, gradient in torch.func.grad(lambda p: call(model, p, (x,)).sum())(given).items():
        torch.testing.assert_close(gradient, dict(model.named_parameters())[name].grad)


def test_parameters_that_torch_assigns_are_the_variables_values():
    model = kerata.Sequential([layers.Dense(1)])
    model(X)
    model.load_state_dict({name: p.detach() * 0 for name, p in model.named_parameters()}, assign=True)
    assert [v.value for v in model.weights] == list(model.parameters()) and not model.predict(X, verbose=0).any()


def _sequential():
    return kerata.Sequential([kerata.Input((2,)), layers.Dense(3, "tanh"), layers.Dropout(0.1), layers.LayerNormalization()])


@pytest.mark.parametrize("make", [lambda: layers.Dense(3), _sequential, lambda: Blocks(3)])
@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_double_and_half_convert_the_model(make, dtype):
    model = make()
    x, tolerance = RNG.normal(size=(4, 2)).astype("float32"), {"float64": 1e-6, "float16": 1e-2, "bfloat16": 6e-2}[dtype]
    wanted = model(x)
    native = getattr(torch, dtype)
    {"float64": model.double, "float16": model.half, "bfloat16": lambda: model.to(native)}[dtype]()
    assert {v.dtype for v in model.weights} == {model.dtype, model.compute_dtype} == {dtype}
    for given in (x, torch.tensor(x, dtype=native)):
        for _ in range(20):  # eager calls are planned in time
            found = model(given)
        assert found.dtype == native and {p.dtype for p in model.parameters()} == {native}
        torch.testing.assert_close(found.float(), wanted, rtol=tolerance, atol=tolerance)
    torch.nn.Sequential(model).float()
    assert model(x).dtype == torch.float32 and model.dtype == "float32"


@pytest.mark.parametrize("optimizer", ["adam", "adafactor", "scaled"])
@pytest.mark.parametrize("eager", [False, True])
def test_training_goes_on_in_double(eager, optimizer):
    model = _sequential()
    if optimizer == "scaled":
        optimizer = kerata.optimizers.LossScaleOptimizer(kerata.optimizers.SGD(momentum=0.5, use_ema=True))
    model.compile(optimizer, "mse", run_eagerly=eager)
    y = RNG.normal(size=(4, 3)).astype("float32")
    model.fit(X, y, verbose=0)
    model.double().fit(X, y, verbose=0)
    assert model.predict(X, verbose=0).dtype == np.float64
    assert {p.dtype for p in model.parameters()} == {torch.float64}
    assert {layer.dtype for layer in kerata.models.clone_model(model).layers} == {"float64"}


def test_quantized_layers_keep_their_integers():
    layer = layers.Dense(3)
    layer(X)
    layer.quantize("int8")
    wanted = layer(X)
    layer.double()
    assert layer.dtype_policy.name == "int8_from_float64" and layer._kernel.dtype == "int8"
    torch.testing.assert_close(layer(X).float(), wanted, rtol=1e-5, atol=1e-6)


class Blocks(kerata.Model):
    """Layers and variables without names, in lists and attributes."""

    def __init__(self, head=1):
        super().__init__()
        self.blocks = [layers.Dense(2), layers.Dense(2)]
        self.factor = kerata.Variable(np.ones(2, "float32"))
        self.head = kerata.Sequential([layers.Dense(2), layers.Dropout(0.1), layers.BatchNormalization(), layers.Dense(head)])

    def call(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x * self.factor)


@pytest.mark.parametrize("assign", [False, True])
def test_states_of_models_of_the_kind_load(assign):
    first, second = Blocks(), Blocks()
    first(X), second(X)
    state = first.state_dict()
    assert not set(state) & set(second.state_dict())
    for owner, target in ((first, second), (torch.nn.Sequential(first), torch.nn.Sequential(second))):
        for v in second.weights:
            v.assign(ops.zeros_like(v))
        assert target.load_state_dict(owner.state_dict(), assign=assign) == ([], [])
        np.testing.assert_array_equal(second.predict(X, verbose=0), first.predict(X, verbose=0))
    assert set(state) == set(first.state_dict())  # what was given isn't changed


def test_states_of_other_models_do_not():
    model, wide, other = Blocks(), Blocks(head=3), kerata.Sequential([layers.Dense(2, name="mine"), layers.Dense(1)])
    model(X), wide(X), other(X)
    with pytest.raises(RuntimeError, match="size mismatch for head.dense_"):
        model.load_state_dict(wide.state_dict())
    with pytest.raises(RuntimeError, match="Unexpected key"):
        model.load_state_dict(other.state_dict())
    yours = kerata.Sequential([layers.Dense(2, name="yours"), layers.Dense(1)])
    yours(X)
    with pytest.raises(RuntimeError, match='Missing key.*"yours.kernel"'):
        yours.load_state_dict(other.state_dict())


@pytest.mark.parametrize("eager", [False, True])
def test_parameters_frozen_the_torch_way_stay_as_they_are(eager):
    model = kerata.Sequential([kerata.Input((2,)), layers.Dense(4), layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=eager)
    model.fit(X, X[:, :1], verbose=0)
    frozen, free = model.layers[0].kernel, model.layers[1].kernel
    frozen.value.requires_grad_(False)
    before = frozen.numpy(), free.numpy()
    model.fit(X, X[:, :1], verbose=0)
    assert (frozen.numpy() == before[0]).all() and (free.numpy() != before[1]).any()
    assert not frozen.trainable and len(model.trainable_variables) == 3
    frozen.trainable = True
    model.fit(X, X[:, :1], verbose=0)
    assert (frozen.numpy() != before[0]).any()
