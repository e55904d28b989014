"""Numbers of categories as they are, as one-hot or multi-hot vectors, as counts: what several layers return."""

import math

import numpy as np

from kerata import backends, ops
from kerata.core import dtypes
from kerata.graph.tensor import KerasTensor
from kerata.layers.preprocessing.host_layer import HostLayer
from kerata.ops.counting import category_counts, summed_by_category

COUNTING = ("multi_hot", "count", "tf_idf")


class EncodingLayer(HostLayer):
    """Base of layers that number categories and encode the numbers, as `output_mode` says.

    Subclasses define `_depth()`.

    Args:
        output_mode: `"int"`, `"one_hot"`, `"multi_hot"`, `"count"` or `"tf_idf"`.
        sparse: return sparse tensors.
    """

    def __init__(self, *, output_mode, sparse, **kwargs):
        super().__init__(**kwargs)
        check_sparse(sparse, output_mode, self._where())
        self.output_mode = output_mode
        self.sparse = sparse

    def _depth(self):
        """Length of the encodings."""
        raise NotImplementedError

    def _output_dtype(self):
        return self.compute_dtype

    def _needs(self, name):
        return self.sparse

    def _encoded(self, indices, dtype=None, **weights):
        """Numbers of categories, encoded as the layer's mode says; see `encoded`."""
        dtype = dtype or self._output_dtype()
        if self.output_mode == "int":
            return cast(indices, dtype)
        return encoded(indices, self._depth(), self.output_mode, dtype, self.sparse, self._where(), **weights)

    def compute_output_shape(self, input_shape):
        input_shape = tuple(input_shape)
        return input_shape if self.output_mode == "int" else encoded_shape(input_shape, self._depth(), self.output_mode)

    def compute_output_spec(self, inputs):
        shape = self.compute_output_shape(inputs.shape)
        return KerasTensor(
            shape, self._output_dtype(), sparse=self.sparse or (self.output_mode == "int" and inputs.sparse)
        )


def check_sparse(sparse, output_mode, owner):
    """Sparse results exist for encodings, on TensorFlow and JAX."""
    if not sparse:
        return
    if output_mode == "int":
        raise ValueError(
            f"{owner}: `sparse` may only be true if `output_mode` is `'one_hot'`, `'multi_hot'`, `'count'` or `'tf_idf'`, "
            "but it is 'int'."
        )
    if not hasattr(backends.current(), "to_sparse"):
        raise ValueError(
            f"{owner}: `sparse=True` cannot be used with the {backends.current_name()} backend, which has no sparse tensors. "
            "Leave `sparse` out."
        )


def encoded_shape(shape, depth, mode):
    """Shape of what `encoded` returns."""
    if mode == "one_hot":
        return (*(shape[:-1] if len(shape) > 1 and shape[-1] == 1 else shape), depth)
    return (*shape[:1], *shape[2:], depth) if len(shape) > 1 else (depth,)


def encoded(indices, depth, mode, dtype, sparse=False, owner="", weights=None, scale=None):
    """Encode numbers of categories.

    Args:
        indices: integer tensor; numbers outside `[0, depth)` count nowhere.
        depth: number of categories.
        mode: `"one_hot"`: a vector a number (a last dimension of 1 is dropped before). `"multi_hot"`, `"count"` and `"tf_idf"`: a
            vector for the numbers along the second axis (of a vector of numbers: for all of them).
        dtype: of the result.
        sparse: a sparse tensor.
        owner: named in errors.
        weights: what each number counts; by default 1.
        scale: what the counts of each category are multiplied by.

    Returns:
        Tensor of `dtype`.
    """
    b = backends.current()
    # Sparse numbers say where there is nothing to be counted.
    if hasattr(b, "map_values"):
        indices = b.densify(indices, -1)
    if mode == "one_hot":
        if len(indices.shape) > 1 and indices.shape[-1] == 1:
            indices = ops.squeeze(indices, -1)
        if isinstance(indices, np.ndarray) and not sparse:
            return _on_host(indices[..., None], depth, mode, dtype)
        return ops.one_hot(indices, depth, dtype=dtype, sparse=sparse)
    if len(indices.shape) == 0:
        indices = ops.reshape(indices, (1,))
    if weights is not None and tuple(weights.shape) != tuple(indices.shape) and None not in weights.shape:
        raise ValueError(
            f"{owner}: `count_weights` must have the inputs' shape {tuple(indices.shape)}, but has {tuple(weights.shape)}."
        )
    if len(indices.shape) > 2:
        indices, weights = (None if x is None else ops.moveaxis(x, 1, -1) for x in (indices, weights))
    if isinstance(indices, np.ndarray) and not sparse:
        counts = _on_host(indices, depth, mode, dtype, weights)
    else:
        counts = ops.cast(_counts(indices, depth, weights, _wide(dtype), mode == "multi_hot"), dtype)
    if scale is not None:
        counts = counts * ops.cast(scale, dtype)
    return b.to_sparse(counts) if sparse else counts


def _wide(dtype):
    """The dtype to count in: half precision can't count beyond 2048."""
    return "float32" if dtype in ("float16", "bfloat16") else dtype


def _counts(indices, depth, weights, dtype, hot):
    """How often each category occurs along the last axis, or, if hot, whether it does."""
    if weights is None:
        return category_counts(indices, depth, dtype, hot)
    inside = ops.logical_and(indices >= 0, indices < depth)
    return summed_by_category(indices, ops.cast(weights, dtype), inside, depth)


def _on_host(indices, depth, mode, dtype, weights=None):
    """An array's numbers along the last axis encoded: few places of many are touched."""
    shape, out = (*indices.shape[:-1], depth), dtypes.to_numpy_dtype(dtype)
    rows = indices.reshape(math.prod(shape[:-1]), indices.shape[-1])
    inside = (rows >= 0) & (rows < depth)
    place = (rows + depth * np.arange(len(rows))[:, None])[inside]
    if mode in ("one_hot", "multi_hot"):
        result = np.zeros(len(rows) * depth, out)
        result[place] = 1
        return result.reshape(shape)
    result = np.zeros(len(rows) * depth, dtypes.to_numpy_dtype(_wide(dtype)))
    np.add.at(result, place, result.dtype.type(1) if weights is None else weights.reshape(rows.shape)[inside])
    return result.astype(out, copy=False).reshape(shape)


def of_values(function, x):
    """A function of a tensor's values, also of ragged and sparse ones."""
    b = backends.current()
    return b.map_values(function, x) if hasattr(b, "map_values") and not isinstance(x, KerasTensor) else function(x)


def cast(indices, dtype):
    """Numbers in another dtype."""
    return of_values(lambda x: ops.cast(x, dtype), indices)


def integer_dtype(dtype, owner):
    """The dtype of a layer that returns numbers of categories: int64 unless another integer one was given."""
    if dtype is None:
        return "int64"
    name = dtypes.standardize_dtype(dtype) if isinstance(dtype, str) else getattr(dtype, "name", dtype)
    if not dtypes.is_int(name):
        raise ValueError(
            f"{owner}: When `output_mode=\"int\"`, `dtype` should be an integer type, such as 'int64', but {name!r} was given."
        )
    return dtype


def text_dtype(x):
    """Whether a tensor, symbol or array holds text."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "USO"
    dtype = getattr(x, "dtype", "string")  # the host's `Text` has none
    return dtypes.standardize_dtype(dtype) == "string"
