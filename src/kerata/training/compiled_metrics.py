"""What `compile(metrics=…)` means, once outputs are known."""

from kerata import metrics as metrics_module
from kerata.core import tree
from kerata.core.masks import get_mask
from kerata.training.outputs import align, align_weights, per_output

# Metrics whose kind goes by the shapes of targets and outputs.
ACCURACY = ("accuracy", "acc", "crossentropy", "ce")


class OutputMetrics:
    """The compiled metrics, for each output; among a model's metrics they count as one, whose result is a dict.

    Args:
        metrics, weighted_metrics: list of metrics (or names, or functions); or lists or dicts of such, by output.
    """

    name = "compile_metrics"

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
                self._flat += [(metric, name if len(names) > 1 else None, kind == 1) for metric in own]
            self.by_output.append((made, kind == 1))
        self.built = True

    @property
    def metrics(self):
        return [m for m, _, _ in self._flat]

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
        """`{name: value}`, the output's name in front where there are several.

        A weighted metric whose name is taken gets `weighted_` in front, any other a number behind.
        """
        found = {}
        for metric, output, weighted in self._flat:
            prefix = "" if output is None else f"{output}_"
            name = f"{prefix}{metric.name}"
            if weighted and name in found:
                name = f"{prefix}weighted_{metric.name}"
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
    if isinstance(given, dict) and isinstance(y_pred, dict) and len(y_pred) != count and given.keys() <= y_pred.keys():
        return [own for key in sorted(y_pred) for own in _nested_lists(given.get(key), y_pred[key])]
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


def _nested_lists(given, outputs):
    """A list of metrics for each leaf of nested outputs."""
    if not tree.is_nested(outputs):
        return [_as_list(given)]
    if isinstance(outputs, dict):
        given = given or {}
        return [own for key in sorted(outputs) for own in _nested_lists(given.get(key), outputs[key])]
    given = [None] * len(outputs) if given is None else given
    if not isinstance(given, (list, tuple)) or len(given) != len(outputs):
        raise ValueError(
            f"compile: Invalid `metrics`: {given!r} is given for {len(outputs)} outputs; give a list with an entry for each."
        )
    return [own for one, output in zip(given, outputs, strict=True) for own in _nested_lists(one, output)]


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
