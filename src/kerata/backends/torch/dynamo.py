"""What `torch.compile` is told of Kerata: how to see into context variables. It's told when its tracer is imported."""

import importlib.util
import sys

from kerata.core import config
from kerata.core.slots import listeners, slots

_TRACER = "torch._dynamo"


def _tell():
    import torch

    # PyTorch has this since 2.5; before, compiled functions break where a context variable is read.
    substitute = getattr(torch.compiler, "substitute_in_graph", None)
    if substitute is None:
        return
    # Reading the configuration file isn't for tracers either.
    config.floatx()

    def hear(slot):
        for method, traced in slot.traced():
            substitute(method, skip_signature_check=True)(traced)

    for slot in slots:
        hear(slot)
    listeners.append(hear)


class _WhenImported:
    """A finder that finds the tracer as others do, and tells it right after its import."""

    def find_spec(self, name, path=None, target=None):
        if name != _TRACER:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_tell(module):
            execute(module)
            _tell()

        spec.loader.exec_module = execute_and_tell
        return spec


if _TRACER in sys.modules:
    _tell()
else:
    sys.meta_path.insert(0, _WhenImported())
