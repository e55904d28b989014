"""Recurrent layers as ONNX's own operators."""

import numpy as np

from kerata.graph.onnx.table import emits

# Where ONNX's gates stand among ours: i o f c of i f c o; z r h of z r h.
_LSTM_GATES = (0, 3, 1, 2)


def _gates(w, x, order, axis):
    """The gates along an axis in another order."""
    size = x.shape[axis] // len(order)
    positions = np.concatenate([np.arange(g * size, (g + 1) * size) for g in order])
    return w.along(x, axis, positions)


def _weights(w, kernel, order):
    """`[features, gates * units]` as `[1, gates * units, features]`."""
    name = _gates(w, kernel, order, 1) if order else w.name(kernel)
    rows, columns = kernel.shape
    return w.reshape(w.transpose(name, [1, 0]), [1, columns, rows])


def _along_time(w, x):
    return w.transpose(x, [1, 0, 2])


def _state(w, h):
    """`[batch, units]` as `[1, batch, units]`."""
    return w.op("Unsqueeze", h, w.ints([0]))


def _outputs(w, y):
    """`[time, 1, batch, units]` as `[batch, time, units]`."""
    return w.transpose(w.op("Squeeze", y, w.ints([1])), [1, 0, 2])


@emits("lstm")
def _lstm(w, out, x, h, c, kernel, recurrent_kernel, bias, reverse, sequences):
    units = recurrent_kernel.shape[0]
    offsets = _gates(w, bias, _LSTM_GATES, 0)
    zeros = w.constant(np.zeros(4 * units, w.dtype(bias)))
    offsets = w.reshape(_joined(w, [offsets, zeros]), [1, 8 * units])
    y, last_h, last_c = w.op(
        "LSTM",
        _along_time(w, x),
        _weights(w, kernel, _LSTM_GATES),
        _weights(w, recurrent_kernel, _LSTM_GATES),
        offsets,
        None,
        _state(w, h),
        _state(w, c),
        outputs=3,
        hidden_size=units,
        direction="reverse" if reverse else "forward",
    )
    last_h = w.op("Squeeze", last_h, w.ints([0]))
    return [_outputs(w, y) if sequences else last_h, last_h, w.op("Squeeze", last_c, w.ints([0]))]


@emits("gru")
def _gru(w, out, x, h, kernel, recurrent_kernel, bias, reverse, sequences):
    units = recurrent_kernel.shape[0]
    y, last = w.op(
        "GRU",
        _along_time(w, x),
        _weights(w, kernel, None),
        _weights(w, recurrent_kernel, None),
        w.reshape(bias, [1, 6 * units]),
        None,
        _state(w, h),
        outputs=2,
        hidden_size=units,
        direction="reverse" if reverse else "forward",
        linear_before_reset=1,
    )
    last = w.op("Squeeze", last, w.ints([0]))
    return [_outputs(w, y) if sequences else last, last]


def _joined(w, names):
    arrays = [w.known(n) for n in names]
    if all(a is not None for a in arrays):
        return w.constant(np.concatenate(arrays))
    return w.op("Concat", *names, axis=0)
