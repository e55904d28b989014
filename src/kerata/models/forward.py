"""`Forward`: a model's call compiled once for each shape, for eager calls of the model and for `predict`."""

import numpy as np

from kerata import backends
from kerata.core import tree
from kerata.core.changes import changes
from kerata.core.masks import get_mask
from kerata.core.scopes import StatelessScope, current_stateless
from kerata.graph.plan import Plan
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import NeedsShape, current_trace, trace
from kerata.layers.call import current_call
from kerata.ops.planned import where_to_plan

# Compiling pays when a shape comes again; a plan pays at once.
_PATIENCE = {"planned": 1, "functional": 2, "stateful": 2}
# Shapes for which a compiled call is kept.
_MOST_KEPT = 64


class _Declined:
    def __repr__(self):
        return "DECLINED"


class Forward:
    """Compiled calls of a model, by input shape and phase.

    `forward(x, kwargs)` returns the outputs, or `DECLINED` when the call must go the ordinary way: inside another call, trace or
    scope, for layers that aren't the library's own, or for the first calls of a shape.
    """

    DECLINED = _Declined()

    def __new__(cls, model):
        if getattr(model._backend, "STEP", None) == "compiled_graph":
            from kerata.models.graph_forward import GraphForward

            return GraphForward(model)
        return super().__new__(cls)

    def __init__(self, model):
        self.model = model
        self.backend = model._backend
        self.style = getattr(self.backend, "STEP", "eager")
        self.calls = {}
        self.changes = changes.count

    def __call__(self, x, kwargs):
        b = self.backend
        if current_call.get() is not None or current_stateless.get() is not None or current_trace.get() is not None:
            return self.DECLINED
        if kwargs and (len(kwargs) != 1 or "training" not in kwargs):
            return self.DECLINED
        training = kwargs.get("training")
        if type(x) is np.ndarray and x.dtype == np.float32:
            # A jitted function takes NumPy arrays faster than we could convert them.
            x = x if self.style == "functional" else b.convert(x)
        elif not b.is_concrete(x):
            return self.DECLINED
        if self.changes != changes.count:
            self.forget()
        if changes.swapped:
            return self.DECLINED
        key = (training, x.shape, x.dtype)
        call = self.calls.get(key)
        if type(call) is not int and call is not None:
            return call(x) if call is not self.DECLINED else call
        return self.first(key, call or 0, x, training)

    def forget(self):
        """Some layer was changed: nothing that was compiled holds any more."""
        self.calls.clear()
        self.changes = changes.count

    def first(self, key, count, x, training):
        """A shape that has no compiled call yet."""
        if len(self.calls) >= _MOST_KEPT:
            self.calls.clear()
        if get_mask(x) is not None or self.style not in _PATIENCE or not self.model._traceable():
            self.calls[key] = self.DECLINED
            return self.DECLINED
        if count + 1 < _PATIENCE[self.style]:
            self.calls[key] = count + 1
            return self.DECLINED
        if self.style == "planned" and where_to_plan(self.backend, (x,)) is None:
            return self.DECLINED
        call = self.calls[key] = self.make(x, training)
        return call(x) if call is not self.DECLINED else call

    def make(self, x, training):
        """The compiled call for inputs like `x`, or `DECLINED` if there can't be one."""
        if any(v._backend is not self.backend for v in self.model.variables):
            # A layer from another backend: its values are converted at each eager call.
            return self.DECLINED
        if self.style == "planned":
            return self.planned(x, training)
        if self.style == "functional":
            return self.functional(training)
        return self.stateful(training)

    def planned(self, x, training):
        b, model = self.backend, self.model
        symbol = KerasTensor(tuple(x.shape), b.dtype_of(x))
        kwargs = {} if training is None else {"training": training}
        place = where_to_plan(b, (x,))
        if place is None:
            return self.DECLINED
        with place:
            try:
                graph = trace(lambda s: model(s, **kwargs), symbol, expand=lambda op: not hasattr(b, op.native))
            except NeedsShape:
                return self.DECLINED
            if any(get_mask(t) is not None for t in tree.flatten(graph.outputs) if isinstance(t, KerasTensor)):
                return self.DECLINED
            plan = Plan(graph, b)
        if plan.updated or graph.losses or not isinstance(graph.outputs, KerasTensor):
            return lambda x: self._noting_losses(plan, x)
        storages, function = plan.variables, plan.function
        # In place for as long as a variable lives, so looked up once; a lent one is asked for at each call.
        if all(v._backend is b for v in storages) and getattr(b, "IN_PLACE", False):
            return _direct(function, storages)
        return lambda x: function(x, *[v.value for v in storages])[0]

    def _noting_losses(self, plan, x):
        results = plan.function(x, *[v.value for v in plan.variables])
        n, updated = plan.count, plan.updated
        for variable, value in zip(updated, results[n : n + len(updated)], strict=True):
            variable.assign(value)
        for layer in self.model._flatten_layers():
            layer._losses.clear()
        self.model._losses.extend(results[n + len(updated) :])
        return (
            results[0]
            if isinstance(plan.structure, KerasTensor)
            else tree.pack_sequence_as(plan.structure, results[:n])
        )

    def functional(self, training):
        model, b = self.model, self.backend
        variables = model.variables
        kwargs = {} if training is None else {"training": training}
        box = {}

        def pure(values, x):
            with StatelessScope(list(zip(variables, values, strict=True)), collect_losses=True) as scope:
                outputs = model(x, **kwargs)
            given = dict(zip(map(id, variables), values, strict=True))
            updates = [(v, value) for v, value in scope.updated() if given.get(id(v)) is not value]
            box["updated"], box["losses"] = [v for v, _ in updates], len(scope.losses)
            box["masked"] = any(get_mask(t) is not None for t in tree.flatten(outputs) if t is not None)
            return outputs, [value for _, value in updates], scope.losses

        compiled = b.compile(pure)

        def call(x):
            outputs, updates, losses = compiled([v._storage if v._lender is None else v.value for v in variables], x)
            for variable, value in zip(box["updated"], updates, strict=True):
                variable.assign(value)
            if losses or model._losses:
                model._losses[:] = losses
            return outputs

        return call

    def stateful(self, training):
        model, b = self.model, self.backend
        kwargs = {} if training is None else {"training": training}
        return b.compile(lambda x: Forward._through(model, x, kwargs), **b.forward_options(model))

    @staticmethod
    def _through(model, x, kwargs):
        return type(model)._call(model, (x,), kwargs)

    # ------------------------------------------------------------- predict

    def predict(self, x, batch_size):
        """Outputs as NumPy arrays for one batch of NumPy inputs, or `DECLINED`."""
        if len(x) > batch_size or not len(x) or self.style not in _PATIENCE or x.dtype == np.float64:
            return self.DECLINED
        model, b = self.model, self.backend
        if (
            type(model).predict_step is not _default_predict_step()
            or model.run_eagerly
            or current_call.get() is not None
        ):
            return self.DECLINED
        if self.changes != changes.count:
            self.forget()
        key = ("predict", x.shape, x.dtype)
        call = self.calls.get(key)
        if call is None:
            if not model._traceable():
                return self.DECLINED
            selected = backends.selected.set(b)
            try:
                call = self.calls[key] = self.make(b.convert(x), False)
            finally:
                backends.selected.reset(selected)
        if call is self.DECLINED:
            return call
        if (backends.selected.get() or backends.process.backend) is b:
            return self._to_numpy(call, x)
        with backends.use_backend(b):
            return self._to_numpy(call, x)

    def _to_numpy(self, call, x):
        b = self.backend
        with b.inference():
            outputs = call(x if self.style == "functional" else b.convert(x))
            return b.to_numpy(outputs) if b.is_tensor(outputs) else tree.map_structure(b.to_numpy, outputs)


def _direct(function, variables):
    """The quickest call of a plan: parameters that stay the same objects are bound once."""
    storages = [v.storage for v in variables]

    def call(x):
        for v in variables:
            if v._lender is not None:
                v._lender.write_back()
                break
        return function(x, *storages)[0]

    return call


def _default_predict_step():
    from kerata.training.trainer import Trainer

    return Trainer.predict_step
