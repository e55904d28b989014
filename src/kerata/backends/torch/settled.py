"""Natives of which all but the tensors' values is known: what plans call in their place.

Each has the arguments of the native of its name, tensors being symbols, and returns a function of the tensors among them, or
`None` where there is nothing to save. PyTorch takes microseconds to read strides and dilations, even if they are all 1.
"""

from kerata.backends.torch.nn import _CONV, _FIRST, _KERNEL, _LAST, _pads


def conv_bias(inputs, kernel, bias, strides, padding, data_format, dilation_rate, groups):
    native = _convolution(inputs, kernel.shape, strides, padding, data_format, dilation_rate, groups)
    if native is None:
        return None
    rank = len(inputs.shape)
    first, last, order = _FIRST[rank], _LAST[rank], _KERNEL[rank]
    if data_format == "channels_last":
        return lambda x, k, b: native(x.permute(*first), k.permute(*order), b).permute(*last)
    return lambda x, k, b: native(x, k.permute(*order), b)


def conv(inputs, kernel, strides, padding, data_format, dilation_rate, groups):
    settled = conv_bias(inputs, kernel, None, strides, padding, data_format, dilation_rate, groups)
    return settled and (lambda x, k: settled(x, k, None))


def _convolution(inputs, sizes, strides, padding, data_format, dilation_rate, groups):
    """PyTorch's convolution with no more arguments than it needs, or `None` if something must be padded before."""
    shape = (
        inputs.shape if data_format == "channels_first" else (inputs.shape[0], inputs.shape[-1], *inputs.shape[1:-1])
    )
    if None in shape[2:]:
        return None
    pads, before = (0, None) if padding == "valid" else _pads(padding, shape[2:], tuple(sizes), strides, dilation_rate)
    if before is not None:
        return None
    native = _CONV[len(shape) - 2]
    if set(dilation_rate) != {1} or groups != 1:
        return lambda x, k, b: native(x, k, b, strides, pads, dilation_rate, groups)
    if set(strides) != {1} or pads:
        return lambda x, k, b: native(x, k, b, strides, pads)
    return native
