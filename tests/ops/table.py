"""Writes `docs/ops.md`, the table of all ops, from their declarations and samples: `python tests/ops/table.py`."""

import ast
import functools
import itertools
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs" / "ops.md"
BACKENDS = ("numpy", "jax", "torch", "tensorflow")
HEAD = """# Ops

<!-- Written by `python tests/ops/table.py`; a test holds it to the code. -->

Every op of `kerata.ops`. A *primitive* has a shape rule and a native function on each backend; a *composite* is written in other ops,
and a backend named in its row has a native function that is called instead. *ONNX*: whether it can be exported; *gradient*: whether its
derivative is among what the tests check against finite differences (an op without one is piecewise constant, or gives no floats). The
source is what the op is held to.

Where a framework can't do something that the table promises (a length that depends on values under `jax.jit`, complex numbers in ONNX),
the op raises an error that says so.

| op | kind | native on | ONNX | gradient | source |
| --- | --- | --- | --- | --- | --- |
"""


# Ops on functions have no samples: (ONNX, gradient), as tests of their own show.
ON_FUNCTIONS = {
    "associative_scan": (True, True),
    "cond": (True, True),
    "custom_gradient": (True, True),
    "fori_loop": (True, False),
    "map": (True, True),
    "scan": (True, True),
    "switch": (True, True),
    "vectorize": (False, True),
    "vectorized_map": (True, True),
    "while_loop": (True, False),
}


def rows():
    from kerata import ops

    faces = {"core", "image", "linalg", "nn", "numpy"}
    names = [n for n in ops.__all__ if n not in faces] + [f"image.{n}" for n in ops.image.__all__]
    return [row(name) for name in names]


def row(name):
    function = looked_up(name)
    op = getattr(function, "op", None)
    primitive = op is not None and not op.is_composite
    last = name.rpartition(".")[2]
    wanted = {last, f"{last}_with_logits", *((op.native, op.name) if op is not None else ())} - {""}
    native = [b for b in BACKENDS if wanted & defined(b)]
    where = "all" if len(native) == len(BACKENDS) else ", ".join(native) or "–"
    cells = (
        f"`{name}`",
        "primitive" if primitive else "composite",
        where,
        "yes" if exported(name) else "–",
        "yes" if differentiated(name) else "–",
        source(function),
    )
    return "| " + " | ".join(cells) + " |"


def looked_up(name):
    from kerata import ops

    return functools.reduce(getattr, name.split("."), ops)


@functools.cache
def defined(backend):
    """Names of the natives in a backend's files, read without importing its framework."""
    names = set()
    for path in (ROOT / "src/kerata/backends" / backend).glob("*.py"):
        names |= _assigned(ast.parse(path.read_text()).body)
    return names


def _assigned(body):
    """Names of functions and variables at the top of a file, under an `if` too."""
    names = set()
    for node in body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(t.id for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.If):
            names |= _assigned(node.body)
    return names


@functools.cache
def samples():
    from samples import SAMPLES

    return {name: list(group) for name, group in itertools.groupby(sorted(SAMPLES, key=lambda s: s.op), lambda s: s.op)}


def symbolic(case, trace):
    """The case called on symbols, within a trace for ONNX if asked to."""
    from test_samples import call, narrow, tensors

    from kerata.graph.onnx import traced
    from kerata.graph.tensor import KerasTensor

    inputs = [KerasTensor(a.shape, narrow(a).dtype.name) for a in map(narrow, tensors(case))]

    def function(*given):
        rest = iter(given)
        return call(case, lambda a: next(rest))

    return traced(function, inputs, graph=True) if trace else function(*inputs)


def exported(name):
    """Whether one of the samples has an ONNX form."""
    from kerata.graph.onnx import NoOnnxForm, emit

    if name in ON_FUNCTIONS:
        return ON_FUNCTIONS[name][0]
    for case in samples().get(name, ())[:3]:
        try:
            emit(symbolic(case, trace=True))
            return True
        except NoOnnxForm:
            continue
    return False


def differentiated(name):
    """Whether one of the samples has its gradient checked."""
    if name in ON_FUNCTIONS:
        return ON_FUNCTIONS[name][1]
    from test_samples import differentiable

    from kerata.core import dtypes

    return any(
        any(hasattr(r, "dtype") and dtypes.is_float(r.dtype) for r in symbolic(case, trace=False))
        for case in samples().get(name, ())
        if differentiable(case)
    )


def source(function):
    """Where the docstring says the definition is from: a function in backticks, or a paper."""
    text = re.sub(r"\s+", " ", (function.__doc__ or "").split(">>>")[0])
    stated = re.search(r"Source: ((?:et al\.|\w\.\w|[^.])+)", text)
    if stated:
        return stated[1].strip()
    cited = re.search(r"\(((?:`[\w.]+`)|(?:[A-Z][^()]*\b(?:19|20)\d\d[^()]*))\)", text)
    return cited[1] if cited else "its definition"


def page():
    from kerata import backends

    with backends.use_backend("numpy"):
        return HEAD + "\n".join(rows()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
