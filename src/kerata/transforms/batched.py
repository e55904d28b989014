"""`vmap` over functions of ops."""

import functools

from kerata import backends
from kerata.core import tree
from kerata.ops.core import convert_to_tensor


def vmap(fn, in_axes=0, out_axes=0):
    """A function that does `fn` for every slice of its arguments at once.

    Args:
        fn: function of tensors (or structures of tensors). It may read variables but not assign them.
        in_axes: axis to go along, for all arguments or one for each; `None`: the argument is used whole.
        out_axes: axis along which results are stacked.

    >>> import kerata
    >>> from kerata import ops
    >>> ops.convert_to_numpy(kerata.transforms.vmap(lambda x: ops.sum(x))(ops.ones((2, 3)))).tolist()
    [3.0, 3.0]
    """

    @functools.wraps(fn)
    def mapped(*args):
        args = tree.map_structure(convert_to_tensor, list(args))
        axes = list(in_axes) if isinstance(in_axes, (list, tuple)) else [in_axes] * len(args)
        if len(axes) != len(args):
            raise ValueError(f"vmap: `in_axes` names {len(axes)} axes for {len(args)} arguments.")
        flat = tree.flatten(args)
        flat_axes = [a for a, arg in zip(axes, args, strict=True) for _ in tree.flatten(arg)]
        box = {}

        def one(*leaves):
            result = fn(*tree.pack_sequence_as(args, list(leaves)))
            box["structure"] = result
            return tuple(convert_to_tensor(r) for r in tree.flatten(result))

        results = backends.current().vmap(one, tuple(flat_axes), out_axes)(*flat)
        return tree.pack_sequence_as(box["structure"], list(results))

    return mapped
