"""Time ops beside the framework's own expression of them (`natives.py`), and print the table.

    python benchmarks/ops.py --backend torch [--small] [--files elementwise reduction] [--only softmax] [--least 1.1] [--json rows.json]

By default on a million elements: the ratio. With `--small` on the few elements of the samples: nanoseconds above the native call, which is
what dispatch costs. An op is called eagerly, as its native rival is; both in turn, and the fastest of several rounds counts: a
busy machine only adds. Processor time is counted, with one thread. Results are compared first: where they differ, the
rival has another meaning, and the row says so. Ops without a rival are listed at the end.
"""

import argparse
import functools
import inspect
import json
import os
import pathlib
import sys
import time

for _name in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import natives
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "ops"))

SIDE = 1000  # a million elements as a matrix
LEAST, MOST = 5, 40  # rounds
ENOUGH = 0.25  # seconds for an op's rounds, once there are enough of them
AGAIN = 2  # times that a ratio above the bound is measured anew, the fastest of all rounds counting
LONG = 0.3  # seconds of a call that is timed twice only
CALLS = 300  # of small ones, a round


def rival(backend, name):
    """The native expression of an op, or None."""
    table = natives.TABLES[backend]()
    last = name.rpartition(".")[2]
    if name in table:
        return table[name]
    for module in natives.modules(backend):
        found = getattr(module, last, None)
        if callable(found) and not inspect.isclass(found):
            return found
    return None


def enlarged(array, rank):
    """A sample's tensor grown to a million elements, the same kind of values in it; scalars stay, vectors beside matrices are rows."""
    if array.ndim == 0 or not array.size:
        return array
    values = np.resize(array, SIDE if array.ndim < rank else SIDE * SIDE).astype(narrow(array.dtype))
    return values if array.ndim == 1 else values.reshape(SIDE, -1)


def narrow(dtype):
    return {"float64": "float32", "int64": "int32", "complex128": "complex64"}.get(dtype.name, dtype)


def mapped(change, value):
    """`value` with each array in it changed."""
    if isinstance(value, np.ndarray):
        return change(value)
    return (
        [change(v) for v in value] if isinstance(value, list) and value and isinstance(value[0], np.ndarray) else value
    )


def calls(b, case, function, native, small):
    """The two calls, of an op and of its rival, on the same native tensors."""
    from test_samples import tensors

    given = None if small else natives.inputs().get(case.op)
    if given is not None:
        arguments = [mapped(b.convert, v) for v in given]
        ours = functools.partial(function, *(arguments[0] if case.op == "meshgrid" else arguments))
        return ours, functools.partial(compiled(b, native, arguments), *arguments)
    rank = max([a.ndim for a in tensors(case)], default=0)
    change = (lambda a: b.convert(a.astype(narrow(a.dtype)))) if small else (lambda a: b.convert(enlarged(a, rank)))
    named = {k: mapped(change, v) for k, v in case.arguments.items()}
    values = list(named.values())
    ours = functools.partial(case.call, function, **named) if case.call else by_position(function, named)
    if case.op == "einsum":
        values = [values[0], *values[1]]
    return ours, functools.partial(compiled(b, native, values), *values)


def by_position(function, named):
    """The op with its leading arguments by position, as one writes it."""
    parameters = list(inspect.signature(function).parameters)
    count = next((n for n, (a, p) in enumerate(zip(named, parameters)) if a != p), len(named))
    values = list(named.values())
    return functools.partial(function, *values[:count], **dict(list(named.items())[count:]))


def compiled(b, native, arguments):
    """On JAX an expression of several calls is compiled, the arguments that are no tensors being constants."""
    if b.NAME != "jax" or getattr(native, "__module__", "") != natives.__name__:
        return native
    import jax

    def is_tensors(v):
        return b.is_tensor(v) or (isinstance(v, list) and bool(v) and b.is_tensor(v[0]))

    at = [n for n, v in enumerate(arguments) if not is_tensors(v)]
    fixed = {n: arguments[n] for n in at}
    jitted = jax.jit(lambda *tensors: native(*(fixed.get(n, t) for n, t in enumerate(tensors))))
    return lambda *values: jitted(*(None if n in fixed else v for n, v in enumerate(values)))


def flat(b, result):
    if isinstance(result, (list, tuple)):
        return [r for part in result for r in flat(b, part)]
    return [np.asarray(b.to_numpy(result) if b.is_tensor(result) else result)]


def alike(b, ours, theirs):
    """Whether both results say the same (dtypes of another width, and lists of another length at the end, are let pass)."""
    for a, t in zip(flat(b, ours), flat(b, theirs)):
        if a.size != t.size:
            return False
        a, t = a.reshape(-1), t.reshape(-1)
        wide = "complex128" if "c" in (a.dtype.kind, t.dtype.kind) else "float64"
        a, t = a.astype(wide), t.astype(wide)
        if not np.allclose(
            a, t, 1e-2, 1e-3 * max(1.0, float(np.nanmax(np.abs(t), initial=0, where=np.isfinite(t)))), equal_nan=True
        ):
            return False
    return True


def timed(pair, ready, small):
    """Seconds of the fastest round of each, taken in turn."""
    least, count = [float("inf")] * 2, CALLS if small else 1
    begin = time.perf_counter()
    for round_ in range(MOST):
        for which, call in enumerate(pair):
            # Its memory goes back first, so that both find the same. Processor time: one thread, and others may be at work.
            result = None
            start = time.process_time()
            for _ in range(count):
                result = call()
            ready(result)
            least[which] = min(least[which], (time.process_time() - start) / count)
        if (round_ and min(least) * count > LONG) or (round_ >= LEAST and time.perf_counter() - begin > ENOUGH):
            break
    return least


def measured(b, case, function, native, small):
    """`(ours, theirs, whether they agree)` in seconds, or a reason why not."""
    try:
        ours, theirs = calls(b, case, function, native, small)
        one = ours()
    except Exception as error:
        return f"op: {type(error).__name__}: {str(error)[:60]}"
    try:
        other = theirs()
    except Exception as error:
        return f"native: {type(error).__name__}: {str(error)[:60]}"
    ready = getattr(b, "block", lambda x: x)
    ready(one), ready(other)
    least = timed((ours, theirs), ready, small)
    for _ in range(AGAIN):
        if least[0] <= 1.1 * least[1] or (small and least[0] - least[1] < 1e-6):
            break
        least = list(map(min, least, timed((ours, theirs), ready, small)))
    return *least, alike(b, one, other)


def wanted(args):
    """The samples of the ops that are asked for."""
    from samples import SAMPLES
    from test_samples import function

    for case in SAMPLES:
        file = function(case).__module__.rpartition(".")[2]
        if (not args.only or case.op in args.only) and (not args.files or file in args.files):
            yield case


def rows(b, cases, small):
    """Rows `(name, ours, theirs, agree)`, and reasons for the ops without one."""
    from test_samples import function, tensors

    done, without = {}, {}
    for case in cases:
        name = case.op
        if name in done:
            continue
        if name in natives.WITHOUT:
            without[name] = natives.WITHOUT[name]
            continue
        native = rival(b.NAME, name)
        if native is None:
            without[name] = "no expression in the framework"
            continue
        made_up = not small and name in natives.inputs()
        result = (
            measured(b, case, function(case), native, small)
            if made_up or any(a.size for a in tensors(case)) or not tensors(case)
            else "empty"
        )
        if isinstance(result, str):
            without[name] = result
        else:
            without.pop(name, None)
            done[name] = result
            print(f"{name} {result[0] / result[1]:.2f}", file=sys.stderr, flush=True)
    return [(name, *result) for name, result in done.items()], without


def printed(backend, table, without, least, small):
    key = (lambda r: r[1] - r[2]) if small else (lambda r: r[1] / r[2])
    unit, scale = ("us", 1e6) if small else ("ms", 1e3)
    print(f"| op | op {unit} | native {unit} | ratio |\n| --- | --- | --- | --- |")
    for row in sorted(table, key=key, reverse=True):
        name, ours, theirs, agree = row
        if ours / theirs >= least:
            note = "" if agree else " (the native result differs)"
            print(f"| `{name}`{note} | {scale * ours:.3f} | {scale * theirs:.3f} | {ours / theirs:.2f} |")
    if small:
        above = sorted(1e6 * (r[1] - r[2]) for r in table)
        middle, most = above[len(above) // 2], above[len(above) * 9 // 10]
        print(
            f"\n{backend}: {len(table)} ops, us above the native call: median {middle:.2f}, nine of ten below {most:.2f}."
        )
    else:
        print(
            f"\n{backend}: {sum(r[1] <= 1.1 * r[2] for r in table)} of {len(table)} ops within 1.1 times the native expression."
        )
    reasons = {}
    for name, reason in without.items():
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        print(f"{reason}: {', '.join(names)}")


def merged(files):
    """One table of several `--json` files: the ratio on each backend, the op's own milliseconds in brackets."""
    results = [json.loads(pathlib.Path(f).read_text()) for f in files]
    columns = {r["backend"]: {name: (ours, theirs, agree) for name, ours, theirs, agree in r["rows"]} for r in results}
    print(f"| op | {' | '.join(columns)} |\n| --- |{' --- |' * len(columns)}")
    for name in sorted({name for rows in columns.values() for name in rows}):
        print(f"| `{name}` | {' | '.join(_cell(rows.get(name)) for rows in columns.values())} |")


def _cell(row):
    return "–" if row is None else f"{row[0] / row[1]:.2f} ({1e3 * row[0]:.2f})" + ("" if row[2] else " *")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="torch", choices=("jax", "torch", "tensorflow", "numpy"))
    parser.add_argument("--small", action="store_true", help="a few elements: what dispatch costs")
    parser.add_argument("--only", nargs="*", help="names of ops")
    parser.add_argument("--files", nargs="*", help="files of kerata.ops that ops are declared in")
    parser.add_argument("--least", type=float, default=0.0, help="show ratios from this one on")
    parser.add_argument("--json", help="file for the rows")
    parser.add_argument("--merge", nargs="*", help="print one table of files written with --json")
    args = parser.parse_args()
    if args.merge:
        return merged(args.merge)
    os.environ["KERAS_BACKEND"] = args.backend
    from kerata import backends

    b = backends.load(args.backend)
    if args.backend == "torch":
        import torch

        torch.set_num_threads(1)
    with backends.use_backend(b), np.errstate(all="ignore"):
        table, without = rows(b, wanted(args), args.small)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"backend": args.backend, "rows": table, "without": without}))
    printed(args.backend, table, without, args.least, args.small)


if __name__ == "__main__":
    main()
