"""What `compile(loss=…)` means, once outputs are known."""

from kerata import losses as losses_module
from kerata import metrics as metrics_module
from kerata.core import tree
from kerata.losses.function_loss import LossFunctionWrapper
from kerata.training.loss_terms import loss_terms
from kerata.training.outputs import Numbered, align, align_weights, batch_size


class OutputLosses:
    """The compiled losses: terms of a sum, each of which looks at an output or at several, and trackers of the terms.

    Args:
        loss: loss, its name or a function; or a structure of them, by output.
        loss_weights: number, or a structure of numbers, by output or like `loss`.
    """

    def __init__(self, loss, loss_weights=None):
        for identifier in tree.flatten(loss):
            # A name that nothing answers to is an error of `compile`, not of the first step.
            if isinstance(identifier, str):
                _loss(identifier)
        self.loss = loss
        self.loss_weights = loss_weights
        self.built = False
        self._trackers = {}

    def build(self, names, y_pred):
        self.names = names
        self.terms = [t for t in loss_terms(self.loss, self.loss_weights, y_pred, names) if t.loss is not None]
        for term in self.terms:
            term.loss = _loss(term.loss)
            term.weight = None if term.weight is None else float(term.weight)
        if isinstance(names, Numbered):
            self._name_by_losses()
        self.needed = self._outputs_with_loss(y_pred)
        labels = list(dict.fromkeys(term.label for term in self.terms))
        if len(labels) > 1:
            self._trackers = {label: metrics_module.Mean(name=f"{label}_loss") for label in labels}
        self.built = True

    def _name_by_losses(self):
        """Outputs without names are shown by their losses, if these tell them apart."""
        labels = [term.loss.name for term in self.terms]
        if len(set(labels)) == len(labels):
            for term, label in zip(self.terms, labels, strict=True):
                term.label = label

    def _outputs_with_loss(self, y_pred):
        """For each output, in flat order, whether a term looks at it."""
        numbers = tree.pack_sequence_as(y_pred, range(len(self.names)))
        looked_at = {i for term in self.terms for i in tree.flatten(term.of(numbers))}
        return [i in looked_at for i in range(len(self.names))]

    @property
    def metrics(self):
        return list(self._trackers.values())

    @property
    def variables(self):
        return [v for metric in self.metrics for v in metric.variables]

    def __call__(self, y, y_pred, sample_weight):
        """Weighted sum of the terms."""
        targets = align(y, y_pred, self.names, self.needed, "y")
        weights = align_weights(sample_weight, y_pred, self.names)
        targets, weights = (tree.pack_sequence_as(y_pred, flat) for flat in (targets, weights))
        total, shown = None, {}
        for term in self.terms:
            predictions = term.of(y_pred)
            value = term.loss(term.of(targets), predictions, _common(term.of(weights)))
            # What is shown of an output is its loss as it is, without its weight in the sum.
            before = shown.get(term.label)
            shown[term.label] = value if before is None else before + value
            if term.weight is not None:
                value = value * term.weight
            total = value if total is None else total + value
        self._show(shown, y_pred)
        return total

    def _show(self, values, y_pred):
        if self._trackers:
            count = batch_size(tree.flatten(y_pred)[0])
            for label, value in values.items():
                self._trackers[label].update_state(value, sample_weight=count)


def _common(weights):
    """The samples' weights of several outputs together, if they are the same."""
    if not tree.is_nested(weights):
        return weights
    first, *others = tree.flatten(weights)
    return first if all(other is first for other in others) else weights


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
