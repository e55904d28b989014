"""The commands and their options. What they do is imported when they run, so that `--help` is quick."""

from typing import Annotated

import typer

from kerata.version import KERAS_API_VERSION, __version__

app = typer.Typer(
    help="Kerata: the Keras 3 API on JAX, PyTorch, TensorFlow, OpenVINO and ONNX Runtime, in one process.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool):
    if wanted:
        typer.echo(f"Kerata {__version__} (API of Keras {KERAS_API_VERSION})")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and leave."),
    ] = False,
):
    """Options of `kerata` itself."""


@app.command()
def demo(
    backend: Annotated[str | None, typer.Option(help="Train on jax, torch or tensorflow.")] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training scans.")] = 15,
    out: Annotated[str, typer.Option(help="File to save the model to.")] = "digits.keras",
):
    """Train a small net on handwritten digits, then run the saved file on every other installed backend."""
    from kerata.cli.demo import run_demo

    raise typer.Exit(run_demo(backend, epochs, out))


@app.command()
def doctor(
    deep: Annotated[bool, typer.Option("--deep", help="Import each framework and compute on it.")] = False,
):
    """Show what is installed, whether it is new enough, the devices, the default backend and why it is that.

    The exit code is 1 if nothing can run.
    """
    from kerata.cli.doctor import examine

    raise typer.Exit(examine(deep))


@app.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
def run(
    context: typer.Context,
    target: Annotated[str, typer.Argument(metavar="SCRIPT", help="A Python file; with -m, a module.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGS]...", help="Passed on to it.")
    ] = None,
    backend: Annotated[str | None, typer.Option(help="Sets KERAS_BACKEND; also after the script.")] = None,
    module: Annotated[bool, typer.Option("-m", help="Run a module, as `python -m` does.")] = False,
):
    """Run a script in which `import keras` means Kerata, in the Pythons that it starts too.

    `--backend` among the script's arguments is taken here as well; what follows a `--` is left alone.
    """
    from kerata.cli.run import Script, take_backend

    arguments, later = take_backend(arguments or [])
    context.obj.append(Script(target, arguments, backend=later or backend, is_module=module))
