"""`model.summary()`."""

import re

import numpy as np

from kerata.core import dtypes, tree
from kerata.graph.tensor import KerasTensor

_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


def readable_size(bits):
    """`"10.51 KB"` of a number of bits."""
    size = bits / 8
    for unit in _UNITS:
        if size < 1024 or unit == _UNITS[-1]:
            return f"{size:.2f} {unit}"
        size /= 1024


def count(variables):
    """Number of elements of the variables, each once."""
    return sum(int(np.prod(v.shape)) for v in {id(v): v for v in variables}.values())


def size_in_bits(variables):
    return sum(
        int(np.prod(v.shape)) * 8 * dtypes.to_numpy_dtype(v.dtype).itemsize
        for v in {id(v): v for v in variables}.values()
    )


def print_summary(model, line_length, positions, print_fn, expand_nested, show_trainable, layer_range):
    """The table of `Model.summary`."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    connected = hasattr(model, "_function")
    columns = [("Layer (type)", "left"), ("Output Shape", "left"), ("Param #", "right")]
    if connected and not _is_chain(model):
        columns.append(("Connected to", "left"))
    if show_trainable:
        columns.append(("Trainable", "center"))
    ratios = _ratios(positions, len(columns))
    table = Table(
        box=box.SQUARE_DOUBLE_HEAD if hasattr(box, "SQUARE_DOUBLE_HEAD") else box.SQUARE, show_lines=True, expand=True
    )
    for (title, side), ratio in zip(columns, ratios, strict=True):
        table.add_column(title, justify=side, ratio=ratio)
    for row in _rows(model, expand_nested, show_trainable, layer_range, len(columns) > 3 + bool(show_trainable)):
        table.add_row(*map(escape, row))
    console = Console(width=line_length or _width(connected), force_terminal=False, record=False, file=_Text())
    console.print(f'Model: "{escape(model.name)}"')
    console.print(table)
    for line in _totals(model):
        console.print(" " + line)
    text = console.file.text.rstrip("\n")
    if print_fn is not None:
        print_fn(text)
        return
    from kerata.core import config

    if config.is_interactive_logging_enabled():
        print(text)
    else:
        import logging

        logging.getLogger("kerata").info(text)


class _Text:
    """A file that keeps what is written."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        """Nothing waits."""


def _width(connected):
    import shutil

    return (
        min(shutil.get_terminal_size((80, 24)).columns, 120)
        if not connected
        else max(80, min(shutil.get_terminal_size((100, 24)).columns, 120))
    )


def _ratios(positions, count):
    if positions:
        last, ratios = 0.0, []
        for p in positions[:count]:
            ratios.append(max(1, round(100 * (p - last)) if p <= 1 else int(p - last)))
            last = p
        return ratios + [20] * (count - len(ratios))
    return {3: [45, 35, 20], 4: [35, 27, 13, 25], 5: [32, 25, 12, 22, 9]}[count]


def _is_chain(model):
    """Whether each layer feeds the next one only, so that connections needn't be shown."""
    if hasattr(model, "_stack"):
        return True
    return (
        all(len(n.inputs) <= 1 for n in model._function.network.nodes)
        and len(model.inputs) == 1
        and len(model.outputs) == 1
    )


def _rows(model, expand_nested, show_trainable, layer_range, connections, indent=""):
    for layer in _selected(_shown(model), layer_range):
        row = [f"{indent}{layer.name} ({_class_name(layer)})", _output_shape(layer), f"{count(layer.weights):,}"]
        if not layer.built and not layer.weights:
            row[2] = "0 (unbuilt)"
        if connections:
            row.append(_sources(layer, model))
        if show_trainable:
            row.append("-" if not layer.weights else "Y" if layer.trainable else "N")
        yield row
        if expand_nested and hasattr(layer, "get_layer") and layer.layers:
            yield from _rows(layer, True, show_trainable, None, connections, indent + "    └ ")


def _shown(model):
    return model._layers if not hasattr(model, "_stack") else model.layers


def _class_name(layer):
    return type(layer).__name__


def _selected(layers, layer_range):
    if not layer_range:
        return list(layers)
    if len(layer_range) != 2:
        raise ValueError("summary: `layer_range` must be two names: of the first and of the last layer to show.")
    first = [i for i, layer in enumerate(layers) if re.match(layer_range[0], layer.name)]
    last = [i for i, layer in enumerate(layers) if re.match(layer_range[1], layer.name)]
    if not first or not last:
        raise ValueError(f"summary: no layer's name matches {layer_range!r}.")
    low, high = sorted((min(first), max(last)))
    return layers[low : high + 1]


def _output_shape(layer):
    shapes = []
    for node in layer._inbound_nodes:
        shape = tree.map_structure(
            lambda t: t.shape if isinstance(t, KerasTensor) else None, node.structure or node.outputs[0]
        )
        if shape not in shapes:
            shapes.append(shape)
    if shapes:
        return ", ".join(_formatted(s) for s in shapes)
    if hasattr(layer, "output_shape") and getattr(layer, "_functional", True) is not None:
        return _formatted(layer.output_shape)
    return "?"


def _formatted(shape):
    if tree.is_nested(shape) and not all(d is None or isinstance(d, int) for d in shape):
        inside = shape.values() if isinstance(shape, dict) else shape
        return "[" + ", ".join(_formatted(s) for s in inside) + "]"
    return str(tuple(shape))


def _sources(layer, model):
    names = getattr(model, "_node_names", {})
    found = []
    for node in layer._inbound_nodes:
        for t in node.inputs:
            if t.node is None:
                continue
            source = t.node.op.name if not hasattr(t.node.op, "native") else names.get(id(t.node), t.node.op.name)
            found.append(f"{source}[0][{t.index}]")
    return ", ".join(found) or "-"


def _totals(model):
    weights, trainable = model.weights, model.trainable_weights
    frozen = [w for w in weights if not any(w is t for t in trainable)]
    rows = [("Total params", weights), ("Trainable params", trainable), ("Non-trainable params", frozen)]
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None and optimizer.built:
        rows[0] = ("Total params", [*weights, *optimizer.variables])
        rows.append(("Optimizer params", optimizer.variables))
    return [f"{title}: {count(own):,} ({readable_size(size_in_bits(own))})" for title, own in rows]
