"""How a user's own gradient function is called: Keras's two spellings, on every backend."""

import inspect


def call(grad_fn, args, upstream):
    """Gradients of `args`: `grad_fn(*args, upstream=...)` if that is among its parameters, else `grad_fn(upstream)`."""
    parameters = inspect.signature(grad_fn).parameters
    if "upstream" in parameters and len(parameters) > 1:
        return grad_fn(*args, upstream=upstream)
    return grad_fn(upstream)
