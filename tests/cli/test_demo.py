"""`kerata demo`: the recipe holds, the file travels, faults show."""

import io

import pytest
from rich.console import Console

import kerata
from kerata import backends
from kerata.cli import demo


def run(monkeypatch, installed, **options):
    monkeypatch.setattr(backends, "installed", lambda: list(installed))
    out = io.StringIO()
    code = demo.run_demo(console=Console(file=out, width=200), **options)
    return code, out.getvalue()


def test_trains_saves_and_agrees(tmp_path, monkeypatch):
    path = tmp_path / "digits.keras"
    code, text = run(monkeypatch, ["jax", "torch", "numpy"], backend="jax", out=str(path))
    assert code == 0, text
    accuracy = float(text.split("Test accuracy ")[1].split()[0])
    assert accuracy >= demo.ACCURACY_EXPECTED
    assert path.exists() and str(path) in text
    assert "numpy" in text and "torch" in text and "✗" not in text
    assert 'pip install "kerata[tensorflow,openvino,onnx]"' in text


def test_too_little_training_is_reported(tmp_path, monkeypatch):
    code, text = run(monkeypatch, ["jax"], backend="jax", epochs=1, out=str(tmp_path / "digits.keras"))
    assert code == 1 and "below 0.98" in text


def test_a_backend_that_fails_is_shown_and_the_others_run(tmp_path):
    (tmp_path / "broken.keras").write_bytes(b"no zip")
    (_, _), (x, _) = demo.load_digits()
    result = demo.compare("numpy", str(tmp_path / "broken.keras"), x[:2], 0)
    assert result.problem and result.backend == "numpy"


def test_a_difference_is_a_problem(tmp_path):
    (_, _), (x, _) = demo.load_digits()
    with kerata.config.use_backend("numpy"):
        model = demo.build_net(1)
        model.save(tmp_path / "net.keras")
        reference = model.predict(x[:4], verbose=0)
    assert not demo.compare("numpy", str(tmp_path / "net.keras"), x[:4], reference).problem
    assert "differs" in demo.compare("numpy", str(tmp_path / "net.keras"), x[:4], reference + 1).problem


@pytest.mark.parametrize("backend, said", [("numpy", "can't train"), ("pytorch", "can't train")])
def test_a_backend_that_cannot_train(monkeypatch, backend, said):
    code, text = run(monkeypatch, ["numpy"], backend=backend)
    assert code == 1 and said in text


def test_nothing_to_train_on(monkeypatch):
    code, text = run(monkeypatch, ["numpy"])
    assert code == 1 and 'pip install "kerata[jax]"' in text
