"""The generalized crossentropy."""

from kerata import ops
from kerata.losses.function_loss import FunctionLoss


def categorical_generalized_cross_entropy(y_true, y_pred, q):
    """`(1 - p**q) / q`, `p` being the probability given to the true class. Source: Zhang & Sabuncu, 2018.

    Between the mean absolute error (`q = 1`) and the crossentropy (`q -> 0`); holds up under wrong labels.

    Args:
        y_true: class numbers `(batch,)` or `(batch, 1)`.
        y_pred: probabilities `(batch, classes)`.
        q: number between 0 and 1.

    Returns:
        Tensor `(batch,)`.

    >>> from kerata import losses
    >>> losses.categorical_generalized_cross_entropy([1], [[0.75, 0.25]], 0.5)
    Array([1.], dtype=float32)
    """
    y_pred = ops.convert_to_tensor(y_pred)
    y_true = ops.cast(ops.convert_to_tensor(y_true), "int32")
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == 1:
        y_true = ops.squeeze(y_true, -1)
    p = ops.squeeze(ops.take_along_axis(y_pred, ops.expand_dims(y_true, -1), axis=-1), -1)
    return (1.0 - ops.power(p, q)) / q


class CategoricalGeneralizedCrossEntropy(FunctionLoss):
    """Generalized crossentropy of class numbers, for noisy labels. Source: Zhang & Sabuncu, 2018.

    Args:
        q: number between 0 (crossentropy) and 1 (absolute error), both left out.
        reduction, name, dtype: see `Loss`.

    Raises:
        ValueError: for `q` out of range.

    >>> from kerata import losses
    >>> float(losses.CategoricalGeneralizedCrossEntropy(0.5)([1], [[0.75, 0.25]]))
    1.0
    """

    function = staticmethod(categorical_generalized_cross_entropy)

    def __init__(
        self, q=0.5, reduction="sum_over_batch_size", name="categorical_generalized_cross_entropy", dtype=None
    ):
        if not 0 < q < 1:
            raise ValueError(
                f"CategoricalGeneralizedCrossEntropy: q must be in the interval (0, 1), but {q!r} was given."
            )
        super().__init__(name, reduction, dtype, q=q)

    def _converted_target(self, x):
        return ops.convert_to_tensor(x)
