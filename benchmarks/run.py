"""Measure Kerata beside hand-written code in the same framework, and print the table.

    python benchmarks/run.py --shared ../shared/bench [--quick] [--backends jax torch] [--cases dispatch calls train]

Every figure is a ratio taken in one run, both sides in turn, the median of several rounds, on one core. The scripts that
measure are those of `--shared`.
"""

import argparse
import json
import os
import subprocess
import sys
import time

TRAINING = ("jax", "torch", "tensorflow")
# What is measured: (group, script, arguments, backends).
MEASUREMENTS = [
    ("import", "import_time.py", [], ("jax", "torch", "tensorflow", "numpy")),
    ("dispatch", "op_dispatch.py", [], (*TRAINING, "numpy")),
    ("calls", "layer_call.py", [], (*TRAINING, "openvino")),
    ("train", "train.py", ["--case", "mlp"], TRAINING),
    ("train", "train.py", ["--case", "cnn"], TRAINING),
    ("train", "train.py", ["--case", "transformer"], TRAINING),
    ("train", "train.py", ["--case", "lstm"], TRAINING),
]


def measure(shared, script, arguments, backend, rounds, implementation):
    """Rows of one script on one backend."""
    command = [sys.executable, os.path.join(shared, script), "--impl", implementation, "--backend", backend]
    command += ["--clock", "cpu", "--rounds", str(rounds), *arguments]
    if script == "train.py" and backend == "torch":
        # torch.compile takes minutes on two cores, and the script's eager variants are the faster ones there.
        command += ["--no-compile"]
    # The script's OpenVINO model computes in whatever precision the CPU likes best; so must ours, to be compared.
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", KERATA_OPENVINO_PRECISION="auto")
    run = subprocess.run(command, text=True, capture_output=True, env=env)
    rows = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    if run.returncode != 0:
        print(f"{script} {' '.join(arguments)} on {backend} failed:\n{run.stderr[-800:]}", file=sys.stderr)
    return rows


def build_time(backends):
    """Seconds of CPU to make a 200-layer net in a fresh process, framework import aside."""
    code = (
        "import sys, time, importlib; name = sys.argv[1]; importlib.import_module(name); import kerata as k;"
        "k.config.set_backend(name); t = time.process_time(); x = i = k.Input((32,));\n"
        "for _ in range(200): x = k.layers.Dense(32, 'relu')(x)\n"
        "m = k.Model(i, x); print(time.process_time() - t)"
    )
    for name in backends:
        env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
        run = subprocess.run([sys.executable, "-c", code, name], text=True, capture_output=True, env=env)
        if run.returncode == 0:
            yield {
                "case": "build",
                "backend": name,
                "metric": "200 Dense layers",
                "value": float(run.stdout.split()[-1]),
                "unit": "s",
            }


def table(rows):
    """The rows as Markdown."""
    lines = ["| case | what | backend | Kerata | native | ratio |", "| --- | --- | --- | ---: | ---: | ---: |"]
    for r in rows:
        native = "" if r.get("native_value") is None else f"{r['native_value']:g}"
        ratio = "" if r.get("ratio") is None else f"{r['ratio']:.2f}"
        value = "refused" if r["value"] is None else f"{r['value']:g} {r['unit']}"
        lines.append(f"| {r['case']} | {r['metric']} | {r['backend']} | {value} | {native} | {ratio} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", required=True, help="folder of the measuring scripts")
    parser.add_argument("--backends", nargs="*", default=[*TRAINING, "numpy", "openvino"])
    parser.add_argument("--cases", nargs="*", default=["import", "dispatch", "calls", "build", "train"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--impl", default="kerata", help="module to measure; `keras` for comparison")
    parser.add_argument("--out", help="write the rows here, one JSON object a line")
    options = parser.parse_args()
    rows, start = [], time.time()
    for group, script, arguments, backends in MEASUREMENTS:
        if group not in options.cases:
            continue
        for backend in backends:
            if backend in options.backends:
                rows += measure(options.shared, script, arguments, backend, options.rounds, options.impl)
                print(f"{time.time() - start:5.0f} s  {script} {' '.join(arguments)} {backend}", file=sys.stderr)
    if "build" in options.cases and options.impl == "kerata":
        rows += build_time([b for b in options.backends if b in (*TRAINING, "numpy")])
    print(table(rows))
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
