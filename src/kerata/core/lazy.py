"""Package faces that load on first use, so that `import kerata` costs milliseconds."""

import importlib
import sys


def attach(package, names, submodules=()):
    """Make the `__getattr__`, `__dir__` and `__all__` of a lazy package face.

    Args:
        package: `__name__` of the package.
        names: `{"submodule": ["Name", ...]}`; a submodule may be dotted (`"a.b"`), relative to
            the package, or absolute when it begins with `kerata.`. `"Name=other"` exposes
            `other` of that submodule under `Name`.
        submodules: submodules that are themselves part of the face.

    Returns:
        `(__getattr__, __dir__, __all__)`.
    """
    origin = {}
    for module, exported in names.items():
        for name in exported:
            public, _, private = name.partition("=")
            origin[public] = (module, private or public)
    submodules = frozenset(submodules)
    everything = sorted({*origin, *submodules})

    def __getattr__(name):
        if name in origin:
            module, attribute = origin[name]
            path = module if module.startswith("kerata.") else f"{package}.{module}"
            value = getattr(importlib.import_module(path), attribute)
        elif name in submodules:
            value = importlib.import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        # Cached on the package: the next access is a plain attribute.
        setattr(sys.modules[package], name, value)
        return value

    def __dir__():
        return everything

    return __getattr__, __dir__, list(everything)
