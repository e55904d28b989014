"""Connectionist temporal classification: the likelihood of unaligned label sequences, and decoding them.

Source: Graves et al., 2006, "Connectionist Temporal Classification". The beam search is that of Graves & Jaitly, 2014, without a
language model.
"""

import math

from kerata.core import dtypes
from kerata.ops.control import scan
from kerata.ops.core import shape as shape_of
from kerata.ops.creation import arange, full, full_like
from kerata.ops.declare import Float, Index, composite
from kerata.ops.elementwise import cast, equal, less, logaddexp, logical_and, logical_or, maximum, not_equal, where
from kerata.ops.indexing import take_along_axis
from kerata.ops.linalg import matmul
from kerata.ops.movement import broadcast_to, concatenate, expand_dims, reshape, stack, transpose
from kerata.ops.reduction import argmax, logsumexp, max, sum
from kerata.ops.sorting import argsort, top_k

# Log-probability of what can't be: minus infinity would make gradients NaN.
NEVER = -1e30
PAD = -1  # after the end of a decoded sequence


def _log_probabilities(x):
    """Logits normalized over the classes, in float32 at least."""
    if dtypes.standardize_dtype(x.dtype) in ("float16", "bfloat16"):
        x = cast(x, "float32")
    return x - logsumexp(x, axis=-1, keepdims=True)


# ------------------------------------------------------------------ loss


@composite(native="")
def ctc_loss(target: Index, output: Float, target_length: Index, output_length: Index, mask_index=0):
    """Minus the log-likelihood of label sequences whose alignment with the predictions isn't known.

    Args:
        target: label sequences, integers `(batch, labels)`; what stands after a sequence's length is not looked at.
        output: logits `(batch, time, classes)`.
        target_length: number of labels of each sequence, `(batch,)`.
        output_length: number of time steps of each, `(batch,)`, at least 1.
        mask_index: the class that stands for no label (the paper's blank).

    Returns:
        Tensor `(batch,)`, float32 for half precision; infinite (with gradient 0) where there are fewer time steps than
        the labels need.

    Raises:
        ValueError: when `target` isn't of rank 2, `output` not of rank 3, or their batches differ.

    Source: Graves et al., 2006, equations 6 to 8.

    >>> from kerata import ops
    >>> round(float(ops.ctc_loss([[1]], ops.zeros((1, 1, 2)), [1], [1])[0]), 4)
    0.6931
    """
    _check_shapes(target, output)
    target, target_length, output_length = (cast(t, "int32") for t in (target, target_length, output_length))
    loss = ctc_loss_of(target, output, target_length, output_length, int(mask_index))
    # A blank has to stand between two equal labels.
    inside = less(arange(1, shape_of(target)[1], dtype="int32"), expand_dims(target_length, 1))
    repeats = sum(cast(logical_and(inside, equal(target[:, 1:], target[:, :-1])), "int32"), axis=1)
    return where(output_length >= target_length + repeats, loss, math.inf)


def _check_shapes(target, output):
    if len(target.shape) != 2 or len(output.shape) != 3:
        raise ValueError(
            "ctc_loss: the target must have the shape (batch, labels) and the output (batch, time, classes), but they are "
            f"{tuple(target.shape)} and {tuple(output.shape)}."
        )
    a, b = target.shape[0], output.shape[0]
    if a is not None and b is not None and a != b:
        raise ValueError(
            "ctc_loss: target and output must have the same first dimension, but their shapes are "
            f"{tuple(target.shape)} and {tuple(output.shape)}."
        )


@composite(native="ctc_loss")
def ctc_loss_of(target: Index, output: Float, target_length: Index, output_length: Index, mask_index):
    """CTC loss of integer targets, with a finite number where no alignment exists (not public).

    The paper's forward recursion over the labels with a blank around each: `total[s]` is the log-probability of all
    beginnings that end in place `s`.
    """
    places = 2 * shape_of(target)[1] + 1
    blank = full_like(target, mask_index)
    spaced = reshape(stack([blank, target], axis=2), (-1, places - 1))
    # Labels after a sequence's end may be anything: they have no influence, but must be classes.
    spaced = maximum(concatenate([spaced, blank[:, :1]], axis=1), 0)
    emitted = take_along_axis(_log_probabilities(output), expand_dims(spaced, 1), axis=2)
    place = arange(places, dtype="int32")
    # A blank between two different labels may be left out. Labels stand at odd places.
    skippable = logical_and(equal(place % 2, 1), not_equal(spaced, _moved(spaced, 2, -1)))
    output_length, target_length = expand_dims(output_length, 1), expand_dims(target_length, 1)

    def later(total, now):
        emitted, time = now
        ways = [total, _moved(total, 1, NEVER), where(skippable, _moved(total, 2, NEVER), NEVER)]
        new = logsumexp(stack(ways, axis=0), axis=0) + emitted
        return where(less(time, output_length), new, total), None

    first = where(place < 2, emitted[:, 0], full_like(emitted[:, 0], NEVER))
    times = arange(1, shape_of(output)[1], dtype="int32")
    total, _ = scan(later, first, (transpose(emitted[:, 1:], (1, 0, 2)), times))
    # The end is the last label, or the blank after it.
    at_end = logical_or(equal(place, 2 * target_length), equal(place, 2 * target_length - 1))
    return -logsumexp(where(at_end, total, full_like(total, NEVER)), axis=1)


def _moved(x, by, fill):
    """`x[:, s - by]` at place `s`."""
    return concatenate([full_like(x[:, :by], fill), x[:, :-by]], axis=1)


# ------------------------------------------------------------------ decoding


@composite(native="")
def ctc_decode(
    inputs: Float,
    sequence_lengths: Index,
    strategy="greedy",
    beam_width=100,
    top_paths=1,
    merge_repeated=True,
    mask_index=0,
):
    """Label sequences that a CTC model's output stands for.

    Args:
        inputs: logits `(batch, time, classes)`.
        sequence_lengths: number of time steps of each sequence, `(batch,)`.
        strategy: `"greedy"`: the most likely class of each step; `"beam_search"`: the most likely sequences, over all their
            alignments, among the `beam_width` best beginnings.
        beam_width: number of beginnings kept at each step.
        top_paths: number of sequences returned by the beam search.
        merge_repeated: whether the greedy strategy takes a class in consecutive steps for one label. (In the beam search
            alignments say which steps make one label.)
        mask_index: the class that stands for no label.

    Returns:
        `(sequences, scores)`. Greedy: int32 `(1, batch, time)`, padded with -1, and minus the sum of the chosen logits
        `(batch, 1)`. Beam search: int32 `(top_paths, batch, time)`, and log-probabilities `(batch, top_paths)`; a path that
        doesn't exist has log-probability -inf.

    Raises:
        ValueError: another strategy, or more paths than beams.

    Source: Graves et al., 2006, section 3.2; Graves & Jaitly, 2014, algorithm 1.

    >>> from kerata import ops
    >>> sequences, _ = ops.ctc_decode([[[0.0, 9.0], [0.0, 9.0], [9.0, 0.0]]], [3])
    >>> ops.convert_to_numpy(sequences).tolist()
    [[[1, -1, -1]]]
    """
    if strategy not in ("greedy", "beam_search"):
        raise ValueError(f"ctc_decode: Invalid strategy {strategy!r}: it must be 'greedy' or 'beam_search'.")
    lengths = cast(sequence_lengths, "int32")
    if strategy == "greedy":
        if dtypes.standardize_dtype(inputs.dtype) in ("float16", "bfloat16"):
            inputs = cast(inputs, "float32")
        return _greedy(inputs, lengths, merge_repeated, mask_index)
    if top_paths > beam_width:
        raise ValueError(f"ctc_decode: there can't be more paths ({top_paths}) than beams ({beam_width}).")
    return _beam_search(_log_probabilities(inputs), lengths, int(beam_width), int(top_paths), int(mask_index))


def _greedy(inputs, lengths, merge_repeated, blank):
    time = arange(shape_of(inputs)[1], dtype="int32")
    within = less(time, expand_dims(lengths, 1))
    labels = argmax(inputs, axis=-1)
    kept = logical_and(within, not_equal(labels, blank))
    if merge_repeated:
        kept = logical_and(kept, not_equal(labels, _moved(labels, 1, PAD)))
    best = max(inputs, axis=-1)
    scores = -sum(where(within, best, full_like(best, 0)), axis=1, keepdims=True)
    # Those kept come first, in order.
    order = argsort(where(kept, time, shape_of(inputs)[1]), axis=1)
    count = sum(cast(kept, "int32"), axis=1, keepdims=True)
    sequences = where(less(time, count), take_along_axis(labels, order, axis=1), PAD)
    return expand_dims(sequences, 0), scores


# Beginnings are told apart by two linear congruential codes of 32 bits each (multipliers: Knuth; Press et al.).
_CODE = (1664525, 22695477)
_ROOT, _NO_PARENT = 1, -1


def _beam_search(log_probabilities, lengths, width, paths, blank):
    """Keep the `width` likeliest label sequences at each step.

    For each, the probability of alignments that end in a blank and in its last label are kept apart: after the latter, the
    same label again is the same one.
    """
    batch, time, classes = shape_of(log_probabilities)
    place = arange(time, dtype="int32")
    empty = full((batch, width), 0, dtype="int32")
    # One beginning, the empty one, and no others yet.
    likelihood = where(arange(width, dtype="int32") < 1, full((batch, width), 0.0), NEVER)
    likelihood = cast(likelihood, log_probabilities.dtype)
    state = {
        "labels": full((batch, width, time), PAD, dtype="int32"),
        "size": empty,
        "last": empty + PAD,
        "code": full((batch, width, 2), _ROOT, dtype="int32"),
        "parent": full((batch, width, 2), _NO_PARENT, dtype="int32"),
        "after_blank": likelihood,
        "after_label": full_like(likelihood, NEVER),
    }

    def later(state, now):
        y, t = now
        new = _extended(state, y, place, width, classes, blank)
        going_on = expand_dims(less(t, lengths), 1)
        new = {
            k: where(going_on if len(v.shape) == 2 else expand_dims(going_on, 2), new[k], v) for k, v in state.items()
        }
        return new, None

    state, _ = scan(later, state, (transpose(log_probabilities, (1, 0, 2)), place))
    scores, best = top_k(logaddexp(state["after_blank"], state["after_label"]), paths)
    sequences = take_along_axis(state["labels"], expand_dims(best, 2), axis=1)
    exists = scores > NEVER / 2
    sequences = where(expand_dims(exists, 2), sequences, PAD)
    return transpose(sequences, (1, 0, 2)), where(exists, scores, -math.inf)


def _extended(state, y, place, width, classes, blank):
    """The beginnings one step later: each stays as it is, or gets another label."""
    total = logaddexp(state["after_blank"], state["after_label"])
    last = maximum(state["last"], 0)
    same_again = state["after_label"] + take_along_axis(y, last, axis=1)
    after_blank = total + y[:, blank : blank + 1]
    after_label = where(equal(state["last"], PAD), NEVER, same_again)

    class_ = arange(classes, dtype="int32")
    again = equal(expand_dims(state["last"], 2), class_)
    longer = where(again, expand_dims(state["after_blank"], 2), expand_dims(total, 2)) + expand_dims(y, 1)
    longer = where(equal(class_, blank), NEVER, longer)

    # `i` and one more label may be the beginning `j` that is kept already: its probability goes there.
    codes = [expand_dims(state[k][..., n], axis) for n in (0, 1) for k, axis in (("code", 2), ("parent", 1))]
    becomes = logical_and(equal(codes[0], codes[1]), equal(codes[2], codes[3]))
    towards = take_along_axis(longer, broadcast_to(expand_dims(last, 1), shape_of(becomes)), axis=2)
    after_label = logaddexp(after_label, logsumexp(where(becomes, towards, NEVER), axis=1))
    kept = matmul(cast(becomes, y.dtype), cast(equal(expand_dims(last, 2), class_), y.dtype)) > 0
    longer = where(kept, NEVER, longer)

    flat = reshape(longer, (-1, width * classes))
    scores, chosen = top_k(concatenate([logaddexp(after_blank, after_label), flat], axis=1), width)
    stays = chosen < width
    source = where(stays, chosen, (chosen - width) // classes)
    label = (chosen - width) % classes

    def of_source(x):
        return take_along_axis(x, source if len(x.shape) == 2 else expand_dims(source, 2), axis=1)

    size, code, labels = (of_source(state[k]) for k in ("size", "code", "labels"))
    appended = logical_and(equal(expand_dims(size, 2), place), expand_dims(chosen >= width, 2))
    longer_code = code * full((2,), _CODE, dtype="int32") + expand_dims(label + 2, 2)
    parent = where(expand_dims(stays, 2), of_source(state["parent"]), code)
    return {
        "labels": where(appended, expand_dims(label, 2), labels),
        "size": size + cast(chosen >= width, "int32"),
        "last": where(stays, of_source(state["last"]), label),
        "code": where(expand_dims(stays, 2), code, longer_code),
        # What can't be is nobody's continuation.
        "parent": where(expand_dims(scores > NEVER / 2, 2), parent, _NO_PARENT),
        "after_blank": where(stays, of_source(after_blank), NEVER),
        "after_label": where(stays, of_source(after_label), scores),
    }
