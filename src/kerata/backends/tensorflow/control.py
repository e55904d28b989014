"""Control flow on TensorFlow. Operands, carries and results are flat lists."""

from kerata.backends.tensorflow.core import tf


def cond(pred, true_fn, false_fn):
    return tf.cond(pred, true_fn, false_fn)


def switch(index, branches, operands):
    index = tf.clip_by_value(index, 0, len(branches) - 1)
    return tf.switch_case(index, [lambda b=b: b(*operands) for b in branches])


def while_loop(cond, body, loop_vars, maximum_iterations):
    result = tf.while_loop(cond, lambda *v: list(body(*v)), list(loop_vars), maximum_iterations=maximum_iterations)
    return list(result)


def scan(f, init, xs, length, reverse, unroll):
    if tf.executing_eagerly() or unroll is True or (isinstance(length, int) and unroll >= length):
        return _unrolled(f, init, xs, length, reverse)
    return _looped(f, init, xs, length, reverse)


def _unrolled(f, init, xs, length, reverse):
    carry, rows = list(init), []
    columns = [tf.unstack(x, length) for x in xs]
    for i in range(length - 1, -1, -1) if reverse else range(length):
        carry, ys = f(carry, [c[i] for c in columns])
        rows.append(ys)
    if not rows:
        _, ys = f(carry, [tf.zeros(x.shape[1:], x.dtype) for x in xs])
        return carry, [tf.zeros((0, *y.shape), y.dtype) for y in ys]
    if reverse:
        rows.reverse()
    return list(carry), [tf.stack(column) for column in zip(*rows, strict=True)]


def _looped(f, init, xs, length, reverse):
    """The first step stands before the loop: it tells how many outputs there are, and their dtypes."""
    if length is None:
        length = tf.shape(xs[0])[0]
    inputs = [tf.TensorArray(x.dtype, length, element_shape=x.shape[1:]).unstack(x) for x in xs]
    last = length - 1

    def place(i):
        return last - i if reverse else i

    carry, first = f(list(init), [a.read(place(0)) for a in inputs])
    outputs = [tf.TensorArray(y.dtype, length, element_shape=y.shape).write(place(0), y) for y in first]

    def body(i, carry, outputs):
        carry, ys = f(carry, [a.read(place(i)) for a in inputs])
        return i + 1, list(carry), [o.write(place(i), y) for o, y in zip(outputs, ys, strict=True)]

    _, carry, outputs = tf.while_loop(
        lambda i, *_: i < length, body, (tf.constant(1), list(carry), outputs), maximum_iterations=last
    )
    stacked = [o.stack() for o in outputs]
    if isinstance(length, int):
        stacked = [tf.ensure_shape(s, (length, *s.shape[1:])) for s in stacked]
    return list(carry), stacked
