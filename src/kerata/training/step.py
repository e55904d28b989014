"""The step: one batch (or several) through `train_step`, `test_step` or `predict_step`, compiled as the backend does it.

A step is imperative code over variables. Where the framework compiles pure functions, the variables' values go in and come out
(`FunctionalStep`); where it compiles code with state, they're assigned in place (`StatefulStep`); where it runs eagerly, the code is
traced once and runs as a straight line of native calls (`PlannedStep`). A step borrows the variables' values for a whole
run and gives them back when someone looks, or at its end.
"""

from kerata import backends
from kerata.core import tree
from kerata.core.changes import changes
from kerata.core.scopes import StatelessScope
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import Trace, trace
from kerata.ops.sparse_rules import kind_of, met
from kerata.training.data.parts import unpack_x_y_sample_weight as _parts

# A step on TensorFlow is compiled for so many shapes of batches; what comes after shares one graph.
MOST_SHAPES = 4


def make_step(model, kind, data):
    """The step of a kind for a model, chosen by backend and settings; `data` is a first batch.

    Args:
        model: the model.
        kind: `"train"`, `"test"` or `"predict"`.
        data: batch, to build from.
    """
    b = backends.current()
    build(model, kind, data)
    _check_home(model, kind, b)
    own = {"train": model._own_train_step, "test": model._own_test_step}.get(kind)
    function, logs = _function(model, kind, own)
    if own == "state":
        return StateStyleStep(model, kind, b)
    if model.run_eagerly:
        return EagerStep(model, kind, function, logs, b)
    style = getattr(b, "STEP", "eager")
    if style == "compiled_graph" and kind == "predict":
        from kerata.training.graph_step import predicting_step

        return predicting_step(model, kind, function, logs, b)
    if style == "functional":
        return FunctionalStep(model, kind, function, logs, b)
    if style == "stateful":
        return StatefulStep(model, kind, function, logs, b)
    if style == "planned" and own is None:
        return PlannedStep(model, kind, function, logs, b)
    return EagerStep(model, kind, function, logs, b)


def _function(model, kind, own):
    """`(function of a batch, whether its result are the logs)`. The library's steps leave the logs to whoever reads the metrics."""
    if kind == "predict":
        return model.predict_step, True
    if own == "data":
        return (model.train_step if kind == "train" else model.test_step), True
    return (model._train if kind == "train" else model._test), model._own_metrics


def build(model, kind, data):
    """Make every variable there will be, by running the step on shapes alone."""
    symbols = tree.map_structure(_symbol, data)
    own = model._own_train_step if kind == "train" else model._own_test_step
    if model._unbuilt():
        with Trace(record=False, dynamic=True):
            model(_parts(symbols)[0])
    if kind == "train" and model.optimizer is not None and not model.optimizer.built:
        model.optimizer.build(model.trainable_variables)
    if kind != "predict" and own is None and model._metrics_unbuilt():
        with Trace(record=False, dynamic=True):
            x, y, sample_weight = _parts(symbols)
            y_pred = model._forward_pass(x, training=False)
            model._loss_of(x, y, y_pred, sample_weight, training=False)
            model._update_metrics(y, y_pred, sample_weight)


def _check_home(model, kind, backend):
    """A step runs over its own backend's values: a layer or optimizer made under another one isn't moved silently."""
    for variable in state_of(model, kind):
        if variable._backend is not backend:
            raise ValueError(
                f"{model._where()} is on the backend {backend.NAME!r}, but its variable {variable.path!r} was made on "
                f"{variable._backend.NAME!r}. Make all parts of a model on one backend, or move a whole model by `to_backend`."
            )


def _symbol(value):
    if value is None or not hasattr(value, "shape"):
        return value
    from kerata.core.dtypes import standardize_dtype

    return KerasTensor(tuple(value.shape), standardize_dtype(value.dtype))


def state_of(model, kind):
    """The variables that a step of this kind may read or assign."""
    found = list(model.variables)
    if kind != "predict":
        found += [v for m in model.metrics for v in m.variables]
    if kind == "train" and model.optimizer is not None:
        found += model.optimizer.variables
    seen, unique = set(), []
    for v in found:
        if id(v) not in seen:
            seen.add(id(v))
            unique.append(v)
    return unique


RUNS_TIMED = 3
# A compiled loop over steps saves about 0.05 ms a step, but XLA's CPU convolutions are many times slower inside one.
QUICK_SECONDS = 4e-3


class Step:
    """Base of the steps."""

    # Whether several batches in one call cost less than one by one: `None` until `note` has told.
    takes_many = False
    runs = 0

    def note(self, seconds):
        """Hear how long a run took, device included. The first compiles; by the third it's clear whether steps are so quick that
        handing them over one by one is what costs."""
        self.runs += 1
        if self.takes_many is None and self.runs >= RUNS_TIMED:
            self.takes_many = seconds < QUICK_SECONDS

    def wait(self):
        """Wait for the device."""

    def __init__(self, model, kind, function, logs, backend):
        self.model, self.kind, self.function, self.gives_logs, self.backend = model, kind, function, logs, backend
        self.trainable = [v.trainable for v in model.variables]
        self.changes = changes.count

    def usable(self):
        """Whether it still fits the model: same variables trained, same backend."""
        return (
            self.backend is backends.current()
            and self.changes == changes.count
            and self.trainable == [v.trainable for v in self.model.variables]
        )

    def run(self, batch):
        """One batch; returns logs (native values), or `None` if they're to be read off the metrics."""
        raise NotImplementedError

    def run_many(self, batch, count):
        """`count` batches stacked along a new first axis."""
        logs = None
        for i in range(count):
            logs = self.run(tree.map_structure(lambda a, i=i: None if a is None else a[i], batch))
        return logs

    def run_once(self, batch):
        """One batch, state written back, logs at hand."""
        logs = self.run(batch)
        self.write_back()
        return self.logs(logs)

    def logs(self, logs):
        """What a callback gets to see: the step's own logs, or the metrics' results."""
        if self.gives_logs:
            return logs
        return self.results()

    def results(self):
        return self.model.get_metrics_result()

    def write_back(self):
        """Give the variables their values back."""

    def native(self, batch):
        b = self.backend

        def converted(a):
            # Sparse and ragged tensors stay what they are.
            return a if a is None or b.is_tensor(a) or met(b, a) else b.convert(a)

        return tree.map_structure(converted, batch)


class EagerStep(Step):
    """Runs the code as it is."""

    def run(self, batch):
        batch = self.native(batch)
        if self.kind == "train" or not hasattr(self.backend, "no_grad"):
            return self.function(batch)
        with self.backend.no_grad():
            return self.function(batch)


class Borrowing(Step):
    """Holds the variables' values while it runs, and is asked for them by the variables (`write_back`) meanwhile."""

    def __init__(self, *args):
        super().__init__(*args)
        self.variables = state_of(self.model, self.kind)
        self.values = None

    def borrow(self):
        values, seen = [], set()
        for v in self.variables:
            value = v.storage
            if id(value) in seen:
                # One array under two variables can't be given away twice.
                value = self.backend.copy(value)
            seen.add(id(value))
            values.append(self.lent(value))
        for v in self.variables:
            v._lender = self
        changes.lent += self.values is None
        self.values = values

    def lent(self, value):
        return value

    def write_back(self):
        if self.values is None:
            return
        values, self.values = self.values, None
        changes.lent -= 1
        for v, value in zip(self.variables, values, strict=True):
            v._lender = None
            v._storage = self.returned(v._storage, value)

    def returned(self, storage, value):
        return value


class FunctionalStep(Borrowing):
    """For compilers of pure functions: `(values, batch) -> (values, logs)`, values donated; many batches by `scan`."""

    takes_many = None

    def __init__(self, *args):
        super().__init__(*args)
        self.one = self.backend.compile(self.pure, donate_argnums=0)
        self.many = self.backend.compile(self.scanned, donate_argnums=0)

    def pure(self, values, batch):
        with StatelessScope(list(zip(self.variables, values, strict=True)), collect_losses=True) as scope:
            logs = self.function(batch)
        return [scope.get_current_value(v) for v in self.variables], logs if self.gives_logs else None

    def scanned(self, values, batch):
        leaves = tree.flatten(batch)
        slices = [a for a in leaves if a is not None]

        def body(values, slices):
            rest = iter(slices)
            one = tree.pack_sequence_as(batch, [None if a is None else next(rest) for a in leaves])
            values, logs = self.pure(values, one)
            return values, tree.flatten(logs) if logs is not None else []

        structure = self.logs_structure
        values, logs = self.backend.scan(body, values, slices, slices[0].shape[0], False, 1)
        if structure is None:
            return values, None
        return values, tree.pack_sequence_as(structure, [v[-1] for v in logs])

    logs_structure = None

    def wait(self):
        self.backend.block(self.values)

    def run(self, batch):
        if self.values is None:
            self.borrow()
        self.values, logs = self.one(self.values, batch)
        if self.gives_logs and self.logs_structure is None:
            self.logs_structure = tree.map_structure(lambda _: 0, logs)
        return logs

    def run_many(self, batch, count):
        if self.gives_logs and self.logs_structure is None:
            first = self.run(tree.map_structure(lambda a: None if a is None else a[0], batch))
            rest = tree.map_structure(lambda a: None if a is None else a[1:], batch)
            return super().run_many(rest, count - 1) if count > 1 else first
        if self.values is None:
            self.borrow()
        self.values, logs = self.many(self.values, batch)
        return logs

    def results(self):
        """Metrics' results from the borrowed values, without giving them back."""
        if self.values is None:
            return self.model.get_metrics_result()
        with StatelessScope(list(zip(self.variables, self.values, strict=True))):
            return self.model.get_metrics_result()


class PlannedStep(Borrowing):
    """For eager frameworks: the step traced once for each shape of batch, then run as a plan; optionally compiled whole."""

    def __init__(self, *args):
        super().__init__(*args)
        self.plans = {}

    takes_many = True

    def lent(self, value):
        return self.backend.stop_gradient(value) if self.kind == "train" else value

    def returned(self, storage, value):
        return self.backend.swap(storage, value) if value is not storage else storage

    def run(self, batch):
        batch = self.native(batch)
        leaves = [a for a in tree.flatten(batch) if a is not None]
        planned = self.planned(batch, leaves)
        if planned is EagerStep:
            self.write_back()
            return EagerStep.run(self, batch)
        return self.execute(planned, [leaves])

    def run_many(self, batch, count):
        rows = [self.backend.rows(self.backend.convert(a)) for a in tree.flatten(batch) if a is not None]
        batches = list(zip(*rows, strict=True))
        first = iter(batches[0])
        one = tree.map_structure(lambda a: None if a is None else next(first), batch)
        planned = self.planned(one, batches[0])
        if planned is EagerStep:
            return super().run_many(batch, count)
        return self.execute(planned, batches)

    def planned(self, batch, leaves):
        key = tuple([(a.shape, a.dtype) for a in leaves])
        planned = self.plans.get(key)
        if planned is None:
            planned = self.plans[key] = self.plan(batch)
        return planned

    def execute(self, planned, batches):
        """Run the plan for each batch, over the borrowed values."""
        function, reads, writes, structure = planned
        if self.values is None:
            self.borrow()
        values, n = self.values, None
        with self.backend.no_grad():
            for leaves in batches:
                results = function(*leaves, *[values[i] for i in reads])
                n = len(results) - len(writes)
                for i, value in zip(writes, results[n:], strict=True):
                    values[i] = value
        return tree.pack_sequence_as(structure, list(results[:n])) if self.gives_logs else None

    def plan(self, batch):
        """`(function, numbers of the variables it reads, of those it assigns, structure of its result)`."""
        from kerata.graph.plan import Plan

        b = self.backend
        if not self.model._traceable():
            return EagerStep
        symbols = tree.map_structure(_symbol, batch)
        self.write_back()
        compiled = self.model.jit_compile
        # What is compiled whole is fused by the compiler, which wants pure functions.
        graph = trace(self.function, symbols, expand=lambda op: not hasattr(b, op.native), in_place=not compiled)
        if not self.gives_logs:
            graph.outputs = []
        graph.losses = []
        plan = Plan(graph, b)
        number = {id(v): i for i, v in enumerate(self.variables)}
        if any(id(v) not in number for v in (*plan.variables, *plan.updated)):
            return EagerStep
        function = b.compile(plan.function) if compiled else plan.function
        reads = [number[id(v)] for v in plan.variables]
        return function, reads, [number[id(v)] for v in plan.updated], graph.outputs

    def results(self):
        if self.values is None:
            return self.model.get_metrics_result()
        with StatelessScope(list(zip(self.variables, self.values, strict=True))):
            return self.model.get_metrics_result()


class StatefulStep(Step):
    """For compilers of code with state: variables are assigned in place; many batches by a loop in the graph."""

    takes_many = None

    def __init__(self, *args):
        super().__init__(*args)
        options = self.backend.step_options(self.model)
        self.one = self.backend.compile(self.function, **options)
        self.many = self.backend.compile(self.looped, **options)
        # Where each batch has other sizes, it's neither traced nor compiled for each of them.
        self.uneven = self.backend.compile(self.function, reduce_retracing=True)
        self.shapes = set()

    def looped(self, batch):
        repeat, leaves = self.backend.repeat_in_place, tree.flatten(batch)
        count = next(a for a in leaves if a is not None).shape[0]
        if not self.gives_logs:
            repeat(lambda i: self.function(self._at(batch, i)), count)
            return None
        repeat(lambda i: self.function(self._at(batch, i)), count - 1)
        return self.function(self._at(batch, count - 1))

    def run(self, batch):
        batch = self.native(batch)
        return self.one(batch) if self._is_even(batch) else self.uneven(batch)

    def run_many(self, batch, count):
        batch = self.native(batch)
        if self._is_even(batch, 1):
            return self.many(batch)
        for i in range(count):
            logs = self.uneven(self._at(batch, i))
        return logs

    def _at(self, batch, i):
        return tree.map_structure(lambda a: None if a is None else self.backend.row(a, i), batch)

    def _is_even(self, batch, skipped=0):
        """Whether the graph for exactly these shapes is to be used: those that came first have one."""
        leaves = [leaf for leaf in tree.flatten(batch) if leaf is not None]
        shapes = tuple([self.backend.shape_of(leaf)[skipped:] for leaf in leaves])
        if shapes in self.shapes:
            return True
        if len(self.shapes) == MOST_SHAPES or any(kind_of(leaf) == "ragged" for leaf in leaves):
            return False
        self.shapes.add(shapes)
        return True


def state_groups(model, kind):
    """The variables that `state` has the values of, in such a step: trainable ones, others, the optimizer's, the metrics'."""
    groups = [model.trainable_variables, model.non_trainable_variables]
    if kind == "train":
        groups.append(model.optimizer.variables if model.optimizer is not None else [])
    return [*groups, [v for m in model.metrics for v in m.variables]]


def pure_step(model, kind, step, state, data):
    """A step of code with state, as a pure function: `(logs, new state)`."""
    groups = state_groups(model, kind)
    mapping = [pair for group, values in zip(groups, state, strict=True) for pair in zip(group, values, strict=True)]
    with StatelessScope(mapping, collect_losses=True) as scope:
        logs = step(data)
    return logs, tuple([scope.get_current_value(v) for v in group] for group in groups)


class StateStyleStep(Borrowing):
    """`train_step(state, data)` as JAX users write it: pure already."""

    settled = False

    def __init__(self, model, kind, backend):
        method = model.train_step if kind == "train" else model.test_step
        super().__init__(model, kind, method, True, backend)
        self.regroup()
        self.one = method if model.run_eagerly else backend.compile(self.pure, donate_argnums=0)
        if model.run_eagerly:
            self.one = self.pure

    def pure(self, values, batch):
        state, at = [], 0
        for group in self.groups:
            state.append(list(values[at : at + len(group)]))
            at += len(group)
        logs, state = self.function(tuple(state), batch)
        return [v for group in state for v in group], logs

    def settle(self, batch):
        """The library's own step, if this one calls it, makes metrics' variables at first: they belong to the state."""
        self.settled = True
        if self.model._metrics_unbuilt() and hasattr(self.backend, "abstract"):
            self.backend.abstract(self.pure, ([v.storage for v in self.variables], batch))
            self.regroup()

    def regroup(self):
        self.groups = state_groups(self.model, self.kind)
        self.variables = [v for group in self.groups for v in group]

    def run(self, batch):
        batch = _without_nones(batch)
        if not self.settled:
            self.settle(batch)
        if self.values is None:
            self.borrow()
        self.values, logs = self.one(self.values, batch)
        return logs


def _without_nones(batch):
    if isinstance(batch, tuple):
        while batch and batch[-1] is None:
            batch = batch[:-1]
    return batch
