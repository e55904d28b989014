"""How far a student's outputs are from its teacher's."""

from kerata import losses, ops
from kerata.core import tree
from kerata.core.construct import Constructed


class DistillationLoss(Constructed):
    """Base of what compares a student with its teacher. A subclass defines `compute_loss`."""

    def compute_loss(self, teacher_outputs, student_outputs, **kwargs):
        """The loss.

        Args:
            teacher_outputs, student_outputs: tensor, or nest of tensors.
            **kwargs: for subclasses.

        Returns:
            Scalar.
        """
        raise NotImplementedError(f"{type(self).__name__} defines no `compute_loss`: write one that returns a scalar.")

    def validate_outputs(self, teacher_outputs, student_outputs):
        """Check that outputs can be compared.

        Args:
            teacher_outputs, student_outputs: tensor, or nest of tensors.

        Raises:
            ValueError: their nesting differs.
        """
        _same_nesting(self, teacher_outputs, student_outputs)

    def validate_model_compatibility(self, teacher, student):
        """Check that models can be compared.

        Args:
            teacher, student: models.

        Raises:
            ValueError: they can't.
        """


def _same_nesting(owner, teacher_outputs, student_outputs):
    try:
        tree.assert_same_structure(teacher_outputs, student_outputs)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{type(owner).__name__}: the teacher's and the student's outputs must be nested alike: {error}"
        ) from None


class _ByOutput(DistillationLoss):
    """Distillation with a loss for each output."""

    def _set_loss(self, loss):
        found = [loss] if loss is None or not tree.is_nested(loss) else tree.flatten(loss)
        if all(part is None for part in found):
            raise ValueError(
                f"The `loss` argument in `{type(self).__name__}` must contain at least one non-`None` value. "
                "At least one loss must be non-`None`."
            )
        self.loss = tree.map_structure(losses.get, loss) if tree.is_nested(loss) else losses.get(loss)

    def _summed(self, compare, teacher_outputs, student_outputs):
        """`compare(loss, teacher, student)` of all outputs that have a loss, added up."""
        self.validate_outputs(teacher_outputs, student_outputs)
        teachers, students = tree.flatten(teacher_outputs), tree.flatten(student_outputs)
        each = tree.flatten(self.loss) if tree.is_nested(self.loss) else [self.loss]
        found = [compare(loss, t, s) for loss, t, s in zip(each, teachers, students, strict=True) if loss is not None]
        return sum(found[1:], found[0])

    def validate_outputs(self, teacher_outputs, student_outputs):
        """Check that outputs can be compared, and that there is a loss for each.

        Raises:
            ValueError: their nesting differs, or that of the losses.
        """
        super().validate_outputs(teacher_outputs, student_outputs)
        _same_nesting(self, teacher_outputs, self.loss)


class LogitsDistillation(_ByOutput):
    """The student's outputs before the softmax are to be the teacher's.

    Both are divided by the temperature. For the Kullback-Leibler divergence and the categorical crossentropy they become
    probabilities then, and the loss is multiplied by the square of the temperature, so that its gradient doesn't shrink
    with it. Source: Hinton et al., "Distilling the Knowledge in a Neural Network", 2015.

    Args:
        temperature: above 1, small probabilities count more.
        loss: loss or its name; a nest of them for several outputs, `None` where there is none.

    Raises:
        ValueError: a temperature that isn't positive, or no loss at all.

    >>> from kerata import distillation
    >>> loss = distillation.LogitsDistillation(temperature=2.0)
    >>> float(loss.compute_loss([[1.0, 2.0]], [[1.0, 2.0]]))
    0.0
    """

    def __init__(self, temperature=3.0, loss="kl_divergence"):
        if isinstance(temperature, bool) or not isinstance(temperature, (int, float)):
            raise ValueError(f"LogitsDistillation: temperature must be a number, not {temperature!r}.")
        if temperature <= 0:
            raise ValueError(f"LogitsDistillation: temperature must be positive, not {temperature!r}.")
        self.temperature = temperature
        self._set_loss(loss)

    def compute_loss(self, teacher_outputs, student_outputs, **kwargs):
        """The loss.

        Args:
            teacher_outputs, student_outputs: logits: tensor, or nest of tensors.
            **kwargs: not used.

        Returns:
            Scalar.
        """
        if not tree.is_nested(self.loss):
            teacher_outputs, student_outputs = (_tensor(v) for v in (teacher_outputs, student_outputs))
        return self._summed(self._compare, teacher_outputs, student_outputs)

    def _compare(self, loss, teacher, student):
        teacher, student = (ops.convert_to_tensor(v) / self.temperature for v in (teacher, student))
        if not _of_probabilities(loss):
            return ops.mean(loss(teacher, student))
        student = student if _from_logits(loss) else ops.softmax(student)
        return ops.mean(loss(ops.softmax(teacher), student)) * self.temperature**2

    def get_config(self):
        """The constructor's arguments, by name."""
        return {"temperature": self.temperature, "loss": _serialized(self.loss)}

    @classmethod
    def from_config(cls, config):
        """The loss that `get_config` described."""
        return cls(**{**config, "loss": _deserialized(config["loss"])})


def _tensor(x):
    """Lists of numbers are one output; other nests are several."""
    if isinstance(x, (list, tuple)) and x and not hasattr(x[0], "shape") and not isinstance(x[0], dict):
        return ops.convert_to_tensor(x)
    return x


def _of_probabilities(loss):
    # A loss that is a function's wrapper has it as `fn`, the library's own classes as `function`.
    function = getattr(loss, "fn", None) or getattr(loss, "function", loss)
    return function in (losses.kl_divergence, losses.categorical_crossentropy)


def _from_logits(loss):
    return bool(getattr(loss, "from_logits", False))


class FeatureDistillation(_ByOutput):
    """What a layer of the student gives is to be what a layer of the teacher gives.

    Args:
        loss: loss or its name; a nest of them for several outputs, `None` where there is none.
        teacher_layer_name, student_layer_name: the layers; `None`: the models' outputs.

    Raises:
        ValueError: no loss at all.

    >>> from kerata import distillation
    >>> loss = distillation.FeatureDistillation("mse")
    >>> float(loss.compute_loss([[1.0, 2.0]], [[1.0, 4.0]]))
    2.0
    """

    def __init__(self, loss="mse", teacher_layer_name=None, student_layer_name=None):
        self._set_loss(loss)
        self.teacher_layer_name = teacher_layer_name
        self.student_layer_name = student_layer_name

    def validate_model_compatibility(self, teacher, student):
        """Check that both models have the layers.

        Args:
            teacher, student: models.

        Raises:
            ValueError: one hasn't, or isn't Functional or Sequential, so that a layer's output can't be asked for.
        """
        for what, model, name in (
            ("teacher", teacher, self.teacher_layer_name),
            ("student", student, self.student_layer_name),
        ):
            if name is None:
                continue
            if not (hasattr(model, "_set_graph") or hasattr(model, "_stack")):
                raise ValueError(
                    f"FeatureDistillation: the {what} must be a Functional or Sequential model, so that the output of its layer "
                    f"{name!r} can be taken, not {type(model).__name__}."
                )
            try:
                model.get_layer(name=name)
            except ValueError as error:
                raise ValueError(f"In {what} model: {error}") from None

    def compute_loss(self, teacher_outputs, student_outputs, **kwargs):
        """The loss.

        Args:
            teacher_outputs, student_outputs: what the layers gave: tensor, or nest of tensors.
            **kwargs: not used.

        Returns:
            Scalar.
        """
        if not tree.is_nested(self.loss):
            teacher_outputs, student_outputs = (_tensor(v) for v in (teacher_outputs, student_outputs))
        return self._summed(_mean_of, teacher_outputs, student_outputs)

    def get_config(self):
        """The constructor's arguments, by name."""
        return {
            "loss": _serialized(self.loss),
            "teacher_layer_name": self.teacher_layer_name,
            "student_layer_name": self.student_layer_name,
        }

    @classmethod
    def from_config(cls, config):
        """The loss that `get_config` described."""
        return cls(**{**config, "loss": _deserialized(config["loss"])})

    def validate_outputs(self, teacher_outputs, student_outputs):
        """Check that outputs can be compared, and that there is a loss for each.

        Args:
            teacher_outputs, student_outputs: tensor, or nest of tensors.

        Raises:
            ValueError: their nesting differs, or that of the losses.
        """
        super().validate_outputs(teacher_outputs, student_outputs)


def _mean_of(loss, teacher, student):
    return ops.mean(loss(ops.convert_to_tensor(teacher), ops.convert_to_tensor(student)))


def _serialized(loss):
    if loss is None:
        return None
    if isinstance(loss, dict):
        return {k: _serialized(v) for k, v in loss.items()}
    if isinstance(loss, (list, tuple)):
        return [_serialized(v) for v in loss]
    return losses.serialize(loss)


def _deserialized(config):
    if isinstance(config, dict) and "class_name" not in config:
        return {k: _deserialized(v) for k, v in config.items()}
    if isinstance(config, (list, tuple)):
        return [_deserialized(v) for v in config]
    if isinstance(config, dict):
        return losses.deserialize(config)
    return config
