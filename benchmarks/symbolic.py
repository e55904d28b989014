"""Time calls of ops on symbolic tensors, a primitive in them, and print the slowest.

    python benchmarks/symbolic.py [--only softmax median] [--most 20] [--first]

Every op is called on `KerasTensor`s made of its first sample, as when a Functional model is put together: no backend takes part. The bound
is 15 microseconds a primitive that the op is made of. Processor time of the fastest of several rounds. What comes out of a kind of call is
remembered, so it's the second call that is timed; with `--first` all is forgotten before each.
"""

import argparse
import os
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "ops"))
os.environ.setdefault("KERAS_BACKEND", "numpy")

BOUND = 15.0  # microseconds a primitive
ROUNDS, CALLS = 20, 20


def symbols(case):
    """The arguments with a symbol in the place of each tensor."""
    from test_samples import is_tensor, is_tensors, narrow

    from kerata.graph.tensor import KerasTensor

    def symbol(a):
        return KerasTensor(a.shape, narrow(a).dtype.name)

    return {
        k: symbol(v) if is_tensor(v) else [symbol(t) for t in v] if is_tensors(v) else v
        for k, v in case.arguments.items()
    }


def primitives(call):
    """How many primitives a traced call records, at least one."""
    from kerata.graph.trace import Trace

    with Trace(dynamic=True) as trace:
        call()
        return max(len(trace.recorded), 1)


def measured(case, first):
    """Microseconds a call, and of how many primitives it is made; None for what has no symbolic form."""
    from test_samples import function

    from kerata.ops.declare import forget_forms

    f, arguments = function(case), symbols(case)

    def call():
        return case.call(f, **arguments) if case.call else f(**arguments)

    try:
        call()
    except ValueError:
        return None
    least = float("inf")
    for _ in range(ROUNDS):
        if first:
            forget_forms()
        start = time.process_time()
        for _ in range(1 if first else CALLS):
            call()
        least = min(least, (time.process_time() - start) / (1 if first else CALLS))
    return 1e6 * least, primitives(call)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--most", type=int, default=20, help="rows to print")
    parser.add_argument("--first", action="store_true", help="time first calls")
    args = parser.parse_args()
    from samples import SAMPLES
    from test_samples import tensors

    rows = {}
    for case in SAMPLES:
        if case.op in rows or not tensors(case) or (args.only and case.op not in args.only):
            continue
        result = measured(case, args.first)
        if result is not None:
            rows[case.op] = result
    ordered = sorted(rows.items(), key=lambda r: -r[1][0] / r[1][1])
    print("| op | us a call | primitives | us a primitive |\n| --- | --- | --- | --- |")
    for name, (took, count) in ordered[: args.most]:
        print(f"| `{name}` | {took:.1f} | {count} | {took / count:.1f} |")
    each = np.array([took / count for took, count in rows.values()])
    print(
        f"\n{(each <= BOUND).sum()} of {len(each)} ops within {BOUND:.0f} us a primitive; "
        f"median {np.median(each):.1f}, nine of ten below {np.percentile(each, 90):.1f}."
    )


if __name__ == "__main__":
    main()
