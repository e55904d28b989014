"""Different optimizers for different variables."""

import re
import warnings
from collections.abc import MutableMapping

from kerata.core import registry, serialization
from kerata.core.construct import Constructed
from kerata.optimizers.adopted import as_variable
from kerata.optimizers.loss_scale import LossScaleOptimizer
from kerata.optimizers.optimizer import Optimizer


class OptimizerMap(Constructed, MutableMapping):
    """Chooses an optimizer by a variable's path.

    Args:
        default_optimizer: for variables that no pattern matches.
        optimizer_map: `{path: optimizer}`; a path may be a regular expression, which the whole path of a variable must match.

    >>> import kerata
    >>> chosen = kerata.optimizers.OptimizerMap(kerata.optimizers.SGD())
    >>> chosen["head/.*"] = kerata.optimizers.Adam()
    >>> type(chosen(kerata.Variable(1.0, name="kernel"))).__name__
    'SGD'
    """

    def __init__(self, default_optimizer, optimizer_map=None):
        self._default_optimizer = _plain(default_optimizer, "optimizer cannot be {}.")
        self._optimizer_map = {}
        self.update(optimizer_map or {})

    @property
    def default_optimizer(self):
        """The optimizer for variables that no pattern matches."""
        return self._default_optimizer

    @property
    def optimizer_map(self):
        return dict(self._optimizer_map)

    def __call__(self, variable):
        """The optimizer for a variable.

        Raises:
            ValueError: when several patterns match its path, and none is it.
        """
        if variable.path in self._optimizer_map:
            return self._optimizer_map[variable.path]
        matching = [pattern for pattern in self._optimizer_map if re.fullmatch(pattern, variable.path)]
        if len(matching) > 1:
            raise ValueError(
                f"OptimizerMap: several patterns match the path {variable.path!r}: "
                f"{', '.join(repr(p) for p in matching)}. Make them exclude each other."
            )
        return self._optimizer_map[matching[0]] if matching else self.default_optimizer

    def __getitem__(self, pattern):
        return self._optimizer_map[pattern]

    def __setitem__(self, pattern, optimizer):
        self._optimizer_map[pattern] = _plain(optimizer, "optimizer cannot be {}.")

    def __delitem__(self, pattern):
        del self._optimizer_map[pattern]

    def __iter__(self):
        return iter(self._optimizer_map)

    def __len__(self):
        return len(self._optimizer_map)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Make a map from what `get_config` returned."""
        with registry.CustomObjectScope(custom_objects):
            return super().from_config(config)


class MultiOptimizer(Optimizer):
    """Gives each variable to an optimizer of its own, by an `OptimizerMap` or any function of the variable.

    Learning rates, clipping, decay and the like are the inner optimizers' affair.

    Args:
        optimizer_map: an `OptimizerMap`, or a callable from variable to optimizer.
        loss_scale_factor: as of `Optimizer`; the inner optimizers' own are put aside.
        name: name.

    >>> import kerata
    >>> from kerata import optimizers
    >>> a, b = kerata.Variable(1.0, name="a"), kerata.Variable(1.0, name="b")
    >>> chosen = optimizers.OptimizerMap(optimizers.SGD(0.25), {"b": optimizers.SGD(0.5)})
    >>> optimizers.MultiOptimizer(chosen).apply([kerata.ops.ones(()), kerata.ops.ones(())], [a, b])
    >>> float(a), float(b)
    (0.75, 0.5)
    """

    def __init__(self, optimizer_map, loss_scale_factor=None, name=None):
        super().__init__(learning_rate=0.0, loss_scale_factor=loss_scale_factor, name=name)
        self.optimizer_map = optimizer_map
        self._optimizers = []
        if isinstance(optimizer_map, OptimizerMap):
            self._collect([*optimizer_map.values(), optimizer_map.default_optimizer])

    def build(self, var_list):
        """Ask for each variable's optimizer, and build them."""
        if self.built:
            return
        variables = [as_variable(v) for v in var_list]
        choose = self.optimizer_map
        owners = [choose if isinstance(choose, Optimizer) else choose(v) for v in variables]
        for owner in owners:
            _plain(owner, "{} cannot be used inside an MultiOptimizer.")
        if isinstance(choose, OptimizerMap):
            _mention_idle(choose, owners, variables)
        super().build(variables)
        self._collect(owners)
        number = {id(o): i for i, o in enumerate(self.optimizers)}
        self._var_to_optimizer_idx = {place: number[id(o)] for place, o in enumerate(owners)}
        for i, optimizer in enumerate(self.optimizers):
            optimizer.loss_scale_factor = None
            optimizer.build(
                [v for place, v in enumerate(self._trainable_variables) if self._var_to_optimizer_idx[place] == i]
            )

    @property
    def variables(self):
        return [*self._variables, *(v for o in self.optimizers for v in o.variables)]

    @property
    def optimizers(self):
        """The optimizers in use. A new list."""
        return list(self._optimizers)

    @property
    def loss_scale_factor(self):
        return self._loss_scale_factor

    @loss_scale_factor.setter
    def loss_scale_factor(self, factor):
        self._loss_scale_factor = factor

    @property
    def learning_rate(self):
        raise AttributeError(f"{self.name}: a MultiOptimizer has no learning rate of its own; its `optimizers` have.")

    @learning_rate.setter
    def learning_rate(self, learning_rate):
        raise AttributeError(
            f"{self.name}: a MultiOptimizer has no learning rate of its own; set that of its `optimizers`."
        )

    def finalize_variable_values(self, var_list):
        for i, optimizer in enumerate(self.optimizers):
            optimizer.finalize_variable_values(
                [v for v in var_list if self._var_to_optimizer_idx[self._var_key(v)] == i]
            )

    def exclude_from_weight_decay(self, var_list=None, var_names=None):
        for optimizer in self.optimizers:
            optimizer.exclude_from_weight_decay(var_list, var_names)

    def get_config(self):
        return {
            "optimizer_map": serialization.serialize_keras_object(self.optimizer_map),
            "loss_scale_factor": self.loss_scale_factor,
            "name": self.name,
        }

    def _counted(self, params, grads, state, places, fused=None):
        params, at = list(params), len(self._variables)
        new_state = [state[0] + 1, *state[1:at]]
        for i, optimizer in enumerate(self.optimizers):
            count = len(optimizer.variables)
            own, at = state[at : at + count], at + count
            mine = [j for j, place in enumerate(places) if self._var_to_optimizer_idx[place] == i]
            if any(grads[j] is not None for j in mine):
                inner_places = [optimizer._place_of(self._trainable_variables[places[j]]) for j in mine]
                news, own = optimizer._counted([params[j] for j in mine], [grads[j] for j in mine], own, inner_places)
                for j, value in zip(mine, news, strict=True):
                    params[j] = value
            new_state += own
        return params, new_state

    def _takes_rows(self, place):
        owner = self.optimizers[self._var_to_optimizer_idx[place]]
        return owner._takes_rows(owner._place_of(self._trainable_variables[place]))

    def _var_key(self, variable):
        # Places outlive copying and pickling.
        return self._place_of(variable)

    def _fused_kernel(self, params):
        return None

    def _follow_dtypes(self):
        for optimizer in self.optimizers:
            optimizer._follow_dtypes()

    def _bare_variables(self):
        return [*super()._bare_variables(), *(v for o in self.optimizers for v in o._bare_variables())]

    def _collect(self, optimizers):
        for optimizer in optimizers:
            if not any(o is optimizer for o in self._optimizers):
                self._optimizers.append(optimizer)


def _mention_idle(chosen, owners, variables):
    """Warn of patterns that no variable's path matches as a whole: most of these are parts of a path."""
    for pattern, optimizer in chosen.items():
        if variables and not any(optimizer is owner for owner in owners):
            warnings.warn(
                f"OptimizerMap: the pattern {pattern!r} matches none of the {len(variables)} variables, such as "
                f"{variables[0].path!r}. It must match a whole path; {f'.*{pattern}.*'!r} matches paths that it is in.",
                stacklevel=4,
            )


def _plain(optimizer, message):
    """The optimizer, unless it is itself made of others."""
    for cls in (LossScaleOptimizer, MultiOptimizer):
        if isinstance(optimizer, cls):
            raise ValueError(message.format(cls.__name__))
    if not isinstance(optimizer, Optimizer):
        raise ValueError(f"An optimizer is needed, but {optimizer!r} was given.")
    return optimizer
