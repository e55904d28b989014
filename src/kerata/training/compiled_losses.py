"""What `compile(loss=…, metrics=…)` means, once outputs are known."""

from kerata import losses as losses_module
from kerata import metrics as metrics_module
from kerata.core import tree
from kerata.core.errors import nearest
from kerata.core.masks import get_mask
from kerata.losses.function_loss import LossFunctionWrapper


def output_names(model, y_pred):
    """A name for each output, in flat order."""
    count = len(tree.flatten(y_pred))
    names = getattr(model, "output_names", None)
    if names is not None and len(names) == count:
        return _distinct(list(names))
    if isinstance(y_pred, dict):
        return [str(k) for k in sorted(y_pred)] if count == len(y_pred) else [f"output_{i}" for i in range(count)]
    return [f"output_{i}" for i in range(count)]


def _distinct(names):
    seen, found = {}, []
    for name in names:
        number = seen.get(name, 0)
        seen[name] = number + 1
        found.append(f"{name}_{number}" if number else name)
    return found


def per_output(setting, names, y_pred, what):
    """A setting given once, as a list, or as a dict by output, as a flat list with an entry for each output."""
    count = len(names)
    if isinstance(setting, dict):
        keys = _paths(y_pred, names)
        unknown = [k for k in setting if k not in keys and k not in names]
        if unknown:
            raise ValueError(
                f"compile: `{what}` names the output {unknown[0]!r}, but the outputs are {', '.join(map(repr, names))}."
                f"{nearest(unknown[0], names)}"
            )
        return [setting.get(key, setting.get(name)) for key, name in zip(keys, names, strict=True)]
    if isinstance(setting, (list, tuple)):
        flat = list(setting)
        if len(flat) != count:
            raise ValueError(f"compile: `{what}` has {len(flat)} entries, but the model has {count} output(s).")
        return flat
    return [setting] * count


def _paths(y_pred, names):
    """Keys by which a dict may name the outputs."""
    if isinstance(y_pred, dict) and len(y_pred) == len(names):
        return [str(k) for k in sorted(y_pred)]
    return names


# Metrics whose kind goes by the shapes of targets and outputs.
ACCURACY = ("accuracy", "acc", "crossentropy", "ce")


class OutputLosses:
    """The compiled losses: one for each output, with weights, and trackers where there are several.

    Args:
        loss: loss, its name or a function; or a list or dict of them by output.
        loss_weights: number, list or dict of numbers.
    """

    def __init__(self, loss, loss_weights=None):
        for identifier in tree.flatten(loss):
            # A name that nothing answers to is an error of `compile`, not of the first step.
            if isinstance(identifier, str):
                _loss(identifier)
        self.loss = loss
        self.loss_weights = loss_weights
        self.built = False
        self.trackers = []

    def build(self, names, y_pred):
        given = per_output(self.loss, names, y_pred, "loss") if tree.is_nested(self.loss) else [self.loss] * len(names)
        self.functions = [_loss(fn) for fn in given]
        weights = (
            per_output(self.loss_weights, names, y_pred, "loss_weights")
            if self.loss_weights is not None
            else [None] * len(names)
        )
        self.weights = [None if w is None else float(w) for w in weights]
        self.names = names
        if len(names) > 1:
            self.trackers = [
                metrics_module.Mean(name=f"{name}_loss") if fn is not None else None
                for name, fn in zip(names, self.functions, strict=True)
            ]
        self.built = True

    @property
    def metrics(self):
        return [t for t in self.trackers if t is not None]

    def __call__(self, y, y_pred, sample_weight):
        """Weighted sum of the outputs' losses."""
        predictions = tree.flatten(y_pred)
        targets = align(y, y_pred, self.names, [fn is not None for fn in self.functions], "y")
        weights = align_weights(sample_weight, y_pred, self.names)
        total = None
        for i, (fn, t, p, w) in enumerate(zip(self.functions, targets, predictions, weights, strict=True)):
            if fn is None:
                continue
            value = fn(t, p, w)
            # What is shown of an output is its loss as it is, without its weight in the sum.
            if self.trackers:
                self.trackers[i].update_state(value, sample_weight=batch_size(p))
            if self.weights[i] is not None:
                value = value * self.weights[i]
            total = value if total is None else total + value
        return total


def batch_size(x):
    """Number of samples of a batch: an int, or a scalar tensor where it isn't known."""
    from kerata import ops

    if not len(x.shape):
        return 1
    return x.shape[0] if x.shape[0] is not None else ops.shape(x)[0]


def _loss(identifier):
    if identifier is None:
        return None
    if isinstance(identifier, losses_module.Loss):
        return identifier
    found = losses_module.get(identifier)
    if isinstance(found, losses_module.Loss):
        return found
    if isinstance(found, type):
        return found()
    return LossFunctionWrapper(found, name=getattr(found, "__name__", None))


def align(y, y_pred, names, needed, what):
    """Targets in the flat order of the outputs; `None` for an output without a loss."""
    count = len(names)
    if isinstance(y, dict):
        keys = _paths(y_pred, names)
        found = [y.get(k, y.get(n)) for k, n in zip(keys, names, strict=True)]
    else:
        flat = tree.flatten(y)
        if len(flat) == count:
            found = flat
        elif len(flat) == sum(needed):
            rest = iter(flat)
            found = [next(rest) if n else None for n in needed]
        else:
            raise ValueError(
                f"`{what}` holds {len(flat)} array(s), but the model has {count} output(s) with {sum(needed)} loss(es)."
            )
    for value, name, n in zip(found, names, needed, strict=True):
        if n and value is None:
            raise ValueError(f"The output {name!r} has a loss, but `{what}` has no targets for it.")
    return found


def align_weights(sample_weight, y_pred, names):
    count = len(names)
    if sample_weight is None:
        return [None] * count
    if isinstance(sample_weight, dict):
        keys = _paths(y_pred, names)
        return [sample_weight.get(k, sample_weight.get(n)) for k, n in zip(keys, names, strict=True)]
    flat = tree.flatten(sample_weight)
    return flat * count if len(flat) == 1 else flat


class OutputMetrics:
    """The compiled metrics, for each output.

    Args:
        metrics, weighted_metrics: list of metrics (or names, or functions); or lists or dicts of such, by output.
    """

    def __init__(self, metrics, weighted_metrics):
        for identifier in tree.flatten([metrics, weighted_metrics]):
            if isinstance(identifier, str) and identifier.lower() not in ACCURACY:
                metrics_module.get(identifier)
        self.given = metrics, weighted_metrics
        self.built = False
        self._flat = []

    def build(self, names, y, y_pred):
        predictions = tree.flatten(y_pred)
        targets = align(y, y_pred, names, [False] * len(names), "y") if y is not None else [None] * len(names)
        self.names = names
        self.by_output = []
        self._flat = []
        for kind, given in enumerate(self.given):
            lists = _metric_lists(given, names, y_pred)
            made = [[_metric(m, t, p) for m in own] for own, t, p in zip(lists, targets, predictions, strict=True)]
            for own, name in zip(made, names, strict=True):
                for metric in own:
                    self._flat.append((metric, f"{name}_{metric.name}" if len(names) > 1 else metric.name))
            self.by_output.append((made, kind == 1))
        self.built = True

    @property
    def metrics(self):
        return [m for m, _ in self._flat]

    @property
    def variables(self):
        return [v for m in self.metrics for v in m.variables]

    def update_state(self, y, y_pred, sample_weight=None):
        predictions = tree.flatten(y_pred)
        weights = align_weights(sample_weight, y_pred, self.names)
        for made, weighted in self.by_output:
            if not any(made):
                continue
            targets = align(y, y_pred, self.names, [bool(own) for own in made], "y")
            for own, t, p, w in zip(made, targets, predictions, weights, strict=True):
                mask = get_mask(p)
                for metric in own:
                    if weighted:
                        metric.update_state(t, p, sample_weight=_with_mask(w, mask))
                    elif mask is not None:
                        metric.update_state(t, p, sample_weight=_with_mask(None, mask))
                    else:
                        metric.update_state(t, p)

    def reset_state(self):
        for metric in self.metrics:
            metric.reset_state()

    def result(self):
        """`{name: value}`; a name used twice gets the output's in front."""
        found = {}
        for metric, name in self._flat:
            key, number = name, 0
            while key in found:
                number += 1
                key = f"{name}_{number}"
            found[key] = metric.result()
        return found


def _with_mask(weight, mask):
    if mask is None:
        return weight
    from kerata import ops

    mask = ops.cast(mask, "float32")
    return mask if weight is None else ops.cast(weight, "float32") * mask


def _metric_lists(given, names, y_pred):
    count = len(names)
    if given is None:
        return [[] for _ in names]
    if isinstance(given, dict):
        return [_as_list(m) for m in per_output(given, names, y_pred, "metrics")]
    given = _as_list(given)
    if count > 1:
        if any(isinstance(m, (list, tuple)) for m in given) or len(given) == count:
            return [_as_list(m) for m in per_output(given, names, y_pred, "metrics")]
        raise ValueError(
            f"compile: the model has {count} outputs, so `metrics` must be a list of {count} entries (lists), or a dict by output name."
        )
    if len(given) == 1 and isinstance(given[0], (list, tuple)):
        given = list(given[0])
    return [given]


def _as_list(value):
    if value is None:
        return []
    return [m for m in value if m is not None] if isinstance(value, (list, tuple)) else [value]


def _metric(identifier, y, y_pred):
    """A metric from a metric, a name or a function; `"accuracy"` by the shapes."""
    if isinstance(identifier, metrics_module.Metric):
        return identifier
    if isinstance(identifier, str) and identifier.lower() in ACCURACY:
        return _by_shapes(identifier, y, y_pred)
    found = metrics_module.get(identifier)
    if isinstance(found, metrics_module.Metric):
        if isinstance(identifier, str):
            found.name = identifier
        return found
    name = identifier if isinstance(identifier, str) else getattr(found, "__name__", "metric").strip("<>")
    return metrics_module.MeanMetricWrapper(found, name=name)


def _by_shapes(identifier, y, y_pred):
    """Which accuracy (or crossentropy) suits: binary, categorical or sparse."""
    binary = y_pred.shape[-1] == 1 if len(y_pred.shape) else True
    sparse = y is not None and (
        len(y.shape) < len(y_pred.shape) or (len(y.shape) and y.shape[-1] == 1 and y_pred.shape[-1] != 1)
    )
    kind = "binary" if binary else "sparse_categorical" if sparse else "categorical"
    if identifier.lower() in ("accuracy", "acc"):
        classes = {
            "binary": metrics_module.BinaryAccuracy,
            "categorical": metrics_module.CategoricalAccuracy,
            "sparse_categorical": metrics_module.SparseCategoricalAccuracy,
        }
    else:
        classes = {
            "binary": metrics_module.BinaryCrossentropy,
            "categorical": metrics_module.CategoricalCrossentropy,
            "sparse_categorical": metrics_module.SparseCategoricalCrossentropy,
        }
    return classes[kind](name=identifier)
