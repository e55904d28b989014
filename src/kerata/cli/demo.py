"""`kerata demo`: one model, trained on one backend, run on all the others from its file."""

import os
import statistics
import tempfile
import time
from dataclasses import dataclass

# Several frameworks share this process, and its GPU if there is one: none may take all of its memory.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import kerata as keras
from kerata import backends
from kerata.cli.doctor import install_line

SEED = 1
TEST_SCANS = 360  # of the 1,797: one in five
BATCH = 32
# Ten seeds of this net and recipe gave 0.994 to 1, so anything below is a fault, not bad luck.
ACCURACY_EXPECTED = 0.98
# Float32 logits of about 10, summed in another order on each framework.
DIFFERENCE_ALLOWED = 1e-4
TIMED_CALLS = 20


@dataclass
class Result:
    """How a backend did: `problem` is empty if it agrees."""

    backend: str
    difference: float = float("nan")
    milliseconds: float = float("nan")
    problem: str = ""


def run_demo(backend=None, epochs=15, out="digits.keras", console=None):
    """Train, save, compare. Returns the exit code: 0 if accurate enough and all backends agree."""
    console = console or Console()
    try:
        data = load_digits()
    except ModuleNotFoundError:
        return _give_up(console, "The digits come with scikit-learn: pip install scikit-learn")
    trainer = backend or _first_that_trains()
    if trainer is None:
        return _give_up(console, f"No backend that trains is installed: {install_line(['jax'])}")
    if trainer not in backends.TRAINING:
        return _give_up(console, f"{trainer!r} can't train; these can: {', '.join(backends.TRAINING)}.")
    try:
        backends.load(trainer)
    except (ImportError, ValueError) as error:
        return _give_up(console, str(error))
    (x, y), (x_test, y_test) = data
    console.print(f"{len(x):,} scans of digits to learn from, {len(x_test)} to test with, 8 by 8 pixels.")
    with keras.config.use_backend(trainer):
        model = build_net(epochs * -(-len(x) // BATCH))
        train(model, x, y, epochs, trainer, console)
        accuracy = model.evaluate(x_test, y_test, verbose=0, return_dict=True)["accuracy"]
        console.print(f"Test accuracy [bold]{accuracy:.4f}[/bold]")
        path = save(model, out)
        reference = model.predict(x_test, verbose=0)
        mine = Result(f"{trainer} (trained here)", 0.0, time_batch(model, x_test[:BATCH]))
    console.print(f"Saved to {escape(path)}", soft_wrap=True)
    installed = [name for name in backends.installed() if name != trainer]
    results = [compare(name, path, x_test, reference) for name in installed]
    _print_results(console, [mine, *results])
    _print_missing(console)
    if accuracy < ACCURACY_EXPECTED:
        return _give_up(
            console, f"The accuracy is below {ACCURACY_EXPECTED}, which this net reaches from any seed."
        )
    return 1 if any(result.problem for result in results) else 0


def load_digits():
    """scikit-learn's scans of handwritten digits, shuffled: `(x, y), (x_test, y_test)`."""
    from sklearn import datasets

    images, labels = datasets.load_digits(return_X_y=True)
    images = images.reshape(-1, 8, 8, 1).astype("float32")
    order = np.random.default_rng(SEED).permutation(len(labels))
    images, labels = images[order], labels[order].astype("int32")
    return (images[:-TEST_SCANS], labels[:-TEST_SCANS]), (images[-TEST_SCANS:], labels[-TEST_SCANS:])


def build_net(steps):
    """Three convolutions with batch normalization, compiled to train for `steps` steps."""
    keras.utils.set_random_seed(SEED)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Rescaling(1 / 16),
            *_convolution(32),
            *_convolution(32),
            layers.MaxPooling2D(2),
            *_convolution(64),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(10),
        ],
        name="digits",
    )
    model.compile(
        optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, steps)),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def _convolution(filters):
    layers = keras.layers
    return (
        layers.Conv2D(filters, 3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.Activation("relu"),
    )


def train(model, x, y, epochs, backend, console):
    """Fit, showing one bar for the whole training."""
    columns = (
        TextColumn("Training on " + backend),
        BarColumn(),
        TextColumn("epoch {task.completed:.0f}/{task.total:.0f}"),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=epochs)

        class Bar(keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                shown = f"loss {logs['loss']:.3f}  accuracy {logs['accuracy']:.3f}"
                progress.update(task, completed=epoch + 1, description=shown)

        model.fit(x, y, batch_size=BATCH, epochs=epochs, verbose=0, callbacks=[Bar()])


def save(model, out):
    """Save the model to `out`, or to a temporary folder if it can't be written there. Returns the path."""
    path = os.path.abspath(out)
    if not os.access(os.path.dirname(path), os.W_OK):
        path = os.path.join(tempfile.mkdtemp(prefix="kerata-"), os.path.basename(path))
    model.save(path)
    return path


def compare(name, path, x_test, reference):
    """Load the file on a backend, and compare its predictions with those of the one that trained."""
    try:
        with keras.config.use_backend(name):
            model = keras.saving.load_model(path)
            difference = float(np.max(np.abs(model.predict(x_test, verbose=0) - reference)))
            result = Result(name, difference, time_batch(model, x_test[:BATCH]))
    except Exception as error:  # one backend's failure is a finding, and the others still run
        return Result(name, problem=f"{type(error).__name__}: {error}".splitlines()[0])
    if not difference <= DIFFERENCE_ALLOWED:
        result.problem = f"differs by more than {DIFFERENCE_ALLOWED:g}"
    return result


def time_batch(model, batch):
    """Milliseconds that predicting a batch takes once warm: the median of some calls."""
    times = []
    model.predict_on_batch(batch)
    for _ in range(TIMED_CALLS):
        start = time.perf_counter()
        model.predict_on_batch(batch)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def _first_that_trains():
    default = backends.current_name()
    usable = backends.installed()
    order = [default, *backends.TRAINING]
    return next((name for name in order if name in backends.TRAINING and name in usable), None)


def _print_results(console, results):
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("backend")
    table.add_column("max |Δ|", justify="right")
    table.add_column(f"ms per batch of {BATCH}", justify="right")
    table.add_column("", overflow="fold")
    for r in results:
        mark = f"[red]✗ {escape(r.problem)}[/red]" if r.problem else "[green]✓[/green]"
        table.add_row(r.backend, f"{r.difference:.1e}", f"{r.milliseconds:.2f}", mark)
    console.print(table)


def _print_missing(console):
    missing = [name for name in backends.MINIMUM if name not in backends.installed()]
    if missing:
        line = escape(install_line(missing))
        console.print(f"Not installed: {', '.join(missing)}. To see them too: {line}", soft_wrap=True)


def _give_up(console, message):
    console.print(f"[bold red]✗[/bold red] {escape(message)}", soft_wrap=True)
    return 1
