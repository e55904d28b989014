"""Products of small integers."""

from kerata.ops.declare import Index, composite
from kerata.ops.elementwise import cast
from kerata.ops.linalg import einsum


@composite
def integer_einsum(subscripts, x: Index, kernel: Index):
    """`einsum` of two int8 tensors, summed in int32, by the framework's own integer product where it has one.

    Args:
        subscripts: as for `einsum`, with two operands.
        x, kernel: int8 tensors.

    Returns:
        int32 tensor.

    >>> from kerata.ops.quantized import integer_einsum
    >>> x, kernel = (ops.convert_to_tensor(v, "int8") for v in ([[100, 100]], [[100], [1]]))
    >>> integer_einsum("ab,bc->ac", x, kernel)
    [[10100]]
    """
    return einsum(subscripts, cast(x, "int32"), cast(kernel, "int32"))
