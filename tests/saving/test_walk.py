"""Paths of objects in files. The expectations were read off files that Keras wrote."""

import pytest

import kerata
from kerata import layers
from kerata.saving.walk import is_stored, walk


def paths(root):
    return [path for path, obj in walk(root) if is_stored(obj)]


class Block(layers.Layer):
    def __init__(self, **attributes):
        super().__init__()
        for name, value in attributes.items():
            setattr(self, name, value)


def dense(name=None):
    return layers.Dense(1, name=name)


def test_public_attributes_before_private_ones():
    shared = dense()
    block = Block(_b=dense(), z=dense(), Up=dense(), _a=shared, y=shared, a_t=(dense(),))
    assert paths(block) == ["", "Up", "a_t/dense", "y", "z", "_b"]


def test_containers():
    block = Block(
        many=[dense(), layers.ReLU(), dense("named"), 3, "text", None, [dense()], (dense(),), {"k": dense()}],
        named={"b": dense(), "a": layers.Dropout(0.1), "c": {"d": [layers.ReLU()]}, 5: dense()},
        empty=[],
    )
    assert paths(block) == [
        "",
        "many/dense",
        "many/re_lu",
        "many/dense_1",
        "many/container/dense",
        "many/container_1/dense",
        "many/container_2/dense",
        "named/dense",
        "named/dropout",
        "named/container/container/re_lu",
        "named/dense_1",
    ]


def test_an_object_found_again_keeps_its_number():
    first = dense()
    assert paths(Block(a=first, b=[first, dense(), first, dense()])) == ["", "a", "b/dense_1", "b/dense_3"]


def test_sets_have_no_order():
    assert paths(Block(some={dense()})) == [""]


class WithProperties(layers.Layer):
    def __init__(self):
        super().__init__()
        self._x, self._y = dense(), dense()

    @property
    def x(self):
        return self._x

    @property
    def listed(self):
        return [self._y]

    @property
    def broken(self):
        raise RuntimeError("not yet")


def test_properties():
    assert paths(WithProperties()) == ["", "listed/dense", "x"]


def test_of_several_names_the_one_that_a_file_has():
    layer = WithProperties()
    assert [path for path, _ in walk(layer, known=["_x/vars"])] == ["", "listed/dense", "_x"]


def test_a_list_may_hold_itself():
    block = Block(items=[dense()])
    block.items.append(block.items)
    assert paths(block) == ["", "items/dense"]


def test_what_is_not_stored():
    block = Block(
        metric=kerata.metrics.Mean(),
        metrics_=[kerata.metrics.Mean()],
        loss=kerata.losses.MeanSquaredError(),
        seed=kerata.random.SeedGenerator(1),
        initializer=kerata.initializers.Zeros(),
        optimizer_=kerata.optimizers.SGD(),
        plain=object(),
    )
    assert paths(block) == ["", "optimizer_"]


def test_seeds_on_request():
    block = Block(drop=layers.Dropout(0.1, seed=1), gen=kerata.random.SeedGenerator(1))
    found = [path for path, obj in walk(block, seeds=True)]
    assert found == ["", "drop", "drop/seed_generator", "gen"]


class OwnMetric(kerata.metrics.Mean):
    """A metric that says that it wants to be stored, and one layer in it."""

    def __init__(self):
        super().__init__()
        self.inner = dense()

    def save_own_variables(self, store):
        store["0"] = self.total


def test_users_own_storing():
    assert paths(Block(metric=OwnMetric())) == ["", "metric", "metric/inner"]


@pytest.mark.parametrize("compiled", [False, True])
def test_sequential(compiled):
    model = kerata.Sequential([kerata.Input((2,)), dense(), layers.ReLU(), dense()])
    if compiled:
        model.compile("adam", "mse", metrics=["mae"])
    model.aaa = model.layers[0]
    model.bbb = dense()
    wanted = ["", "layers/dense", "layers/re_lu", "layers/dense_1", "bbb"]
    assert paths(model) == wanted + ["optimizer"] * compiled


def test_functional():
    x = kerata.Input((2,))
    shared = dense()
    model = kerata.Model(x, shared(shared(layers.Concatenate()([x, x])[:, :1]) + 1))
    model.aaa = shared
    assert paths(model) == ["", "layers/input_layer", "layers/concatenate", "layers/dense"]


class Net(kerata.Model):
    def __init__(self):
        super().__init__()
        self.act = layers.ReLU()
        self.one = dense()
        self.seq = kerata.Sequential([dense(), dense()])
        self.fun = kerata.Model(*(lambda x: (x, dense()(x)))(kerata.Input((1,))))
        self.tup = (dense(),)

    def call(self, x):
        return self.one(x)


def test_subclassed():
    """`layers` stands in the alphabet, so it has what comes after it."""
    assert paths(Net()) == [
        "",
        "act",
        "fun",
        "fun/layers/input_layer",
        "fun/layers/dense",
        "layers/dense",
        "layers/sequential",
        "layers/sequential/layers/dense",
        "layers/sequential/layers/dense_1",
        "layers/dense_1",
    ]


def test_layers_of_the_library(backend):
    x = kerata.Input((3, 4))
    attention = kerata.Model(x, layers.MultiHeadAttention(1, 2)(x, x))
    assert sorted(paths(attention))[3:] == [
        f"layers/multi_head_attention/{name}"
        for name in ("_dropout_layer", "_softmax", "key_dense", "output_dense", "query_dense", "value_dense")
    ]
    rnn = layers.Bidirectional(layers.LSTM(2))
    assert paths(rnn) == ["", "backward_layer", "backward_layer/cell", "forward_layer", "forward_layer/cell"]
    stacked = layers.RNN([layers.LSTMCell(2), layers.LSTMCell(2)])
    assert paths(stacked) == ["", "cell", "cell/cells/lstm_cell", "cell/cells/lstm_cell_1"]
    assert paths(layers.TimeDistributed(dense())) == ["", "layer"]
