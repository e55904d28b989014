"""Control flow on JAX. Operands, carries and results are flat lists."""

import jax.numpy as jnp
from jax import lax


def cond(pred, true_fn, false_fn):
    return lax.cond(pred, true_fn, false_fn)


def switch(index, branches, operands):
    return lax.switch(index, branches, *operands)


def while_loop(cond, body, loop_vars, maximum_iterations):
    if maximum_iterations is None:
        return lax.while_loop(lambda v: cond(*v), lambda v: list(body(*v)), list(loop_vars))
    count = jnp.zeros((), jnp.int32)
    result = lax.while_loop(
        lambda v: (v[0] < maximum_iterations) & cond(*v[1:]), lambda v: [v[0] + 1, *body(*v[1:])], [count, *loop_vars]
    )
    return result[1:]


def scan(f, init, xs, length, reverse, unroll):
    def step(carry, x):
        carry, y = f(carry, x)
        return list(carry), list(y)

    return lax.scan(step, list(init), list(xs), length, reverse, unroll)
