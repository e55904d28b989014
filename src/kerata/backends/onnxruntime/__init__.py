"""The ONNX Runtime backend: inference. Models run in an ONNX Runtime session, ops on their own run in NumPy."""

from kerata.backends.numpy import *  # noqa: F403
from kerata.backends.onnxruntime.core import *  # noqa: F403
