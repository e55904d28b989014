"""Every example in a docstring runs and shows what it says, on JAX."""

import doctest
import importlib
import re
from pathlib import Path

import numpy as np
import pytest

import kerata

SOURCE = Path(kerata.__file__).parent
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules_with_examples():
    for file in sorted(SOURCE.rglob("*.py")):
        if ">>> " in file.read_text(encoding="utf-8"):
            parts = file.relative_to(SOURCE).with_suffix("").parts
            yield ".".join(["kerata", *(part for part in parts if part != "__init__")])


class Checker(doctest.OutputChecker):
    """Compares values: `Array([1., 2.], dtype=float32)` and `[1., 2.]` are the same answer."""

    def check_output(self, want, got, optionflags):
        return super().check_output(_values(want), _values(got), optionflags)


def _values(text):
    text = re.sub(
        r"\b(?:Array|array|tensor)\((.*?)(?:, dtype=[\w.]+)?(?:, weak_type=True)?\)", r"\1", text, flags=re.S
    )
    text = re.sub(r"np\.\w+\(([^()]*)\)", r"\1", text)
    return re.sub(r"\s+([\],])", r"\1", text)


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    given = {"kerata": kerata, "keras": kerata, "ops": kerata.ops, "np": np}
    runner = doctest.DocTestRunner(Checker(), optionflags=OPTIONS, verbose=False)
    report = []
    with kerata.config.use_backend("jax"):
        for example in doctest.DocTestFinder(exclude_empty=True).find(module, name, extraglobs=given):
            # (Collecting garbage takes a second in a process that has run so many tests.)
            kerata.utils.clear_session(free_memory=False)
            runner.run(example, out=report.append, clear_globs=True)
    assert runner.failures == 0, "".join(report)
