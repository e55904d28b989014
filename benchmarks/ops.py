"""Time ops on a million elements beside the framework's own function of that name, and print the table.

    python benchmarks/ops.py --backend torch [--only softmax median] [--least 1.1]

An op is called eagerly, as its native rival is; both in turn, and the fastest of several rounds counts: a busy machine only adds. Give
the frameworks one thread each. Decompositions are left out: they are the framework's. Ops whose inputs can't be made up from their
sample, or whose framework has no function of that name, are listed at the end.
"""

import argparse
import functools
import inspect
import os
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "ops"))

SIDE = 1000  # a million elements as a matrix
ROUNDS = 5
LONG = 0.2  # seconds of a call that is timed once
# Minutes for a matrix of a million elements, and nothing but the native call.
LEFT_OUT = {
    "svd", "eig", "eigh", "qr", "det", "slogdet", "logdet", "inv", "pinv", "solve", "solve_triangular", "lstsq", "cholesky",
    "cholesky_inverse", "matrix_rank", "lu_factor", "ctc_decode", "kron", "outer", "cdist", "image.elastic_transform",
}  # fmt: skip
# Natives that are called otherwise than the op.
OTHER_NAMES = {
    "torch": {"concatenate": "cat", "power": "pow", "transpose": "permute", "array": "clone", "expand_dims": "unsqueeze", "nanstd": None},
    "jax": {},
    "tensorflow": {},
    "numpy": {},
}  # fmt: skip


def rivals(backend):
    """Modules in which a native function of an op's name is looked for, nearest first."""
    if backend == "torch":
        import torch

        return [torch, torch.nn.functional, torch.special, torch.linalg]
    if backend == "jax":
        import jax

        return [jax.numpy, jax.nn, jax.lax, jax.scipy.special, jax.numpy.linalg]
    if backend == "tensorflow":
        import tensorflow as tf

        return [tf.math, tf.nn, tf, tf.linalg, tf.image]
    import scipy.special

    return [np, scipy.special, np.linalg]


def rival(backend, name):
    wanted = OTHER_NAMES[backend].get(name, name)
    if wanted is None:
        return None
    for module in rivals(backend):
        found = getattr(module, wanted, None)
        if callable(found) and not inspect.isclass(found):
            return found
    return None


def enlarged(array):
    """A sample's tensor grown to a million elements, the same kind of values in it; vectors and scalars stay small."""
    if array.ndim == 0 or not array.size:
        return array
    values = np.resize(array, SIDE * SIDE).astype(narrow(array.dtype))
    if array.ndim == 1:
        return values
    return values.reshape(SIDE, -1)


def narrow(dtype):
    return {"float64": "float32", "int64": "int32"}.get(dtype.name, dtype)


def best(call, ready):
    """Seconds of the fastest of several rounds."""
    least = float("inf")
    for _ in range(ROUNDS + 1):
        # Time on the processor: one thread, and others may be at work.
        start = time.process_time()
        ready(call())
        least = min(least, time.process_time() - start)
        if least > LONG:
            break
    return least


def measured(b, case, function, native):
    """`(op, rival)` in seconds, or a reason why not."""
    from test_samples import is_tensor, is_tensors

    arguments = []
    for value in case.arguments.values():
        if is_tensors(value):
            arguments.append([b.convert(enlarged(v)) for v in value])
        else:
            arguments.append(b.convert(enlarged(value)) if is_tensor(value) else value)
    tensors = [a for a in arguments if b.is_tensor(a) or isinstance(a, list)]
    ready = b.block if hasattr(b, "block") else (lambda x: x)
    ops_call = functools.partial(function, *arguments)
    theirs = functools.partial(native, *(arguments if len(tensors) < len(arguments) else tensors))
    try:
        ours = best(ops_call, ready)
    except Exception as error:
        return f"op: {type(error).__name__}"
    try:
        other = best(theirs, ready)
    except Exception as error:
        return f"native: {type(error).__name__}"
    # Again, the other way round: whoever is second finds the caches warm.
    return min(ours, best(ops_call, ready)), min(other, best(theirs, ready))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--least", type=float, default=0.0, help="show ratios from this one on")
    args = parser.parse_args()
    os.environ["KERAS_BACKEND"] = args.backend
    from samples import SAMPLES
    from test_samples import function, tensors

    from kerata import backends

    b, rows, without, done = backends.load(args.backend), [], {}, set()
    with backends.use_backend(b), np.errstate(all="ignore"):
        for case in SAMPLES:
            name = case.op
            if name in done or name in LEFT_OUT or (args.only and name not in args.only):
                continue
            native = rival(args.backend, name.rpartition(".")[2])
            if native is None:
                without[name] = "no function of that name"
                continue
            # The first of its samples that can be made large.
            result = measured(b, case, function(case), native) if any(a.size for a in tensors(case)) else "empty"
            if isinstance(result, str):
                without[name] = result
                continue
            done.add(name)
            rows.append((result[0] / result[1], name, *result))
            print(f"{name} {result[0] / result[1]:.2f}", file=sys.stderr, flush=True)
    print("| op | op ms | native ms | ratio |\n| --- | --- | --- | --- |")
    for ratio, name, ours, theirs in sorted(rows, reverse=True):
        if ratio >= args.least:
            print(f"| `{name}` | {1e3 * ours:.3f} | {1e3 * theirs:.3f} | {ratio:.2f} |")
    print(
        f"\n{args.backend}: {sum(r[0] <= 1.1 for r in rows)} of {len(rows)} ops within 1.1 times the native function."
    )
    reasons = {}
    for name, reason in without.items():
        if name not in done:
            reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        print(f"{reason}: {', '.join(names)}")


if __name__ == "__main__":
    main()
