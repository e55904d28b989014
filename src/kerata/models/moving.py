"""A model on another backend."""

from kerata import backends
from kerata.core.serialization import deserialize_keras_object, serialize_keras_object


def moved(model, name):
    """The same model on the backend of this name: see `Model.to_backend`."""
    return restored(snapshot(model) | {"backend": name})


def snapshot(model):
    """All that makes the model again, as plain data and the user's own classes."""
    with backends.use_backend(model._backend):
        optimizer = model.optimizer
        built = optimizer is not None and optimizer.built
        return {
            "backend": model._backend.NAME,
            "config": serialize_keras_object(model),
            "build": model.get_build_config(),
            "classes": _classes(model),
            "weights": [v.numpy() for v in model.variables],
            "optimizer": [v.numpy() for v in optimizer.variables] if built else None,
        }


def restored(state):
    """A model from a snapshot."""
    with backends.use_backend(state["backend"]):
        model = deserialize_keras_object(state["config"], custom_objects=state["classes"], safe_mode=False)
        if not model.built or len(model.variables) != len(state["weights"]):
            model.build_from_config(state["build"])
        _assign(model.variables, state["weights"], "weights")
        if state["optimizer"] is not None:
            if not model.optimizer.built:
                model.optimizer.build(model.trainable_variables)
            _assign(model.optimizer.variables, state["optimizer"], "optimizer's variables")
    return model


def _assign(variables, values, what):
    if len(variables) != len(values):
        raise ValueError(
            f"to_backend: the copy has {len(variables)} {what} instead of {len(values)}. A subclassed model must make all its "
            "weights when its config is built (`build`, or layers made in `__init__`)."
        )
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)


def _classes(model):
    """Classes of the user's own in the model: they need no registration to be copied."""
    found = {}
    for layer in model._flatten_layers():
        cls = type(layer)
        while cls.__dict__.get("_is_module_class"):
            cls = cls.__bases__[0]
        if not cls.__module__.startswith("kerata."):
            found[cls.__name__] = cls
    return found
