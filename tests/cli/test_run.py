"""`kerata run`: a script sees what `python script.py` would show it, and Kerata as `keras`."""

import json
import os
import subprocess
import sys

import pytest

from kerata.cli.run import take_backend
from kerata.version import KERAS_API_VERSION


def kerata(*arguments, cwd=None, **environment):
    return subprocess.run(
        [sys.executable, "-m", "kerata", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "KERAS_BACKEND": "numpy", "TF_CPP_MIN_LOG_LEVEL": "3", **environment},
        timeout=120,
    )


@pytest.fixture
def script(tmp_path):
    def write(text, name="script.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_script_sees_its_arguments_folder_and_name(script, tmp_path):
    (tmp_path / "beside.py").write_text("value = 7\n")
    path = script(
        "import json, sys, os, beside, keras\n"
        "print(json.dumps([__name__, sys.argv, sys.path[0], beside.value, keras.__version__,"
        " os.environ['KERAS_BACKEND'], sys.modules['__main__'].__file__]))\n"
    )
    done = kerata("run", path, "-n", "4", "--backend", "torch", "--", "--backend", "mine")
    assert done.returncode == 0, done.stderr
    name, argv, first, value, version, backend, file = json.loads(done.stdout)
    assert name == "__main__" and argv == [str(path), "-n", "4", "--backend", "mine"]
    assert first == str(tmp_path) and value == 7 and version == KERAS_API_VERSION
    assert backend == "torch" and file == str(path)


def test_help_of_the_script_is_the_scripts(script):
    done = kerata("run", script("import sys; print(sys.argv[1:])"), "--help", "--version")
    assert done.stdout.strip() == "['--help', '--version']"


@pytest.mark.parametrize(
    "given, left, backend",
    [
        (["a", "--backend", "jax", "b"], ["a", "b"], "jax"),
        (["--backend=jax"], [], "jax"),
        (["--backends", "x"], ["--backends", "x"], None),
        (["--", "--backend", "x", "--"], ["--backend", "x", "--"], None),
    ],
)
def test_backend_option_is_split_off(given, left, backend):
    assert take_backend(given) == (left, backend)


def test_children_get_kerata_too(script, tmp_path):
    hidden = tmp_path / "site"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text("import builtins; builtins.was_run = True\n")
    path = script(
        "import subprocess, sys, keras\n"
        "if len(sys.argv) > 2: print(keras.layers.__name__, keras.__version__, was_run)\n"
        "else: sys.exit(subprocess.call([sys.executable, sys.argv[0], *sys.argv[1:], 'x']))\n"
    )
    done = kerata("run", path, "first", PYTHONPATH=str(hidden))
    assert done.stdout.split() == ["kerata.layers", KERAS_API_VERSION, "True"], done.stderr


def test_children_without_kerata_say_so(script):
    path = script(
        "import subprocess, sys\n"
        "code = '''\n"
        "import os, sys\n"
        "sys.path = [path for path in sys.path if not os.path.isdir(os.path.join(path, 'kerata'))]\n"
        "import keras\n"
        "'''\n"
        "sys.exit(subprocess.call([sys.executable, '-c', code]))\n"
    )
    done = kerata("run", path)
    assert done.returncode == 1 and "Kerata is not installed for" in done.stderr


def test_spawned_processes_get_kerata_too(script):
    path = script(
        "import multiprocessing as mp\n"
        "def version(_):\n    import keras\n    return keras.layers.__name__\n"
        "if __name__ == '__main__':\n"
        "    with mp.get_context('spawn').Pool(1) as pool: print(pool.map(version, [0])[0])\n"
    )
    done = kerata("run", path)
    assert done.stdout.strip() == "kerata.layers", done.stderr


def test_exit_codes_and_errors_are_the_scripts(script):
    assert kerata("run", script("import sys; sys.exit(77)")).returncode == 77
    done = kerata("run", script("def f():\n    raise KeyError('gone')\nf()\n"))
    assert done.returncode == 1
    frames = [line for line in done.stderr.splitlines() if line.startswith("  File")]
    assert len(frames) == 2 and all("script.py" in line for line in frames)
    assert done.stderr.strip().endswith("KeyError: 'gone'")
    done = kerata("run", script("x = = 1\n"))
    assert done.returncode == 1 and "SyntaxError" in done.stderr and "runpy" not in done.stderr


def test_no_such_script(tmp_path):
    done = kerata("run", tmp_path / "missing.py")
    assert done.returncode == 2 and "no script" in done.stderr


def test_module(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__main__.py").write_text("import sys, keras; print(sys.argv[1:], keras.__version__)")
    done = kerata("run", "-m", "package", "a", cwd=tmp_path)
    assert done.stdout.strip() == f"['a'] {KERAS_API_VERSION}", done.stderr


def test_script_with_tensorflow(script):
    pytest.importorskip("tensorflow")
    path = script(
        "import tensorflow as tf\nimport keras, kerata\n"
        "from tensorflow.keras import layers\nfrom tensorflow.keras.optimizers import schedules\n"
        "print(keras.layers is kerata.layers, tf.keras.layers.Dense is kerata.layers.Dense)\n"
        "print(layers is kerata.layers, schedules.CosineDecay is kerata.optimizers.schedules.CosineDecay)\n"
    )
    done = kerata("run", path, "--backend", "tensorflow")
    assert done.stdout.split()[-4:] == ["True"] * 4, done.stderr
