"""A model's variables into a file and back: all of them checked before the first is changed."""

from dataclasses import dataclass

from kerata.saving.notice import warn
from kerata.saving.store import ReadStore
from kerata.saving.walk import is_stored, kinds, walk

# Values that files of some Keras versions have and no model needs: they belong to a run.
_OF_A_RUN = ("seed_generator", "metrics", "_metrics", "_loss_tracker", "_compile_metrics")
_SHOWN = 10
# Where the methods are that number an object's variables in their own order.
_NUMBERED = (
    "kerata.layers.layer",
    "kerata.layers.lora",
    "kerata.layers.quantization.quantizable",
    "kerata.optimizers.optimizer",
)


@dataclass
class _Place:
    """One object and what the file has for it."""

    path: str
    obj: object
    entries: dict
    variables: list | None  # in the file's order; `None` where the object reads its own way


def save_state(model, writer, seeds=False):
    """Write the variables of a model and of all in it."""
    for path, obj in walk(model, seeds):
        if is_stored(obj) or _is_seed(obj):
            store = writer.store(path, getattr(obj, "name", None))
            if _is_seed(obj):
                store["0"] = obj.state
            else:
                obj.save_own_variables(store)


def load_state(model, reader, skip_mismatch=False, skipped=(), seeds=False):
    """Set the variables of a model from a file.

    Args:
        model: the model.
        reader: `Reader` or `ShardedReader`.
        skip_mismatch: leave out objects that don't fit, with a warning.
        skipped: objects to leave out.
        seeds: also set the seed generators, if the file has them.

    Raises:
        ValueError: something doesn't fit or the file is damaged; nothing has changed then.
    """
    _build_optimizer(model, reader)
    walked = walk(model, seeds, reader.paths())
    places = [
        _place(path, obj, reader)
        for path, obj in walked
        if (is_stored(obj) or (_is_seed(obj) and reader.entries(path))) and not _is_in(obj, skipped)
    ]
    problems = [(place, problem) for place in places if (problem := _problem(place))]
    _report(model, reader, problems, skip_mismatch)
    unfit = {id(place.obj) for place, _ in problems}
    fitting = [place for place in places if place.entries and id(place.obj) not in unfit]
    _assign(fitting)
    if not skip_mismatch:
        _mention_rest(reader, {path for path, _ in walked})


def _place(path, obj, reader):
    return _Place(path, obj, reader.entries(path), own_variables(obj))


def own_variables(obj):
    """Variables as `save_own_variables` numbers them; `None` if a class has a way of its own."""
    if _is_seed(obj):
        return [obj.state]
    methods = (type(obj).save_own_variables, type(obj).load_own_variables)
    # Adapted and quantized weights have ways of their own, only while they are that.
    if getattr(obj, "_special", False) or any(m.__module__ not in _NUMBERED for m in methods):
        return None
    return list(obj.variables) if "Optimizer" in kinds(type(obj)) else _variables_of(obj)


def _is_seed(obj):
    return "SeedGenerator" in kinds(type(obj))


def _is_in(obj, others):
    return any(obj is other for other in others)


def _build_optimizer(model, reader):
    """An optimizer has places for its state only once it knows what it optimizes."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None and not optimizer.built and len(reader.entries("optimizer")) > 2:
        optimizer.build(model.trainable_variables)


def _problem(place):
    """Why an object can't be loaded, in words; `None` if it can."""
    obj, entries = place.obj, place.entries
    is_optimizer = "Optimizer" in kinds(type(obj))
    if place.variables is None or (is_optimizer and not entries):
        return None
    variables = place.variables
    if is_optimizer:
        variables = place.variables = optimizer_variables(obj, len(entries))
    wanted = {str(i): v for i, v in enumerate(variables)}
    if wanted.keys() != entries.keys():
        return _wrong_number(place, variables)
    for key, variable in wanted.items():
        if tuple(variable.shape) != entries[key].shape:
            return (
                f"{_called(place)}: its variable {variable.path!r} has the shape {tuple(variable.shape)}, "
                f"but the file has {entries[key].shape}."
            )
        entries[key].probe()
    return None


def optimizer_variables(optimizer, count):
    """The optimizer's variables that a file with so many of them has."""
    variables = list(optimizer.variables)
    if count <= 2:
        # Saved before its first step: counter and learning rate only.
        return variables[:count]
    if count == len(variables) - 1 and variables[1] is getattr(optimizer, "_learning_rate", None):
        # In Keras 2 the learning rate was no variable.
        return [variables[0], *variables[2:]]
    return variables


def _wrong_number(place, variables):
    if not variables and not getattr(place.obj, "built", True):
        return (
            f"{_called(place)} is not built yet, so there is nothing to load its {len(place.entries)} "
            "variables into. Build the model first: call it on data, or `build(input_shape)`."
        )
    listed = ", ".join(f"{v.name} {tuple(v.shape)}" for v in variables[:4])
    listed += ", …" if len(variables) > 4 else ""
    count = len(place.entries)
    return (
        f"{_called(place)} has {len(variables)} variables ({listed or 'none'}), but the file has "
        f"{count or 'none'} for it."
    )


def _called(place):
    obj = place.obj
    path = getattr(obj, "path", None) or place.path
    name = getattr(obj, "name", place.path)
    return f"{type(obj).__name__} {name!r} (model: {path}; file: {place.path or '/'})"


def _report(model, reader, problems, skip_mismatch):
    """Raise for what can't be loaded, or warn where it may be left out."""
    of_optimizer = [(p, text) for p, text in problems if "Optimizer" in kinds(type(p.obj))]
    of_layers = [(p, text) for p, text in problems if "Optimizer" not in kinds(type(p.obj))]
    fatal = [text for _, text in of_layers]
    if fatal and not skip_mismatch:
        raise ValueError(
            f"{reader.shown} does not fit the model {getattr(model, 'name', '')!r}; nothing was changed.\n"
            + _listed(fatal)
            + "\nMake the model as the saved one was made, or leave out what doesn't fit with "
            "`skip_mismatch=True`."
        )
    left_out = fatal + [f"{text} The optimizer starts anew." for _, text in of_optimizer]
    if left_out:
        warn(f"{reader.shown}: not everything fits and was loaded.\n{_listed(left_out)}")


def _listed(texts):
    lines = [f"  {text}" for text in texts[:_SHOWN]]
    if len(texts) > _SHOWN:
        lines.append(f"  … and {len(texts) - _SHOWN} more.")
    return "\n".join(lines)


def _assign(places):
    """Set the variables. Objects that read their own way go first, since they alone may still refuse."""
    own_way = [place for place in places if place.variables is None]
    before = [(v, v.numpy().copy()) for place in own_way for v in _variables_of(place.obj)]
    try:
        for place in own_way:
            place.obj.load_own_variables(ReadStore(place.entries))
    except BaseException:
        for variable, value in before:
            variable.assign(value)
        raise
    for place in places:
        # One tensor at a time is in memory besides the model.
        for key, variable in enumerate(place.variables or ()):
            if str(key) in place.entries:
                # An array that nothing else holds may become the variable's own memory.
                getattr(variable, "take", variable.assign)(place.entries[str(key)].read())


def _variables_of(obj):
    if "Layer" in kinds(type(obj)):
        return [*obj._trainable_variables, *obj._non_trainable_variables]
    return list(getattr(obj, "variables", ()))


def _public(path):
    """A path without the underscores that some versions put before attributes' names."""
    return "/".join(part.lstrip("_") for part in path.split("/"))


def _mention_rest(reader, known):
    """Say what the file has that the model has no place for: silence would hide a wrong model."""
    known = {_public(path) for path in known}
    rest = [p for p in reader.paths() if _public(p) not in known and not p.startswith("optimizer")]
    rest = [p for p in rest if not any(part in _OF_A_RUN for part in p.split("/"))]
    if rest:
        warn(
            f"{reader.shown} has variables that the model has no place for, which were not loaded: "
            f"{', '.join(rest[:_SHOWN])}{', …' if len(rest) > _SHOWN else ''}."
        )
