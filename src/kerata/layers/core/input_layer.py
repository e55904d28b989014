"""`Input` and the layer that stands for it in a model."""

import warnings

from kerata import backends
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
        if "input_shape" in kwargs:
            warnings.warn("Argument `input_shape` is deprecated. Use `shape` instead.", stacklevel=2)
            shape = kwargs.pop("input_shape")
        batch_shape = kwargs.pop("batch_input_shape", batch_shape)
        super().__init__(name=name, **kwargs)
        if input_tensor is not None:
            given = {"shape": shape, "batch_shape": batch_shape, "batch_size": batch_size}
            self._batch_shape, self._dtype = _of_tensor(
                self, input_tensor, dtype=dtype, sparse=sparse, ragged=ragged, **given
            )
            sparse, ragged = input_tensor.sparse, input_tensor.ragged
        else:
            self._batch_shape = _batch_shape(self, shape, batch_size, batch_shape)
            self._dtype = config.floatx() if dtype is None else dtypes.standardize_dtype(dtype)
        self.sparse = bool(sparse)
        self.ragged = bool(ragged)
        _check_kinds(self, self.sparse, self.ragged)
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
        """Nothing: a model hands its inputs over by itself."""

    def get_config(self):
        return {
            "batch_shape": self.batch_shape,
            "dtype": self.dtype,
            "sparse": self.sparse,
            "ragged": self.ragged,
            "name": self.name,
            "optional": self.optional,
        }


def _check_kinds(layer, sparse, ragged):
    if sparse and ragged:
        raise ValueError(f"{layer._where()}: `sparse` and `ragged` can't both be True.")
    backend = backends.current_name()
    for name, asked, able in (("sparse", sparse, ("tensorflow", "jax")), ("ragged", ragged, ("tensorflow",))):
        if asked and backend not in able:
            raise ValueError(
                f"{layer._where()}: `{name}=True` is not supported with the {backend} backend; it is with "
                f"{', '.join(able)}."
            )


def _of_tensor(layer, tensor, **asked):
    """Shape and dtype of the tensor given, with which whatever else was given has to agree."""
    if not isinstance(tensor, KerasTensor):
        raise ValueError(f"{layer._where()}: Argument `input_tensor` must be a KerasTensor, not {tensor!r}.")
    found = {
        "shape": tensor.shape[1:],
        "batch_shape": tensor.shape,
        "batch_size": tensor.shape[0],
        "dtype": tensor.dtype,
        "sparse": tensor.sparse,
        "ragged": tensor.ragged,
    }
    if asked["dtype"] is not None:
        asked["dtype"] = dtypes.standardize_dtype(asked["dtype"])
    for name, value in asked.items():
        value = tuple(value) if isinstance(value, list) else value
        if value is not None and value != found[name]:
            raise ValueError(
                f"{layer._where()}: you cannot provide an incompatible `{name}` with `input_tensor`: {value!r} was given, "
                f"the tensor's is {found[name]!r}."
            )
    return tensor.shape, tensor.dtype


def _batch_shape(layer, shape, batch_size, batch_shape):
    if batch_shape is not None:
        for name, value in (("shape", shape), ("batch_size", batch_size)):
            if value is not None:
                raise ValueError(f"{layer._where()}: you cannot pass both `{name}` and `batch_shape` at the same time.")
        return standardize_shape(batch_shape)
    if shape is None:
        raise ValueError(
            f"{layer._where()}: you must pass a `shape` argument. For instance `Input(shape=(28, 28, 1))`."
        )
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
