"""Functions with gradients of their own on PyTorch, and such as are computed twice."""

import torch


class _WithGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, forward, backward, *inputs):
        ctx.function = backward
        ctx.save_for_backward(*inputs)
        return tuple(forward(*inputs))

    @staticmethod
    def backward(ctx, *upstream):
        gradients = ctx.function(*ctx.saved_tensors, *upstream)
        wanted = ctx.needs_input_grad[2:]
        return None, None, *(g if needed else None for g, needed in zip(gradients, wanted, strict=True))


def with_gradient(forward, backward, inputs):
    if not torch.is_grad_enabled():
        return forward(*inputs)
    return _WithGradient.apply(forward, backward, *inputs)


def recomputed(function, inputs):
    from torch.utils.checkpoint import checkpoint

    return checkpoint(function, *inputs, use_reentrant=False, preserve_rng_state=False)
