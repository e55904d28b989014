"""A layer applied to every step."""

from kerata import ops
from kerata.core import tree
from kerata.layers.call import signature_of
from kerata.layers.core.wrapper import Wrapper


class TimeDistributed(Wrapper):
    """Apply a layer to each step of a sequence on its own.

    Steps and batch are folded into one dimension for it, so it is one call of the layer.

    Args:
        layer: the layer.

    Call arguments:
        inputs: `(batch, steps, …)`.
        training: handed to the layer.
        mask: boolean `(batch, steps)`, handed to the layer if it takes one.

    >>> import kerata
    >>> layer = kerata.layers.TimeDistributed(kerata.layers.Conv2D(8, 3))
    >>> tuple(layer(kerata.ops.ones((2, 5, 7, 7, 3))).shape)
    (2, 5, 5, 5, 8)
    """

    def __init__(self, layer, **kwargs):
        super().__init__(layer, **kwargs)
        self.supports_masking = True

    def build(self, input_shape):
        if len(input_shape) < 3:
            raise ValueError(
                f"{self._where()}: the input must be (batch, steps, …), of at least 3 dimensions, but its shape is "
                f"{tuple(input_shape)}."
            )
        super().build((input_shape[0], *input_shape[2:]))

    def call(self, inputs, training=None, mask=None):
        if mask is not None:
            self._check_mask(tuple(mask.shape), tuple(inputs.shape))
        signature = signature_of(type(self.layer).call)
        kwargs = {"training": training} if signature.takes_training else {}
        if mask is not None and signature.takes_mask:
            kwargs["mask"] = _folded(mask)
        outputs = self.layer(_folded(inputs), **kwargs)
        return tree.map_structure(lambda y: _unfolded(y, inputs), outputs)

    def _check_mask(self, mask, inputs):
        fits = len(mask) >= 2 and all(m in (1, d) or None in (m, d) for m, d in zip(mask[:2], inputs[:2], strict=True))
        if not fits:
            raise ValueError(
                f"{self._where()}: The `mask` passed to the `TimeDistributed` layer has a shape {mask} that is incompatible "
                f"with the inputs' {inputs}: it must begin with (batch, steps)."
            )


def _folded(x):
    """Batch and steps as one dimension."""
    return ops.reshape(x, (-1, *ops.shape(x)[2:]))


def _unfolded(y, like):
    batch, steps = ops.shape(like)[:2]
    if like.shape[0] is None and like.shape[1] is not None:
        batch = -1
    return ops.reshape(y, (batch, steps, *ops.shape(y)[1:]))
