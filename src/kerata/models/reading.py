"""Models from configs."""

import json

from kerata.core import tree
from kerata.core.serialization import deserialize_keras_object
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import Trace


def model_from_json(json_string, custom_objects=None):
    """A model from what `model.to_json()` returned; its weights are new.

    Args:
        json_string: JSON text.
        custom_objects: `{name: class}` of classes of your own.

    >>> import kerata
    >>> text = kerata.Sequential([kerata.Input((2,)), kerata.layers.Dense(1)]).to_json()
    >>> kerata.models.model_from_json(text).output_shape
    (None, 1)
    """
    return deserialize_keras_object(json.loads(json_string), custom_objects=custom_objects)


def build_by_call(model, shapes):
    """Make a subclassed model's weights by calling it on symbols of the shapes it was built for."""
    from kerata.layers.layer import _as_shapes

    symbols = tree.map_shape_structure(lambda s: KerasTensor(s, model.input_dtype), _as_shapes(shapes))
    with Trace(record=False, dynamic=True):
        model(symbols)
    model.built = True
