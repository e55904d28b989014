"""The outputs of a model: their names, and what is given for each of them."""

from kerata.core import tree
from kerata.core.errors import nearest


def output_names(model, y_pred):
    """A name for each output, in flat order; a number in place of those that have none."""
    count = len(tree.flatten(y_pred))
    if isinstance(y_pred, dict) and count == len(y_pred):
        return [str(k) for k in sorted(y_pred)]
    names = getattr(model, "output_names", None)
    if names is not None and len(names) == count:
        return _distinct(list(names))
    return Numbered(f"output_{i}" for i in range(count))


class Numbered(list):
    """Names of outputs that have none of their own."""


def _distinct(names):
    seen, found = {}, []
    for name in names:
        number = seen.get(name, 0)
        seen[name] = number + 1
        found.append(f"{name}_{number}" if number else name)
    return found


def per_output(setting, names, y_pred, what):
    """A setting given once, as a list, or as a dict by output, as a flat list with an entry for each output."""
    count = len(names)
    if isinstance(setting, dict):
        keys = _paths(y_pred, names)
        unknown = [k for k in setting if k not in keys and k not in names]
        if unknown:
            raise ValueError(
                f"compile: Invalid `{what}`: they name the output {unknown[0]!r}, but the outputs are "
                f"{', '.join(map(repr, names))}.{nearest(unknown[0], names)}"
            )
        return [setting.get(key, setting.get(name)) for key, name in zip(keys, names, strict=True)]
    if isinstance(setting, (list, tuple)):
        flat = list(setting)
        if len(flat) != count:
            raise ValueError(f"compile: `{what}` has {len(flat)} entries, but the model has {count} output(s).")
        return flat
    return [setting] * count


def _paths(y_pred, names):
    """Keys by which a dict may name the outputs."""
    if isinstance(y_pred, dict) and len(y_pred) == len(names):
        return [str(k) for k in sorted(y_pred)]
    return names


def _is_alike(given, y_pred, count):
    """Whether a dict nests like outputs that are nested within a dict."""
    nested = isinstance(y_pred, dict) and len(y_pred) != count
    return nested and given.keys() == y_pred.keys() and len(tree.flatten(given)) == count


def align(y, y_pred, names, needed, what):
    """Targets in the flat order of the outputs; `None` for an output without a loss."""
    count = len(names)
    if isinstance(y, dict) and not _is_alike(y, y_pred, count):
        keys = _paths(y_pred, names)
        found = [y.get(k, y.get(n)) for k, n in zip(keys, names, strict=True)]
    else:
        flat = tree.flatten(y)
        if len(flat) == count:
            found = flat
        elif len(flat) == sum(needed):
            rest = iter(flat)
            found = [next(rest) if n else None for n in needed]
        else:
            raise ValueError(
                f"`{what}` holds {len(flat)} array(s), but the model has {count} output(s) with {sum(needed)} loss(es)."
            )
    for value, name, n in zip(found, names, needed, strict=True):
        if n and value is None:
            raise ValueError(f"The output {name!r} has a loss, but `{what}` has no targets for it.")
    return found


def align_weights(sample_weight, y_pred, names):
    count = len(names)
    if sample_weight is None:
        return [None] * count
    if isinstance(sample_weight, dict) and not _is_alike(sample_weight, y_pred, count):
        keys = _paths(y_pred, names)
        return [sample_weight.get(k, sample_weight.get(n)) for k, n in zip(keys, names, strict=True)]
    flat = tree.flatten(sample_weight)
    return flat * count if len(flat) == 1 else flat


def batch_size(x):
    """Number of samples of a batch: an int, or a scalar tensor where it isn't known."""
    from kerata import ops

    if not len(x.shape):
        return 1
    return x.shape[0] if x.shape[0] is not None else ops.shape(x)[0]
