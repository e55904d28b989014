"""On NumPy nothing is differentiated."""


def with_gradient(forward, backward, inputs):
    return forward(*inputs)


def recomputed(function, inputs):
    return function(*inputs)
