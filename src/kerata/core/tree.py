"""Nested structures of lists, tuples, dicts and named tuples, through `optree`.

As in `keras.tree`: `None` is a leaf, dicts keep sorted-key order when flattened.
"""

import functools


@functools.cache
def _optree():
    import optree

    return optree


def is_nested(structure):
    """Whether `structure` is a container rather than a leaf."""
    if type(structure) in (list, tuple, dict):
        return True
    optree = _optree()
    return not optree.tree_is_leaf(structure, none_is_leaf=True, namespace="kerata")


def flatten(structure):
    """Leaves in order, as a list.

    >>> from kerata import tree
    >>> tree.flatten({"b": 2, "a": [1, None]})
    [1, None, 2]
    """
    kind = type(structure)
    if kind not in (list, tuple, dict) and not is_nested(structure):
        return [structure]
    return _optree().tree_leaves(structure, none_is_leaf=True, namespace="kerata")


def map_structure(func, *structures, none_is_leaf=True):
    """`func` applied leaf by leaf to structures of one shape; the result has that shape."""
    if not callable(func):
        raise TypeError(f"map_structure: `func` must be callable, not {func!r}.")
    if not structures:
        raise ValueError("map_structure: give at least one structure.")
    if len(structures) == 1 and not is_nested(structures[0]):
        return func(structures[0])
    if len(structures) > 1:
        for other in structures[1:]:
            assert_same_structure(structures[0], other)
        spec = _optree().tree_structure(structures[0], none_is_leaf=none_is_leaf, namespace="kerata")
        leaves = [_optree().tree_leaves(s, none_is_leaf=none_is_leaf, namespace="kerata") for s in structures]
        return _optree().tree_unflatten(spec, [func(*at) for at in zip(*leaves, strict=True)])
    return _optree().tree_map(func, *structures, none_is_leaf=none_is_leaf, namespace="kerata")


def map_structure_up_to(shallow_structure, func, *structures):
    """`func` applied at the leaves of `shallow_structure`; deeper parts reach it whole."""
    if not callable(func):
        raise TypeError(f"map_structure_up_to: `func` must be callable, not {func!r}.")
    if not structures:
        raise TypeError("map_structure_up_to: give at least one structure.")
    spec = _optree().tree_structure(shallow_structure, none_is_leaf=True, namespace="kerata")
    flat = [spec.flatten_up_to(s) for s in structures]
    return _optree().tree_unflatten(spec, [func(*at) for at in zip(*flat, strict=True)])


def pack_sequence_as(structure, flat_sequence):
    """The leaves of `flat_sequence` in the shape of `structure`."""
    flat_sequence = list(flat_sequence)
    if not is_nested(structure):
        if len(flat_sequence) != 1:
            raise ValueError(f"pack_sequence_as: the structure is one leaf, but {len(flat_sequence)} were given.")
        return flat_sequence[0]
    spec = _optree().tree_structure(structure, none_is_leaf=True, namespace="kerata")
    if spec.num_leaves != len(flat_sequence):
        raise ValueError(
            f"pack_sequence_as: the structure has {spec.num_leaves} leaves, but {len(flat_sequence)} were given."
        )
    return _optree().tree_unflatten(spec, flat_sequence)


def assert_same_structure(a, b, check_types=None):
    """Raise a `ValueError` unless `a` and `b` nest alike (list and tuple are different).

    `check_types` is there for old callers: types are always looked at.
    """
    optree = _optree()
    sa, sb = (optree.tree_structure(s, none_is_leaf=True, namespace="kerata") for s in (a, b))
    if sa != sb:
        kinds = [type(s).__name__ for s in (a, b)]
        raise ValueError(f"The two structures don't nest alike. Expected: {kinds[0]}, {sa}\nFound: {kinds[1]}, {sb}")


def assert_same_paths(a, b):
    """Raise a `ValueError` unless `a` and `b` have leaves at the same paths."""
    optree = _optree()
    pa, pb = (optree.tree_paths(s, none_is_leaf=True, namespace="kerata") for s in (a, b))
    if pa != pb:
        raise ValueError(f"The two structures have leaves at different paths.\nFirst: {pa}\nSecond: {pb}")


def flatten_with_path(structure):
    """`[(path, leaf), …]` with paths as tuples of keys and indices."""
    optree = _optree()
    paths, leaves, _ = optree.tree_flatten_with_path(structure, none_is_leaf=True, namespace="kerata")
    return list(zip(paths, leaves, strict=True))


def traverse(func, structure, top_down=True):
    """Visit every node; a result other than `None` takes the node's place.

    Top-down, a node that was replaced isn't entered.  `MAP_TO_NONE` stands for a `None` result.
    """

    def visit(node):
        if top_down:
            new = func(node)
            if new is not None:
                return None if new is MAP_TO_NONE else new
        if isinstance(node, dict):
            node = _rebuild(node, {k: visit(node[k]) for k in node})
        elif isinstance(node, (list, tuple)):
            node = _rebuild(node, [visit(v) for v in node])
        if not top_down:
            new = func(node)
            if new is not None:
                return None if new is MAP_TO_NONE else new
        return node

    return visit(structure)


def _rebuild(node, values):
    if isinstance(node, tuple) and hasattr(node, "_fields"):
        return type(node)(*values)
    if isinstance(node, dict):
        return {k: values[k] for k in node} if type(node) is dict else type(node)(values)
    return type(node)(values)


class MAP_TO_NONE:  # noqa: N801  (Keras's public name)
    """What a `traverse` function returns to put `None` in a node's place."""


def lists_to_tuples(structure):
    """The same structure with every list made a tuple."""

    def convert(node):
        return tuple(node) if isinstance(node, list) else None

    return traverse(convert, structure, top_down=False)


def is_shape(node):
    """Whether `node` is a shape: a tuple or list of ints and `None`s."""
    return isinstance(node, (tuple, list)) and all(d is None or isinstance(d, int) for d in node)


def map_shape_structure(func, structure):
    """`func` applied to each shape (tuple of ints and `None`s) of a structure of shapes."""
    if is_shape(structure):
        return func(tuple(structure))
    if isinstance(structure, (list, tuple)):
        return type(structure)(map_shape_structure(func, s) for s in structure)
    if isinstance(structure, dict):
        return {k: map_shape_structure(func, v) for k, v in structure.items()}
    raise ValueError(f"Not a structure of shapes: {structure!r}.")


def register_tree_node_class(cls):
    """Class decorator: a container with `tree_flatten` and `tree_unflatten` that this module goes into."""
    optree = _optree()
    return optree.register_pytree_node_class(namespace="kerata")(cls)
