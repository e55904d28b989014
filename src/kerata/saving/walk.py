"""Which objects of a model have a place in a file, and under which path.

The order and the names are those of Keras's files, found by looking at them:

- attributes in alphabetical order, public ones first; of a Functional or Sequential model `layers` before
  all others; an object found again under another name is left out;
- in a list, tuple or dict, objects go by the snake-case name of their class, numbered when they repeat
  (`dense`, `dense_1`), and lists within go by `container`. Sets have no order and are left out.
"""

from functools import cache, lru_cache

from kerata.core import registry
from kerata.core.names import to_snake_case

# Kinds of objects whose attributes are looked through.
_KINDS = frozenset({"Layer", "Operation", "Optimizer", "Metric", "Loss"})
# Kinds that have variables in files. Metrics' and seeds' values are of the run, not of the model.
_STORED_KINDS = frozenset({"Layer", "Optimizer"})
_LAYERS_FIRST = frozenset({"Functional", "Sequential"})
# Of what the bases keep for themselves, what leads on.
_FOLLOWED = frozenset({"layers", "optimizer"})
_NOT_FOLLOWED = frozenset(
    {"_functional", "_modules", "_parameters", "_buffers", "_teacher_feature_extractor", "_student_feature_extractor"}
)


def walk(root, seeds=False):
    """`[(path, object), ...]`, the root first, under the empty path.

    Args:
        root: model, layer or optimizer.
        seeds: also give the seed generators, which Keras's files leave out.
    """
    found = []
    _visit(root, "", set(), found, seeds)
    return found


def is_stored(obj):
    """Whether an object's own variables go into files."""
    method = getattr(type(obj), "save_own_variables", None)
    if method is None:
        return False
    return bool(kinds(type(obj)) & _STORED_KINDS) or not registry.is_library(method.__module__)


@lru_cache(maxsize=4096)
def kinds(cls):
    """Names of the library's bases that a class has."""
    return frozenset(base.__name__ for base in cls.__mro__ if registry.is_library(base.__module__))


def _visit(obj, path, visited, found, seeds):
    if id(obj) in visited:
        return
    visited.add(id(obj))
    found.append((path, obj))
    for name, value in _attributes(obj):
        _follow(value, _join(path, name), visited, found, seeds)


def _follow(value, path, visited, found, seeds):
    if _is_walked(value, seeds):
        _visit(value, path, visited, found, seeds)
    elif isinstance(value, (list, tuple, dict)):
        _visit_items(value, path, visited, found, seeds)


def _visit_items(items, path, visited, found, seeds):
    counts = {}
    for item in items.values() if isinstance(items, dict) else items:
        is_container = isinstance(item, (list, tuple, dict))
        if not is_container and not _is_walked(item, seeds):
            continue
        name = "container" if is_container else to_snake_case(type(item).__name__)
        number = counts.get(name, 0)
        counts[name] = number + 1
        _follow(item, _join(path, f"{name}_{number}" if number else name), visited, found, seeds)


def _attributes(obj):
    own = kinds(type(obj))
    skipped = _kept_by_bases(own)
    # Not `dir(obj)`: there a torch module also lists its submodules under names of its own.
    names = {*vars(obj), *dir(type(obj))}
    names = [n for n in names if not n.startswith("__") and (n in _FOLLOWED or n not in skipped)]
    layers_first = bool(own & _LAYERS_FIRST)
    names.sort(key=lambda n: (not (layers_first and n == "layers"), n.startswith("_"), n))
    for name in names:
        try:
            value = getattr(obj, name)
        except Exception:  # a property of the user's that isn't ready; it isn't state then
            continue
        yield name, value


def _is_walked(value, seeds):
    own = kinds(type(value))
    return bool(own & _KINDS) or (seeds and "SeedGenerator" in own)


@cache
def _kept_by_bases(own):
    """Attributes that the library's bases have, whatever the class: not the model's structure."""
    names = set(_NOT_FOLLOWED)
    if "Layer" in own:
        from kerata.layers import Layer

        names |= {*dir(Layer), *vars(Layer(name="bare"))}
    if "Model" in own:
        from kerata.models import Model

        names |= {*dir(Model), *vars(Model(name="bare"))}
    if "Sequential" in own:
        from kerata.models import Sequential

        names |= set(vars(Sequential(name="bare")))
    return frozenset(names)


def _join(path, name):
    return f"{path}/{name}" if path else name
