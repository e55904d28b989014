"""What training steps and compiled calls ask of JAX."""

from contextlib import contextmanager, nullcontext

import jax
import jax.numpy as jnp

from kerata.backends.jax.core import canonical
from kerata.backends.shapes import with_unknown

# Steps are pure functions of the variables' values, compiled by `jax.jit`.
STEP = "functional"
# Whether dimensions are always Python integers.
INTEGER_DIMS = True
IN_PLACE = False
inference = no_grad = nullcontext
process_count, process_index = jax.process_count, jax.process_index


def is_concrete(x):
    return isinstance(x, jax.Array) and not isinstance(x, jax.core.Tracer)


def compiles_by_default(model):
    return True


def copy(x):
    return jnp.array(x, copy=True)


def abstract(function, args):
    """Run a function on shapes alone."""
    return jax.eval_shape(function, *args)


def on_shapes(function, specs):
    """`(shape, dtype)` of each tensor that a function of a list gives; nothing is computed."""

    def run(specs):
        tensors = [jax.ShapeDtypeStruct(shape, canonical(dtype)) for shape, dtype in specs]
        return [(tuple(r.shape), r.dtype.name) for r in jax.eval_shape(function, tensors)]

    return with_unknown(run, specs)


@contextmanager
def device_scope(name):
    platform, _, index = name.replace("cuda", "gpu").partition(":")
    with jax.default_device(jax.devices(platform)[int(index or 0)]):
        yield
