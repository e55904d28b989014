"""`Distiller`: a model that trains a student with its teacher at hand."""

from kerata import metrics as metrics_module
from kerata import ops
from kerata.core import tree
from kerata.core.serialization import deserialize_keras_object, serialize_keras_object
from kerata.distillation.distillation_losses import DistillationLoss
from kerata.models import Model
from kerata.models.reading import build_by_call
from kerata.training.compiled_losses import OutputLosses
from kerata.training.outputs import output_names


class Distiller(Model):
    """Trains a student on labels and on what its teacher says.

    The loss is `student_loss_weight` of the student's own and the rest of the sum of the distillation losses. The teacher
    is frozen. Called, it gives the student's outputs; `distiller.student` is the trained model.

    Args:
        teacher: trained model.
        student: model to train, of the same inputs and outputs.
        distillation_losses: `DistillationLoss`, or list of them.
        distillation_loss_weights: a number for each; `None`: 1.
        student_loss_weight: from 0 to 1.
        name: name.

    Raises:
        ValueError: what is no model; models that don't fit each other or a loss; weights out of range or number.

    >>> import kerata
    >>> from kerata import distillation
    >>> teacher = kerata.Sequential([kerata.Input((4,)), kerata.layers.Dense(16), kerata.layers.Dense(3)])
    >>> student = kerata.Sequential([kerata.Input((4,)), kerata.layers.Dense(3)])
    >>> distiller = distillation.Distiller(teacher, student, distillation.LogitsDistillation())
    >>> distiller(kerata.ops.ones((2, 4))).shape == (2, 3)
    True
    """

    def __init__(
        self,
        teacher,
        student,
        distillation_losses,
        distillation_loss_weights=None,
        student_loss_weight=0.5,
        name="distiller",
        **kwargs,
    ):
        super().__init__(name=name, **kwargs)
        for what, model in (("Teacher", teacher), ("Student", student)):
            if not isinstance(model, Model):
                raise ValueError(f"{what} must be a keras.Model, not {model!r} ({type(model).__name__}).")
        if not 0 <= student_loss_weight <= 1:
            raise ValueError(f"student_loss_weight must be between 0 and 1, not {student_loss_weight!r}.")
        _must_fit(teacher, student)
        self.teacher, self.student = teacher, student
        self.teacher.trainable = False
        self.distillation_losses = _listed(distillation_losses)
        self.distillation_loss_weights = _weights(distillation_loss_weights, len(self.distillation_losses))
        self.student_loss_weight = student_loss_weight
        for loss in self.distillation_losses:
            loss.validate_model_compatibility(teacher, student)
        self.student_loss_tracker = metrics_module.Mean(name="student_loss")
        self.distillation_loss_tracker = metrics_module.Mean(name="distillation_loss")
        self.total_loss_tracker = metrics_module.Mean(name="total_loss")
        # Not by attribute: they share the models' layers, and are no part of this one.
        self.__dict__.update(
            _student_loss=None, _features=None, _teacher_feature_extractor=None, _student_feature_extractor=None
        )
        self._make_extractors()

    # ------------------------------------------------------------- training

    def compile(self, optimizer="adam", loss=None, metrics=None, **kwargs):
        """Say how the student is trained.

        Args:
            optimizer: optimizer, or its name.
            loss: the student's own loss on labels.
            metrics: metrics of the student's outputs.
            **kwargs: as for `Model.compile`.
        """
        super().compile(optimizer=optimizer, loss=None, metrics=metrics, **kwargs)
        self.__dict__["_student_loss"] = None if loss is None else OutputLosses(loss, kwargs.get("loss_weights"))
        # What a file says: the loss that was given.
        self._compile_config["loss"] = loss

    @property
    def metrics(self):
        own = (self.student_loss_tracker, self.distillation_loss_tracker, self.total_loss_tracker)
        return [*(m for m in super().metrics if not any(m is o for o in own)), *own]

    def reset_metrics(self):
        """Begin all metrics anew."""
        super().reset_metrics()

    def build(self, input_shape):
        for model in (self.teacher, self.student):
            if not model.built:
                build_by_call(model, input_shape)

    def call(self, inputs, training=None, **kwargs):
        """The student's outputs.

        Args:
            inputs: inputs.
            training: the phase.
            **kwargs: for the student.
        """
        if self._student_feature_extractor is None:
            self._make_extractors()
        if self._student_feature_extractor is None or kwargs or not training:
            return self.student(inputs, training=training, **kwargs)
        outputs, *features = self._student_feature_extractor(inputs, training=training)
        # For `compute_loss`, which gets these outputs next: the student needn't run twice.
        self.__dict__["_features"] = (outputs, features)
        return outputs

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The scalar to minimize.

        Args:
            x, y: inputs and targets.
            y_pred: the student's outputs.
            sample_weight: weights of the samples in the student's own loss.
            training: the phase.

        Returns:
            Scalar.
        """
        own = self._own_loss(y, y_pred, sample_weight)
        distilled = ops.zeros_like(own)
        if self.student_loss_weight < 1:
            distilled = ops.cast(self._distilled(x, y_pred, training), own.dtype)
        total = self.student_loss_weight * own + (1 - self.student_loss_weight) * distilled
        for extra in self.losses:
            total = total + ops.cast(ops.sum(extra), total.dtype)
        count = ops.shape(tree.flatten(y_pred)[0])[0]
        for tracker, value in (
            (self.student_loss_tracker, own),
            (self.distillation_loss_tracker, distilled),
            (self.total_loss_tracker, total),
        ):
            tracker.update_state(ops.stop_gradient(value), sample_weight=count)
        return total

    def _own_loss(self, y, y_pred, sample_weight):
        loss = self._student_loss
        if loss is None or y is None or self.student_loss_weight == 0:
            return ops.zeros((), "float32")
        if not loss.built:
            loss.build(output_names(self.student, y_pred), y_pred)
        return loss(y, y_pred, sample_weight)

    def _distilled(self, x, y_pred, training):
        names = [getattr(loss, "teacher_layer_name", None) for loss in self.distillation_losses]
        teachers = self._outputs_of(self.teacher, self._teacher_feature_extractor, x, names, False, None)
        names = [getattr(loss, "student_layer_name", None) for loss in self.distillation_losses]
        students = self._outputs_of(self.student, self._student_feature_extractor, x, names, training, y_pred)
        total = 0.0
        for loss, weight, t, s in zip(
            self.distillation_losses, self.distillation_loss_weights, teachers, students, strict=True
        ):
            t = tree.map_structure(ops.stop_gradient, t)
            total = total + weight * ops.mean(loss.compute_loss(t, s))
        return total

    def _outputs_of(self, model, extractor, x, names, training, outputs):
        """For each loss what the model (or its layer) gives; each layer runs once."""
        if extractor is None:
            outputs = model(x, training=training) if outputs is None else outputs
            return [outputs] * len(names)
        kept, self.__dict__["_features"] = self._features, None
        if outputs is not None and kept is not None and kept[0] is outputs:
            features = kept[1]
        else:
            found, *features = extractor(x, training=training)
            outputs = found if outputs is None else outputs
        by_name = dict(zip(_distinct(names), features, strict=True))
        return [outputs if name is None else by_name[name] for name in names]

    def _make_extractors(self):
        for what, model in (("teacher", self.teacher), ("student", self.student)):
            names = _distinct(getattr(loss, f"{what}_layer_name", None) for loss in self.distillation_losses)
            if names and model.built:
                outputs = [model.outputs[0] if len(model.outputs) == 1 else model.outputs]
                outputs += [model.get_layer(name=n).output for n in names]
                inputs = model.inputs[0] if len(model.inputs) == 1 else model.inputs
                self.__dict__[f"_{what}_feature_extractor"] = Model(inputs, outputs)

    # ------------------------------------------------------------- files

    def get_config(self):
        """The constructor's arguments, by name, models and losses serialized."""
        return {
            **self.common_config(),
            "teacher": serialize_keras_object(self.teacher),
            "student": serialize_keras_object(self.student),
            "distillation_losses": [serialize_keras_object(loss) for loss in self.distillation_losses],
            "distillation_loss_weights": list(self.distillation_loss_weights),
            "student_loss_weight": self.student_loss_weight,
        }

    @classmethod
    def from_config(cls, config):
        """The distiller that `get_config` described."""
        made = {k: deserialize_keras_object(config[k]) for k in ("teacher", "student")}
        made["distillation_losses"] = [deserialize_keras_object(c) for c in config["distillation_losses"]]
        rest = {k: v for k, v in config.items() if k not in made}
        if isinstance(rest.get("dtype"), dict):
            rest["dtype"] = deserialize_keras_object(rest["dtype"])
        return cls(**made, **rest)


def _listed(distillation_losses):
    if distillation_losses is None:
        raise ValueError(
            "'distillation_losses' cannot be `None`: give a distillation loss, such as LogitsDistillation(), or a list of them."
        )
    found = list(distillation_losses) if isinstance(distillation_losses, (list, tuple)) else [distillation_losses]
    for loss in found:
        if not isinstance(loss, DistillationLoss):
            raise ValueError(f"A distillation loss must be a `DistillationLoss`, not {loss!r} ({type(loss).__name__}).")
    return found


def _weights(weights, count):
    if weights is None:
        return [1.0] * count
    weights = list(weights) if isinstance(weights, (list, tuple)) else [weights]
    if len(weights) != count:
        raise ValueError(
            f"distillation_loss_weights must have a number for each of the {count} distillation losses, but has {len(weights)}."
        )
    return weights


def _distinct(names):
    return [n for n in dict.fromkeys(names) if n is not None]


def _must_fit(teacher, student):
    """Inputs and outputs of the two, as far as they're known, have the same shapes and dtypes."""
    for what in ("input", "output"):
        sides = [_symbols(model, what) for model in (teacher, student)]
        if None in sides:
            continue
        for t, s in zip(*sides, strict=False):
            if len(t.shape) != len(s.shape) or any(
                a is not None and b is not None and a != b for a, b in zip(t.shape, s.shape, strict=False)
            ):
                raise ValueError(
                    f"Teacher and student {what} shapes are incompatible: {tuple(t.shape)} and {tuple(s.shape)}. They must be "
                    "the same where both are known."
                )
            if t.dtype != s.dtype:
                raise ValueError(f"Teacher and student {what} dtypes are incompatible: {t.dtype} and {s.dtype}.")
        if len(sides[0]) != len(sides[1]):
            raise ValueError(f"Teacher and student have {len(sides[0])} and {len(sides[1])} {what}s.")


def _symbols(model, what):
    """The model's symbolic inputs or outputs, or `None` if it doesn't know them."""
    if not model.built or not (hasattr(model, "_set_graph") or hasattr(model, "_stack")):
        return None
    return getattr(model, f"{what}s", None)
