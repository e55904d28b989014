"""Calls that come again and again: what is made for their kind takes the place of the function.

A function of tensors that calls many of a framework's functions spends, on little data, most of its time between them.
"""

import functools

# Kinds remembered at a time, and for how many in all something is made: more are too various.
_MOST, _VARIOUS = 64, 256
# Calls, at first and at most, that aren't looked at after so many kinds of which none came again and again.
_NAP, _LONGEST_NAP = 256, 1 << 14
# The call of a kind at which something is made for it, which takes as long as some fifty calls.
PATIENCE = 32
# Elements up to which the calls count, not the numbers. Natives choose by values beyond.
FEW = 1 << 14
# What `make` gives where it can't be made, but may be elsewhere.
LATER = object()
_PLAIN = frozenset({int, bool, str, type(None)})


def repeated(function, kind, make, is_traced=bool):
    """The function, whose calls of kinds that come again and again go by what is made for them.

    Args:
        function: `function(*args)` of tensors and plain values, without side effects.
        kind: `kind(args)` gives what such calls are known by, `None` if nothing is to be made for them, and the tensors among
            the arguments.
        make: `make(function, args)` gives `call(tensors)`, which does the same, or `None`, or `LATER`.
        is_traced: whether calls are being traced or compiled by the framework now, which must see the function alone
            (`bool()` is False: never).
    """
    kinds, made, asleep, nap = {}, 0, 0, _NAP

    @functools.wraps(function)
    def run(*args):
        nonlocal made, asleep, nap
        if is_traced():
            return function(*args)
        if asleep:
            asleep -= 1
            return function(*args)
        key, tensors = kind(args)
        call = None if key is None else kinds.get(key, 0)
        if call is None:
            return function(*args)
        if type(call) is not int:
            try:
                return call(tensors)
            except Exception:
                # Called by itself the operation at fault says in the library's words what is wrong.
                result = function(*args)
                # Or nothing is: it doesn't serve here, and failing takes longer.
                kinds[key] = None
                return result
        if call == 0 and len(kinds) >= _MOST:
            # What was made stays, unless it's too much. (A list: other threads call, too.)
            kept = [(k, c) for k, c in list(kinds.items()) if callable(c)]
            kinds.clear()
            if not kept:
                asleep, nap = nap, min(4 * nap, _LONGEST_NAP)
            elif len(kept) <= _MOST // 2:
                kinds.update(kept)
        kinds[key] = call + 1
        if call + 1 >= PATIENCE:
            result = make(function, args) if made < _VARIOUS else None
            made, nap = made + (result is not LATER), _NAP
            kinds[key] = 0 if result is LATER else result
        return function(*args)

    return run


def kinds_by(types, describe):
    """`kind(args)` for `repeated`.

    Args:
        types: of tensors.
        describe: of a tensor, what must stay the same of it, and its size.
    """

    def kind(args):
        key, tensors, few = [], [], FEW
        for x in args:
            type_ = type(x)
            if type_ in types:
                described, size = describe(x)
                key.append(described)
                tensors.append(x)
                few -= size
            elif type_ in _PLAIN:
                key += type_, x
            elif _is_numbers(x):
                # 0.0 equals -0.0, and 1 equals 1.0, but they aren't written so.
                key.append(repr(x))
            else:
                return None, tensors
        return (tuple(key) if few >= 0 and tensors else None), tensors

    return kind


def _is_numbers(x):
    """Whether it's a number or nested tuples of them."""
    kind = type(x)
    return kind is float or kind is int or kind is bool or (kind is tuple and all(map(_is_numbers, x)))


def of_tensors(function, args, types):
    """The function of the tensors among its arguments, the others being what they are."""
    given = [i for i, x in enumerate(args) if type(x) in types]

    def call(*tensors):
        every = list(args)
        for i, x in zip(given, tensors, strict=True):
            every[i] = x
        return function(*every)

    return call
