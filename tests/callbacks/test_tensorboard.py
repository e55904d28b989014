"""`TensorBoard`: what its files hold, read by the `tensorboard` package."""

import os
import subprocess
import sys

import numpy as np
import pytest

import kerata
from kerata import callbacks, layers, ops

pytest.importorskip("tensorboard")
X, Y = np.ones((10, 4), "float32"), np.ones((10, 1), "float32")


def model_of(*parts):
    model = kerata.Sequential([*parts, layers.Dense(1, name="head")])
    model.compile(kerata.optimizers.SGD(0.125), "mse")
    return model


def events(directory):
    """`[(tag, step, plugin, tensor)]` of all files in a directory, their checksums verified."""
    from tensorboard.compat.proto import event_pb2
    from tensorboard.compat.tensorflow_stub import errors
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import PyRecordReader_New

    found = []
    for name in sorted(os.listdir(directory)):
        assert name.startswith("events.out.tfevents.")
        reader = PyRecordReader_New(os.path.join(directory, name))
        while True:
            try:
                reader.GetNext()
            except errors.OutOfRangeError:  # the end; a wrong checksum is another error
                break
            event = event_pb2.Event.FromString(reader.record())
            found += [(v.tag, event.step, v.metadata.plugin_data.plugin_name, v.tensor) for v in event.summary.value]
    return found


def test_metrics_of_epochs(training_backend, tmp_path):
    model, callback = model_of(), callbacks.TensorBoard(tmp_path)
    for _ in range(2):
        history = model.fit(
            X, Y, batch_size=2, epochs=2, validation_data=(X, Y), verbose=0, callbacks=[callback]
        ).history
    trained, validated = events(tmp_path / "train"), events(tmp_path / "validation")
    assert {(tag, plugin) for tag, _, plugin, _ in trained} == {
        ("epoch_loss", "scalars"),
        ("epoch_learning_rate", "scalars"),
        ("keras", "graph_keras_model"),
    }
    losses = [(step, tensor.float_val[0]) for tag, step, _, tensor in trained if tag == "epoch_loss"]
    assert [step for step, _ in losses] == [0, 1, 0, 1]
    np.testing.assert_allclose([loss for _, loss in losses[2:]], history["loss"], rtol=1e-6)
    assert [t.float_val[0] for tag, *_, t in trained if tag == "epoch_learning_rate"] == [0.125] * 4
    assert {tag for tag, *_ in validated} == {"epoch_loss", "evaluation_loss_vs_iterations"}
    assert [step for tag, step, *_ in validated if tag.startswith("evaluation")] == [5, 10, 15, 20]


def test_metrics_of_batches(training_backend, tmp_path):
    callback = callbacks.TensorBoard(tmp_path, update_freq=2, write_steps_per_second=True, write_graph=False)
    model_of().fit(X, Y, batch_size=2, epochs=2, verbose=0, callbacks=[callback])
    found = events(tmp_path / "train")
    assert [step for tag, step, *_ in found if tag == "batch_loss"] == [2, 4, 6, 8, 10]
    assert {tag for tag, *_ in found} == {
        "batch_loss",
        "batch_steps_per_second",
        "epoch_loss",
        "epoch_learning_rate",
        "epoch_steps_per_second",
    }
    assert not (tmp_path / "validation").exists()


def test_weights(training_backend, tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    import io

    model = model_of(layers.Reshape((2, 2, 1)), layers.Conv2D(3, 2, name="conv"), layers.Flatten())
    model.fit(X, Y, verbose=0, callbacks=[callbacks.TensorBoard(tmp_path, histogram_freq=1, write_images=True)])
    found = {tag: (plugin, tensor) for tag, _, plugin, tensor in events(tmp_path / "train")}
    kernel = model.get_layer("conv").kernel
    plugin, tensor = found[f"{kernel.path}/histogram"]
    rows = np.reshape(tensor.double_val, (-1, 3))
    assert plugin == "histograms" and rows[:, 2].sum() == kernel.numpy().size
    assert rows[0, 0] == pytest.approx(kernel.numpy().min()) and rows[-1, 1] == pytest.approx(kernel.numpy().max())
    plugin, tensor = found[f"{kernel.path}/image"]
    assert plugin == "images" and tensor.string_val[:2] == [b"2", b"2"]
    for i, png in enumerate(tensor.string_val[2:]):
        values = kernel.numpy()[:, :, 0, i]
        grey = np.asarray(image_module.open(io.BytesIO(png)))
        np.testing.assert_allclose(grey, (values - values.min()) / np.ptp(values) * 255, atol=1)


def test_embeddings_for_the_projector(training_backend, tmp_path):
    model = model_of(layers.Embedding(5, 3, name="words"), layers.Flatten())
    callback = callbacks.TensorBoard(tmp_path, embeddings_freq=1, embeddings_metadata={"words": "names.tsv"})
    model.fit(np.zeros((4, 2), "int32"), Y[:4], verbose=0, callbacks=[callback])
    weight = model.get_layer("words").embeddings
    np.testing.assert_allclose(np.loadtxt(tmp_path / "words.tsv"), weight.numpy(), rtol=1e-6)
    assert (tmp_path / "projector_config.pbtxt").read_text() == (
        f'embeddings {{\n  tensor_name: "{weight.path}"\n  tensor_path: "words.tsv"\n  metadata_path: "names.tsv"\n}}\n'
    )
    model.get_layer("words").enable_lora(1)
    model.compile("sgd", "mse")
    model.fit(np.zeros((4, 2), "int32"), Y[:4], verbose=0, callbacks=[callback])
    changed = ops.convert_to_numpy(model.get_layer("words").embeddings)
    assert (changed != weight.numpy()).any()
    np.testing.assert_allclose(np.loadtxt(tmp_path / "words.tsv"), changed, rtol=1e-6)
    with pytest.raises(ValueError, match="names \\['others'\\]"):
        bad = callbacks.TensorBoard(tmp_path, embeddings_freq=1, embeddings_metadata={"others": "names.tsv"})
        model.fit(np.zeros((4, 2), "int32"), Y[:4], verbose=0, callbacks=[bad])


def test_settings_out_of_range():
    for settings, message in (({"profile_batch": 2}, "own profiler"), ({"update_freq": 0}, "update_freq")):
        with pytest.raises(ValueError, match=message):
            callbacks.TensorBoard(**settings)


def test_no_framework_is_imported():
    code = (
        "import sys, tempfile; from kerata.callbacks import event_file as e; "
        "f = e.EventFile(tempfile.mkdtemp()); f.add(1, e.scalar('a', 1.0)); f.close(); "
        "assert not {'tensorflow', 'torch', 'jax'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
