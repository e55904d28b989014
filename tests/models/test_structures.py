"""Structures of Functional models, beside the real Keras."""

import numpy as np
import pytest

import kerata


@pytest.mark.parametrize("structure", ["[y]", "(y,)", "{'a': y}", "[[y]]", "[y, y]", "y"])
def test_a_list_of_one_output_gives_the_output(real_keras, backend, structure):
    """… with tensors; the symbolic call and `output` keep the list. All as in Keras."""

    def seen(keras):
        x = keras.Input((3,))
        y = keras.layers.Dense(2, name="dense")(x)
        model = keras.Model([x], eval(structure, {"y": y}))
        data = np.ones((4, 3), "float32")
        shapes = lambda s: keras.tree.map_structure(lambda t: tuple(t.shape), s)  # noqa: E731
        return (
            *(shapes(v) for v in (model(data), model(data), model.predict(data, verbose=0), model.predict_on_batch(data))),
            *(shapes(v) for v in (model.output, model(keras.Input((3,))), keras.models.clone_model(model)(data))),
            (model.input_shape, model.output_shape, model.get_config()["output_layers"]),
        )

    assert seen(kerata) == seen(real_keras)
