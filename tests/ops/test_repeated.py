"""What is made for calls that come again and again serves wherever they come from later, and is given up where it doesn't."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest

import kerata
from kerata import ops
from kerata.backends import repeated
from kerata.ops import planned
from kerata.ops.declare import forget_forms

X = np.array([-2.0, 0.0, 0.5, 3.0], "float32")


@pytest.fixture(autouse=True)
def impatience(monkeypatch):
    forget_forms()
    monkeypatch.setattr(repeated, "PATIENCE", 1)
    yield
    forget_forms()


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    with kerata.config.use_backend("torch"):
        yield torch


@contextmanager
def fake_tensors():
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode(allow_non_fake_inputs=True):
        yield


def step(x):
    """A composite with constants in it that its gradient needs."""
    return ops.heaviside(x, 0.5) + ops.nanmedian(x) * ops.vander(x, 3)[:, 0]


PLACES = {
    "inference": lambda torch, x: torch.inference_mode()(step)(x),
    "grad": lambda torch, x: torch.func.grad(lambda x: step(x).sum())(x),
    "vmap": lambda torch, x: torch.func.vmap(step)(x[None]),
    "fake tensors": lambda torch, x: fake_tensors()(step)(x),
    "meta": lambda torch, x: pytest.raises(Exception, lambda: torch.device("meta")(step)(x)),
    "trace": lambda torch, x: torch.jit.trace(step, x, check_trace=False),
}


@pytest.fixture
def failures(monkeypatch):
    """What plans raised."""
    raised, caller = [], planned._caller

    def noting(*args):
        call = caller(*args)

        def run(tensors):
            try:
                return call(tensors)
            except Exception as error:
                raised.append(error)
                raise

        return run

    monkeypatch.setattr(planned, "_caller", noting)
    return raised


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", PLACES)
def test_plans_made_elsewhere_serve_here(torch, place, failures):
    x = torch.tensor(X)
    expected = step(x)
    forget_forms()
    PLACES[place](torch, x)
    x.requires_grad_()
    for _ in range(3):
        y = step(x)
        assert (
            type(y) is torch.Tensor and y.device == x.device and not torch._C._functorch.is_functorch_wrapped_tensor(y)
        )
        np.testing.assert_array_equal(y.detach(), expected)
        assert torch.isfinite(torch.autograd.grad(y.sum(), x)[0]).all()
    assert not failures


def test_tracers_of_torch_see_the_body(torch):
    """They have tensors in shapes, which must not be compared."""
    step(torch.tensor(X))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.jit.trace(ops.squareplus, torch.ones(2, 3), check_trace=False)
        torch.jit.trace(ops.squareplus, torch.ones(2, 3), check_trace=False)
    assert not [w for w in caught if "repeated" in w.filename]


def kinds_known(args):
    return (args[0],), list(args)


def test_what_fails_where_the_function_does_not_is_given_up():
    calls = []

    def made(tensors):
        calls.append(1)
        raise ValueError

    run = repeated.repeated(lambda x: x + 1, kinds_known, lambda function, args: made)
    assert [run(1) for _ in range(4)] == [2] * 4
    assert len(calls) == 1
    # The function fails, too: it's the arguments.
    run = repeated.repeated(lambda x: 1 / x, kinds_known, lambda function, args: made)
    for _ in range(4):
        with pytest.raises(ZeroDivisionError):
            run(0)
    assert len(calls) == 4


def test_what_cannot_be_made_here_is_made_later():
    here = []
    run = repeated.repeated(lambda x: "body", kinds_known, lambda *_: (lambda _: "made") if here else repeated.LATER)
    assert {run(1) for _ in range(3)} == {"body"}
    here.append(1)
    assert [run(1) for _ in range(3)] == ["body", "made", "made"]


def test_ever_new_kinds_are_soon_not_looked_at(monkeypatch):
    monkeypatch.setattr(repeated, "PATIENCE", 8)
    looked, made = [], []

    def kind(args):
        looked.append(args)
        return args, list(args)

    run = repeated.repeated(lambda x: x, kind, lambda *_: lambda tensors: made.append(1) or tensors[0])
    calls = 1 << 15
    assert all(run(i) == i for i in range(calls))
    assert len(looked) < calls / 50
    # When one comes again and again after all, it's noticed.
    assert all(run(-1) == -1 for _ in range(calls))
    assert len(made) > calls / 3


def test_what_was_made_stays_among_ever_new_kinds(monkeypatch):
    monkeypatch.setattr(repeated, "PATIENCE", 8)
    made = []
    run = repeated.repeated(
        lambda x: x, kinds_known, lambda *args: made.append(args[1]) or (lambda tensors: tensors[0])
    )
    for i in range(10_000):
        assert (run(i), run(-1)) == (i, -1)
    assert made == [(-1,)]
    # Not more than so many, though.
    for i in range(1000):
        for _ in range(10):
            run(i)
    assert len(made) == repeated._VARIOUS
