"""Quick calls: which calls of a layer need nothing around its `call`.

Most eager calls of a built layer find nothing to do before `call` and after: one tensor that is native already, has the
compute dtype, no mask, and a shape that was checked before. Such a layer remembers shapes and dtypes that came through
the ordinary way so, and calls with them go straight to `call`.
"""

from kerata import backends
from kerata.core import dtypes
from kerata.core.masks import get_mask
from kerata.core.scopes import current_autocast
from kerata.layers.call import current_call, signature_of

_selected, _autocast, _context = backends.selected.get, current_autocast.get, current_call.get
# Shapes remembered by one layer.
_MOST = 64


class QuickCalls:
    """The calls of one layer that need nothing around them.

    Attributes:
        seen: `(shape, dtype)` of inputs that went through the ordinary way with nothing to do.
        dtype: the layer's compute dtype.
        autocast: what its variables are read as: that dtype, which they have anyway, or `None`.
        takes_training, training: whether `call` has that parameter, and its default.
    """

    __slots__ = ("autocast", "dtype", "seen", "takes_training", "training")

    def __init__(self, layer):
        signature = signature_of(type(layer).call)
        self.seen = set()
        self.dtype = layer.compute_dtype
        self.autocast = self.dtype if layer.autocast else None
        self.takes_training, self.training = signature.takes_training, signature.training_default

    def __call__(self, layer, x):
        """The outputs, or `NotImplemented` when the call must go the ordinary way."""
        backend = _selected() or backends.process.backend
        if type(x) not in backend.TYPES or (x.shape, x.dtype) not in self.seen or get_mask(x) is not None:
            return NotImplemented
        autocast = _autocast()
        if autocast is not None and autocast != self.autocast:
            return NotImplemented
        try:
            if not self.takes_training:
                return layer.call(x)
            context = _context()
            training = None if context is None else context.training
            return layer.call(x, training=self.training if training is None else training)
        except Exception:
            # The ordinary way fails again, and says what about.
            return NotImplemented

    def note(self, layer, x):
        """An input has come through the ordinary way; remember its like if there was nothing to do."""
        backend = _selected() or backends.process.backend
        if type(x) in backend.TYPES and get_mask(x) is None and not _is_cast(backend.dtype_of(x), self.dtype):
            if len(self.seen) >= _MOST:
                self.seen.clear()
            self.seen.add((x.shape, x.dtype))


def quick_calls(layer):
    """A `QuickCalls` for a layer that has been called, or `False` if there's always something to do around its calls."""
    required = signature_of(type(layer).call).required
    adds_losses = "add_loss" in type(layer).call.__code__.co_names
    return QuickCalls(layer) if _is_plain(layer) and len(required) == 1 and not adds_losses else False


def _is_plain(layer):
    """The library's own, without layers in it, masks or losses made by it, hooks, or a policy that casts variables."""
    variables = [*layer._trainable_variables, *layer._non_trainable_variables] if layer.autocast else []
    return (
        layer._counts_changes
        and layer._called
        and layer._remat is None
        and layer._convert_input_args
        and not (layer._layers or layer._losses or layer.activity_regularizer)
        and not layer._makes_masks
        and not (layer._module is not None and layer._hooked())
        and not any(v._autocast and _is_cast(v._dtype, layer.compute_dtype) for v in variables)
    )


def _is_cast(dtype, compute_dtype):
    return dtype != compute_dtype and dtypes.is_float(dtype)
