"""Dynamic loss scaling, for training in float16."""

from kerata import backends, ops
from kerata.core import serialization
from kerata.initializers.constants import Constant
from kerata.optimizers import arguments, lookup
from kerata.optimizers.optimizer import Optimizer
from kerata.optimizers.row_gradients import RowGradient, applied, values_of

# What `Optimizer` takes and this one leaves to the optimizer inside, with the values that ask for nothing.
_OF_THE_INNER = {**dict.fromkeys(arguments.BASE), "use_ema": False, "ema_momentum": 0.99}


class LossScaleOptimizer(Optimizer):
    """Scales the loss up so that small gradients survive float16, and skips steps whose gradients overflow.

    An overflow halves the scale; after a number of good steps it is doubled. Source: Micikevicius et al.,
    2018.

    Args:
        inner_optimizer: the optimizer that makes the steps, or its name or config.
        initial_scale: where the scale begins.
        dynamic_growth_steps: number of good steps after which the scale is doubled.
        name: name.

    Raises:
        ValueError: for arguments that belong to the inner optimizer, or are unknown; an inner optimizer that is none, or that
            scales the loss itself.

    >>> import kerata
    >>> optimizer = kerata.optimizers.LossScaleOptimizer(kerata.optimizers.SGD(0.5), initial_scale=4.0)
    >>> float(optimizer.scale_loss(1.0))
    4.0
    """

    def __init__(self, inner_optimizer, initial_scale=2.0**15, dynamic_growth_steps=2000, name=None, **kwargs):
        if not kwargs.pop("dynamic", True):
            raise ValueError(
                "LossScaleOptimizer: a scale that stays as it is (`dynamic=False`) needs no wrapper: set "
                "`loss_scale_factor` "
                "on the optimizer itself."
            )
        _reject(kwargs)
        super().__init__(learning_rate=0.0, name=name)
        self.inner_optimizer = _made(inner_optimizer)
        self.initial_scale = initial_scale
        self.dynamic_growth_steps = dynamic_growth_steps

    def build(self, var_list):
        """Make the scale and its counter, and build the inner optimizer."""
        if self.built:
            return
        super().build(var_list)
        self.step_counter = self.add_variable((), dtype="int32", name="step_counter")
        self.dynamic_scale = self.add_variable((), Constant(self.initial_scale), "float32", name="dynamic_scale")
        # One scale is enough.
        self.inner_optimizer.loss_scale_factor = None
        self.inner_optimizer.build(self._trainable_variables)

    @property
    def variables(self):
        return [*self._variables, *self.inner_optimizer.variables]

    @property
    def iterations(self):
        return self.inner_optimizer.iterations

    @property
    def learning_rate(self):
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, learning_rate):
        self.inner_optimizer.learning_rate = learning_rate

    def assign(self, variable, value):
        self.inner_optimizer.assign(variable, value)

    def assign_add(self, variable, value):
        self.inner_optimizer.assign_add(variable, value)

    def assign_sub(self, variable, value):
        self.inner_optimizer.assign_sub(variable, value)

    def scale_loss(self, loss):
        return loss * (self.dynamic_scale.value if self.built else self.initial_scale)

    def check_finite(self, grads):
        """Whether all entries of all gradients are finite, a boolean scalar."""
        return ops.all(ops.stack([ops.all(ops.isfinite(values_of(g))) for g in grads if g is not None]))

    def finalize_variable_values(self, var_list):
        self.inner_optimizer.finalize_variable_values(var_list)

    def exclude_from_weight_decay(self, var_list=None, var_names=None):
        self.inner_optimizer.exclude_from_weight_decay(var_list, var_names)

    def get_config(self):
        return {
            "name": self.name,
            "inner_optimizer": serialization.serialize_keras_object(self.inner_optimizer),
            "initial_scale": self.initial_scale,
            "dynamic_growth_steps": self.dynamic_growth_steps,
        }

    def _transition(self, params, grads, state, places, fused=None):
        """The inner optimizer's step where all gradients are finite, else none; then the scale."""
        grads = self._checked(params, grads, places)
        inner, count = self.inner_optimizer, len(self._variables)
        own, inner_state = state[:count], state[count:]
        rows = [i for i, v in enumerate(self._variables) if v is self.step_counter or v is self.dynamic_scale]
        counter, scale = (own[row] for row in rows)
        unscaled = [
            g if g is None or self._overwritten(p) else g / ops.cast(scale, ops.dtype(g))
            for g, p in zip(grads, places, strict=True)
        ]
        finite = self.check_finite(unscaled)
        by_rows = any(isinstance(g, RowGradient) for g in grads)
        known = by_rows and backends.current().is_concrete(finite)

        def step():
            stepped = inner._counted(params, unscaled, inner_state, places, fused)
            # A condition of a compiled step gives tensors.
            return tuple(map(applied, stepped)) if by_rows and not known else stepped

        choose = _choose if known else ops.cond
        params, inner_state = choose(finite, step, lambda: (list(params), list(inner_state)))
        good = ops.where(finite, counter + 1, 0)
        grown = ops.equal(good, self.dynamic_growth_steps)
        own[rows[0]] = ops.cast(ops.where(grown, 0, good), "int32")
        own[rows[1]] = scale * ops.where(finite, ops.where(grown, 2.0, 1.0), 0.5)
        return list(params), [*own, *inner_state]

    def _takes_rows(self, place):
        return self.inner_optimizer._takes_rows(place)

    def _fused_kernel(self, params):
        # Branches of a traced step keep to pure functions.
        return (
            None
            if not ops.is_tensor(params[0]) or hasattr(params[0], "node")
            else (self.inner_optimizer._fused_kernel(params))
        )

    def _follow_dtypes(self):
        self.inner_optimizer._follow_dtypes()

    def _bare_variables(self):
        return [*super()._bare_variables(), *self.inner_optimizer._bare_variables()]


def _choose(condition, yes, no):
    """`ops.cond` of a condition that is known, for results of any kind."""
    return yes() if condition else no()


def _made(inner):
    """The inner optimizer."""
    found = inner if inner is None else lookup.get(inner)
    if found is None:
        raise ValueError("LossScaleOptimizer: `inner_optimizer` must be an optimizer, or its name or config, not None.")
    if isinstance(found, LossScaleOptimizer):
        raise ValueError("LossScaleOptimizer: the inner optimizer scales the loss itself; one scale is enough.")
    return found


def _reject(kwargs):
    """Raise for arguments that ask the wrapper for what it doesn't do."""
    unknown = [name for name in kwargs if name not in _OF_THE_INNER]
    if unknown:
        raise ValueError(f"LossScaleOptimizer: unknown arguments: {', '.join(f'`{name}`' for name in unknown)}.")
    for name, value in kwargs.items():
        if value != _OF_THE_INNER[name]:
            raise ValueError(f"LossScaleOptimizer: set `{name}` on the `inner_optimizer`, which makes the steps.")
