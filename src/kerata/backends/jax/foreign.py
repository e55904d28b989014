"""Functions and modules written for JAX: their trees, their keys, and how Flax is called."""

import contextlib

import jax
import jax.numpy as jnp


def flatten_tree(tree):
    """`(leaves, structure)`, by JAX's own rules: `None` is no leaf, registered classes are containers."""
    return jax.tree_util.tree_flatten(tree)


def unflatten_tree(structure, leaves):
    return jax.tree_util.tree_unflatten(structure, leaves)


def leaf_names(tree):
    """A name for each leaf, made of its path: `params_Dense_0_kernel`."""
    paths, _ = jax.tree_util.tree_flatten_with_path(tree)
    return ["_".join(str(_key(k)) for k in path) for path, _ in paths]


def _key(entry):
    for attribute in ("key", "idx", "name"):
        if hasattr(entry, attribute):
            return getattr(entry, attribute)
    return entry


def prng_key(seed):
    return jax.random.PRNGKey(seed)


def ones_of(shape, dtype):
    return jnp.ones(shape, dtype)


@contextlib.contextmanager
def at_once():
    """What is computed within has values, even inside of a function that is being compiled."""
    with jax.ensure_compile_time_eval():
        yield


def jax_caller(function, platforms):
    """The function as this backend calls it, on lists of its tensors."""
    return function


def flax_apply(module, variables, key, inputs, method, options):
    """`(outputs, collections other than "params")` of a `flax.linen.Module`."""
    from flax.core import DenyList

    rngs = {"params": key, "dropout": jax.random.fold_in(key, 1)}
    return module.apply(variables, inputs, rngs=rngs, method=method, mutable=DenyList(["params"]), **options)


def flax_init(module, key, inputs, method, options):
    """The first variables of a `flax.linen.Module`: `{collection: tree}`."""
    rngs = {"params": key, "dropout": jax.random.fold_in(key, 1)}
    return module.init(rngs, inputs, method=method, **options)
