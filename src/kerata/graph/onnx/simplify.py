"""What a written model can do without: values that nobody uses, copies, transposes that undo each other."""

import numpy as np

from kerata.graph.onnx.model import Call


def simplify(model):
    """Take out what is superfluous, in place; returns the model."""
    drop_unused(model)
    without_copies(model)
    settle(model, shared=False)
    before = transposes(model)
    if before:
        # Moving one that several use makes more of them at first; whether fewer are left shows at the end.
        calls, constants = [c.copy() for c in model.block.calls], dict(model.constants)
        settle(model, shared=True)
        if transposes(model) >= before:
            model.block.calls, model.constants = calls, constants
    drop_unused(model)
    return model


def settle(model, shared):
    while Transposes(model, shared).sunk_or_joined():
        pass
    _drop_in(model.block)


def transposes(model):
    return sum(call.kind == "Transpose" for call in model.block.calls)


def drop_unused(model):
    """Drop calls whose results nobody uses, and constants likewise."""
    _drop_in(model.block)
    used = model.block.free() | {o.name for o in model.outputs}
    model.constants = {n: a for n, a in model.constants.items() if n in used}


def _drop_in(block):
    needed = {o.name for o in block.outputs}
    kept = []
    for call in reversed(block.calls):
        if not any(o in needed for o in call.outputs):
            continue
        needed.update(n for n in call.inputs if n)
        for inner in call.blocks():
            _drop_in(inner)
            needed |= inner.free()
        kept.append(call)
    block.calls = kept[::-1]


def without_copies(model):
    """An output that is a copy of a value becomes that value under the output's name."""
    block = model.block
    made = {o: call for call in block.calls for o in call.outputs}
    fixed = {o.name for o in block.outputs}
    for call in block.calls:
        for inner in call.blocks():
            fixed |= inner.free()
    renamed, copies = {}, []
    for info in block.outputs:
        copy = made[info.name]
        source = copy.inputs[0]
        if copy.kind == "Identity" and source in made and source not in fixed and source not in renamed:
            renamed[source] = info.name
            copies.append(copy)
    block.calls = [call for call in block.calls if call not in copies]
    for call in block.calls:
        call.inputs = [renamed.get(n, n) for n in call.inputs]
        call.outputs = [renamed.get(n, n) for n in call.outputs]


# ------------------------------------------------------------------ transposes


class Transposes:
    """Moves transposes down a model's calls, and joins those that meet.

    Where a convolution's result, brought to channels_last, goes through an activation into the next
    convolution, the two transposes meet, and nothing is left.
    """

    def __init__(self, model, shared=False):
        self.model, self.shared = model, shared
        calls = model.block.calls
        self.made = {o: call for call in calls for o in call.outputs}
        self.users = {}
        for call in calls:
            for n in call.inputs:
                self.users.setdefault(n, []).append(call)
        # Names that must keep their values: outputs, and what branches and bodies use.
        self.fixed = {o.name for o in model.block.outputs}
        for call in calls:
            for inner in call.blocks():
                self.fixed |= inner.free()

    def sunk_or_joined(self):
        """One pass over the calls; whether anything was changed."""
        changed, calls, gone = False, [], set()
        for call in self.model.block.calls:
            calls.append(call)
            if call.kind == "Transpose":
                changed = self.join(call, gone) or changed
            else:
                moved = self.sink(call, gone)
                if moved is not None:
                    changed = True
                    calls.extend(moved)
        self.model.block.calls = [call for call in calls if id(call) not in gone]
        return changed

    def join(self, call, gone):
        """Let a transpose of a transpose start from that one's input."""
        first = self.made.get(call.inputs[0])
        if first is None or first.kind != "Transpose":
            return False
        perm = [first.attributes["perm"][p] for p in call.attributes["perm"]]
        source, result = first.inputs[0], call.outputs[0]
        if perm == sorted(perm) and result not in self.fixed:
            for user in self.users.pop(result, ()):
                user.inputs = [source if n == result else n for n in user.inputs]
                self.users[source].append(user)
            self.forget(call, gone)
        else:
            self.users[call.inputs[0]].remove(call)
            call.inputs, call.attributes = [source], {"perm": perm}
            self.users[source].append(call)
        if not self.users.get(first.outputs[0]) and first.outputs[0] not in self.fixed:
            self.forget(first, gone)
        return True

    def forget(self, call, gone):
        gone.add(id(call))
        self.users[call.inputs[0]].remove(call)
        self.made.pop(call.outputs[0], None)

    def sink(self, call, gone):
        """Move the transposes before an operator behind it: the calls to put after it, or `None` if it can't
        be.
        """
        move = _MOVES.get(call.kind)
        if move is None or len(call.outputs) != 1:
            return None
        before = [self.movable(call, n) for n in call.inputs]
        perms = [t.attributes["perm"] for t in before if t is not None]
        if not perms or perms.count(perms[0]) != len(perms):
            return None
        others = [n for n, t in zip(call.inputs, before) if t is None and n]
        if any(n not in self.model.constants for n in others):
            return None
        after = move(self, call, before, perms[0])
        if after is None:
            return None
        for t in {id(t): t for t in before if t is not None}.values():
            name = t.outputs[0]
            call.inputs = [t.inputs[0] if n == name else n for n in call.inputs]
            self.users[name] = [u for u in self.users[name] if u is not call]
            if not self.users[name] and name not in self.fixed:
                self.forget(t, gone)
        for n in set(call.inputs):
            if not any(u is call for u in self.users.setdefault(n, [])):
                self.users[n].append(call)
        if after == sorted(after):
            return []
        return [self.behind(call, after)]

    def behind(self, call, perm):
        """A transpose that now makes the call's result."""
        result, n = call.outputs[0], 1
        while f"{result}_{n}" in self.made or f"{result}_{n}" in self.model.constants:
            n += 1
        inner = f"{result}_{n}"
        transpose = Call("Transpose", [inner], [result], {"perm": perm})
        call.outputs = [inner]
        self.made[inner], self.made[result] = call, transpose
        self.users[inner] = [transpose]
        return transpose

    def movable(self, call, name):
        """The transpose that makes a value for this call (and, unless it may be shared, for no other)."""
        made = self.made.get(name)
        if made is None or made.kind != "Transpose":
            return None
        alone = name not in self.fixed and all(u is call for u in self.users[name])
        return made if alone or self.shared else None

    def constant_before(self, name, perm):
        """A constant operand as it must be before the transpose: its dimensions moved back."""
        constants = self.model.constants
        array = constants[name]
        if array.size == 1 and array.ndim <= 1:
            return name
        array = array.reshape((1,) * (len(perm) - array.ndim) + array.shape).transpose(np.argsort(perm))
        return self.constant(np.asarray(array, order="C"), name)

    def constant(self, array, base):
        constants, n = self.model.constants, 1
        while f"{base}_{n}" in constants or f"{base}_{n}" in self.made:
            n += 1
        constants[f"{base}_{n}"] = array
        return f"{base}_{n}"


def _unary(t, call, before, perm):
    # Further inputs are scalars (bounds, slopes).
    return perm if before[0] is not None else None


def _binary(t, call, before, perm):
    if any(b is None and t.model.constants[n].ndim > len(perm) for b, n in zip(before, call.inputs)):
        return None
    call.inputs = [n if b is not None else t.constant_before(n, perm) for b, n in zip(before, call.inputs)]
    return perm


def _concat(t, call, before, perm):
    if any(b is None and t.model.constants[n].ndim != len(perm) for b, n in zip(before, call.inputs)):
        return None
    axis = call.attributes["axis"] % len(perm)
    call.inputs = [n if b is not None else t.constant_before(n, perm) for b, n in zip(before, call.inputs)]
    call.attributes = {"axis": perm[axis]}
    return perm


def _reduce(t, call, before, perm):
    if before[0] is None or len(call.inputs) < 2:
        return None
    axes = [a % len(perm) for a in t.model.constants[call.inputs[1]].tolist()]
    call.inputs[1] = t.constant(np.asarray(sorted(perm[a] for a in axes), np.int64), "axes")
    if call.attributes.get("keepdims", 1):
        return perm
    left = [p for a, p in enumerate(perm) if a not in axes]
    return [sorted(left).index(p) for p in left]


def _pad(t, call, before, perm):
    if before[0] is None or len(call.inputs) > 3:
        return None
    pads = t.model.constants[call.inputs[1]].reshape(2, -1)
    moved = np.empty_like(pads)
    moved[:, perm] = pads
    call.inputs[1] = t.constant(moved.reshape(-1), "pads")
    return perm


_UNARY = (
    "Abs", "Acos", "Asin", "Atan", "Cast", "Ceil", "Celu", "Clip", "Cos", "Elu", "Erf", "Exp", "Floor",
    "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Log", "Neg", "Not", "Reciprocal", "Relu", "Round",
    "Selu", "Sigmoid", "Sign", "Sin", "Softplus", "Softsign", "Sqrt", "Tanh",
)  # fmt: skip
_MOVES = {
    **dict.fromkeys(_UNARY, _unary),
    **dict.fromkeys(("Add", "Div", "Max", "Min", "Mul", "Pow", "Sub"), _binary),
    **dict.fromkeys(("ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"), _reduce),
    "Concat": _concat,
    "Pad": _pad,
}
