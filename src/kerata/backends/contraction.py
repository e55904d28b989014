"""Which einsums are one matrix product."""

_KNOWN = {}


def as_matmul(subscripts):
    """`(number of summed dimensions, whether they're the kernel's first)`, or `None`.

    The inputs end with the summed dimensions, the kernel begins or ends with them in the same order, and its others end
    the output: then reshaping makes matrices of them.

    >>> as_matmul("...x,xy->...y"), as_matmul("btnh,nhd->btd"), as_matmul("...d,vd->...v"), as_matmul("ab,ab->a")
    ((1, True), (2, True), (1, False), None)
    """
    # No `functools.cache`: compilers look into this, and can't look into that.
    if subscripts not in _KNOWN:
        _KNOWN[subscripts] = _as_matmul(subscripts)
    return _KNOWN[subscripts]


def _as_matmul(subscripts):
    inputs, outputs = subscripts.replace(" ", "").split("->")
    inputs, kernel = inputs.split(",")
    leading = "..." if inputs.startswith("...") else ""
    if (leading and not outputs.startswith("...")) or "." in (inputs + outputs).replace("...", "", 2 * bool(leading)):
        return None
    inputs, outputs = inputs.removeprefix("..."), outputs.removeprefix("...")
    for n in range(1, len(inputs) + 1):
        kept, summed = inputs[:-n], inputs[-n:]
        for first in (True, False):
            others = kernel[n:] if first else kernel[:-n]
            whole = summed + others if first else others + summed
            if kernel == whole and outputs == kept + others and not set(others) & set(inputs):
                return n, first
    return None


def summands(subscripts, x_shape, kernel_shape):
    """How many products are added up for one element of the result, dimensions under dots left out."""
    inputs, outputs = subscripts.replace(" ", "").split("->")
    total, seen = 1, set()
    for letters, shape in zip(inputs.split(","), (x_shape, kernel_shape), strict=True):
        front, dots, back = letters.partition("...")
        sizes = [*zip(front, shape, strict=False), *zip(back[::-1], shape[::-1], strict=False)]
        for letter, size in sizes:
            if letter not in outputs and letter not in seen:
                seen.add(letter)
                total *= size
    return total


# Products of int8 are below 2 ** 14, and float32 holds integers up to 2 ** 24.
MOST_IN_FLOAT32 = 2**10
