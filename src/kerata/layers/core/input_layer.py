"""`Input` and the layer that stands for it in a model."""

from kerata.core import config, dtypes
from kerata.graph.tensor import KerasTensor, standardize_shape
from kerata.graph.trace import Node
from kerata.layers.layer import Layer


class InputLayer(Layer):
    """The beginning of a model: what `Input` makes, as a layer.

    Args:
        shape: shape without the batch.
        batch_size: length of the batch, if it is fixed.
        dtype: dtype; `None`: `floatx()`.
        sparse, ragged: whether the tensors given are of these kinds.
        batch_shape: shape with the batch, instead of `shape` and `batch_size`.
        input_tensor: the `KerasTensor` that it stands for, instead of a new one.
        optional: whether the input may be `None`.
        name: name.

    Raises:
        ValueError: neither a shape nor a tensor, or both spellings of the shape.

    >>> import kerata
    >>> kerata.layers.InputLayer(shape=(3,)).output.shape
    (None, 3)
    """

    def __init__(
        self,
        shape=None,
        batch_size=None,
        dtype=None,
        sparse=None,
        ragged=None,
        batch_shape=None,
        input_tensor=None,
        optional=False,
        name=None,
        **kwargs,
    ):
        # The spellings of Keras 2.
        shape = kwargs.pop("input_shape", shape)
        batch_shape = kwargs.pop("batch_input_shape", batch_shape)
        super().__init__(name=name, **kwargs)
        if input_tensor is not None:
            batch_shape, dtype = _of_tensor(self, input_tensor, shape, batch_shape, dtype)
        self._batch_shape = _batch_shape(self, shape, batch_size, batch_shape)
        self._dtype = config.floatx() if dtype is None else dtypes.standardize_dtype(dtype)
        self.sparse = bool(sparse)
        self.ragged = bool(ragged)
        if self.sparse and self.ragged:
            raise ValueError(f"{self._where()}: `sparse` and `ragged` can't both be True.")
        self.optional = optional
        tensor = input_tensor
        if tensor is None:
            tensor = KerasTensor(self._batch_shape, self._dtype, sparse=self.sparse, ragged=self.ragged, name=name)
        self._inbound_nodes.append(Node(self, (), None, tensor))
        self.built = True

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def dtype(self):
        return self._dtype

    def call(self):
        return self.output

    def get_config(self):
        return {
            "batch_shape": self.batch_shape,
            "dtype": self.dtype,
            "sparse": self.sparse,
            "ragged": self.ragged,
            "name": self.name,
            "optional": self.optional,
        }


def _of_tensor(layer, tensor, shape, batch_shape, dtype):
    if not isinstance(tensor, KerasTensor):
        raise ValueError(f"{layer._where()}: `input_tensor` must be a KerasTensor, not {tensor!r}.")
    wanted = batch_shape if batch_shape is not None else None if shape is None else (tensor.shape[0], *shape)
    if wanted is not None and standardize_shape(wanted) != tensor.shape:
        raise ValueError(f"{layer._where()}: the shape {tuple(wanted)} isn't that of `input_tensor`, {tensor.shape}.")
    if dtype is not None and dtypes.standardize_dtype(dtype) != tensor.dtype:
        raise ValueError(f"{layer._where()}: the dtype {dtype!r} isn't that of `input_tensor`, {tensor.dtype!r}.")
    return tensor.shape, tensor.dtype


def _batch_shape(layer, shape, batch_size, batch_shape):
    if batch_shape is not None:
        if shape is not None or batch_size is not None:
            raise ValueError(f"{layer._where()}: give `shape` (and `batch_size`) or `batch_shape`, not both.")
        return standardize_shape(batch_shape)
    if shape is None:
        raise ValueError(f"{layer._where()}: give a `shape`, for instance `Input(shape=(28, 28, 1))`.")
    return (batch_size, *standardize_shape(shape))


def Input(
    shape=None,
    batch_size=None,
    dtype=None,
    sparse=None,
    ragged=None,
    batch_shape=None,
    name=None,
    tensor=None,
    optional=False,
):
    """A symbolic tensor to begin a Functional model with.

    Args:
        shape: shape without the batch; `None` for dimensions that may be anything.
        batch_size: length of the batch, if it is fixed.
        dtype: dtype; `None`: `floatx()`.
        sparse, ragged: whether the tensors given are of these kinds.
        batch_shape: shape with the batch, instead of `shape` and `batch_size`.
        name: name, by which a dict of inputs finds it.
        tensor: an existing `KerasTensor` to use as input.
        optional: whether the input may be `None`.

    Returns:
        `KerasTensor`.

    >>> import kerata
    >>> x = kerata.Input(shape=(3,))
    >>> model = kerata.Model(x, kerata.layers.Dense(2)(x))
    >>> model.output_shape
    (None, 2)
    """
    layer = InputLayer(
        shape=shape,
        batch_size=batch_size,
        dtype=dtype,
        sparse=sparse,
        ragged=ragged,
        batch_shape=batch_shape,
        input_tensor=tensor,
        optional=optional,
        name=name,
    )
    return layer.output
