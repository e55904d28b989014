"""Where the tests of export find what they share; they're left out where ONNX isn't installed."""

import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
for folder in (HERE, HERE.parent / "ops", HERE.parent / "layers"):
    sys.path.insert(0, str(folder))

if any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxruntime")):
    collect_ignore_glob = ["test_*.py"]
