"""What training steps and compiled calls ask of PyTorch."""

import logging
from contextlib import contextmanager

import torch

from kerata.backends.shapes import with_unknown
from kerata.backends.torch import core, optimizers

# Steps are traced once and run as a plan of native calls.
STEP = "planned"
# A variable's parameter stays the same object for as long as the variable lives.
# Whether dimensions are always Python integers.
INTEGER_DIMS = True
IN_PLACE = True
no_grad = torch.no_grad
inference = torch.inference_mode


def update_in_place(kernel, optimizer, params, grads, slots, rate):
    """An optimizer's fused kernel as a plan calls it: what it has changed is also what it returns."""
    getattr(optimizers, f"fused_{kernel}")(optimizer, params, grads, slots, rate)
    return [*params, *(s for row in slots for s in row)]


def is_concrete(x):
    return type(x) in (torch.Tensor, torch.nn.Parameter) and not core.compiling()


def rows(x):
    return x.unbind(0)


def copy(x):
    return x.clone()


def swap(storage, value):
    """Give a parameter a new tensor; it stays the same object, as optimizers and modules that hold it need."""
    with torch.no_grad():
        if isinstance(storage, torch.nn.Parameter):
            storage.data = value.detach()
        else:
            storage.copy_(value)
    return storage


def on_shapes(function, specs):
    """`(shape, dtype)` of each tensor that a function of a list gives, on PyTorch's fake tensors: nothing is computed."""
    from torch._subclasses import FakeTensorMode

    def run(specs):
        with torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True):
            tensors = [torch.empty(shape, dtype=core.DTYPES[dtype]) for shape, dtype in specs]
            return [(tuple(map(int, r.shape)), core.dtype_of(r)) for r in function(tensors)]

    # An error is raised; it needn't be logged besides.
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    disabled, logger.disabled = logger.disabled, True
    try:
        return with_unknown(run, specs)
    finally:
        logger.disabled = disabled


@contextmanager
def device_scope(name):
    with torch.device(name.replace("gpu", "cuda")):
        yield
