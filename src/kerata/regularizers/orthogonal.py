"""The penalty on rows or columns that aren't orthogonal."""

from kerata import ops
from kerata.core import errors
from kerata.regularizers.regularizer import Regularizer, strength


class OrthogonalRegularizer(Regularizer):
    """Mean absolute cosine between different rows (or columns) of a matrix, times `factor`.

    Args:
        factor: factor.
        mode: `"rows"` or `"columns"`, what should be orthogonal.

    Raises:
        ValueError: for an unknown mode, or when called on what isn't a matrix.

    >>> from kerata import regularizers
    >>> float(regularizers.OrthogonalRegularizer(1.0)([[1.0, 0.0], [0.0, 2.0]]))
    0.0
    """

    def __init__(self, factor=0.01, mode="rows"):
        self.factor = strength(factor, "factor", "OrthogonalRegularizer")
        self.mode = errors.one_of(mode, ("rows", "columns"), "mode", "OrthogonalRegularizer")

    def __call__(self, inputs):
        shape = ops.shape(inputs)
        if len(shape) != 2:
            raise ValueError(
                f"Inputs to OrthogonalRegularizer must have rank 2, a matrix, but the shape is {tuple(shape)}."
            )
        vectors = inputs if self.mode == "rows" else ops.transpose(inputs)
        vectors = ops.normalize(vectors, axis=1)
        count = ops.shape(vectors)[0]
        cosines = ops.matmul(vectors, ops.transpose(vectors))
        # Each pair stands twice off the diagonal.
        off_diagonal = ops.sum(ops.abs(cosines * (1.0 - ops.eye(count, dtype=cosines.dtype)))) / 2
        return self.factor * off_diagonal / max(count * (count - 1) / 2, 1)
