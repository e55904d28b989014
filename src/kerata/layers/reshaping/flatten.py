"""`Flatten`: everything but the batch in one dimension."""

import math

from kerata import ops
from kerata.layers.input_spec import InputSpec
from kerata.layers.layer import Layer
from kerata.layers.ranks import standardize_data_format


class Flatten(Layer):
    """All dimensions but the batch in one.

    Args:
        data_format: with `"channels_first"`, channels are moved last first, so that both formats give the same order.

    Input: `(batch, …)`. Output: `(batch, features)`.

    >>> import kerata
    >>> tuple(kerata.layers.Flatten()(kerata.ops.ones((2, 3, 4))).shape)
    (2, 12)
    """

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = standardize_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs):
        rank = len(inputs.shape)
        if self.data_format == "channels_first" and rank > 2:
            inputs = ops.transpose(inputs, (0, *range(2, rank), 1))
        return ops.reshape(inputs, with_batch(inputs, (_size(inputs.shape[1:]),)))


def _size(shape):
    return -1 if None in shape else math.prod(shape)


def with_batch(inputs, shape):
    """The shape with the batch before it: -1 stands for it if nothing else is unknown and it isn't known itself."""
    batch = inputs.shape[0]
    if batch is None and -1 in shape:
        batch = ops.shape(inputs)[0]
    return (-1 if batch is None else batch, *shape)
