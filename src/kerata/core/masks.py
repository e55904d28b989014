"""Masks of tensors: which time steps count. Kept on the tensor where it takes attributes, else beside it."""

import weakref

_beside = {}


def set_mask(tensor, mask):
    """Attach `mask` to `tensor` (`None`: take it away)."""
    try:
        tensor._keras_mask = mask
        return
    except AttributeError:
        pass
    key = id(tensor)
    if mask is None:
        _beside.pop(key, None)
        return
    _beside[key] = (weakref.ref(tensor, lambda _, key=key: _beside.pop(key, None)), mask)


def get_mask(tensor):
    """The tensor's mask, or `None`."""
    mask = getattr(tensor, "_keras_mask", None)
    if mask is None and _beside:
        entry = _beside.get(id(tensor))
        if entry is not None and entry[0]() is tensor:
            mask = entry[1]
    return mask
