"""Signatures that say what a layer takes, for the generic methods that read it off `call`."""

import functools
import inspect

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def describe(cls, compute_output_shape, compute_output_spec):
    """Give a class that has a `call` of its own the two generic methods with its parameters, unless it has them itself."""
    parameters = list(inspect.signature(cls.__dict__["call"]).parameters.values())
    if any(p.kind in _VARIADIC for p in parameters):
        return
    own, *given = parameters
    if is_generic(cls.compute_output_spec, compute_output_spec):
        cls.compute_output_spec = _with_parameters(compute_output_spec, [own, *given])
    if is_generic(cls.compute_output_shape, compute_output_shape):
        shapes = [own, *(p.replace(name=_shape_name(p.name)) for p in given if p.default is p.empty)]
        cls.compute_output_shape = _with_parameters(compute_output_shape, shapes)


def is_generic(method, generic):
    """Whether a method is the generic one, by itself or with a class's parameters."""
    return method is generic or getattr(method, "__wrapped__", None) is generic


def _shape_name(name):
    return "input_shape" if name in ("inputs", "x") else f"{name}_shape"


def _with_parameters(method, parameters):
    @functools.wraps(method)
    def described(*args, **kwargs):
        return method(*args, **kwargs)

    described.__signature__ = inspect.Signature([p.replace(annotation=p.empty) for p in parameters])
    return described
