"""Shape natives on NumPy. Array methods are called directly: the functions of the same name dispatch first."""

import numpy as np

concatenate = np.concatenate
stack = np.stack
expand_dims = np.expand_dims
squeeze = np.squeeze
broadcast_to = np.broadcast_to
flip = np.flip
roll = np.roll
tile = np.tile
tril = np.tril
triu = np.triu
diag = np.diag
diagonal = np.diagonal
repeat = np.repeat


def reshape(x, newshape):
    if newshape and min(newshape) < -1:  # which NumPy takes for -1
        raise ValueError(f"reshape: a dimension must be a non-negative integer or -1, but newshape={newshape}.")
    return x.reshape(newshape)


def transpose(x, axes):
    return x.transpose(axes)


def unstack(x, axis):
    return list(np.moveaxis(x, axis, 0))


def split(x, indices_or_sections, axis):
    return np.split(x, indices_or_sections, axis)


def pad(x, pad_width, mode, constant_values):
    if mode == "constant":
        return np.pad(x, pad_width, mode, constant_values=constant_values)
    return np.pad(x, pad_width, mode)


def shape_dim(x, axis):
    return x.shape[axis]
