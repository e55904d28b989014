"""The base of all losses."""

from kerata import ops
from kerata.core import dtypes, errors, names, tree
from kerata.core.construct import Constructed
from kerata.core.masks import get_mask
from kerata.losses.reduction import REDUCTIONS, reduce_weighted


class Loss(Constructed):
    """A number to be made small. A subclass gives `call(y_true, y_pred)`, the loss of each sample.

    Args:
        name: name; `None`: the class's in snake case.
        reduction: what is done with the samples' losses: `"sum_over_batch_size"` and `"mean"` (the weighted
            sum over the number of samples), `"sum"`, `"mean_with_sample_weight"` (over the sum of weights),
            `"none"` or `None` (nothing).
        dtype: dtype in which the loss is worked out (a dtype policy: its compute dtype); `None`:
            `keras.config.floatx()`.

    Raises:
        ValueError: for an unknown reduction.

    >>> import kerata
    >>> class Cubed(kerata.Loss):
    ...     def call(self, y_true, y_pred):
    ...         return kerata.ops.mean(kerata.ops.abs(y_true - y_pred) ** 3, axis=-1)
    >>> float(Cubed()([[0.0, 0.0]], [[1.0, 3.0]]))
    14.0
    """

    def __init__(self, name=None, reduction="sum_over_batch_size", dtype=None):
        self.name = name or names.auto_name(type(self).__name__)
        self.reduction = checked_reduction(reduction, type(self).__name__)
        self._dtype = compute_dtype(dtype)

    @property
    def dtype(self):
        return self._dtype

    def call(self, y_true, y_pred):
        """Loss of each sample, a tensor whose first axis is the batch."""
        raise NotImplementedError(f"{type(self).__name__} must define `call(y_true, y_pred)`.")

    def __call__(self, y_true, y_pred, sample_weight=None):
        """The reduced loss.

        Args:
            y_true: targets, a tensor or a nested structure of them.
            y_pred: predictions, nested likewise. Their mask, if a layer left one, is honoured.
            sample_weight: a weight for each sample (or each of its losses), or `None`.
        """
        mask = get_mask(y_pred)
        with names.name_scope(self.name):
            y_pred = as_tensors(y_pred, self._converted)
            y_true = as_tensors(y_true, self._converted_target)
            values, own_mask = self._masked_call(y_true, y_pred)
            if own_mask is not None:
                mask = own_mask if mask is None else ops.logical_and(mask, own_mask)
            return reduce_weighted(values, sample_weight, mask, self.reduction, self._dtype)

    def get_config(self):
        return {"name": self.name, "reduction": self.reduction}

    def common_config(self):
        return {"name": self.name, "reduction": self.reduction}

    def _converted(self, x):
        return ops.convert_to_tensor(x, dtype=self._dtype)

    _converted_target = _converted

    def _masked_call(self, y_true, y_pred):
        """Losses, and the mask that comes out with them or `None`."""
        values = self.call(y_true, y_pred)
        return values, get_mask(values)


def as_tensors(structure, convert=ops.convert_to_tensor):
    """Every leaf of a structure converted; lists of numbers, however nested, are one leaf."""
    if not isinstance(structure, (list, tuple, dict)):
        return convert(structure)
    return tree.traverse(lambda x: convert(x) if _is_leaf(x) else None, structure)


def _is_leaf(x):
    return not tree.is_nested(x) or _holds_numbers_only(x)


def _holds_numbers_only(x):
    if isinstance(x, (list, tuple)):
        return all(_holds_numbers_only(v) for v in x)
    return isinstance(x, (bool, int, float))


def checked_reduction(reduction, owner):
    if reduction not in REDUCTIONS:
        listed = ", ".join(repr(r) for r in REDUCTIONS)
        raise ValueError(
            f"{owner}: Invalid value for argument `reduction`: {reduction!r}. Choose one of {listed}."
            f"{errors.nearest(reduction, REDUCTIONS)}"
        )
    return reduction


def compute_dtype(dtype):
    """Name of the dtype that a dtype or a dtype policy computes in."""
    return dtypes.standardize_dtype(getattr(dtype, "compute_dtype", dtype))
