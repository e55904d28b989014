"""Gradients that have values for some rows of a variable only, as lookups in embeddings give them, and what comes of them."""

from kerata import backends, ops
from kerata.core.scopes import in_stateless_scope


def row_gradient(gradient, shape):
    """A framework's sparse gradient (`tf.IndexedSlices`, JAX's `BCOO`, PyTorch's `sparse_coo`) as a `RowGradient` of a variable of
    this shape; `None` for others, and for those of as many rows as the variable has.

    Rows that occur several times are summed at the first of their places, and are zero at the others: so the number of places,
    which compilers want to know, stays what it was.
    """
    rows = _rows_of(gradient)
    if rows is None:
        return None
    indices, values, own_shape = rows
    fits = own_shape[0] in (None, shape[0]) and tuple(own_shape[1:]) == tuple(shape[1:])
    if not fits or (indices.shape[0] is not None and indices.shape[0] >= shape[0]):
        return None
    order = ops.argsort(indices)
    indices, values = ops.take(indices, order, axis=0), ops.take(values, order, axis=0)
    count = ops.shape(values)[0]
    first = ops.logical_or(ops.equal(ops.arange(count), 0), ops.not_equal(indices, ops.roll(indices, 1)))
    run = ops.cumsum(ops.cast(first, "int32")) - 1
    totals = ops.take(ops.segment_sum(values, run, count), run, axis=0)
    return RowGradient(indices, _masked(totals, first), first, shape)


def add_rows(variable, gradient, sign=1):
    """Add a sparse gradient's rows to a variable, or take them away; `False` if it is no such gradient."""
    rows = _rows_of(gradient)
    if rows is None:
        return False
    indices, values, _ = rows
    values = ops.cast(sign * values, variable.dtype)
    backend, in_place = backends.current(), getattr(backends.current(), "add_rows", None)
    if in_place is None or in_stateless_scope() or variable._backend is not backend:
        variable.assign(_with_rows_added(variable.value, indices, values))
    else:
        in_place(variable.storage, indices, values)
    return True


class RowGradient:
    """A gradient's rows, each once.

    Args:
        indices: their numbers.
        values: their values, zero where `first` is false.
        first: whether a row occurs for the first time.
        shape: shape of the whole.
    """

    def __init__(self, indices, values, first, shape):
        self.indices, self.values, self.first, self.shape = indices, values, first, tuple(shape)

    @property
    def dtype(self):
        return self.values.dtype

    def with_values(self, values):
        return RowGradient(self.indices, values, self.first, self.shape)

    def cast(self, dtype):
        return self.with_values(ops.cast(self.values, dtype))

    def __truediv__(self, divisor):
        return self.with_values(self.values / divisor)

    def native(self):
        """The framework's own kind of sparse gradient."""
        return backends.current().as_row_gradient(self.indices, self.values, self.shape)

    def change(self, tensor, difference):
        """The tensor with a difference of these rows added."""
        return RowChange(tensor, self.with_values(_masked(difference, self.first)))


class RowChange:
    """What a step does to a tensor of which it changes but a few rows: yet to be done, in place if may be."""

    def __init__(self, tensor, rows):
        self.tensor, self.rows = tensor, rows

    def applied(self):
        """The changed tensor, as a new one."""
        return _with_rows_added(self.tensor, self.rows.indices, self.rows.values)


def applied(values):
    """The values of a step as tensors."""
    return [value.applied() if isinstance(value, RowChange) else value for value in values]


def values_of(gradient):
    """All numbers of a gradient that aren't zero for sure."""
    return gradient.values if isinstance(gradient, RowGradient) else gradient


def on_values(function, gradients):
    """A function of a list of tensors, as one of gradients, of which some may have few rows."""
    changed = function([values_of(g) for g in gradients])
    return [
        g.with_values(value) if isinstance(g, RowGradient) else value
        for g, value in zip(gradients, changed, strict=True)
    ]


def _rows_of(gradient):
    rows_of = getattr(backends.current(), "gradient_rows", None)
    return None if rows_of is None else rows_of(gradient)


def _masked(values, first):
    mask = ops.reshape(first, (-1, *[1] * (len(values.shape) - 1)))
    return ops.where(mask, values, ops.zeros_like(values))


def _with_rows_added(tensor, indices, values):
    return ops.scatter_update(tensor, ops.expand_dims(indices, -1), values, "add")
