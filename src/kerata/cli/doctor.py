"""`kerata doctor`: what is installed, whether it is new enough, and what Kerata would run on."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kerata import backends
from kerata.core import config
from kerata.version import KERAS_API_VERSION, __version__

OLDEST_PYTHON = (3, 11)
# Packages besides the framework that a backend is useless without.
NEEDS = {"jax": ("jaxlib",), "openvino": ("onnx",), "onnxruntime": ("onnx",)}
EXTRAS = {"onnxruntime": "onnx"}
USES = dict.fromkeys(backends.TRAINING, "trains and predicts")
# A first import of TensorFlow from a cold disk takes most of a minute.
DEEP_TIMEOUT_S = 180
# Run in a process of its own: a framework that crashes there is a finding, not the end.
PROBE = """
import json, sys
from kerata import backends, ops
name = sys.argv[1]
with backends.use_backend(name) as backend:
    product = ops.matmul(ops.ones((2, 3)), ops.ones((3, 2)))
    found = {"device": str(backend.device_name()), "right": float(ops.sum(product)) == 12.0}
    if name in backends.TRAINING:
        grad = backend.value_and_grad(lambda params: (ops.sum(params[0] * params[0]), None))
        _, (slope,) = grad([ops.ones((2,)) * 3.0])
        found["right"] &= float(ops.sum(slope)) == 12.0
print("\\n" + json.dumps(found))
"""


@dataclass
class Finding:
    """A backend or a library as found: `problem` is empty if it can be used."""

    name: str
    version: str | None
    minimum: str
    problem: str = ""


def examine(deep=False, console=None):
    """Print the report. Returns the exit code: 1 if nothing can run."""
    console = console or Console()
    libraries = required_libraries()
    found = [backend_finding(name) for name in config.BACKENDS]
    default, reason, problem = default_choice(found)
    _print_machine(console)
    _print_libraries(console, libraries)
    _print_backends(console, found, default)
    if default and not problem:
        console.print(f"Default backend: [bold]{default}[/bold] ({escape(reason)}).")
    broken = _print_deep(console, found) if deep else set()
    if default in broken:
        problem = "it fails, see above"
    failures = [f"{f.name}: {f.problem}" for f in libraries if f.problem]
    if sys.version_info < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        failures.append(f"Python {platform.python_version()} is older than {oldest}")
    if problem:
        failures.append(f"the default backend {default!r} ({reason}) can't be used: {problem}")
    for failure in failures:
        console.print(f"[bold red]✗[/bold red] {escape(failure)}", soft_wrap=True)
    if not failures:
        console.print("[bold green]✓[/bold green] Kerata can run here.")
    return 1 if failures else 0


def required_libraries():
    """A `Finding` for each package that Kerata's own metadata requires."""
    try:
        requirements = metadata.requires("kerata") or ()
    except metadata.PackageNotFoundError:
        return []
    findings = []
    for requirement in requirements:
        match = re.match(r"([\w.-]+)\s*>=\s*([\w.]+)\s*$", requirement)
        if match is None:
            continue  # of an extra: the backends' table has it
        name, minimum = match.groups()
        version = _version(name)
        findings.append(Finding(name, version, minimum, _library_problem(version, minimum)))
    return findings


def backend_finding(name):
    """A `Finding` for a backend: its framework and what it needs besides. Imports none of them."""
    version = backends.installed_version(name)
    problem = ""
    try:
        backends.check_installed(name)
        missing = [other for other in NEEDS.get(name, ()) if _version(other) is None]
        if missing:
            problem = f"needs {missing[0]}: {install_line([name])}"
    except ImportError as error:
        problem = "not installed" if version is None else str(error)
    return Finding(name, version, backends.MINIMUM[name], problem)


def default_choice(found):
    """The default backend, why it is that, and what hinders it (empty: nothing)."""
    try:
        name, reason = config.default_backend(), config.default_backend_reason()
    except ValueError as error:
        return None, "keras.json", str(error)
    if name is None:
        return None, "nothing is installed", "no framework is installed"
    finding = {f.name: f for f in found}.get(name)
    if finding is None:
        return name, reason, f"there is no such backend. Known: {', '.join(config.BACKENDS)}"
    if finding.version is None:
        return name, reason, f"it is not installed: {install_line([name])}"
    return name, reason, finding.problem


def install_line(names):
    """The command that installs these backends."""
    extras = [EXTRAS.get(name, name) for name in names if name != "numpy"]
    return f'pip install "kerata[{",".join(extras)}]"'


def _version(distribution):
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _library_problem(version, minimum):
    if version is None:
        return "not installed: pip install --upgrade kerata"
    if backends._parts(version) < backends._parts(minimum):
        return f"{version} is older than {minimum}: pip install --upgrade kerata"
    return ""


def _print_machine(console):
    console.print(
        f"Kerata [bold]{__version__}[/bold] (API of Keras {KERAS_API_VERSION}), "
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    )
    console.print(f"Devices: {_cores()} CPU cores; {', '.join(_gpus()) or 'no GPU found'}")


def _cores():
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count()


def _gpus():
    """GPUs as the system names them; whether a framework can use one is shown by `--deep`."""
    found = []
    if shutil.which("nvidia-smi"):
        command = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"]
        try:
            listing = subprocess.run(command, capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            listing = None
        if listing is not None and listing.returncode == 0:
            found += [line.strip() for line in listing.stdout.splitlines() if line.strip()]
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        found.append("Apple GPU")
    return found


def _print_libraries(console, libraries):
    parts = [f"{f.name} {f.version or '(missing)'} (≥ {f.minimum})" for f in libraries]
    if parts:
        console.print(f"Libraries: {', '.join(parts)}")


def _print_backends(console, found, default):
    table = Table(title_justify="left", show_edge=False, pad_edge=False)
    for column in ("backend", "installed", "minimum", "", "state"):
        table.add_column(column, overflow="fold")
    for f in found:
        state = "[green]ready[/green]" if not f.problem else f"[yellow]{escape(f.problem)}[/yellow]"
        name = f"[bold]{f.name}[/bold] (default)" if f.name == default else f.name
        table.add_row(name, f.version or "-", f.minimum, USES.get(f.name, "predicts"), state)
    console.print(table)
    missing = [f.name for f in found if f.version is None]
    if missing:
        console.print(f"To add what is missing: {escape(install_line(missing))}", soft_wrap=True)


def _print_deep(console, found):
    """Try every installed backend. Returns the names of those that fail."""
    broken = set()
    for f in found:
        if f.problem:
            continue
        answer, error = _probe(f.name)
        if error or not answer["right"]:
            broken.add(f.name)
            error = error or "computes wrong results"
            console.print(f"[red]✗[/red] {f.name}: {escape(error)}", soft_wrap=True)
        else:
            console.print(f"[green]✓[/green] {f.name} computes on {escape(answer['device'])}")
    return broken


def _probe(name):
    """`(answer, "")`, or `(None, why not)`."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-c", PROBE, name]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=DEEP_TIMEOUT_S, env=environment
        )
    except subprocess.TimeoutExpired:
        return None, f"no answer within {DEEP_TIMEOUT_S} s"
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return None, lines[-1]
    return json.loads(done.stdout.strip().splitlines()[-1]), ""
