"""Whole optimizer steps in place, over lists of tensors, for eager PyTorch.

Each function is `fused_<name>(optimizer, params, grads, slots, rate)`: `slots` has a list of tensors for
each param, in the order of the optimizer's `slots`; `rate` is what `optimizer.rate` returned. It must agree
with `optimizer.update`.
"""

from collections import defaultdict

import torch

# A number of steps after which Adam's bias corrections are 1 exactly: ours are in the rate already.
_SETTLED = 1e9


def detach(tensors):
    """The same tensors outside the autograd graph, sharing memory; what is no tensor is left as it is."""
    return [t.detach() if isinstance(t, torch.Tensor) and t.requires_grad else t for t in tensors]


def shrink(params, share):
    """Take a share of each param away, in place."""
    for ps, _, _ in _alike(params, params, params):
        torch._foreach_mul_(ps, (1.0 - share).to(ps[0].dtype))


def fused_adam(optimizer, params, grads, slots, rate):
    for ps, gs, rows in _alike(params, grads, slots):
        settled = torch.full((), _SETTLED, device=ps[0].device)
        torch._fused_adam_(
            ps,
            [_laid_out_like(p, g) for p, g in zip(ps, gs, strict=True)],
            [row[0] for row in rows],
            [row[1] for row in rows],
            [row[2] for row in rows] if optimizer.amsgrad else [],
            [settled] * len(ps),
            lr=rate,
            beta1=optimizer.beta_1,
            beta2=optimizer.beta_2,
            weight_decay=0.0,
            eps=optimizer.epsilon,
            amsgrad=optimizer.amsgrad,
            maximize=False,
        )


def _laid_out_like(param, gradient):
    """The kernel takes memory as it lies: a gradient in another order is put into the param's."""
    return gradient if gradient.stride() == param.stride() else torch.empty_like(param).copy_(gradient)


def fused_sgd(optimizer, params, grads, slots, rate):
    for ps, gs, rows in _alike(params, grads, slots):
        changes = torch._foreach_mul(gs, rate.to(ps[0].dtype))
        if not optimizer.slots:
            torch._foreach_sub_(ps, changes)
            continue
        momenta = [row[0] for row in rows]
        torch._foreach_mul_(momenta, optimizer.momentum)
        torch._foreach_sub_(momenta, changes)
        if optimizer.nesterov:
            torch._foreach_add_(ps, momenta, alpha=optimizer.momentum)
            torch._foreach_sub_(ps, changes)
        else:
            torch._foreach_add_(ps, momenta)


def fused_rmsprop(optimizer, params, grads, slots, rate):
    for ps, gs, rows in _alike(params, grads, slots):
        velocities = [row[0] for row in rows]
        torch._foreach_lerp_(velocities, torch._foreach_mul(gs, gs), 1.0 - optimizer.rho)
        spread = velocities
        if optimizer.centered:
            averages = [row[-1] for row in rows]
            torch._foreach_lerp_(averages, gs, 1.0 - optimizer.rho)
            spread = torch._foreach_sub(velocities, torch._foreach_mul(averages, averages))
        roots = torch._foreach_add(spread, optimizer.epsilon)
        torch._foreach_sqrt_(roots)
        changes = torch._foreach_mul(gs, rate.to(ps[0].dtype))
        torch._foreach_div_(changes, roots)
        if optimizer.momentum:
            momenta = [row[1] for row in rows]
            torch._foreach_mul_(momenta, optimizer.momentum)
            torch._foreach_add_(momenta, changes)
            changes = momenta
        torch._foreach_sub_(ps, changes)


def _alike(params, grads, slots):
    """The three lists split by device and dtype, as the fused kernels want them."""
    first = params[0]
    if all(p.dtype == first.dtype and p.device == first.device for p in params):
        return [(params, grads, slots)]
    groups = defaultdict(lambda: ([], [], []))
    for row in zip(params, grads, slots, strict=True):
        for column, item in zip(groups[row[0].device, row[0].dtype], row, strict=True):
            column.append(item)
    return list(groups.values())
