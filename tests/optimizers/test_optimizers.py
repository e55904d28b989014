"""Optimizers beside Keras's and torch's, in every way of applying them; state, files, settings, errors."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import kerata
from kerata import backends, constraints, ops, optimizers
from kerata.state import StatelessScope, Variable

_random = np.random.default_rng(11)
SHAPES = ((4, 3), (3,), (2, 3, 2))
START = [_random.normal(size=s).astype("float32") for s in SHAPES]
STEPS = [[_random.normal(size=s).astype("float32") for s in SHAPES] for _ in range(6)]

SCHEDULE = {"module": "keras.optimizers.schedules", "class_name": "ExponentialDecay"}
SCHEDULE |= {
    "config": {"initial_learning_rate": 0.1, "decay_steps": 2, "decay_rate": 0.5},
    "registered_name": None,
}
TABLE = [
    ("SGD", {}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True}),
    ("Adam", {}),
    ("Adam", {"learning_rate": 0.1, "beta_1": 0.8, "epsilon": 0.1}),
    ("Adam", {"learning_rate": 0.1, "amsgrad": True}),
    ("AdamW", {"learning_rate": 0.1, "weight_decay": 0.1}),
    ("RMSprop", {"learning_rate": 0.1}),
    ("RMSprop", {"learning_rate": 0.1, "momentum": 0.9, "centered": True, "epsilon": 1e-3}),
    ("RMSprop", {"learning_rate": 0.1, "centered": True, "epsilon": 1e-3}),
    ("RMSprop", {"learning_rate": 0.1, "momentum": 0.9}),
    ("Adagrad", {"learning_rate": 0.1}),
    ("Adadelta", {"learning_rate": 1.0, "epsilon": 1e-3}),
    ("Adamax", {"learning_rate": 0.1}),
    ("Nadam", {"learning_rate": 0.1}),
    ("Lion", {"learning_rate": 0.1, "weight_decay": 0.1}),
    ("Lamb", {"learning_rate": 0.1}),
    ("Ftrl", {"learning_rate": 0.1}),
    (
        "Ftrl",
        {
            "learning_rate": 0.1,
            "learning_rate_power": -0.7,
            "l1_regularization_strength": 0.01,
            "l2_regularization_strength": 0.1,
            "l2_shrinkage_regularization_strength": 0.05,
            "beta": 0.2,
        },
    ),
    ("Adafactor", {"learning_rate": 0.1}),
    ("Adafactor", {"learning_rate": 0.8, "relative_step": False, "clip_threshold": 0.5}),
    ("Muon", {"learning_rate": 0.1}),
    ("Muon", {"learning_rate": 0.1, "nesterov": False, "rms_rate": None, "adam_lr_ratio": 0.5}),
    ("ScheduleFreeAdamW", {"learning_rate": 0.1}),
    ("ScheduleFreeAdamW", {"learning_rate": 0.1, "warmup_steps": 3, "weight_decay": 0.1}),
    # What the base does.
    ("SGD", {"learning_rate": 0.1, "clipnorm": 0.5}),
    ("SGD", {"learning_rate": 0.1, "clipvalue": 0.3}),
    ("SGD", {"learning_rate": 0.1, "global_clipnorm": 0.5}),
    ("SGD", {"learning_rate": 0.1, "weight_decay": 0.2, "momentum": 0.5}),
    ("SGD", {"learning_rate": 0.1, "use_ema": True, "ema_momentum": 0.8}),
    ("SGD", {"learning_rate": 0.1, "use_ema": True, "ema_momentum": 0.8, "ema_overwrite_frequency": 2}),
    ("SGD", {"learning_rate": 0.1, "loss_scale_factor": 8.0}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.5, "gradient_accumulation_steps": 2}),
    ("Adam", {"learning_rate": SCHEDULE}),
    (
        "Adam",
        {
            "learning_rate": SCHEDULE,
            "weight_decay": 0.1,
            "global_clipnorm": 1.0,
            "use_ema": True,
            "ema_overwrite_frequency": 2,
            "gradient_accumulation_steps": 2,
            "loss_scale_factor": 4.0,
        },
    ),
]
IDS = [f"{name}-{i}" for i, (name, _) in enumerate(TABLE)]
TABLE_ONLY = pytest.mark.parametrize(("name", "arguments"), TABLE, ids=IDS)


def make(module, cls, arguments, **more):
    return getattr(module, cls).from_config({**arguments, **more})


def variables(module=None):
    cls = module.Variable if module else Variable
    return [cls(value, name=f"w{i}") for i, value in enumerate(START)]


def run(optimizer, ws, steps=STEPS):
    for grads in steps:
        optimizer.apply([ops.convert_to_tensor(g) for g in grads], ws)
    return optimizer


_wanted = {}


@pytest.fixture
def wanted(real_keras, name, arguments):
    """Values of variables and state after all steps, and the state's names, as Keras has them."""
    key = name, repr(arguments)
    if key not in _wanted:
        ws, optimizer = variables(real_keras), make(real_keras.optimizers, name, arguments)
        for grads in STEPS:
            optimizer.apply(grads, ws)
        _wanted[key] = (
            [w.numpy() for w in ws],
            [np.array(v.numpy()) for v in optimizer.variables],
            [v.path for v in optimizer.variables],
        )
    return _wanted[key]


def close(found, wanted, **tolerance):
    tolerance = {"rtol": 1e-4, "atol": 2e-6, **tolerance}
    assert len(found) == len(wanted)
    for i, (a, b) in enumerate(zip(found, wanted)):
        np.testing.assert_allclose(ops.convert_to_numpy(a), b, **tolerance, err_msg=str(i))


@TABLE_ONLY
def test_apply_as_keras(backend, wanted, name, arguments):
    ws = variables()
    optimizer = run(make(optimizers, name, arguments), ws)
    close(ws, wanted[0])
    close(optimizer.variables, wanted[1])
    assert int(optimizer._iterations.numpy()) == len(STEPS)


@TABLE_ONLY
def test_state_is_listed_as_in_keras(wanted, name, arguments):
    """Order, names and shapes decide what files mean."""
    with backends.use_backend("numpy"):
        optimizer = make(optimizers, name, arguments, name="o")
        optimizer.build(variables())
    ours = [v.path.split("/")[-1] for v in optimizer.variables]
    theirs = [path.split("/")[-1] for path in wanted[2]]
    if name not in ("Nadam", "Adafactor"):  # whose product and factors have no names of their own in Keras
        assert ours == theirs
    assert [v.shape for v in optimizer.variables] == [v.shape for v in wanted[1]]


@TABLE_ONLY
def test_stateless_and_compiled_as_keras(training_backend, wanted, name, arguments):
    optimizer = make(optimizers, name, arguments)
    ws = variables()
    optimizer.build(ws)
    params, state = [w.value for w in ws], [v.value for v in optimizer.variables]
    before = [np.array(ops.convert_to_numpy(p)) for p in params]
    step = optimizer.stateless_apply
    if training_backend.NAME != "torch":  # compiling there takes minutes for the table
        step = training_backend.compile(lambda s, g, p: optimizer.stateless_apply(s, g, p))
    for grads in STEPS:
        params, state = step(state, [ops.convert_to_tensor(g) for g in grads], params)
    close(params, wanted[0])
    close(state, wanted[1])
    close(ws, before)
    assert int(optimizer._iterations.numpy()) == 0


@TABLE_ONLY
def test_config_and_saved_state_continue_the_run(real_keras, wanted, name, arguments):
    with backends.use_backend("numpy"):
        ws = variables()
        optimizer = run(make(optimizers, name, arguments), ws, STEPS[:3])
        store = {}
        optimizer.save_own_variables(store)
        again = optimizers.deserialize(optimizers.serialize(optimizer))
        assert again.get_config() == optimizer.get_config()
        again.build(ws)
        again.load_own_variables(store)
        run(again, ws, STEPS[3:])
        close(ws, wanted[0])
    if name == "Lamb":
        return  # which Keras doesn't read back from its config
    # The real Keras goes on from our state, too.
    ws, theirs = variables(), real_keras.optimizers.deserialize(optimizers.serialize(optimizer))
    with backends.use_backend("numpy"):
        run(make(optimizers, name, arguments), ws, STEPS[:3])
    ws = [real_keras.Variable(w.numpy(), name=w.name) for w in ws]
    theirs.build(ws)
    theirs.load_own_variables(store)
    for grads in STEPS[3:]:
        theirs.apply(grads, ws)
    close(ws, wanted[0])


@TABLE_ONLY
def test_config_is_keras_s(real_keras, name, arguments):
    ours = make(optimizers, name, arguments, name="o").get_config()
    theirs = make(real_keras.optimizers, name, arguments, name="o").get_config()
    assert ours == theirs


@pytest.mark.parametrize(
    ("make_ours", "make_theirs"),
    [
        (lambda: optimizers.SGD(0.1), lambda t, p: t.optim.SGD(p, 0.1)),
        (lambda: optimizers.SGD(0.1, 0.9), lambda t, p: t.optim.SGD(p, 0.1, 0.9)),
        (lambda: optimizers.SGD(0.1, 0.9, True), lambda t, p: t.optim.SGD(p, 0.1, 0.9, nesterov=True)),
        (lambda: optimizers.Adam(0.1, epsilon=1e-12), lambda t, p: t.optim.Adam(p, 0.1, eps=1e-12)),
        (
            lambda: optimizers.AdamW(0.1, weight_decay=0.1, epsilon=1e-12),
            lambda t, p: t.optim.AdamW(p, 0.1, eps=1e-12, weight_decay=0.1),
        ),
        (
            lambda: optimizers.RMSprop(0.1, 0.9, epsilon=1e-12),
            lambda t, p: t.optim.RMSprop(p, 0.1, 0.9, eps=1e-12),
        ),
        (lambda: optimizers.Adagrad(0.1, 0.0, 1e-12), lambda t, p: t.optim.Adagrad(p, 0.1, eps=1e-12)),
        (lambda: optimizers.Adadelta(1.0, 0.9, 1e-3), lambda t, p: t.optim.Adadelta(p, 1.0, 0.9, eps=1e-3)),
        (lambda: optimizers.Adamax(0.1, epsilon=1e-12), lambda t, p: t.optim.Adamax(p, 0.1, eps=1e-12)),
    ],
)
def test_as_torch_optim(make_ours, make_theirs):
    torch = pytest.importorskip("torch")
    params = [torch.nn.Parameter(torch.tensor(w)) for w in START]
    theirs = make_theirs(torch, params)
    for grads in STEPS:
        for p, g in zip(params, grads):
            p.grad = torch.tensor(g)
        theirs.step()
    with backends.use_backend("torch"):
        ws = variables()
        run(make_ours(), ws)
        close(ws, [p.detach().numpy() for p in params], rtol=1e-3, atol=1e-5)


def test_adam_by_the_paper():
    w, m, v = START[0].astype("float64"), 0.0, 0.0
    for t, (g, *_) in enumerate(STEPS, 1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g.astype("float64") ** 2
        w = w - 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(v) + 1e-7)
    with backends.use_backend("numpy"):
        ours = Variable(START[0])
        run(optimizers.Adam(0.1), [ours], [[g] for g, *_ in STEPS])
        close([ours], [w], rtol=1e-6)


@pytest.mark.parametrize("arguments", [{}, {"clipnorm": 0.5}, {"weight_decay": 0.1, "use_ema": True}])
def test_torch_in_place_equals_the_pure_update(arguments):
    pytest.importorskip("torch")
    with backends.use_backend("torch"):
        for name in ("SGD", "Adam", "RMSprop"):
            ws, pure = variables(), variables()
            optimizer = run(make(optimizers, name, arguments), ws)
            other = make(optimizers, name, arguments)
            other.build(pure)
            params, state = [w.value for w in pure], [v.value for v in other.variables]
            for grads in STEPS:
                params, state = other.pure_apply(params, [ops.convert_to_tensor(g) for g in grads], state)
            close(params, [w.numpy() for w in ws], rtol=1e-5)
            close(state, [v.numpy() for v in optimizer.variables], rtol=1e-5)


def test_torch_parameters_keep_their_identity():
    torch = pytest.importorskip("torch")
    with backends.use_backend("torch"):
        w = Variable(START[0])
        parameter = w.storage
        assert isinstance(parameter, torch.nn.Parameter)
        (w.value * 2).sum().backward()
        optimizers.Adam(0.1).apply([parameter.grad], [w])
        assert w.storage is parameter and parameter.requires_grad and parameter.is_leaf
        close([w], [START[0] - 0.1], rtol=1e-4)
        own = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
        optimizers.SGD(0.5).apply([torch.ones(2)], [own])
        assert own.tolist() == [0.5, 1.5]


def test_tensorflow_variables_and_slices():
    tf = pytest.importorskip("tensorflow")
    with backends.use_backend("tensorflow"):
        v, own = Variable([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        sparse = tf.IndexedSlices(tf.constant([[1.0, 1.0]]), tf.constant([1]), tf.constant([2, 2]))
        optimizer = optimizers.SGD(1.0)
        optimizer.apply_gradients([(tf.ones((2, 2)), v), (sparse, own)])
        close([v, own], [[[0, 1], [2, 3]], [[1, 2], [2, 3]]])
        with pytest.warns(UserWarning, match="Gradients do not exist"):
            optimizer.apply_gradients([(tf.ones((2, 2)), v), (None, own)])
        assert int(optimizer.iterations.numpy()) == 2

        @tf.function
        def step(g):
            optimizer.apply([g, g], [v, own])

        step(tf.ones((2, 2)))
        close([own], [[[0, 1], [1, 2]]])


def test_half_precision(backend):
    for dtype in ("bfloat16", "float16"):
        w = Variable(np.ones(3), dtype=dtype)
        optimizer = optimizers.Adam(0.1)
        for _ in range(3):
            optimizer.apply([ops.ones(3, dtype=dtype)], [w])
        assert [v.dtype for v in optimizer.variables] == ["int32", "float32", dtype, dtype]
        np.testing.assert_allclose(w.numpy().astype("float32"), 0.7, atol=0.01)
        # Gradients of another dtype are taken too.
        optimizer.apply([ops.ones(3, dtype="float32")], [w])
        assert w.dtype == dtype


def test_missing_gradients(backend):
    a, b = Variable([3.0, 4.0]), Variable([3.0, 4.0])
    optimizer = optimizers.SGD(1.0, momentum=0.5, use_ema=True)
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.apply([None, None], [a, b])
    with pytest.warns(UserWarning, match="Gradients do not exist for variables"):
        optimizer.apply([None, ops.ones(2)], [a, b])
    close([a, b], [[3.0, 4.0], [2.0, 3.0]])
    optimizer.finalize_variable_values([a, b])
    close([a, b], [[3.0, 4.0], [2.0, 3.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.apply([])
        optimizer.apply([ops.ones(2)], [b])
    close([a, b], [[3.0, 4.0], [0.5, 1.5]])


def test_constraints(training_backend):
    w = Variable([-1.0, 2.0])
    w.constraint = constraints.NonNeg()
    optimizer = optimizers.SGD(0.1)
    optimizer.build([w])
    new, _ = optimizer.stateless_apply([v.value for v in optimizer.variables], [ops.zeros(2)], [w.value])
    close(new, [[0.0, 2.0]])
    optimizer.apply([ops.zeros(2)])
    close([w], [[0.0, 2.0]])


def test_weight_decay_exclusions(backend):
    a, b, c = (Variable(1.0, name=n) for n in ("kernel", "bias", "gain"))
    optimizer = optimizers.SGD(0.1, weight_decay=0.5)
    optimizer.exclude_from_weight_decay(var_list=[c], var_names=["^b.*s$"])
    optimizer.apply([ops.zeros(())] * 3, [a, b, c])
    close([a, b, c], [0.95, 1.0, 1.0])


def test_overwriting_gradients(backend):
    a, b = Variable([1.0, 2.0]), Variable([1.0, 2.0])
    a.overwrite_with_gradient = True
    optimizer = optimizers.SGD(1.0, gradient_accumulation_steps=2, loss_scale_factor=2.0)
    for grads in (([1.0, 5.0], [2.0, 2.0]), ([4.0, 3.0], [6.0, 6.0])):
        optimizer.apply([ops.convert_to_tensor(g) for g in grads], [a, b])
    close([a, b], [[4.0, 5.0], [-1.0, 0.0]])


def test_learning_rate(backend):
    optimizer = optimizers.SGD(0.1)
    optimizer.learning_rate = 0.25
    assert float(optimizer.learning_rate.numpy()) == 0.25
    optimizer.learning_rate.assign(0.5)
    w = Variable(1.0)
    optimizer.apply([ops.ones(())], [w])
    close([w], [0.5])
    optimizer.learning_rate = optimizers.schedules.PiecewiseConstantDecay([1], [0.25, 0.125])
    assert [v.name for v in optimizer.variables] == ["iteration"]
    for _ in range(2):
        optimizer.apply([ops.ones(())], [w])
    close([w], [0.125])
    close([optimizer.learning_rate], [0.125])
    with pytest.raises(TypeError, match="settable|set to a number"):
        optimizer.learning_rate = 0.1
    optimizer = optimizers.SGD(lambda: 0.5)
    optimizer.apply([ops.ones(())], [w])
    close([w], [-0.375])
    assert float(optimizers.SGD(np.float32(0.1)).learning_rate.numpy()) == np.float32(0.1)


def test_iterations_count_steps(backend):
    optimizer, w = optimizers.SGD(0.1, gradient_accumulation_steps=2), Variable(1.0)
    for _ in range(5):
        optimizer.apply([ops.ones(())], [w])
    close([optimizer.iterations], [2])


def test_subclass_with_slots(training_backend):
    class Heavy(optimizers.Optimizer):
        slots = ("speed",)

        def __init__(self, learning_rate=0.1, drag=0.5, **kwargs):
            super().__init__(learning_rate, **kwargs)
            self.drag = drag

        def update(self, gradient, variable, slots, learning_rate, step):
            speed = self.drag * slots[0] + learning_rate * gradient
            return variable - speed, (speed,)

    _same_as_momentum(Heavy(weight_decay=0.1), training_backend)
    assert Heavy(drag=0.25).get_config()["drag"] == 0.25


def test_subclass_written_for_keras(training_backend):
    class Heavy(optimizers.Optimizer):
        def __init__(self, learning_rate=0.1, **kwargs):
            super().__init__(learning_rate=learning_rate, **kwargs)
            self.calls = Variable(0, dtype="int32", trainable=False)

        def build(self, variables):
            if self.built:
                return
            super().build(variables)
            self.speeds = [self.add_variable_from_reference(v, name="speed") for v in variables]

        def update_step(self, gradient, variable, learning_rate):
            speed = self.speeds[self._get_variable_index(variable)]
            self.assign(speed, 0.5 * speed + learning_rate * gradient)
            self.assign_sub(variable, speed)
            self.assign_add(self.calls, 1)

    optimizer = _same_as_momentum(Heavy(weight_decay=0.1), training_backend)
    assert int(optimizer.calls.numpy()) == len(STEPS) * len(SHAPES)
    assert Heavy(0.5, clipnorm=1.0).get_config()["clipnorm"] == 1.0
    assert float(Heavy.from_config(Heavy(0.5).get_config()).learning_rate.numpy()) == 0.5


def _same_as_momentum(optimizer, backend):
    wanted, found, pure = variables(), variables(), variables()
    run(optimizers.SGD(0.1, momentum=0.5, weight_decay=0.1), wanted)
    other = type(optimizer).from_config(optimizer.get_config())
    run(optimizer, found)
    close(found, [w.numpy() for w in wanted])
    other.build(pure)
    params, state = [w.value for w in pure], [v.value for v in other.variables]
    step = backend.compile(other.stateless_apply) if backend.NAME == "jax" else other.stateless_apply
    for grads in STEPS:
        params, state = step(state, [ops.convert_to_tensor(g) for g in grads], params)
    close(params, [w.numpy() for w in wanted])
    close(state, [v.numpy() for v in optimizer.variables])
    return optimizer


def test_subclass_of_a_library_optimizer(training_backend):
    class Doubled(optimizers.Adam):
        def update_step(self, gradient, variable, learning_rate):
            super().update_step(gradient, variable, 2 * learning_rate)

    class Halved(optimizers.Adam):
        def update(self, gradient, variable, slots, learning_rate, step):
            return super().update(gradient, variable, slots, 0.5 * learning_rate, step)

    wanted, doubled, halved = variables(), variables(), variables()
    run(optimizers.Adam(0.2), wanted)
    run(Doubled(0.1), doubled)
    run(Halved(0.4), halved)
    close(doubled, [w.numpy() for w in wanted])
    close(halved, [w.numpy() for w in wanted])


def test_scope_keeps_apply_from_changing_anything(training_backend):
    w = Variable([1.0, 2.0])
    optimizer = optimizers.Adam(0.1)
    optimizer.build([w])
    with StatelessScope() as scope:
        optimizer.apply([ops.ones(2)], [w])
        assert float(w.value[0]) < 1
    close([w], [[1.0, 2.0]])
    assert int(optimizer.iterations.numpy()) == 0
    assert scope.get_current_value(w) is not None


def test_loss_scale(training_backend):
    w = Variable([1.0, 2.0])
    optimizer = optimizers.LossScaleOptimizer(optimizers.SGD(0.5), initial_scale=4.0, dynamic_growth_steps=2)
    assert float(optimizer.scale_loss(1.0)) == 4.0
    optimizer.apply([ops.convert_to_tensor([4.0, 8.0])], [w])
    close([w], [[0.5, 1.0]])
    optimizer.apply([ops.convert_to_tensor([np.inf, 1.0])], [w])
    close([w], [[0.5, 1.0]])
    close([optimizer.dynamic_scale], [2.0])
    for _ in range(2):
        optimizer.apply([ops.zeros(2)], [w])
    close([optimizer.dynamic_scale], [4.0])
    close([w], [[0.5, 1.0]])
    assert int(optimizer.iterations.numpy()) == 3
    again = optimizers.LossScaleOptimizer.from_config(optimizer.get_config())
    again.build([Variable([1.0, 2.0])])
    again.set_weights(optimizer.variables)
    assert float(again.scale_loss(1.0)) == 4.0


@pytest.mark.parametrize("inner", ["sgd", {"class_name": "SGD", "config": {"learning_rate": 0.1}}, optimizers.SGD])
def test_loss_scale_of_a_named_optimizer(backend, inner):
    optimizer = optimizers.LossScaleOptimizer(inner)
    assert type(optimizer.inner_optimizer).__name__ == "SGD"
    optimizer.build(var_list=[Variable([1.0])])
    assert optimizer.inner_optimizer.built


@pytest.mark.parametrize("patterns", [
    ["kernel"], ["^zz"], ["zz/kernel"], [".*kernel"], ["zz/k"], ["zz/kernel", ".*kernel"], [".*kernel", "zz/kernel"], ["zz/.*", ".*kernel"],
])  # fmt: skip
def test_which_optimizer_a_path_has(real_keras, patterns):
    def chosen(library, variable):
        o = library.optimizers
        found = o.OptimizerMap(o.Adam(), dict(zip(patterns, (o.SGD(), o.Lion()), strict=False)))
        try:
            return type(found(variable)).__name__
        except ValueError:
            return ValueError

    variable = type("Variable", (), {"path": "zz/kernel", "name": "kernel"})()
    assert chosen(kerata, variable) == chosen(real_keras, variable)


def test_one_optimizer_for_each_group(training_backend):
    a, b = Variable([1.0], name="a"), Variable([1.0], name="b")
    chosen = optimizers.OptimizerMap(optimizers.SGD(0.1), {"b": optimizers.SGD(0.5)})
    optimizer = optimizers.MultiOptimizer(chosen)
    optimizer.apply([ops.ones(1), ops.ones(1)], [a, b])
    close([a, b], [[0.9], [0.5]])


def test_a_pattern_that_matches_nothing_is_told(backend):
    chosen = optimizers.OptimizerMap(optimizers.SGD(0.1), {"head": optimizers.SGD(0.5)})
    with pytest.warns(UserWarning, match="'head' matches none of the 1 variables, such as 'head_kernel'.*'.*head.*'"):
        optimizers.MultiOptimizer(chosen).build([Variable([1.0], name="head_kernel")])


def test_deep_copies_and_pickles_go_on(backend):
    ws = variables()
    optimizer = run(optimizers.Adam(0.1), ws, STEPS[:3])
    for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        assert other.get_config() == optimizer.get_config()
        mine = other._trainable_variables
        close(mine, [w.numpy() for w in ws])
        other.apply([ops.convert_to_tensor(g) for g in STEPS[3]])
        assert int(other.iterations.numpy()) == 4 and int(optimizer.iterations.numpy()) == 3


def test_names():
    assert isinstance(optimizers.get("adamw"), optimizers.AdamW)
    assert isinstance(optimizers.get("RMSprop"), optimizers.RMSprop)
    assert isinstance(optimizers.get(optimizers.SGD), optimizers.SGD)
    assert float(optimizers.get({"class_name": "sgd", "config": {"learning_rate": 0.5}}).learning_rate.numpy()) == 0.5
    assert optimizers.get(None) is None
    optimizer = optimizers.get("adam")
    assert optimizers.get(optimizer) is optimizer
    with pytest.raises(ImportError, match="keras.optimizers"):
        optimizers.legacy.Adam()


def test_loading_from_a_run_without_slots(backend):
    """A model that was saved compiled but never fitted has counter and learning rate only."""
    store, optimizer = {}, optimizers.Adam(0.25)
    optimizer.save_own_variables(store)
    other = optimizers.Adam(0.5)
    other.build(variables())
    other.load_own_variables(store)
    assert float(other.learning_rate.numpy()) == 0.25


BUILT = object()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: optimizers.get("adm"), "'adm'.*Did you mean.*'adam'"),
        (lambda: optimizers.get(3), "identifier: 3"),
        (lambda: optimizers.Adam("fast"), "learning_rate.*'fast'"),
        (lambda: optimizers.Adam(None), "learning_rate.*None"),
        (lambda: optimizers.Adam(lr=0.1), "not recognized.*lr.*`learning_rate`"),
        (lambda: optimizers.Adam(clipnorm=1.0, clipvalue=1.0), "Only one of `clipnorm`, `clipvalue`"),
        (lambda: optimizers.Adam(clipnorm=-1.0), "clipnorm.*positive"),
        (lambda: optimizers.Adam(use_ema=True, ema_momentum=2.0), "ema_momentum.*between"),
        (lambda: optimizers.Adam(use_ema=True, ema_overwrite_frequency=0), "ema_overwrite_frequency"),
        (lambda: optimizers.Adam(gradient_accumulation_steps=1), "gradient_accumulation_steps.*>= 2"),
        (lambda: optimizers.Adam(weight_decay="x"), "weight_decay"),
        (lambda: optimizers.AdamW(weight_decay=None), "weight_decay"),
        (lambda: optimizers.SGD(momentum=2.0), "momentum.*between"),
        (lambda: optimizers.Lion(beta_1=2.0), "beta_1"),
        (lambda: optimizers.Ftrl(learning_rate_power=1.0), "learning_rate_power"),
        (lambda: optimizers.Adam().apply([1.0]), "build"),
        (lambda: optimizers.Adam().stateless_apply([], [], []), "build"),
        (lambda: optimizers.Adam().apply([np.ones(2)], variables()), "as many gradients as variables"),
        (lambda: optimizers.Adam().apply([np.ones(5)], [Variable([1.0, 2.0])]), r"shape \(5,\).*\(2,\)"),
        (lambda: _built().apply([np.ones(2)], [Variable([1.0, 2.0])]), "Unknown variable"),
        (lambda: _built().stateless_apply([], [1.0] * 3, [1.0] * 3), "optimizer_variables.*8"),
        (lambda: _built().set_weights([1]), "8"),
        (lambda: optimizers.Adam().set_weights([1]), "You are calling"),
        (lambda: _built().load_own_variables({str(i): np.ones(()) for i in range(8)}), "another model"),
        (lambda: _built().load_own_variables({str(i): np.ones(()) for i in range(5)}), "has 5 values"),
        (lambda: optimizers.LossScaleOptimizer(optimizers.SGD(), foo=1, bar=2), "`foo`, `bar`"),
        (lambda: optimizers.LossScaleOptimizer(optimizers.SGD(), clipnorm=0.5), "inner_optimizer"),
        (lambda: optimizers.LossScaleOptimizer(None), "inner_optimizer.*None"),
        (lambda: optimizers.LossScaleOptimizer(3), "Could not interpret optimizer identifier: 3"),
        (lambda: optimizers.LossScaleOptimizer(optimizers.LossScaleOptimizer("sgd")), "one scale"),
        (lambda: optimizers.schedules.PiecewiseConstantDecay([1, 2], [0.1]), "boundaries"),
        (lambda: optimizers.schedules.CosineDecay(0.1, 0), "decay_steps"),
    ],
)
def test_errors(backend, action, message):
    with pytest.raises(ValueError, match=message):
        action()


def _built():
    optimizer = optimizers.Adam()
    optimizer.build(variables())
    return optimizer


def test_a_wrong_file_changes_nothing(backend):
    optimizer = run(optimizers.Adam(0.1), variables())
    before = [v.numpy().copy() for v in optimizer.variables]
    store = {str(i): np.array(v) for i, v in enumerate(before)}
    store["7"] = np.ones((9, 9))
    with pytest.raises(ValueError, match=r"\(9, 9\)"):
        optimizer.load_own_variables(store)
    close(optimizer.variables, before)


def test_an_optimizer_without_update(backend):
    with pytest.raises(NotImplementedError, match="Bare must define `update"):
        type("Bare", (optimizers.Optimizer,), {})(0.1).apply([ops.ones(2)], [Variable([1.0, 2.0])])
