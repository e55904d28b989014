"""What training steps and compiled calls ask of PyTorch."""

from contextlib import contextmanager

import torch

from kerata.backends.torch import optimizers

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
    return type(x) in (torch.Tensor, torch.nn.Parameter)


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


@contextmanager
def device_scope(name):
    with torch.device(name.replace("gpu", "cuda")):
        yield
