"""A model on another backend."""

from kerata import backends
from kerata.core.serialization import deserialize_keras_object, serialize_keras_object


def moved(model, name):
    """The same model on the backend of this name: see `Model.to_backend`."""
    with backends.use_backend(model._backend):
        config = serialize_keras_object(model)
        values = [v.numpy() for v in model.variables]
        optimizer = model.optimizer
        state = [v.numpy() for v in optimizer.variables] if optimizer is not None and optimizer.built else None
        build = model.get_build_config()
    with backends.use_backend(name):
        other = deserialize_keras_object(config, custom_objects=_classes(model), safe_mode=False)
        if not other.built or len(other.variables) != len(values):
            other.build_from_config(build)
        _assign(other.variables, values, "weights")
        if state is not None:
            if not other.optimizer.built:
                other.optimizer.build(other.trainable_variables)
            _assign(other.optimizer.variables, state, "optimizer's variables")
    return other


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
