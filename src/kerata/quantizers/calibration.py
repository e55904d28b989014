"""Running a model's blocks on data, and quantizing their weights one block after the other."""

from contextlib import contextmanager

import numpy as np

from kerata import ops
from kerata.ops.core import convert_to_numpy, convert_to_tensor
from kerata.quantizers.awq_rounding import Activations, awq_rounded
from kerata.quantizers.gptq_rounding import Hessian, gptq_rounded

# Windows that run through a block at once.
_AT_ONCE = 8


def checked_structure(structure, mode):
    """The layers before the blocks, and the blocks.

    Raises:
        ValueError: no such structure.
    """
    if not isinstance(structure, dict) or not {"pre_block_layers", "sequential_blocks"} <= structure.keys():
        raise ValueError(
            f"For mode={mode!r}, a valid quantization structure must be provided: a dict with 'pre_block_layers' (what the "
            "tokens pass first) and 'sequential_blocks', in the config's `quantization_layer_structure`, or returned by the "
            f"model's `get_quantization_layer_structure`. Found: {structure!r}."
        )
    return structure["pre_block_layers"], structure["sequential_blocks"]


def windows(config):
    """`(num_samples, sequence_length)` tokens of the config's data, evenly spread over it.

    Raises:
        TypeError: a string in the place of the data.
        ValueError: no data.
    """
    dataset, length, count = config.dataset, config.sequence_length, config.num_samples
    if isinstance(dataset, str):
        raise TypeError(
            f"The `dataset` argument must be an iterable of texts or of arrays of tokens, not a string. Got type: str "
            f"({dataset!r}). Please pass the loaded dataset directly."
        )
    pieces = [_tokens(config.tokenizer, item) for item in (() if dataset is None else dataset)]
    if not sum(len(p) for p in pieces):
        raise ValueError(
            f"Provided dataset is empty: {type(config).__name__} needs texts or tokens to run the model on."
        )
    stream = np.concatenate(pieces)
    if len(stream) < length:
        stream = np.tile(stream, -(-length // len(stream)))
    starts = np.linspace(0, len(stream) - length, count).astype(int)
    return np.stack([stream[s : s + length] for s in starts])


def _tokens(tokenizer, item):
    if isinstance(item, str):
        tokenize = getattr(tokenizer, "tokenize", tokenizer)
        if not callable(tokenize):
            raise ValueError(f"The dataset holds texts, so a `tokenizer` is needed, not {tokenizer!r}.")
        item = tokenize(item)
    return np.asarray(convert_to_numpy(item)).reshape(-1).astype(np.int32)


def calibrate(config, structure, layers):
    """Quantize the weights of layers that lie in blocks.

    Args:
        config: `GPTQConfig` or `AWQConfig`.
        structure: `(layers before the blocks, blocks)`.
        layers: the layers to quantize; their mode is set already.
    """
    before, blocks = structure
    tokens = windows(config)
    batches = [convert_to_tensor(tokens[i : i + _AT_ONCE]) for i in range(0, len(tokens), _AT_ONCE)]
    for layer in before:
        batches = [layer(x) for x in batches]
    wanted = {id(layer) for layer in layers}
    for block in blocks:
        inside = [layer for layer in block._flatten_layers() if id(layer) in wanted]
        found = {id(layer): _statistics(config)(layer._weights[0].rows) for layer in inside}
        with _watched(inside, lambda layer, x, found=found: found[id(layer)].add(_rows(layer._weights[0], x))):
            for x in batches:
                block(x)
        for layer in inside:
            quantize_layer(layer, found[id(layer)], config)
        # The next block is to make up for what this one has lost.
        batches = [block(x) for x in batches]


def _statistics(config):
    return Hessian if config.mode == "gptq" else Activations


def quantize_layer(layer, statistics, config):
    """Quantize one layer's weight, given what its inputs are like."""
    from kerata.layers.quantization.mode import mode_named

    weight = layer._weights[0]
    matrix = weight.to_matrix(layer._integers(weight).numpy()).T
    mode = mode_named(config.mode)
    if config.mode == "gptq":
        integers, scale, zero, numbers = gptq_rounded(matrix, statistics, config)
        mode.adopt(layer, weight, integers, scale=scale, zero=zero, g_idx=numbers)
    else:
        integers, scale, zero, strengths = awq_rounded(matrix, statistics, config)
        mode.adopt(layer, weight, integers, scale=scale, zero=zero, awq_scales=strengths)


def _rows(weight, x):
    """The inputs as `(examples, rows of the weight)`."""
    inputs, kernel, outputs = weight.terms
    if "..." not in weight.equation:
        summed = [c for c in kernel if c in inputs and c not in outputs]
        order = [i for i, c in enumerate(inputs) if c not in summed] + [inputs.index(c) for c in summed]
        x = ops.transpose(x, order)
    return convert_to_numpy(ops.reshape(ops.cast(x, "float32"), (-1, weight.rows)))


@contextmanager
def _watched(layers, note):
    """While entered, `note(layer, inputs)` is called before each call of these layers."""

    def watching(layer, call):
        def watched(inputs, *args, **kwargs):
            note(layer, inputs)
            return call(inputs, *args, **kwargs)

        return watched

    for layer in layers:
        layer.__dict__["call"] = watching(layer, layer.call)
    try:
        yield
    finally:
        for layer in layers:
            layer.__dict__.pop("call", None)
