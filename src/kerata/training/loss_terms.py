"""`compile(loss=…)` taken apart: which loss looks at which outputs.

A setting may follow the outputs' structure, stop above their leaves (a loss of several outputs together), or hold a list
of several losses in any place of it.
"""

from dataclasses import dataclass
from typing import Any

from kerata.core import tree
from kerata.core.errors import nearest
from kerata.training.outputs import per_output


@dataclass
class Term:
    """One loss: the path of what it looks at within the outputs, its weight in the sum, and how it is shown."""

    path: tuple
    loss: Any
    weight: Any
    label: str

    def of(self, structure):
        """What the term looks at, of a structure like the outputs'."""
        for key in self.path:
            structure = structure[key]
        return structure


def loss_terms(loss, weights, y_pred, names):
    """The terms of a loss setting.

    Args:
        loss: a loss (its name, a function, …), or a nested structure of them.
        weights: number, or structure of numbers: by output, or like `loss`.
        y_pred: the outputs.
        names: a name for each output, in flat order.

    Raises:
        ValueError: a key or an entry that no output answers to.
    """
    places = _Places(y_pred, names)
    if is_setting(loss):
        return list(places.walk(loss, _weights_like(loss, weights, y_pred, names), y_pred, ()))
    weights = per_output(weights, names, y_pred, "loss_weights")
    return [Term(path, loss, w, places.label(path)) for path, w in zip(places.paths, weights, strict=True)]


def is_setting(loss):
    """Whether this is a structure of losses; a config is a dict, but one loss."""
    return tree.is_nested(loss) and not (isinstance(loss, dict) and "class_name" in loss)


class _Places:
    """The outputs: their structure, the path of each, and its name."""

    def __init__(self, y_pred, names):
        self.y_pred = y_pred
        self.names = names
        self.paths = _flat_paths(y_pred)

    def walk(self, loss, weights, outputs, path):
        """Terms of the setting at one place of the outputs."""
        if loss is None:
            return
        if not is_setting(loss):
            yield Term(path, loss, weights, self.label(path))
        elif _is_several(loss, outputs):
            for i, one in enumerate(loss):
                yield from self.walk(one, _part(weights, i, loss), outputs, path)
        elif isinstance(loss, dict):
            for key, one in loss.items():
                yield from self.walk_key(key, one, _part(weights, key, loss), outputs, path)
        else:
            inner = list(_children(outputs))
            if len(inner) != len(loss):
                raise ValueError(
                    f"compile: `loss` has {len(loss)} entries, but {_place(path)} has {len(inner)} output(s)."
                )
            for i, ((key, child), one) in enumerate(zip(inner, loss, strict=True)):
                yield from self.walk(one, _part(weights, i, loss), child, (*path, key))

    def walk_key(self, key, loss, weight, outputs, path):
        """Terms of an entry of a dict: by the outputs' key, or at the top by an output's name."""
        if isinstance(outputs, dict) and key in outputs:
            yield from self.walk(loss, weight, outputs[key], (*path, key))
            return
        if not path and key in self.names:
            at = self.paths[self.names.index(key)]
            yield from self.walk(loss, weight, Term(at, None, None, "").of(outputs), at)
            return
        if isinstance(y_pred := self.y_pred, dict) and not path:
            raise KeyError(
                f"compile: {key!r}, a key in the `loss` argument, can't be found in either the model's outputs "
                f"({', '.join(map(repr, y_pred))}) or their names ({', '.join(map(repr, self.names))})."
            )
        known = [str(k) for k in outputs] if isinstance(outputs, dict) else [] if path else self.names
        raise ValueError(
            f"compile: `loss` names the output {key!r}, but {_place(path)} has none of that name. Expected keys: "
            f"{', '.join(map(repr, known)) or 'none'}.{nearest(key, known)}"
        )

    def label(self, path):
        """How a loss is shown that looks at this place: `a`, `a/b`, or `a_b` for all outputs together."""
        if path in self.paths and all(isinstance(key, int) for key in path[:1]):
            return self.names[self.paths.index(path)]
        if not path:
            return "_".join(dict.fromkeys(self.label(p) for p in self.paths))
        last = self.names[self.paths.index(path)] if path in self.paths and isinstance(path[-1], int) else str(path[-1])
        return "/".join([*map(str, path[:-1]), last])


def _is_several(loss, outputs):
    """Whether a list holds several losses of one place, rather than one for each output there."""
    if isinstance(loss, dict) or (isinstance(loss, tuple) and hasattr(loss, "_fields")):
        return False
    if not tree.is_nested(outputs):
        return True
    if type(loss) is type(outputs):
        return False
    kind = dict if isinstance(outputs, dict) else type(outputs)
    return any(isinstance(one, kind) and is_setting(one) for one in loss)


def _flat_paths(structure):
    """The path of each leaf, in flat order."""
    if not tree.is_nested(structure):
        return [()]
    return [(key, *rest) for key, child in _children(structure) for rest in _flat_paths(child)]


def _children(structure):
    if isinstance(structure, dict):
        return ((key, structure[key]) for key in sorted(structure))
    return enumerate(structure)


def _weights_like(loss, weights, y_pred, names):
    """Weights given by output, in the form of the losses: a dict for a dict, a list for a list."""
    if isinstance(weights, dict) and isinstance(loss, (list, tuple)) and not _is_several(loss, y_pred):
        return per_output(weights, names, y_pred, "loss_weights")
    flat = len(names) == len(list(_children(y_pred))) if tree.is_nested(y_pred) else True
    if isinstance(loss, dict) and isinstance(weights, (dict, list, tuple)) and flat:
        return dict(zip(names, per_output(weights, names, y_pred, "loss_weights"), strict=True))
    return weights


def _part(weights, key, losses):
    """The weights of a part, of a structure like the losses'; a number holds for all parts."""
    if isinstance(weights, dict):
        return weights.get(key)
    if isinstance(weights, (list, tuple)):
        if len(weights) != len(losses):
            raise ValueError(
                f"compile: `loss_weights` must match the number of losses: {len(weights)} are given for {len(losses)}."
            )
        return weights[key]
    return weights


def _place(path):
    return f"the part {'/'.join(map(str, path))!r} of the outputs" if path else "the model"
