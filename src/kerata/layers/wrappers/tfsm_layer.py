"""A TensorFlow SavedModel as a layer."""

from kerata import backends
from kerata.core import serialization
from kerata.layers.layer import Layer
from kerata.state.variable import Variable


class TFSMLayer(Layer):
    """A function of a TensorFlow SavedModel as a layer, on the tensorflow backend.

    Its variables are the layer's weights and train on. Of the original model nothing else is left.

    Args:
        filepath: folder of the SavedModel.
        call_endpoint: name of the function to call: `"serve"` in what `export` wrote, often `"serving_default"` else.
            It takes one tensor, or one structure of tensors.
        call_training_endpoint: function to call in training; `None`: the same.
        trainable: whether its trainable variables train.
        name: name.
        dtype: dtype policy or its name.

    Raises:
        ValueError: another backend is in force, or the SavedModel has no such endpoint.
        OSError: there is no SavedModel.

    An example::

        tf.saved_model.save(module, "folder")
        layer = kerata.layers.TFSMLayer("folder", call_endpoint="serving_default")
    """

    # The graph that was saved can't be traced as ops.
    _opaque = True

    def __init__(
        self, filepath, call_endpoint="serve", call_training_endpoint=None, trainable=True, name=None, dtype=None
    ):
        if backends.current_name() != "tensorflow":
            raise ValueError(
                "TFSMLayer: a SavedModel runs on the tensorflow backend only, but the current one is "
                f"{backends.current_name()!r}; switch by `keras.config.set_backend('tensorflow')`."
            )
        super().__init__(trainable=trainable, name=name, dtype=dtype)
        self.filepath = str(filepath)
        self.call_endpoint = call_endpoint
        self.call_training_endpoint = call_training_endpoint
        tensorflow = backends.load("tensorflow")
        loaded = tensorflow.load_saved_model(self.filepath)
        self.__dict__["_loaded"] = loaded
        self.__dict__["_function"] = self._endpoint(call_endpoint, "call_endpoint")
        self.__dict__["_training_function"] = (
            self._endpoint(call_training_endpoint, "call_training_endpoint") if call_training_endpoint else None
        )
        self._adopt_variables()
        self.built = True

    def _endpoint(self, name, argument):
        tensorflow = backends.load("tensorflow")
        found = tensorflow.saved_function(self._loaded, name)
        if found is None:
            raise ValueError(
                f"{self._where()}: The endpoint {name!r} (`{argument}`) isn't in {self.filepath!r}. It has "
                f"{', '.join(map(repr, tensorflow.saved_function_names(self._loaded)))}."
            )
        return found

    def _adopt_variables(self):
        """The SavedModel's own variables, not copies, as variables of the layer."""
        tensorflow = backends.load("tensorflow")
        functions = [f for f in (self._function, self._training_function) if f is not None]
        trainable, others = tensorflow.saved_variables(self._loaded, functions)
        for storage, trains in [*((v, True) for v in trainable), *((v, False) for v in others)]:
            name = tensorflow.variable_name(storage).replace("/", "_")
            variable = Variable(tensorflow.to_numpy(storage), trainable=trains and self.trainable, name=name)
            variable._storage = storage
            self._track(variable)

    def call(self, inputs, training=False, **kwargs):
        function = self._training_function if training and self._training_function is not None else self._function
        trained = [v for v in self._trainable_variables if v.trainable]
        storages, values = [v.storage for v in trained], [v.value for v in trained]
        return backends.load("tensorflow").saved_call(function, inputs, kwargs, storages, values)

    def get_config(self):
        return {
            **self.common_config(),
            "filepath": self.filepath,
            "call_endpoint": self.call_endpoint,
            "call_training_endpoint": self.call_training_endpoint,
        }

    @classmethod
    def from_config(cls, config, custom_objects=None, safe_mode=None):
        """A layer from its config, which names a SavedModel, that is, a program: refused unless `safe_mode=False`."""
        if serialization.refuses_code(safe_mode):
            raise ValueError(
                f"TFSMLayer: the config names the SavedModel {config.get('filepath')!r}, a program which loading would run "
                "(arbitrary code execution). If you trust it, load with `safe_mode=False`."
            )
        return super().from_config(config, custom_objects)
