"""Masks find their way through models, as in Keras."""

import numpy as np
import pytest

import kerata
from kerata import layers, ops
from kerata.core.masks import set_mask

TOKENS = np.array([[1, 2, 3, 0, 0], [4, 0, 2, 1, 0]], "int32")


def net(keras):
    k = keras.layers
    x = keras.Input((None,), dtype="int32")
    y = k.Embedding(5, 4, mask_zero=True)(x)
    y = k.Dropout(0.5)(k.Dense(4, activation="relu")(y))
    y = k.MultiHeadAttention(2, 3)(y, y)
    y = k.Add()([y, k.Bidirectional(k.LSTM(2, return_sequences=True))(y)])
    pooled = k.GlobalAveragePooling1D()(y)
    return keras.Model(x, k.Concatenate()([pooled, k.GRU(3)(y)]))


@pytest.fixture(scope="module")
def wanted(real_keras):
    model = net(real_keras)
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=w.shape).astype("float32") for w in model.weights]
    model.set_weights(weights)
    return weights, np.asarray(model(TOKENS))


def test_through_a_functional_model(wanted, backend):
    weights, output = wanted
    model = net(kerata)
    model.set_weights(weights)
    np.testing.assert_allclose(ops.convert_to_numpy(model(TOKENS)), output, rtol=2e-5, atol=2e-5)


def test_masks_are_no_arguments_of_a_saved_model():
    model = net(kerata)
    assert "mask" not in str(model.get_config()).replace("mask_zero", "").replace("zero_output_for_mask", "")
    again = kerata.Model.from_config(model.get_config())
    assert len(again.weights) == len(model.weights)


def test_masked_inputs_of_merges(backend):
    """Products and extremes leave masked steps of an input out; sums and means don't."""
    x, y = ops.convert_to_tensor([[[5.0], [1.0], [7.0]]]), ops.convert_to_tensor([[[9.0], [6.0], [2.0]]])
    keep = ops.convert_to_tensor([[False, True, False]]), ops.convert_to_tensor([[False, False, True]])
    expected = {
        "Multiply": [0, 1, 2],
        "Maximum": [5, 1, 2],
        "Minimum": [5, 1, 2],
        "Add": [14, 7, 9],
        "Average": [7, 3.5, 4.5],
    }
    for t, m in zip((x, y), keep, strict=True):
        set_mask(t, m)
    for kind, values in expected.items():
        output = getattr(layers, kind)()([x, y])
        assert ops.convert_to_numpy(output).ravel().tolist() == values, kind


@pytest.mark.parametrize("scores", [False, True])
def test_padded_queries_attend_to_nothing(real_keras, backend, scores):
    """A mask that comes along with the query is heeded (in the formula: zeros), as in Keras; padded rows count too."""

    def net(keras):
        x = keras.Input((None,), dtype="int32")
        y = keras.layers.Embedding(5, 4, mask_zero=True)(x)
        y = keras.layers.MultiHeadAttention(2, 3)(y, y, return_attention_scores=scores)
        return keras.Model(x, list(y) if scores else [y])

    theirs, ours = net(real_keras), net(kerata)
    ours.set_weights(theirs.get_weights())
    for wanted, found in zip(theirs(TOKENS), ours(TOKENS), strict=True):
        np.testing.assert_allclose(ops.convert_to_numpy(found), np.asarray(wanted), rtol=2e-5, atol=2e-5)
