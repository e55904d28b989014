"""PyTorch as a backend: what a tensor is, conversion, storage, gradient, compilation."""

import functools
from contextlib import nullcontext

import numpy as np
import torch
from torch._C import _len_torch_dispatch_stack
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from kerata.backends import gradients
from kerata.backends.numpy.core import to_host
from kerata.backends.repeated import kinds_by

NAME = "torch"
TENSOR = torch.Tensor
TYPES = {torch.Tensor, torch.nn.Parameter}
DTYPES = {
    name: getattr(torch, name)
    for name in [
        "bool",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "int8",
        "int16",
        "int32",
        "int64",
        "float8_e4m3fn",
        "float8_e5m2",
        "bfloat16",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
    if hasattr(torch, name)
}
# What the fast path of dispatch looks at.
BOOL, FLOAT32 = torch.bool, torch.float32
FLOATS = frozenset(dtype for dtype in DTYPES.values() if dtype.is_floating_point)
WIDE_FLOATS = frozenset({torch.float32, torch.float64})
WIDE_INTEGERS = frozenset({torch.int32, torch.int64})
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
# NumPy has these through ml_dtypes only, which torch does not read: they travel as bits.
_BITS = {"bfloat16": torch.int16, "float8_e4m3fn": torch.uint8, "float8_e5m2": torch.uint8}
compiling = getattr(torch.compiler, "is_dynamo_compiling", None) or torch.compiler.is_compiling


def is_tensor(x):
    return isinstance(x, torch.Tensor)


is_transformed = torch._C._functorch.is_functorch_wrapped_tensor
_transforming, _tracing = torch._C._functorch.peek_interpreter_stack, torch._C._get_tracing_state


def watched(*tensors):
    """Whether somebody may differentiate: autograd, one of `torch.func`'s transforms, or a compiler for them."""
    if compiling():
        return True
    grad = torch.is_grad_enabled()
    for t in tensors:  # noqa: SIM110 - a generator would take twice as long
        if isinstance(t, torch.Tensor) and ((grad and t.requires_grad) or is_transformed(t)):
            return True
    return False


_CONCRETE = frozenset(TYPES)
# Of composites' eager calls, see `repeated`.
kind_of_call = kinds_by(_CONCRETE, lambda x: ((x.shape, x.dtype, x.device), x.numel()))


def is_traced():
    """Whether a compiler or tracer looks at the Python code that runs."""
    return compiling() or _tracing() is not None


def where_to_plan(tensors):
    """The context for making plans: its constants are to serve everywhere, and autograd. `None`: here they couldn't."""
    if _tracing() or _len_torch_dispatch_stack() or _transforming() is not None:
        return None
    # Tensors made within `torch.device("meta")` have no values.
    return None if default_device().type == "meta" and not tensors[0].is_meta else torch.inference_mode(False)


def on_host(x):
    """Whether values may be looked at, for little and without harm: no device, compiler or transform stands before them."""
    return type(x) in _CONCRETE and not compiling() and x.is_cpu and not (is_transformed(x) or torch.jit.is_tracing())


# Of composites, PyTorch's own functions whose values are right, but whose gradients are others, or NaN where they needn't be.
# Where they haven't got a value either, they return `NotImplemented`.
VALUES_ALONE = {}


def whole(op, body):
    """A composite's body, or PyTorch's own function while nobody differentiates."""
    native = VALUES_ALONE.get(op.name)
    if native is None:
        return body

    def run(*args):
        result = NotImplemented if watched(*args) else native(*args)
        return body(*args) if result is NotImplemented else result

    return run


def is_tracer_type(type_):
    return issubclass(type_, torch.Tensor)


def default_device():
    """`torch.get_default_device`, which PyTorch has since 2.3."""
    get = getattr(torch, "get_default_device", None)
    return get() if get else torch.empty(0).device


def convert(x, dtype=None):
    if isinstance(x, torch.Tensor):
        return x if dtype is None else x.to(DTYPES[dtype])
    if isinstance(x, (list, tuple)) and _holds_tensor(x):
        rows = [convert(e, dtype) for e in x]
        return torch.stack([r.to(functools.reduce(torch.promote_types, [r.dtype for r in rows])) for r in rows])
    if isinstance(x, (bool, int, float, complex)):
        return torch.tensor(x, dtype=None if dtype is None else DTYPES[dtype], device=default_device())
    return _from_numpy(to_host(x), dtype)


def _holds_tensor(x):
    return any(isinstance(e, torch.Tensor) or (isinstance(e, (list, tuple)) and _holds_tensor(e)) for e in x)


def _from_numpy(x, dtype):
    """Shares memory with `x` as `torch.from_numpy` does, unless its dtype, strides or device forbid it."""
    if x.dtype.name in _BITS:
        bits = np.ascontiguousarray(x).reshape(x.shape).view(np.int16 if x.itemsize == 2 else np.uint8)
        tensor = torch.from_numpy(bits.copy()).view(DTYPES[x.dtype.name])
    else:
        if not x.dtype.isnative or not x.flags.writeable or min(x.strides, default=0) < 0:
            x = x.astype(x.dtype.newbyteorder("="), order="C", copy=True)
        tensor = torch.from_numpy(x)
    return tensor.to(default_device(), None if dtype is None else DTYPES[dtype])


def densify(x, fill=None):
    """A sparse tensor made dense; PyTorch's own functions take them as they are, as far as they do."""
    return x if x.layout is torch.strided else x.to_dense()


def to_numpy(x):
    x = densify(x.detach())
    if x.device.type != "cpu":
        x = x.cpu()
    if x.is_conj() or x.is_neg():
        x = x.resolve_conj().resolve_neg()
    if x.dtype in _BIT_VIEWS:
        return to_host(x)
    return x.numpy()


_BIT_VIEWS = frozenset(DTYPES[name] for name in _BITS if name in DTYPES)


def number(value, dtype):
    """A Python number as a tensor."""
    return torch.full((), value, dtype=dtype)


def cast(x, dtype):
    return x.to(DTYPES[dtype])


def dtype_of(x):
    return _NAMES[x.dtype]


def shape_of(x):
    return tuple(x.shape)


dynamic_shape = shape_of
stop_gradient = torch.detach


def bitcast(x, dtype):
    dtype = DTYPES[dtype]
    if dtype.itemsize > x.dtype.itemsize:
        return x.view(dtype).squeeze(-1)
    if dtype.itemsize < x.dtype.itemsize:
        return x.unsqueeze(-1).view(dtype)
    return x.view(dtype)


def variable(array, trainable, name):
    # Weights are real tensors even if a layer is built while fake ones go through it, and can be trained if it's for inference.
    with torch.inference_mode(False), _disable_current_modes() if _len_torch_dispatch_stack() else nullcontext():
        return _variable(array, trainable)


def _variable(array, trainable):
    tensor = convert(np.array(array))
    if tensor.is_floating_point() or tensor.is_complex():
        return torch.nn.Parameter(tensor, requires_grad=trainable)
    return tensor


def read(storage):
    return storage


@torch.no_grad()
def assign(storage, tensor):
    return storage.copy_(tensor)


_depth = 0


def value_and_grad(fn):
    """Gradients with respect to a list of tensors: leaves that take one are used as they are, others are detached.

    While compiling the functional transform is traced into the same graph. A call inside another one keeps the
    graph, so that the outer one can differentiate it.
    """

    def with_gradients(params, *args):
        return (_traced_gradients if compiling() else _eager_gradients)(fn, params, args)

    return with_gradients


class _Here:
    """Stands where a tensor was taken out."""


def _traced_gradients(fn, params, args):
    global _depth
    others = []

    def loss_and_tensors(params, *args):
        # The transform takes no auxiliary result but tensors: the rest goes round it.
        loss, aux = fn(params, *args)
        leaves, structure = tree_flatten(aux)
        others.append((structure, [_Here if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]))
        return loss, [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

    if not _depth:
        # Parameters would make the step a part of a larger graph, to be differentiated a second time.
        params = [p.detach() for p in params]
    _depth += 1
    try:
        grads, (loss, tensors) = torch.func.grad_and_value(loss_and_tensors, has_aux=True)(list(params), *args)
    finally:
        _depth -= 1
    structure, leaves = others[0]
    tensors = iter(tensors)
    return (loss, tree_unflatten([next(tensors) if leaf is _Here else leaf for leaf in leaves], structure)), grads


def _eager_gradients(fn, params, args):
    global _depth
    nested = _depth > 0
    with torch.enable_grad():
        leaves = [p if p.requires_grad else p.detach().requires_grad_() for p in params]
        _depth += 1
        try:
            loss, aux = fn(leaves, *args)
        finally:
            _depth -= 1
        if not loss.requires_grad:
            return (loss, aux), [torch.zeros_like(p) for p in leaves]
        grads = torch.autograd.grad(loss, leaves, create_graph=nested, allow_unused=True)
    grads = [torch.zeros_like(p) if g is None else g for p, g in zip(leaves, grads, strict=True)]
    return (loss, aux) if nested else (loss.detach(), _detached(aux)), grads


def _detached(aux):
    if aux is None:
        return None
    if type(aux) in (list, tuple):
        return type(aux)([_detached(a) for a in aux])
    return tree_map(lambda a: a.detach() if isinstance(a, torch.Tensor) else a, aux)


class _Custom(torch.autograd.Function):
    """`f(*args)`, which runs unwatched, and whose own gradient function takes over."""

    @staticmethod
    def forward(ctx, f, *args):
        output, ctx.grad_fn = f(*args)
        ctx.args = args
        return tuple(output) if isinstance(output, list) else output

    @staticmethod
    def backward(ctx, *upstream):
        grads = gradients.call(ctx.grad_fn, ctx.args, upstream[0] if len(upstream) == 1 else upstream)
        return None, *(grads if isinstance(grads, (list, tuple)) else (grads,))


def custom_gradient(f):
    return lambda *args: _Custom.apply(f, *args)


def compile(fn, **options):
    """`torch.compile` of a plan, which is for tensors of one shape.

    All plans have one name and line, by which Dynamo would take another plan's shapes for earlier ones of this and
    compile it for any shape: slowly, and for some convolutions wrongly.
    """
    return torch.compile(fn, **{"dynamic": False} | options)


def jvp(fun, primals, tangents, has_aux):
    return torch.func.jvp(fun, primals, tangents, has_aux=has_aux)


def vmap(fn, in_axes=0, out_axes=0):
    return torch.func.vmap(fn, in_axes, out_axes)


def block(x):
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return x


def device_scope(name):
    return torch.device(str(name).lower().replace("gpu", "cuda"))


def device_name():
    return str(default_device())


def version():
    return torch.__version__
