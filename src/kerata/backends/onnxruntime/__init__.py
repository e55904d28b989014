"""The ONNX Runtime backend: inference. Models run in a session of it, ops on their own in NumPy."""

from kerata.backends.numpy import *  # noqa: F403
from kerata.backends.onnxruntime.core import *  # noqa: F403
