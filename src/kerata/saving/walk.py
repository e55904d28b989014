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


def walk(root, seeds=False, known=()):
    """`[(path, object), ...]`, the root first, under the empty path.

    Args:
        root: model, layer or optimizer.
        seeds: also give the seed generators, which Keras's files leave out.
        known: paths of a file: of an attribute's several names (a property may be one), one that the file has is taken.
    """
    return _Walk(seeds, known).of(root)


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


class _Walk:
    """One walk: what has been found, and the containers that it is within."""

    def __init__(self, seeds, known):
        self.seeds = seeds
        self.known = {"/".join(parts[:n]) for parts in (p.split("/") for p in known) for n in range(1, len(parts) + 1)}
        self.visited, self.found, self.within = set(), [], []

    def of(self, root):
        self.visit(root, "")
        return self.found

    def visit(self, obj, path):
        if id(obj) in self.visited:
            return
        self.visited.add(id(obj))
        self.found.append((path, obj))
        attributes = list(_attributes(obj))
        for name, value in attributes:
            if self.known and self.is_walked(value):
                names = [n for n, v in attributes if v is value]
                name = next((n for n in names if _join(path, n) in self.known), name)
            self.follow(value, _join(path, name))

    def follow(self, value, path):
        if self.is_walked(value):
            self.visit(value, path)
        elif isinstance(value, (list, tuple, dict)) and not any(value is outer for outer in self.within):
            # (A list may hold itself.)
            self.within.append(value)
            self.visit_items(value, path)
            self.within.pop()

    def visit_items(self, items, path):
        counts = {}
        for item in items.values() if isinstance(items, dict) else items:
            is_container = isinstance(item, (list, tuple, dict))
            if not is_container and not self.is_walked(item):
                continue
            name = "container" if is_container else to_snake_case(type(item).__name__)
            number = counts.get(name, 0)
            counts[name] = number + 1
            self.follow(item, _join(path, f"{name}_{number}" if number else name))

    def is_walked(self, value):
        own = kinds(type(value))
        return bool(own & _KINDS) or (self.seeds and "SeedGenerator" in own)


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
