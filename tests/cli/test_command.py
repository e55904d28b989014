"""The `kerata` command itself."""

import os
import subprocess
import sys
import time

from kerata.version import KERAS_API_VERSION, __version__


def kerata(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "kerata", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "KERAS_BACKEND": "numpy", "NO_COLOR": "1"},
        timeout=60,
    )


def test_version():
    done = kerata("--version")
    assert done.returncode == 0
    assert done.stdout.strip() == f"Kerata {__version__} (API of Keras {KERAS_API_VERSION})"


def test_help_names_the_commands_and_imports_little():
    start = time.perf_counter()
    done = kerata("--help")
    assert done.returncode == 0 and all(name in done.stdout for name in ("demo", "doctor", "run"))
    # 0.2 s here; a framework's import, the thing to be kept out, takes from 0.7 s.
    assert time.perf_counter() - start < 5


def test_unknown_command():
    done = kerata("dmeo")
    assert done.returncode == 2 and "dmeo" in done.stderr
