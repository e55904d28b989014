"""The step that predicts on inference backends."""

from kerata.models.forward import Forward
from kerata.models.graph_forward import graph_predicts
from kerata.training.step import EagerStep, Step


class GraphStep(Step):
    """Runs the model's compiled graph (`GraphForward`)."""

    def __init__(self, model, kind, function, logs, backend):
        super().__init__(model, kind, function, logs, backend)
        if model.__dict__.get("_forward") is None:
            model.__dict__["_forward"] = Forward(model)

    def run(self, batch):
        return self.model._forward.run(self.native(batch[0]))


def predicting_step(model, *args):
    """The step of `predict`; a model with a `predict_step` of its own runs that."""
    return (GraphStep if graph_predicts(model) else EagerStep)(model, *args)
