"""`Pipeline`: preprocessing layers, one after the other."""

from kerata.core.serialization import deserialize_keras_object, serialize_keras_object
from kerata.layers.call import signature_of
from kerata.layers.layer import Layer
from kerata.layers.preprocessing.data_layer import DataLayer


class Pipeline(DataLayer):
    """Layers, one after the other; in `tf.data.Dataset.map` TensorFlow's tensors go in and come out.

    Args:
        layers: list of layers.
        name: name.

    >>> import kerata
    >>> layer = kerata.layers.Pipeline([kerata.layers.Rescaling(0.5), kerata.layers.Rescaling(1, offset=1)])
    >>> kerata.ops.convert_to_numpy(layer([2.0])).tolist()
    [2.0]
    """

    _convert_input_args = False

    def __init__(self, layers, name=None):
        super().__init__(name=name)
        wrong = [layer for layer in layers if not isinstance(layer, Layer)]
        if wrong:
            raise ValueError(
                f"{self._where()}: `layers` must be layers, but {wrong[0]!r} is a {type(wrong[0]).__name__}."
            )
        self._pipeline_layers = list(layers)

    @property
    def layers(self):
        """The layers."""
        return list(self._pipeline_layers)

    def call(self, inputs, training=True, mask=None):
        for layer in self._pipeline_layers:
            signature = signature_of(type(layer).call)
            given = {"training": training, "mask": mask}
            inputs = layer(inputs, **{k: v for k, v in given.items() if signature.accepts(k) and v is not None})
            mask = None
        return inputs

    def get_config(self):
        return {"name": self.name, "layers": [serialize_keras_object(layer) for layer in self._pipeline_layers]}

    @classmethod
    def from_config(cls, config):
        """Make the pipeline from what `get_config` returned."""
        config = dict(config)
        config["layers"] = [
            layer if isinstance(layer, Layer) else deserialize_keras_object(layer) for layer in config["layers"]
        ]
        return cls(**config)
