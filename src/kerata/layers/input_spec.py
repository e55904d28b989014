"""`InputSpec`: what a layer demands of its inputs."""

from kerata.core import dtypes, tree
from kerata.core.construct import Constructed


class InputSpec(Constructed):
    """Demands on one input of a layer; `None` demands nothing.

    Args:
        dtype: dtype.
        shape: tuple; `None` for a dimension that may be anything.
        ndim, max_ndim, min_ndim: number of dimensions.
        axes: `{axis: size}` of single dimensions.
        allow_last_axis_squeeze: a last dimension of 1 may be missing or added.
        name: name of the input.
        optional: the input may be `None`.

    >>> import kerata
    >>> spec = kerata.layers.InputSpec(min_ndim=2, axes={-1: 3})
    """

    def __init__(
        self,
        dtype=None,
        shape=None,
        ndim=None,
        max_ndim=None,
        min_ndim=None,
        axes=None,
        allow_last_axis_squeeze=False,
        name=None,
        optional=False,
    ):
        self.dtype = None if dtype is None else dtypes.standardize_dtype(dtype)
        self.shape = None if shape is None else tuple(shape)
        self.ndim = len(self.shape) if self.shape is not None else ndim
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.axes = {int(k): v for k, v in (axes or {}).items()}
        if self.axes and (self.ndim is not None or max_ndim is not None):
            rank = self.ndim if self.ndim is not None else max_ndim
            if max(self.axes) > rank - 1:
                raise ValueError(f"InputSpec: axis {max(self.axes)} doesn't exist in {rank} dimensions.")
        self.allow_last_axis_squeeze = allow_last_axis_squeeze
        self.name = name
        self.optional = optional

    def get_config(self):
        names = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes", "optional", "name")
        return {n: getattr(self, n) for n in names}

    def __repr__(self):
        given = [f"{k}={v}" for k, v in self.get_config().items() if v]
        return f"InputSpec({', '.join(given)})"


def check_input(spec, inputs, owner):
    """Raise a `ValueError` unless the inputs meet the layer's spec (one, or a structure of them)."""
    specs = tree.flatten(spec) if not isinstance(spec, dict) else [spec[k] for k in sorted(spec)]
    specs = [s for s in specs if s is not None]
    if isinstance(spec, dict) and isinstance(inputs, dict):
        inputs = [inputs.get(k) for k in sorted(spec)]
    flat = list(tree.flatten(inputs))
    if len(flat) != len(specs):
        raise ValueError(f"{owner}: {len(specs)} inputs are expected, but {len(flat)} were given.")
    for i, (s, x) in enumerate(zip(specs, flat, strict=True)):
        _check_one(s, x, f"input {i} of {owner}" if len(flat) > 1 else f"the input of {owner}")


def _check_one(spec, x, what):
    if x is None:
        if spec.optional:
            return
        raise ValueError(f"{what[0].upper()}{what[1:]} is None, but it isn't optional.")
    if not hasattr(x, "shape"):
        return
    shape = tuple(x.shape)
    problem = _problem(spec, shape)
    if problem:
        raise ValueError(
            f"{what[0].upper()}{what[1:]} is incompatible with the layer: {problem}, but its shape is {shape}."
        )


def _problem(spec, shape):
    rank = len(shape)
    if spec.ndim is not None and not spec.allow_last_axis_squeeze and rank != spec.ndim:
        return f"expected {spec.ndim} dimensions (ndim={spec.ndim}), found {rank}"
    if spec.max_ndim is not None and rank > spec.max_ndim:
        return f"expected at most {spec.max_ndim} dimensions, found {rank}"
    if spec.min_ndim is not None and rank < spec.min_ndim:
        return f"expected at least {spec.min_ndim} dimensions, found {rank}"
    for axis, size in spec.axes.items():
        if size is not None and -rank <= axis < rank and shape[axis] not in (size, None):
            return f"expected axis {axis} to have size {size}, found {shape[axis]}"
    if spec.shape is None:
        return None
    wanted = spec.shape
    if spec.allow_last_axis_squeeze:
        wanted = wanted[:-1] if wanted and wanted[-1] == 1 else wanted
        shape = shape[:-1] if shape and shape[-1] == 1 else shape
    if len(wanted) != len(shape) or any(
        w is not None and d is not None and w != d for w, d in zip(wanted, shape, strict=True)
    ):
        return f"expected shape {spec.shape}"
    return None
