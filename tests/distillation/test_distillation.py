"""Distillation: losses against NumPy, training on every backend, files both ways with Keras."""

import numpy as np
import pytest

import kerata
from kerata import distillation, layers, ops

RNG = np.random.default_rng(0)
TEACHER, STUDENT = RNG.normal(size=(2, 4, 5)).astype("float32")


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _divergence(temperature):
    p, q = softmax(TEACHER.astype("float64") / temperature), softmax(STUDENT.astype("float64") / temperature)
    return (p * np.log(p / q)).sum(axis=-1).mean() * temperature**2


def _crossentropy(temperature):
    p, q = softmax(TEACHER.astype("float64") / temperature), softmax(STUDENT.astype("float64") / temperature)
    return -(p * np.log(q)).sum(axis=-1).mean() * temperature**2


@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_logits(backend, temperature):
    for loss, wanted in (
        ("kl_divergence", _divergence(temperature)),
        (kerata.losses.KLDivergence(), _divergence(temperature)),
        ("categorical_crossentropy", _crossentropy(temperature)),
        (kerata.losses.CategoricalCrossentropy(from_logits=True), _crossentropy(temperature)),
        ("mse", ((TEACHER - STUDENT) ** 2).mean() / temperature**2),
    ):
        found = distillation.LogitsDistillation(temperature, loss).compute_loss(TEACHER, STUDENT)
        np.testing.assert_allclose(float(found), wanted, rtol=2e-5)


def test_several_outputs(backend):
    loss = distillation.FeatureDistillation(["mse", None])
    found = loss.compute_loss([TEACHER, TEACHER], [STUDENT, TEACHER])
    np.testing.assert_allclose(float(found), ((TEACHER - STUDENT) ** 2).mean(), rtol=1e-5)
    with pytest.raises(ValueError, match="nested alike"):
        loss.compute_loss([TEACHER, TEACHER], [STUDENT])


def _pair():
    def model(width, name):
        first = layers.Dense(width, activation="relu", name=f"{name}_1")
        return kerata.Sequential([kerata.Input((8,)), first, layers.Dropout(0.2, seed=1), layers.Dense(5)], name=name)

    return model(16, "teacher"), model(16, "student")


def _distiller(eagerly=False):
    kerata.utils.set_random_seed(0)
    teacher, student = _pair()
    losses = [
        distillation.LogitsDistillation(2.0),
        distillation.FeatureDistillation("mse", "teacher_1", "student_1"),
    ]
    distiller = distillation.Distiller(teacher, student, losses, [1.0, 0.5], student_loss_weight=0.3)
    loss = kerata.losses.SparseCategoricalCrossentropy(from_logits=True)
    distiller.compile(kerata.optimizers.Adam(0.01), loss, metrics=["accuracy"], run_eagerly=eagerly)
    return distiller


X, Y = RNG.normal(size=(64, 8)).astype("float32"), RNG.integers(0, 5, 64)


def test_student_learns(training_backend):
    histories = []
    for eagerly in (True, False):
        distiller = _distiller(eagerly)
        before = [v.numpy() for v in distiller.teacher.variables if v.dtype == "float32"]
        logs = distiller.fit(X, Y, epochs=4, batch_size=32, shuffle=False, verbose=0).history
        assert set(logs) == {"accuracy", "loss", "student_loss", "distillation_loss", "total_loss"}
        np.testing.assert_allclose(logs["loss"], logs["total_loss"], rtol=1e-5)
        total = 0.3 * np.array(logs["student_loss"]) + 0.7 * np.array(logs["distillation_loss"])
        np.testing.assert_allclose(total, logs["total_loss"], rtol=1e-5)
        assert logs["distillation_loss"][-1] < logs["distillation_loss"][0]
        after = [v.numpy() for v in distiller.teacher.variables if v.dtype == "float32"]
        assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
        histories.append(logs["loss"])
    np.testing.assert_allclose(histories[0], histories[1], rtol=1e-4)


def test_files(training_backend, real_keras, tmp_path):
    distiller = _distiller()
    distiller.fit(X, Y, epochs=1, verbose=0)
    path = str(tmp_path / "distiller.keras")
    distiller.save(path)
    wanted = distiller.predict(X, verbose=0)
    again = kerata.saving.load_model(path)
    np.testing.assert_allclose(again.predict(X, verbose=0), wanted, atol=1e-6)
    assert again.student_loss_weight == 0.3 and again.distillation_losses[1].teacher_layer_name == "teacher_1"
    assert np.isfinite(again.fit(X, Y, epochs=1, verbose=0).history["loss"]).all()
    theirs = real_keras.saving.load_model(path)
    np.testing.assert_allclose(np.asarray(theirs(X)), wanted, atol=1e-5)


def test_errors_say_what():
    teacher, student = _pair()
    loss = distillation.LogitsDistillation()
    wide = kerata.Sequential([kerata.Input((8,)), layers.Dense(7)])
    for make, words in (
        (lambda: distillation.LogitsDistillation(0), "positive"),
        (lambda: distillation.LogitsDistillation(loss=None), "non-`None`"),
        (lambda: distillation.Distiller("t", student, loss), "Teacher"),
        (lambda: distillation.Distiller(teacher, wide, loss), "output shapes"),
        (lambda: distillation.Distiller(teacher, student, None), "distillation_losses"),
        (lambda: distillation.Distiller(teacher, student, [loss], [1.0, 2.0]), "distillation_loss_weights"),
        (lambda: distillation.Distiller(teacher, student, loss, student_loss_weight=2), "between 0 and 1"),
        (
            lambda: distillation.Distiller(
                teacher, student, distillation.FeatureDistillation("mse", "no", "student_1")
            ),
            "'no'",
        ),
    ):
        with pytest.raises(ValueError, match=words):
            make()
    assert ops.is_tensor(distillation.Distiller(teacher, student, loss)(np.ones((1, 8), "float32")))
