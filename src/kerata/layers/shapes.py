"""What layers read off the shapes that they are built with."""


def known_size(layer, shape, axis, what="kernel"):
    """Length of the dimension `axis`, which has to be known to make a weight.

    Args:
        layer: the layer, named in the message.
        shape: shape of its input.
        axis: the dimension.
        what: name of the weight.

    Raises:
        ValueError: it isn't known, or there is no such dimension.
    """
    shape = tuple(shape)
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"{layer._where()}: its input has no axis {axis}; the shape is {shape}.")
    size = shape[axis]
    if size is None:
        which = "last dimension" if axis in (-1, len(shape) - 1) else f"dimension {axis}"
        raise ValueError(
            f"{layer._where()}: the {which} of the input must be known to create the {what}, but the input's shape is "
            f"{shape}. Give it in `Input(shape=(…, features))`, or call the layer on data first."
        )
    return int(size)


def channel_axis(data_format, rank):
    """Index of the channels in a tensor of this many dimensions."""
    return rank - 1 if data_format == "channels_last" else 1
