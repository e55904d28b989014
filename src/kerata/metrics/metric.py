"""The base of all metrics."""

from kerata import ops
from kerata.core import dtypes, names
from kerata.core.construct import Constructed
from kerata.core.scopes import StatelessScope
from kerata.state import Variable


class Metric(Constructed):
    """A figure kept over batches. A subclass gives `update_state` and `result`.

    State is kept in variables made with `add_variable`; variables and metrics that are
    attributes (also in lists and dicts) count as parts. `update_state` and `result` should be written in
    `keras.ops`, so that they compile.

    Args:
        dtype: dtype of the state and the result (a dtype policy: its compute dtype); `None`:
            `keras.config.floatx()`.
        name: name; `None`: the class's in snake case.

    >>> import kerata
    >>> class Largest(kerata.Metric):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         self.largest = self.add_variable((), "zeros", name="largest")
    ...     def update_state(self, values):
    ...         self.largest.assign(kerata.ops.maximum(self.largest, kerata.ops.max(values)))
    ...     def result(self):
    ...         return self.largest.value
    >>> float(Largest()([1.0, 3.0]))
    3.0
    """

    # Layers keep what they hold by kind.
    _tracked_as = "metric"

    def __init__(self, dtype=None, name=None):
        self._variables = []
        self._metrics = []
        self.name = name or names.auto_name(type(self).__name__)
        self._dtype = dtypes.standardize_dtype(getattr(dtype, "compute_dtype", dtype))

    def __setattr__(self, name, value):
        if name not in ("_variables", "_metrics"):
            for held in _held(value):
                if isinstance(held, Variable):
                    self._track_variable(held)
                else:
                    self._track_metric(held)
        super().__setattr__(name, value)

    @property
    def dtype(self):
        return self._dtype

    @property
    def variables(self):
        """Variables of the metric and its parts. A new list."""
        found = list(self._own("_variables"))
        for metric in self._metrics:
            found += metric.variables
        return found

    def add_variable(self, shape, initializer, dtype=None, aggregation="sum", name=None):
        """Make a variable that belongs to the metric's state.

        Args:
            shape: shape.
            initializer: an initializer or its name.
            dtype: dtype; `None`: the metric's.
            aggregation: how replicas combine it.
            name: name.
        """
        self._own("_variables")
        with names.at_path((self.name,)):
            variable = Variable(
                initializer,
                shape=shape,
                dtype=dtype or self._dtype,
                trainable=False,
                autocast=False,
                aggregation=aggregation,
                name=name,
            )
        self._track_variable(variable)
        return variable

    def add_weight(self, shape=(), initializer=None, dtype=None, name=None):
        """`add_variable`, by default a scalar that begins at zero."""
        return self.add_variable(shape, "zeros" if initializer is None else initializer, dtype, name=name)

    def update_state(self, *args, **kwargs):
        """Take a batch into account."""
        raise NotImplementedError(f"{type(self).__name__} must define `update_state`.")

    def result(self):
        """The figure over all batches since the last reset, a scalar tensor or a dict of them."""
        raise NotImplementedError(f"{type(self).__name__} must define `result`.")

    def reset_state(self):
        """Begin anew: all variables become zero."""
        for variable in self.variables:
            variable.assign(ops.zeros(variable.shape, dtype=variable.dtype))

    def __call__(self, *args, **kwargs):
        """`update_state` and then `result`."""
        self.update_state(*args, **kwargs)
        return self.result()

    def stateless_update_state(self, metric_variables, *args, **kwargs):
        """`update_state` as a pure function.

        Args:
            metric_variables: values of `self.variables`.
            *args, **kwargs: what `update_state` takes.

        Returns:
            The new values, a list.

        Raises:
            ValueError: when the number of values doesn't fit.
        """
        scope = self._scope(metric_variables, "stateless_update_state")
        with scope:
            self.update_state(*args, **kwargs)
        return [scope.get_current_value(v) for v in self.variables]

    def stateless_result(self, metric_variables):
        """`result` as a pure function of the values of `self.variables`."""
        with self._scope(metric_variables, "stateless_result"):
            return self.result()

    def stateless_reset_state(self):
        """Values of `self.variables` after a reset, a list."""
        scope = StatelessScope()
        with scope:
            self.reset_state()
            return [v.value for v in self.variables]

    def get_config(self):
        return {"name": self.name, "dtype": self._dtype}

    common_config = get_config

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}>"

    def _scope(self, values, method):
        variables = self.variables
        if len(values) != len(variables):
            raise ValueError(
                f"{self.name}: `{method}` needs the values of the metric's {len(variables)} variables "
                f"({', '.join(v.path for v in variables)}), but {len(values)} values were given."
            )
        values = [v.value if isinstance(v, Variable) else v for v in values]
        return StatelessScope(list(zip(variables, values, strict=True)))

    def _own(self, name):
        try:
            return self.__dict__[name]
        except KeyError:
            raise RuntimeError(
                f"{type(self).__name__}.__init__ must call `super().__init__()` before it makes variables."
            ) from None

    def _track_variable(self, variable):
        tracked = self._own("_variables")
        if not any(v is variable for v in tracked):
            tracked.append(variable)

    def _track_metric(self, metric):
        tracked = self._own("_metrics")
        if not any(m is metric for m in tracked):
            tracked.append(metric)


def _held(value):
    """The variables and metrics in an attribute's value, however nested."""
    if isinstance(value, (Variable, Metric)):
        yield value
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from _held(v)
    elif isinstance(value, dict):
        yield from _held(list(value.values()))
