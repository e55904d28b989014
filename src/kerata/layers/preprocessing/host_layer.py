"""`HostLayer`: a layer for data that are still on the host: text, lists, NumPy arrays."""

import numpy as np

from kerata import backends
from kerata.core import tree
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import current_trace
from kerata.layers.preprocessing.data_layer import DataLayer, in_foreign_pipeline

HOST = "numpy"
# Backends that have text among their tensors.
WITH_TEXT = (HOST, "tensorflow")


class HostLayer(DataLayer):
    """Base of layers for categories and text.

    Called eagerly on host data it computes with NumPy, which needs no other framework and knows text, and makes the result a
    tensor of the current backend. Tensors stay where they are, and text of TensorFlow's stays there too.
    """

    # Text can't become a tensor of every backend.
    _convert_input_args = False

    def __call__(self, inputs, **kwargs):
        b = backends.current()
        inputs = self._received(inputs, b)
        if in_foreign_pipeline() or current_trace.get() is not None:
            return super().__call__(inputs, **kwargs)
        if isinstance(inputs, np.ndarray) and hasattr(b, "from_host") and self._needs(b.NAME):
            inputs = b.from_host(inputs)
        given = (
            (*tree.flatten(inputs), *kwargs.values())
            if isinstance(inputs, (list, tuple))
            else (inputs, *kwargs.values())
        )
        if b.NAME == HOST or not all(map(_is_host, given)) or self._needs(b.NAME):
            return super().__call__(inputs, **kwargs)
        with backends.use_backend(HOST):
            outputs = super().__call__(inputs, **kwargs)
        return handed_over(outputs, b)

    def _received(self, inputs, b):
        """Inputs as an array or tensor."""
        return as_array(inputs, b, self._where())

    def _needs(self, name):
        """Whether this backend must compute, even from host data."""
        return False

    def _prepare(self, value):
        return value

    def _has_text(self):
        """Whether there can be text: not in compiled functions, nor on backends whose tensors hold numbers."""
        return current_trace.get() is None and backends.current_name() in WITH_TEXT

    def _check_text(self, x):
        """Text where there can't be any is an error."""
        if not self._has_text():
            raise self._refuse_text(getattr(x, "dtype", "string"))

    def _refuse_text(self, dtype):
        """The error for text where there can't be any."""
        name = backends.current_name()
        return TypeError(
            f"{self._where()}: text (dtype {dtype}) can't go into a model on the {name} backend, whose tensors hold numbers only. "
            "Map the layer over the data before the model: `dataset.map(layer)` for a tf.data.Dataset, a call in the dataset's "
            "`__getitem__`, or `layer(texts)` on a list or array. On the TensorFlow backend models take text."
        )


def as_array(x, b, where):
    """A tensor of the backend as it is; anything else as a NumPy array, unless TensorFlow is building a graph.

    Raises:
        ValueError: rows of different lengths.
    """
    if isinstance(x, KerasTensor) or b.is_tensor(x) or type(x) is np.ndarray:
        return x
    if hasattr(type(x), "_is_kerata_variable"):
        return x.value
    if in_foreign_pipeline() or (hasattr(b, "is_composite") and b.is_composite(x)):
        return x
    if hasattr(x, "detach"):
        return x.detach().cpu().numpy()
    try:
        return np.asarray(x)
    except ValueError as error:
        raise ValueError(
            f"{where}: the inputs must be a tensor, an array or a regular nest of lists, but they can't become one ({error})."
        ) from None


def _is_host(x):
    return x is None or isinstance(x, (np.ndarray, np.generic, list, tuple, int, float, bool, str, bytes))


def handed_over(x, b):
    """NumPy results as tensors of a backend; text as what comes nearest to it."""
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "USO":
        return b.convert(x)
    if hasattr(b, "from_host"):
        return b.from_host(x)
    return x.tolist() if b.NAME == "torch" else x
