"""What training steps and compiled calls ask of TensorFlow."""

from contextlib import contextmanager, nullcontext

from tensorflow.python.framework.config import is_op_determinism_enabled

from kerata.backends.tensorflow.core import tf

# Steps assign variables in place, compiled by `tf.function`.
STEP = "stateful"
# Whether dimensions are always Python integers.
INTEGER_DIMS = False
IN_PLACE = True
inference = no_grad = nullcontext
_EAGER = tf.__internal__.EagerTensor


def is_concrete(x):
    return type(x) is _EAGER and tf.executing_eagerly()


def copy(x):
    return tf.identity(x)


def row(x, i):
    """Slice `i` of the first axis, with the rest of the shape known."""
    out = tf.gather(x, i)
    out.set_shape(x.shape[1:])
    return out


def repeat_in_place(body, count):
    """Call `body(i)`, which assigns variables, `count` times, by a loop in the graph."""

    def step(i):
        body(i)
        return (i + 1,)

    tf.while_loop(lambda i: i < count, step, (tf.constant(0),), parallel_iterations=1)


def step_options(model):
    return {"jit_compile": bool(model.jit_compile)}


def forward_options(model):
    return {"jit_compile": compiles_by_default(model)}


def compiles_by_default(model):
    """XLA or not: measured on CPU it pays for models without convolutions and costs for those with (65 ms against 28)."""
    if is_op_determinism_enabled():
        return False  # XLA promises no such thing
    layers = list(model._flatten_layers())
    if not all(getattr(layer, "supports_jit", True) for layer in layers):
        return False  # text and hashes: XLA has none
    return not any("conv" in type(layer).__name__.lower() for layer in layers)


def on_shapes(function, specs):
    """`(shape, dtype)` of each tensor that a function of a list gives, by tracing it into a graph that's thrown away."""
    found = []

    def traced(*tensors):
        found[:] = [(tuple(r.shape.as_list()), r.dtype.name) for r in function(list(tensors))]

    signature = [tf.TensorSpec(shape, dtype) for shape, dtype in specs]
    tf.function(traced, autograph=False).get_concrete_function(*signature)
    return found


@contextmanager
def device_scope(name):
    with tf.device(name):
        yield
