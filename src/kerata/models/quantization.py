"""Quantizing the layers of a model."""

import re
import warnings

from kerata.core.changes import changes
from kerata.layers.quantization.mode import mode_named
from kerata.layers.quantization.quantizable import Quantizable
from kerata.quantizers.calibration import calibrate, checked_structure
from kerata.quantizers.configs import resolved


def quantize(model, mode, config, filters, type_check=True):
    """Quantize every layer of a model that can be, and that the filters let through."""
    config = resolved(mode, config)
    mode = config.mode
    wanted = _filter(filters)
    if mode_named(mode).has_data:
        _quantize_with_data(model, config, wanted, type_check)
    else:
        left = [layer for layer in model._flatten_layers() if not _try(layer, config, wanted, type_check)]
        _mention(left, mode)
    changes.count += 1


def _try(layer, config, wanted, type_check):
    """Whether the layer was quantized, or needn't be."""
    if not isinstance(layer, Quantizable):
        own = [*layer._trainable_variables, *layer._non_trainable_variables]
        return bool(layer._layers) or not own or not wanted(layer)
    if not wanted(layer):
        return True
    if config.mode not in layer._modes and layer.built:
        return False
    try:
        layer.quantize(config.mode, type_check=type_check, config=config)
    except NotImplementedError:
        return False
    return True


def _mention(left, mode):
    if left:
        names = ", ".join(f"{type(layer).__name__} {layer.name!r}" for layer in left[:6])
        more = f" and {len(left) - 6} more" if len(left) > 6 else ""
        warnings.warn(
            f"quantize({mode!r}): these layers have no such mode and stay as they are: {names}{more}.", stacklevel=4
        )


def _quantize_with_data(model, config, wanted, type_check):
    """Only the layers within blocks, since only these see data."""
    mode = config.mode
    structure = config.quantization_layer_structure or model.get_quantization_layer_structure(mode)
    before, blocks = checked_structure(structure, mode)
    layers = []
    for block in blocks:
        for layer in block._flatten_layers():
            if isinstance(layer, Quantizable) and mode in layer._modes and wanted(layer) and layer not in layers:
                layer.quantize(mode, type_check=type_check, config=config)
                layers.append(layer)
    calibrate(config, (before, blocks), layers)


def _filter(filters):
    """A test of a layer, from regular expressions of names or a function."""
    if filters is None:
        return lambda layer: True
    if callable(filters):
        return filters
    expressions = [filters] if isinstance(filters, str) else list(filters)
    return lambda layer: any(re.search(e, layer.name) for e in expressions)
