"""The base of all optimizers."""

import functools
import math
import re
import warnings

from kerata import backends, ops
from kerata.core import names, serialization
from kerata.core.construct import Constructed, ConstructedMeta
from kerata.core.scopes import StatelessScope, in_stateless_scope
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import current_trace
from kerata.ops.in_place import update_in_place
from kerata.optimizers import arguments
from kerata.optimizers.adopted import as_variable
from kerata.optimizers.clipping import clip
from kerata.optimizers.row_gradients import RowChange, RowGradient, add_rows, applied, on_values, row_gradient
from kerata.optimizers.schedules.schedule import LearningRateSchedule
from kerata.state import Variable

# Backends whose own checkpoints walk over objects.
TRACKING_BACKENDS = ("tensorflow",)


class OptimizerMeta(ConstructedMeta):
    """Optimizers of the TensorFlow backend are what `tf.train.Checkpoint` takes."""

    def __call__(cls, *args, **kwargs):
        made = cls
        if backends.current_name() in TRACKING_BACKENDS:
            made = backends.current().module_class(cls)
        return ConstructedMeta.__call__(made, *args, **kwargs)


class Optimizer(Constructed, metaclass=OptimizerMeta):
    """Makes a model's variables smaller in loss, step by step.

    **A subclass gives `slots` and `update`**: the names of the tensors it keeps for each variable, and a
    pure function from gradient, variable and slots to the new variable and slots. Clipping, weight decay,
    averaging, accumulation, loss scaling, schedules, constraints and saving are done here. Subclasses
    written as for Keras (`build` with `add_variable_from_reference`, `update_step` with `self.assign`) work
    too.

    Args:
        learning_rate: a number, a `LearningRateSchedule`, or a callable without arguments.
        weight_decay: share of each variable that is taken away a step, times the learning rate; `None`: none.
        clipnorm: greatest norm of each gradient.
        clipvalue: greatest absolute value of each entry of a gradient.
        global_clipnorm: greatest norm of all gradients together. Only one of the three may be given.
        use_ema: keep an exponential moving average of the variables (Polyak & Juditsky, 1992).
        ema_momentum: weight of the past in that average, in [0, 1].
        ema_overwrite_frequency: every so many steps the average becomes the variable; `None`: only at the
            end of training (`finalize_variable_values`).
        loss_scale_factor: `scale_loss` multiplies by it, and gradients are divided by it.
        gradient_accumulation_steps: number of calls whose gradients' mean makes one step; `None`: each.
        name: name; `None`: the class's in snake case.

    Raises:
        ValueError: for an argument out of range or unknown.

    >>> import kerata
    >>> class SignDescent(kerata.optimizers.Optimizer):
    ...     slots = ("last",)
    ...     def update(self, gradient, variable, slots, learning_rate, step):
    ...         return variable - learning_rate * kerata.ops.sign(gradient), (gradient,)
    >>> v = kerata.Variable([1.0, 2.0])
    >>> SignDescent(0.5).apply([kerata.ops.convert_to_tensor([3.0, -3.0])], [v])
    >>> v.numpy().tolist()
    [0.5, 2.5]
    """

    # Names of the tensors kept for each variable, all alike; or groups of names, when the files that Keras
    # writes have one tensor of all variables before the next tensor: (("velocity",), ("momentum",)).
    slots = ()
    # Names of tensors that all variables share.
    shared = ()
    # What `update` leaves of each slot in rows whose gradient is zero, as factors, if it goes row by row and leaves such rows of
    # the variable as they are. Then gradients that have few rows, as of lookups, change those alone. `None`: it doesn't.
    idle = None
    # `backends.<name>.fused_<fused>` does the whole update in place, where a backend has it.
    fused = None

    def __init__(
        self,
        learning_rate,
        weight_decay=None,
        clipnorm=None,
        clipvalue=None,
        global_clipnorm=None,
        use_ema=False,
        ema_momentum=0.99,
        ema_overwrite_frequency=None,
        loss_scale_factor=None,
        gradient_accumulation_steps=None,
        name=None,
        **kwargs,
    ):
        owner = type(self).__name__
        arguments.reject_unknown(kwargs, owner)
        arguments.check_clipping(clipnorm, clipvalue, global_clipnorm, owner)
        self.name = name or names.auto_name(owner)
        self.weight_decay = arguments.number(weight_decay, "weight_decay", owner, optional=True)
        self.clipnorm = clipnorm
        self.clipvalue = clipvalue
        self.global_clipnorm = global_clipnorm
        self.use_ema = use_ema
        self.ema_momentum, self.ema_overwrite_frequency = arguments.averaging(
            use_ema, ema_momentum, ema_overwrite_frequency, owner
        )
        self.loss_scale_factor = arguments.number(loss_scale_factor, "loss_scale_factor", owner, optional=True)
        self.gradient_accumulation_steps = arguments.accumulation(gradient_accumulation_steps, owner)
        self.built = False
        self._variables = []
        self._trainable_variables = []
        self._undecayed = []
        self._undecayed_names = []
        self._iterations = self.add_variable((), dtype="int32", aggregation="only_first_replica", name="iteration")
        self._learning_rate = self._rate_source(learning_rate)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        # A fused kernel stands for the `update` beside which it is named, and for no other.
        if ("update" in cls.__dict__ or "rate" in cls.__dict__) and "fused" not in cls.__dict__:
            cls.fused = None
        if "update" in cls.__dict__ and "idle" not in cls.__dict__:
            cls.idle = None

    def __setattr__(self, name, value):
        if isinstance(value, Variable):
            self._track(value)
        super().__setattr__(name, value)

    # What a subclass gives ------------------------------------------------------------------

    def update(self, gradient, variable, slots, learning_rate, step):
        """One variable's step: a pure function over tensors.

        Args:
            gradient, variable: tensors of one shape and dtype.
            slots: tuple of the tensors named in `slots`, then those named in `shared`.
            learning_rate: what `rate` returned, in the variable's dtype.
            step: number of this step, counted from 1, a float32 scalar.

        Returns:
            `(new variable, tuple of the new slots)`, without the shared ones.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define `update(gradient, variable, slots, learning_rate, step)`, "
            "or, as for "
            "Keras, `update_step(gradient, variable, learning_rate)`."
        )

    def rate(self, learning_rate, step):
        """What `update` gets as `learning_rate`: a scalar or a tuple of them, worked out once a step.

        Args:
            learning_rate: the learning rate of this step, a float32 scalar.
            step: as in `update`.
        """
        return learning_rate

    def update_shared(self, shared, step):
        """New values of the tensors named in `shared`, before the variables' updates."""
        return shared

    def slots_of(self, variable):
        """Names of the slots that this variable has: all of `slots`, unless a subclass says otherwise."""
        return tuple(name for group in self._slot_groups() for name in group)

    def make_slot(self, variable, name):
        """The slot's `Variable`; zeros like the variable, unless a subclass says otherwise."""
        return self.add_variable_from_reference(variable, name=name)

    def decay_of(self, variable):
        """Weight decay of a variable that isn't excluded; `weight_decay`, unless a subclass differs."""
        return self.weight_decay

    def make_shared(self, name):
        """A shared tensor's `Variable`; a zero, unless a subclass says otherwise."""
        return self.add_variable((), name=name)

    # Building -------------------------------------------------------------------------------

    def build(self, variables):
        """Make the slots for these variables. Called by the first `apply`.

        Args:
            variables: the trainable variables, in the order in which values will be given to
                `stateless_apply`.
        """
        if self.built:
            return
        self._trainable_variables = [as_variable(v) for v in variables]
        self._model_variables_moving_average = []
        self._accumulated_gradients = []
        if self.use_ema:
            self._model_variables_moving_average = self.add_optimizer_variables(self._trainable_variables, "average")
        if self.gradient_accumulation_steps:
            self._accumulated_gradients = self.add_optimizer_variables(
                self._trainable_variables, "gradient_accumulator"
            )
        self._slots = [{} for _ in self._trainable_variables]
        for group in self._slot_groups():
            for variable, made in zip(self._trainable_variables, self._slots, strict=True):
                for name in group:
                    if name in self.slots_of(variable):
                        made[name] = self.make_slot(variable, name)
        for name in self.shared:
            setattr(self, f"_{name}", self.make_shared(name))
        self._changed()
        self.built = True

    def add_variable(self, shape, initializer="zeros", dtype=None, aggregation="none", layout=None, name=None):
        """Make a variable that belongs to the optimizer's state.

        Args:
            shape: shape.
            initializer: an initializer or its name.
            dtype: dtype; `None`: `keras.config.floatx()`.
            aggregation: how replicas combine it.
            layout: distribution layout.
            name: name.
        """
        with names.at_path((self.name,)):
            variable = Variable(
                initializer,
                shape=shape,
                dtype=dtype,
                trainable=False,
                autocast=False,
                aggregation=aggregation,
                layout=layout,
                name=name,
            )
        self._variables.append(variable)
        self._changed()
        return variable

    def add_variable_from_reference(self, reference_variable, name=None, initializer="zeros"):
        """Make a state variable of the shape and dtype of another, named after it."""
        path = getattr(reference_variable, "path", None) or reference_variable.name
        path = re.sub(r"[/:]", "_", path)
        return self.add_variable(
            reference_variable.shape,
            initializer=initializer,
            dtype=getattr(reference_variable, "_dtype", reference_variable.dtype),
            layout=getattr(reference_variable, "_layout", None),
            name=f"{path}_{name}" if name else path,
        )

    def add_optimizer_variables(self, trainable_variables, name, initializer="zeros"):
        """`add_variable_from_reference` for each variable.

        Args:
            trainable_variables: the variables.
            name: a name, or several: then one list for each is returned, variables taking turns in their
                order.
            initializer: an initializer, or one for each name.
        """
        if isinstance(name, str):
            return [self.add_variable_from_reference(v, name, initializer) for v in trainable_variables]
        initializers = initializer if isinstance(initializer, (list, tuple)) else [initializer] * len(name)
        rows = [
            [self.add_variable_from_reference(v, n, i) for n, i in zip(name, initializers, strict=True)]
            for v in trainable_variables
        ]
        return tuple(list(column) for column in zip(*rows, strict=True)) if rows else tuple([] for _ in name)

    # Applying -------------------------------------------------------------------------------

    def apply(self, grads, trainable_variables=None):
        """Change the variables by their gradients, in place.

        Args:
            grads: gradients in the order of the variables; `None` leaves a variable as it is.
            trainable_variables: the variables; `None`: those the optimizer was built with.

        Raises:
            ValueError: when no gradient is given, one has another shape than its variable, or the optimizer
                was built with other variables.
        """
        grads = list(grads)
        if not grads:
            return
        variables = self._variables_to_change(grads, trainable_variables)
        places = [self._place_of(v) for v in variables]
        own = self.variables
        params, state, grads = _detached([v.value for v in variables], [v.value for v in own], grads)
        new_params, new_state = self._transition(params, grads, state, places, self._fused_kernel(params))
        for variable, old, new in zip([*variables, *own], [*params, *state], [*new_params, *new_state], strict=True):
            if isinstance(new, RowChange):
                self.assign_add(variable, new.rows.native())
            elif new is not old:
                self.assign(variable, new)

    def apply_gradients(self, grads_and_vars):
        """`apply` for `[(gradient, variable), …]`. Returns the counter of steps."""
        pairs = list(grads_and_vars)
        self.apply([g for g, _ in pairs], [v for _, v in pairs])
        return self._iterations

    def stateless_apply(self, optimizer_variables, grads, trainable_variables):
        """The same as a pure function over values, for `jax.jit` and the like.

        Args:
            optimizer_variables: values of `self.variables`.
            grads: gradients in the order of the variables.
            trainable_variables: values of the variables that the optimizer was built with.

        Returns:
            `(new trainable variables, new optimizer variables)`, two lists of tensors.

        Raises:
            ValueError: when the optimizer isn't built, or the lists' lengths don't fit.
        """
        if not self.built:
            raise ValueError(
                f"{self.name}: `stateless_apply` needs an optimizer that is built. Call "
                "`optimizer.build(model.trainable_variables)` first."
            )
        for what, given, wanted in (
            ("optimizer_variables", optimizer_variables, self.variables),
            ("trainable_variables", trainable_variables, self._trainable_variables),
        ):
            if len(given) != len(wanted):
                raise ValueError(
                    f"{self.name}: `{what}` must have {len(wanted)} values, one for each variable the "
                    "optimizer "
                    f"has or was built with, but {len(given)} were given."
                )
        values = [_tensor(v) for v in (*trainable_variables, *optimizer_variables)]
        count = len(self._trainable_variables)
        return self.pure_apply(values[:count], grads, values[count:])

    def pure_apply(self, params, grads, state, trainable_variables=None):
        """The step itself: a pure function over tensors of the current backend.

        Args:
            params: values of the variables.
            grads: their gradients, of the same shapes; `None` where there is none.
            state: values of `self.variables`.
            trainable_variables: the `Variable`s that `params` are the values of (only their place,
                constraint and name are looked at); `None`: all that the optimizer was built with.

        Returns:
            `(new params, new state)`, two lists.
        """
        variables = self._trainable_variables if trainable_variables is None else trainable_variables
        params, state, grads = _detached(list(params), list(state), list(grads))
        params, state = self._transition(params, grads, state, [self._place_of(v) for v in variables])
        return applied(params), applied(state)

    def update_step(self, gradient, variable, learning_rate):
        """One variable's step, in place: `update` on variables. Subclasses written for Keras override it."""
        place = self._place_of(variable)
        step = ops.cast(self.iterations, "float32") + 1.0
        slots = list(self._slots[place].values())
        shared = [getattr(self, f"_{name}") for name in self.shared]
        new_shared = self.update_shared(tuple(v.value for v in shared), step)
        rates = _Rates(self.rate(ops.convert_to_tensor(learning_rate, dtype="float32"), step))
        value, new = self.update(
            ops.convert_to_tensor(gradient, dtype=variable.dtype),
            variable.value,
            (*(s.value for s in slots), *new_shared),
            rates.in_dtype_of(variable.value),
            step,
        )
        for target, result in zip([variable, *slots, *shared], [value, *new, *new_shared], strict=True):
            self.assign(target, result)

    def assign(self, variable, value):
        """Set a variable (for `update_step`)."""
        variable.assign(_dense(value))

    def assign_add(self, variable, value):
        """Add to a variable (for `update_step`); of a sparse value, to the rows that it has."""
        if not add_rows(variable, value):
            variable.assign(variable.value + ops.convert_to_tensor(value, dtype=variable.dtype))

    def assign_sub(self, variable, value):
        """Subtract from a variable (for `update_step`); of a sparse value, from the rows that it has."""
        if not add_rows(variable, value, -1):
            variable.assign(variable.value - ops.convert_to_tensor(value, dtype=variable.dtype))

    def scale_loss(self, loss):
        """The loss times `loss_scale_factor`, if there is one: what gradients should be taken of."""
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    def finalize_variable_values(self, var_list):
        """At the end of training: variables take the values of their moving averages (with `use_ema`)."""
        if self.use_ema and self.built:
            for variable in var_list:
                variable.assign(self._model_variables_moving_average[self._place_of(variable)].value)

    # Settings -------------------------------------------------------------------------------

    @property
    def variables(self):
        """The optimizer's state: counter, learning rate, slots. A new list."""
        return list(self._variables)

    @property
    def iterations(self):
        """Number of steps taken."""
        if self.gradient_accumulation_steps:
            return ops.floor_divide(self._iterations, self.gradient_accumulation_steps)
        return self._iterations

    @property
    def learning_rate(self):
        """The learning rate: a `Variable`, or the schedule's value for the next step. Can be set."""
        if isinstance(self._learning_rate, Variable):
            return self._learning_rate
        if isinstance(self._learning_rate, LearningRateSchedule):
            return self._learning_rate(self._iterations)
        return self._learning_rate()

    @learning_rate.setter
    def learning_rate(self, learning_rate):
        previous = self._learning_rate
        if callable(learning_rate) and not isinstance(learning_rate, Variable):
            self._learning_rate = learning_rate
            if isinstance(previous, Variable):
                self._variables = [v for v in self._variables if v is not previous]
                self._changed()
        elif isinstance(previous, Variable):
            previous.assign(learning_rate)
        else:
            raise TypeError(
                f"{self.name}: This optimizer was created with a `LearningRateSchedule` ({previous!r}), so its learning rate "
                "can't be set to a number. Make the optimizer with a number if it should be settable."
            )

    def exclude_from_weight_decay(self, var_list=None, var_names=None):
        """Leave variables out of weight decay.

        Args:
            var_list: variables.
            var_names: regular expressions that are searched for in variables' paths.
        """
        self._undecayed += list(var_list or ())
        self._undecayed_names += list(var_names or ())

    def get_config(self):
        rate = self._learning_rate
        return {
            "name": self.name,
            "learning_rate": float(rate.numpy())
            if isinstance(rate, Variable)
            else serialization.serialize_keras_object(rate),
            **{name: getattr(self, name) for name in arguments.BASE},
        }

    def common_config(self):
        return Optimizer.get_config(self)

    # Saving ---------------------------------------------------------------------------------

    def save_own_variables(self, store):
        """Put the state into a dict-like store under "0", "1", …"""
        for number, variable in enumerate(self.variables):
            store[str(number)] = variable.numpy()

    def load_own_variables(self, store):
        """Take the state from such a store. Nothing is changed unless all of it fits.

        A store that was written before the optimizer had slots leaves those as they are.

        Raises:
            ValueError: when number or shapes of the values don't fit.
        """
        values = [store[str(number)] for number in range(len(store.keys()))]
        self._load(values, "the file")

    def set_weights(self, weights):
        """Set the state to these values, in the order of `variables`.

        Raises:
            ValueError: when the optimizer isn't built, or number or shapes don't fit.
        """
        if not self.built:
            raise ValueError(
                f"{self.name}: You are calling `set_weights` on an optimizer without slots. Call "
                "`optimizer.build(model.trainable_variables)` first."
            )
        self._load([w.numpy() if isinstance(w, Variable) else w for w in weights], "the list of weights")

    def _load(self, values, source):
        variables, bare = self.variables, self._bare_variables()
        if len(values) == len(bare) and source == "the file":
            variables = bare
        if len(values) != len(variables):
            raise ValueError(
                f"{self.name}: {source} has {len(values)} values, but this optimizer's state has "
                f"{len(variables)} "
                f"({', '.join(v.path for v in variables[:6])}{', …' if len(variables) > 6 else ''}). It "
                "belongs to "
                "another optimizer, or to one of another model."
            )
        for variable, value in zip(variables, values, strict=True):
            if tuple(ops.shape(value)) != tuple(variable.shape):
                raise ValueError(
                    f"{self.name}: {source} has a value of shape {tuple(ops.shape(value))} for "
                    f"{variable.path}, whose "
                    f"shape is {tuple(variable.shape)}. It belongs to an optimizer of another model."
                )
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value[()] if hasattr(value, "id") else value)

    def _bare_variables(self):
        """The state that it has before it is built."""
        rate = self._learning_rate
        return [self._iterations, rate] if isinstance(rate, Variable) else [self._iterations]

    def __getstate__(self):
        return {name: v for name, v in self.__dict__.items() if name not in ("_places", "_layout")}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._changed()

    def __reduce_ex__(self, protocol):
        return _made_bare, (plain_class(type(self)),), self.__getstate__()

    # The step, part by part -----------------------------------------------------------------

    def _transition(self, params, grads, state, places, fused=None):
        """Gradients unscaled, accumulated if need be, and applied.

        Args:
            params, grads, state: lists of tensors.
            places: the params' places among all.
            fused: kernel that changes params and slots in place (`_fused_kernel`); `None`: nothing is
                changed.
        """
        grads = self._checked(params, grads, places)
        if self.loss_scale_factor is not None:
            grads = [
                g if g is None or self._overwritten(p) else g / self.loss_scale_factor
                for g, p in zip(grads, places, strict=True)
            ]
        return self._counted(params, grads, state, places, fused)

    def _counted(self, params, grads, state, places, fused=None):
        count = state[0]
        if self.gradient_accumulation_steps:
            params, state = self._accumulated(params, grads, state, places, fused)
        else:
            params, state = self._stepped(params, grads, state, places, count, fused)
        state[0] = count + 1
        return params, state

    def _accumulated(self, params, grads, state, places, fused):
        """A step when enough gradients are together, else one more gradient in the accumulators."""
        # Moving averages (`use_ema`) are brought up to date by steps only, so that accumulating over parts of a batch is the
        # same as the whole batch. Keras 3.15 averages at every call, which takes `ema_momentum` to the power of the parts.
        every, count = self.gradient_accumulation_steps, state[0]
        rows = [self._position.accumulators + p for p in places]
        sums = [
            None if g is None else ops.maximum(state[r], g) if self._overwritten(p) else state[r] + g
            for g, r, p in zip(grads, rows, places, strict=True)
        ]

        def step():
            means = [s if s is None or self._overwritten(p) else s / every for s, p in zip(sums, places, strict=True)]
            new_params, new_state = self._stepped(params, means, state, places, count // every, fused)
            return new_params, _replaced(new_state, rows, [ops.zeros_like(state[r]) for r in rows])

        def wait():
            kept = [state[r] if s is None else s for s, r in zip(sums, rows, strict=True)]
            return list(params), _replaced(state, rows, kept)

        params, state = ops.cond(ops.equal((count + 1) % every, 0), step, wait)
        return list(params), list(state)

    def _stepped(self, params, grads, state, places, count, fused):
        """One step: clip, decay, update, average, constrain. `count`: number of steps before."""
        params, state = list(params), list(state)
        for i in range(len(params)):
            if grads[i] is not None and self._overwritten(places[i]):
                params[i] = grads[i]
        moving = [i for i, g in enumerate(grads) if g is not None and not self._overwritten(places[i])]
        if moving:
            rate = self._current_rate(state)
            where = [places[i] for i in moving]
            clipped = self._clip_gradients([grads[i] for i in moving])
            variables = [self._trainable_variables[place] for place in where]
            values = self._decayed([params[i] for i in moving], variables, rate, in_place=fused is not None)
            values, state = self._updated(values, clipped, state, where, rate, count, fused)
            for i, value in zip(moving, values, strict=True):
                params[i] = value
        if self.use_ema:
            params, state = self._averaged(params, state, places, count)
        return self._constrained(params, places), state

    def _current_rate(self, state):
        """This step's learning rate, a float32 scalar. Schedules count all calls of `apply`, as in Keras."""
        if isinstance(self._learning_rate, Variable):
            return state[self._position.learning_rate]
        if isinstance(self._learning_rate, LearningRateSchedule):
            return ops.convert_to_tensor(self._learning_rate(state[0]), dtype="float32")
        return ops.convert_to_tensor(self._learning_rate(), dtype="float32")

    def _clip_gradients(self, grads):
        return on_values(lambda values: clip(values, self.clipnorm, self.clipvalue, self.global_clipnorm), grads)

    def _apply_weight_decay(self, variables):
        """Weight decay alone, in place: for subclasses with an `apply` of their own."""
        rate = ops.convert_to_tensor(self.learning_rate, dtype="float32")
        decayed = self._decayed([v.value for v in variables], variables, rate, in_place=False)
        for variable, value in zip(variables, decayed, strict=True):
            self.assign(variable, value)

    def _decayed(self, params, variables, rate, in_place):
        """Params with their weight decay times the learning rate of them taken away."""
        if not self.weight_decay and type(self).decay_of is Optimizer.decay_of:
            return params
        decays = [self._decay_of(v) for v in variables]
        shares = {decay: _Rates(rate * decay) for decay in set(decays) if decay}
        shrink = getattr(backends.current(), "shrink", None) if in_place else None
        if shrink is not None and not isinstance(params[0], KerasTensor):
            for decay, share in shares.items():
                shrink([p for p, d in zip(params, decays, strict=True) if d == decay], share.value)
            return params
        return [p - p * shares[d].in_dtype_of(p) if d else p for p, d in zip(params, decays, strict=True)]

    def _updated(self, params, grads, state, places, rate, count, fused):
        """Params and state after the subclass's update."""
        if self._steps_by_hand():
            return self._updated_by_hand(params, grads, state, places, rate)
        step = ops.cast(count, "float32") + 1.0
        rows = self._position.shared
        shared = self.update_shared(tuple(state[r] for r in rows), step)
        state = _replaced(state, rows, shared)
        rates = _Rates(self.rate(rate, step))
        rows_of = [self._position.slots[p] for p in places]
        if fused is not None and not any(isinstance(g, RowGradient) for g in grads):
            params, slots = fused(params, grads, [[state[r] for r in rows] for rows in rows_of], rates.value)
            return params, _replaced(state, _chained(rows_of), _chained(slots))
        new_params = []
        for param, gradient, rows in zip(params, grads, rows_of, strict=True):
            slots = (*(state[r] for r in rows), *shared)
            update = self._update_rows if isinstance(gradient, RowGradient) else self.update
            value, new_slots = update(gradient, param, slots, rates.in_dtype_of(param), step)
            new_params.append(value)
            for row, slot in zip(rows, new_slots, strict=True):
                state[row] = slot
        return new_params, state

    def _update_rows(self, gradient, variable, slots, learning_rate, step):
        """`update` of the rows that the gradient has; of the others what `idle` says."""
        slots, shared = slots[: len(self.idle)], slots[len(self.idle) :]
        before, *slots_before = (ops.take(t, gradient.indices, axis=0) for t in (variable, *slots))
        after, slots_after = self.update(gradient.values, before, (*slots_before, *shared), learning_rate, step)
        new_slots = []
        for slot, old, new, left in zip(slots, slots_before, slots_after, self.idle, strict=True):
            if left == 1:
                new_slots.append(gradient.change(slot, new - old))
            else:
                new_slots.append(gradient.change(slot * left, new - old * left).applied())
        return gradient.change(variable, after - before), tuple(new_slots)

    def _fused_kernel(self, params):
        """The whole update in place as `(params, grads, slots, rate) -> (params, slots)`, or `None`."""
        backend = backends.current()
        kernel = getattr(backend, f"fused_{self.fused}", None) if self.fused else None
        if kernel is None or self._steps_by_hand():
            return None
        if isinstance(params[0], KerasTensor):
            # A step being traced, to be run as a plan. (Branches keep to pure functions.)
            pure = self.gradient_accumulation_steps or not getattr(current_trace.get(), "in_place", False)
            return None if pure else functools.partial(update_in_place, self, self.fused)
        if in_stateless_scope() or backend.compiling():
            return None

        def changed(params, grads, slots, rate):
            kernel(self, params, grads, slots, rate)
            return params, slots

        return changed

    def _updated_by_hand(self, params, grads, state, places, rate):
        """The same through a user's `update_step`, whose assignments a scope catches."""
        variables, own = [self._trainable_variables[p] for p in places], self.variables
        with StatelessScope([*zip(variables, params, strict=True), *zip(own, state, strict=True)]) as scope:
            for gradient, variable in zip(grads, variables, strict=True):
                gradient = gradient.native() if isinstance(gradient, RowGradient) else gradient
                self.update_step(gradient, variable, ops.cast(rate, variable.dtype))
        return [scope.get_current_value(v) for v in variables], [scope.get_current_value(v) for v in own]

    def _averaged(self, params, state, places, count):
        """Moving averages brought up to date; every so many steps they become the params."""
        rows = [self._position.averages + p for p in places]
        # The first step makes the average; there is nothing before it to keep.
        news = _Rates(ops.where(ops.equal(count, 0), 1.0, 1.0 - self.ema_momentum))
        averages = [
            state[r] + (param - state[r]) * news.in_dtype_of(param) for r, param in zip(rows, params, strict=True)
        ]
        if self.ema_overwrite_frequency:
            now = ops.equal((count + 1) % self.ema_overwrite_frequency, 0)
            params = [ops.where(now, a, p) for a, p in zip(averages, params, strict=True)]
        return params, _replaced(state, rows, averages)

    def _constrained(self, params, places):
        constraints = [getattr(self._trainable_variables[p], "constraint", None) for p in places]
        return [p if c is None else c(p) for p, c in zip(params, constraints, strict=True)]

    # Checks and places ----------------------------------------------------------------------

    def _variables_to_change(self, grads, trainable_variables):
        if trainable_variables is None:
            if not self.built:
                raise ValueError(
                    f"{self.name}: `apply(grads)` without variables needs an optimizer that is built. Call "
                    "`optimizer.build(trainable_variables)`, or give the variables."
                )
            trainable_variables = self._trainable_variables
        variables = list(trainable_variables)
        if len(grads) != len(variables):
            raise ValueError(
                f"{self.name}: there must be as many gradients as variables, but {len(grads)} gradients and "
                f"{len(variables)} variables were given."
            )
        self.build(variables)
        return [self._trainable_variables[self._place_of(v)] for v in variables]

    def _checked(self, params, grads, places):
        """Gradients as dense tensors or `RowGradient`s, in their variables' dtypes, of their shapes. `None` stays, with a warning."""
        if all(g is None for g in grads):
            raise ValueError(f"{self.name}: No gradients provided for any variable.")
        missing = [self._trainable_variables[p].path for g, p in zip(grads, places, strict=True) if g is None]
        if missing:
            warnings.warn(
                f"Gradients do not exist for variables {missing}: the loss doesn't depend on them, and they "
                "stay as "
                "they are. (With `model.compile()`: is a `loss` given?)",
                stacklevel=4,
            )
        checked = []
        for gradient, param, place in zip(grads, params, places, strict=True):
            if gradient is not None:
                rows = row_gradient(gradient, param.shape) if self._takes_rows(place) else None
                gradient = _dense(gradient) if rows is None else rows
                if gradient.dtype != param.dtype:
                    cast = ops.cast if rows is None else RowGradient.cast
                    gradient = cast(gradient, ops.dtype(param))
                if gradient.shape != param.shape:
                    raise ValueError(
                        f"{self.name}: the gradient for {self._trainable_variables[place].path} has shape "
                        f"{tuple(gradient.shape)}, but the variable's is {tuple(param.shape)}."
                    )
            checked.append(gradient)
        return checked

    def _takes_rows(self, place):
        """Whether a gradient of few rows leaves the variable's others alone, or is for an `update_step` to deal with."""
        variable = self._trainable_variables[place]
        if self.gradient_accumulation_steps or self._overwritten(place):
            return False
        if self._steps_by_hand():
            return True
        if self.idle is None or self.use_ema or getattr(variable, "constraint", None) is not None:
            return False
        return not self._decay_of(variable)

    def _steps_by_hand(self):
        """Whether a subclass has an `update_step` of its own."""
        return type(self).update_step not in (Optimizer.update_step, update_step_by_grad)

    def _overwritten(self, place):
        return getattr(self._trainable_variables[place], "overwrite_with_gradient", False)

    def _decay_of(self, variable):
        return self.decay_of(variable) if self._use_weight_decay(variable) else None

    def _use_weight_decay(self, variable):
        if any(v is variable for v in self._undecayed):
            return False
        return not any(re.search(name, variable.path) for name in self._undecayed_names)

    def _follow_dtypes(self):
        """The framework has converted variables (`nn.Module.double`): their slots are converted too."""
        kept = [list(slots.values()) for slots in self._slots]
        for more in (self._model_variables_moving_average, self._accumulated_gradients):
            for slots, slot in zip(kept, more, strict=False):
                slots.append(slot)
        for variable, slots in zip(self._trainable_variables, kept, strict=True):
            for slot in slots:
                slot.recast(variable.dtype)

    def _place_of(self, variable):
        """The variable's place among those the optimizer was built with."""
        if self._places is None:
            self._places = {id(v): i for i, v in enumerate(self._trainable_variables)}
            self._places |= {id(v.adopted): i for i, v in enumerate(self._trainable_variables) if hasattr(v, "adopted")}
        place = self._places.get(id(variable))
        if place is None:
            raise ValueError(
                f"{self.name}: Unknown variable {getattr(variable, 'path', variable)!r}. An optimizer "
                "changes only the "
                f"{len(self._trainable_variables)} variables that it was built with; for others make a new "
                "one."
            )
        return place

    _get_variable_index = _place_of

    @property
    def _position(self):
        """Where in the state each part is."""
        if self._layout is None:
            self._layout = _Layout(self)
        return self._layout

    def _slot_groups(self):
        groups = self.slots
        return (groups,) if groups and isinstance(groups[0], str) else groups

    def _rate_source(self, learning_rate):
        """The learning rate as it is kept: a schedule, a callable, or a new `Variable`."""
        if isinstance(learning_rate, LearningRateSchedule):
            return learning_rate
        if callable(learning_rate) and not hasattr(learning_rate, "shape"):
            return learning_rate
        value = arguments.learning_rate(learning_rate, type(self).__name__)
        with names.at_path((self.name,)):
            return Variable(
                value,
                dtype="float32",
                trainable=False,
                autocast=False,
                aggregation="only_first_replica",
                name="learning_rate",
            )

    def _track(self, variable):
        if not any(v is variable for v in self._variables):
            self._variables.append(variable)
            self._changed()

    def _changed(self):
        self._places = None
        self._layout = None


def _tensor(value):
    """A value as the current backend's tensor."""
    if isinstance(value, Variable):
        return value.value
    return value if ops.is_tensor(value) else ops.convert_to_tensor(value)


def _dense(gradient):
    """A gradient as a dense tensor: embeddings give slices (TensorFlow) or sparse ones (JAX, PyTorch)."""
    if hasattr(gradient, "todense"):
        return gradient.todense()
    if getattr(gradient, "is_sparse", False):
        return gradient.to_dense()
    dense = ops.is_tensor(gradient) and not hasattr(gradient, "dense_shape")
    return gradient if dense else backends.current().convert(gradient)


def _detached(*lists):
    """The same tensors outside the graph of gradients, where the framework has one that goes on by itself."""
    detach = getattr(backends.current(), "detach", None)
    return lists if detach is None else tuple(detach(tensors) for tensors in lists)


class _Layout:
    """Where in the list of state values each part is."""

    def __init__(self, optimizer):
        row = {id(v): i for i, v in enumerate(optimizer._variables)}

        def first(variables):
            return row[id(variables[0])] if variables else None

        rate = optimizer._learning_rate
        self.learning_rate = row[id(rate)] if isinstance(rate, Variable) else None
        self.averages = first(optimizer._model_variables_moving_average)
        self.accumulators = first(optimizer._accumulated_gradients)
        self.slots = [[row[id(v)] for v in slots.values()] for slots in optimizer._slots]
        self.shared = [row[id(getattr(optimizer, f"_{name}"))] for name in optimizer.shared]


class _Rates:
    """A scalar or tuple of scalars, cast once for each dtype that asks."""

    def __init__(self, value):
        self.value = value
        self._cast = {}

    def in_dtype_of(self, tensor):
        dtype = tensor.dtype
        found = self._cast.get(dtype)
        if found is None:
            if isinstance(self.value, tuple):
                found = tuple(ops.cast(v, dtype) for v in self.value)
            else:
                found = ops.cast(self.value, dtype)
            self._cast[dtype] = found
        return found


def approached(decay, step):
    """`1 - decay**step`, what a moving average that began at zero has seen; exact too where it is small."""
    if not decay:
        return ops.ones_like(step)
    return -ops.expm1(step * math.log(decay))


def plain_class(cls):
    """The class itself, of one that a backend derived for its own ends."""
    while cls.__dict__.get("_is_module_class"):
        cls = cls.__bases__[0]
    return cls


def _made_bare(cls):
    if backends.current_name() in TRACKING_BACKENDS:
        cls = backends.current().module_class(cls)
    return cls.__new__(cls)


def _chained(table):
    return [item for row in table for item in row]


def _replaced(values, rows, new):
    values = list(values)
    for row, value in zip(rows, new, strict=True):
        values[row] = value
    return values


def build_by_var_list(self, var_list):
    """`Optimizer.build`, its argument named as in most of Keras's optimizers."""
    Optimizer.build(self, var_list)


def update_step_by_grad(self, grad, variable, learning_rate):
    """`Optimizer.update_step`, its argument named as in some of Keras's optimizers."""
    Optimizer.update_step(self, grad, variable, learning_rate)
