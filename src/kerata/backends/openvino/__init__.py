"""The OpenVINO backend: inference. Models run compiled by OpenVINO, ops on their own run in NumPy."""

from kerata.backends.numpy import *  # noqa: F403
from kerata.backends.openvino.core import *  # noqa: F403
