"""How often categories occur, which preprocessing layers encode."""

from kerata.ops.core import dtype as dtype_of
from kerata.ops.core import shape as shape_of
from kerata.ops.creation import arange, ones_like
from kerata.ops.declare import Index, composite
from kerata.ops.elementwise import cast, greater_equal, less, logical_and, minimum, where
from kerata.ops.indexing import scatter
from kerata.ops.movement import expand_dims, reshape


@composite
def category_counts(indices: Index, depth, dtype, hot):
    """How often each category occurs along the last axis (not public: one kernel where the framework has it).

    Args:
        indices: integers of shape `(..., n)`; those outside `[0, depth)` count nowhere.
        depth: number of categories.
        dtype: of the result: one that can count.
        hot: whether to say but 1 of what occurs.

    Returns:
        Tensor `(..., depth)`.

    >>> from kerata.ops.counting import category_counts
    >>> category_counts([[0, 1, 1], [3, 3, 5]], 4, "float32", False)
    [[1., 2., 0., 0.], [0., 0., 0., 2.]]
    """
    inside = logical_and(greater_equal(indices, 0), less(indices, depth))
    counts = summed_by_category(indices, cast(inside, dtype), inside, depth)
    return minimum(counts, ones_like(counts)) if hot else counts


def summed_by_category(indices, values, inside, depth):
    """Sums of values along the last axis, by category; those not inside count nowhere."""
    shape = shape_of(indices)
    # One row of places a vector of counts.
    place = where(inside, cast(indices, "int32"), 0)
    rows = 1
    if len(shape) > 1:
        place = reshape(place, (-1, shape[-1]))
        rows = shape_of(place)[0]
        place = place + expand_dims(arange(rows, dtype="int32") * depth, -1)
    values = where(inside, values, cast(0, dtype_of(values)))
    counts = scatter(reshape(place, (-1, 1)), reshape(values, (-1,)), (rows * depth,))
    return reshape(counts, (*shape[:-1], depth))
