"""`kerata doctor`: the report, and the exit code that scripts rely on."""

import io
import os
import subprocess
import sys

import pytest
from rich.console import Console

from kerata import backends
from kerata.cli import doctor
from kerata.core import config


def report(deep=False):
    out = io.StringIO()
    code = doctor.examine(deep, Console(file=out, width=200))
    return code, out.getvalue()


@pytest.fixture
def versions(monkeypatch):
    """Pretend which frameworks are installed: `versions(jax=None, torch="1.0")`; the others as they are."""
    real = backends.installed_version

    def set_versions(**pretended):
        monkeypatch.setattr(backends, "installed_version", lambda name: pretended.get(name, real(name)))

    return set_versions


@pytest.fixture
def default(monkeypatch):
    def set_default(name, reason):
        monkeypatch.setattr(config, "default_backend", lambda: name)
        monkeypatch.setattr(config, "default_backend_reason", lambda: reason)

    return set_default


def test_all_is_well(default):
    default("numpy", "the environment variable KERAS_BACKEND")
    code, text = report()
    assert code == 0 and "Kerata can run here" in text
    assert "Default backend: numpy (the environment variable KERAS_BACKEND)" in text
    assert all(name in text for name in config.BACKENDS) and "CPU cores" in text
    assert "h5py" in text and "optree" in text


def test_missing_default_is_a_failure_and_says_how_to_install(versions, default):
    versions(torch=None)
    default("torch", "/home/x/.keras/keras.json")
    code, text = report()
    assert code == 1 and 'pip install "kerata[torch]"' in text and "/home/x/.keras/keras.json" in text


def test_another_missing_framework_is_none(versions, default):
    versions(torch=None, onnxruntime=None)
    default("numpy", "a test")
    code, text = report()
    assert code == 0 and 'pip install "kerata[torch,onnx]"' in text


def test_too_old_is_a_failure_if_default(versions, default):
    versions(jax="0.4.9")
    default("numpy", "a test")
    code, text = report()
    assert code == 0 and "0.4.9" in text and "needs jax 0.4.20 or newer" in " ".join(text.split())
    default("jax", "a test")
    assert report()[0] == 1


def test_unknown_default(default):
    default("pytorch", "the environment variable KERAS_BACKEND")
    code, text = report()
    assert code == 1 and "no such backend" in text


def test_missing_library(monkeypatch, default):
    default("numpy", "a test")
    monkeypatch.setattr(
        doctor.metadata, "requires", lambda name: ["numpy>=1.26", "not-there>=1.0", 'x>=1; extra == "y"']
    )
    code, text = report()
    assert code == 1 and "not-there: not installed" in text and "x>=1" not in text


def test_no_framework_is_imported():
    code = (
        "import sys\nfrom kerata.cli.doctor import examine\nexamine()\n"
        "found = {'jax', 'torch', 'tensorflow', 'openvino', 'onnxruntime', 'keras'} & set(sys.modules)\n"
        "sys.exit(f'imported {found}' if found else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "KERAS_BACKEND": "numpy"},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_deep_computes(default, monkeypatch):
    default("numpy", "a test")
    monkeypatch.setattr(config, "BACKENDS", ("numpy", "torch"))
    code, text = report(deep=True)
    assert code == 0 and "numpy computes on" in text and "torch computes on" in text


def test_deep_failure_of_the_default(default, monkeypatch):
    default("numpy", "a test")
    monkeypatch.setattr(config, "BACKENDS", ("numpy",))
    monkeypatch.setattr(doctor, "PROBE", "raise RuntimeError('no device')")
    code, text = report(deep=True)
    assert code == 1 and "no device" in text
