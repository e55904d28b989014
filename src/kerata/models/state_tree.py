"""A model's state as nested dicts, by the paths of its variables."""

import numpy as np


def _kinds(model):
    found = {
        "trainable_variables": model.trainable_variables,
        "non_trainable_variables": model.non_trainable_variables,
        "metrics_variables": [v for m in model.metrics for v in m.variables],
    }
    if model.optimizer is not None:
        found["optimizer_variables"] = model.optimizer.variables
    return found


def state_tree(model, value_format):
    """See `Model.get_state_tree`."""
    if value_format not in ("backend_tensor", "numpy_array"):
        raise ValueError(
            f"get_state_tree: `value_format` must be 'backend_tensor' or 'numpy_array', not {value_format!r}."
        )
    result = {}
    for kind, variables in _kinds(model).items():
        result[kind] = nested((v.path, v.value if value_format == "backend_tensor" else v.numpy()) for v in variables)
    return result


def set_state_tree(model, tree):
    """See `Model.set_state_tree`. All is checked before anything is set."""
    kinds = _kinds(model)
    todo = []
    for kind, branch in tree.items():
        if kind not in kinds:
            raise ValueError(f"set_state_tree: unknown kind of state {kind!r}; known: {', '.join(kinds)}.")
        by_path = {v.path: v for v in kinds[kind]}
        for path, value in leaves(branch):
            if path not in by_path:
                raise ValueError(f"set_state_tree: the model has no variable {path!r} among its {kind}.")
            shape = tuple(value.shape if hasattr(value, "shape") else np.shape(value))
            if shape != tuple(by_path[path].shape):
                raise ValueError(
                    f"set_state_tree: {path!r} has the shape {tuple(by_path[path].shape)}, but {shape} was given."
                )
            todo.append((by_path[path], value))
    for variable, value in todo:
        variable.assign(value)


def nested(values):
    """Nested dicts of `(path, value)` pairs."""
    tree = {}
    for path, value in values:
        *parts, name = path.split("/")
        node = tree
        for part in parts:
            node = node.setdefault(part, {})
        if name in node:
            raise ValueError(
                f"get_state_tree: The following variable path is found twice in the model: {path!r}; give the layers of the "
                "two other names."
            )
        node[name] = value
    return tree


def leaves(branch, prefix=""):
    """`(path, value)` of all values in nested dicts."""
    for name, value in branch.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", value
