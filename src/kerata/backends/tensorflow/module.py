"""Layers and optimizers of this backend are what `tf.train.Checkpoint` and `tf.saved_model` take."""

from kerata.backends.tensorflow.core import tf
from kerata.backends.tensorflow.text import TextTable

Trackable = tf.__internal__.tracking.Trackable
_classes = {}


class Tracked(Trackable):
    """Children of a layer or optimizer, as TensorFlow walks them: its variables' `tf.Variable`s, and what it holds."""

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        children = dict(super()._trackable_children(save_type, **kwargs))
        for name, value in _holdings(self).items():
            if isinstance(value, Trackable):
                children.setdefault(name, value)
        if save_type == "savedmodel" and hasattr(self, "_serving_call"):
            children |= _serving(self, kwargs.get("cache"))
        return children


def _serving(model, cache):
    """What `tf.saved_model.save(model)` makes `serving_default` of: the model's inference, if its inputs are known."""
    known = {} if cache is None else cache.setdefault(model, {})
    if "serving" not in known:
        found = model._serving_call()
        if found is None:
            return {}
        function, symbols = found
        specs = tf.nest.map_structure(lambda s: tf.TensorSpec(s.shape, s.dtype, s._name), list(symbols))
        known["serving"] = tf.function(function, input_signature=specs, autograph=False)
    return {"_default_save_signature": known["serving"]}


def _holdings(owner):
    """`{name: trackable}` of what an object holds."""
    found = {}
    own = getattr(owner, "_variables", None)
    if own is None:
        own = [*owner._trainable_variables, *owner._non_trainable_variables]
    for i, variable in enumerate(own):
        found[f"variable_{i}"] = variable.storage
    for i, layer in enumerate(getattr(owner, "_layers", ())):
        found[f"layer_{i}"] = layer
    for i, seed in enumerate(getattr(owner, "_seed_generators", ())):
        found[f"seed_{i}"] = seed.state.storage
    for i, table in enumerate(tables_of(owner)):
        found[f"table_{i}"] = table
    return found


def tables_of(layer):
    """TensorFlow's tables of a layer that looks words up."""
    tables = getattr(layer, "_tables", {}).values()
    return [t.table for t in tables if isinstance(t, TextTable)]


def module_class(cls):
    """The subclass of `cls` that TensorFlow can track (one for each class, of the same name)."""
    if issubclass(cls, Trackable):
        return cls
    found = _classes.get(cls)
    if found is None:
        namespace = {
            "__module__": cls.__module__,
            "__qualname__": cls.__qualname__,
            "__doc__": cls.__doc__,
            "_is_module_class": True,
        }
        found = _classes[cls] = type(cls)(cls.__name__, (cls, Tracked), namespace)
    return found


def begin_module(layer):
    """Nothing to set up."""


def takes_place(layer, name, value):
    """No attribute stands for a variable's storage."""
    return False


def bare_state(layer, state):
    """A layer's attributes as they are copied and pickled."""
    return state


def restore_module(layer, variables):
    """Nothing to set up anew."""


def is_module(x):
    """TensorFlow's own modules stay as they are."""
    return False


def register(layer, name, value):
    """Attributes are found when they're asked for."""


def register_variable(layer, variable):
    """Variables are found when they're asked for."""


def register_child(layer, child):
    """Children are found when they're asked for."""


def unregister_child(layer, child):
    """Children are found when they're asked for."""


def unregister(layer, name):
    """Attributes are found when they're asked for."""


def call_with_hooks(layer, args, kwargs):
    return layer._call(args, kwargs)
