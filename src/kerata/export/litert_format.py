"""Models as LiteRT files: by way of SavedModels."""

import os
import tempfile

from kerata import backends
from kerata.export.files import replacing_all
from kerata.export.saved_model_format import archived


def write(model, filepath, symbols, **options):
    """Write the `.tflite` file; returns a description."""
    path = os.fspath(filepath)
    if not path.endswith(".tflite"):
        raise ValueError(f"export: the path of a LiteRT file must end with '.tflite', not {path!r}.")
    archive = archived(model, symbols)
    with tempfile.TemporaryDirectory() as folder:
        archive.write_out(folder, verbose=False)
        content, selected = backends.load("tensorflow").litert_of(folder, options)
    with replacing_all(path) as target, open(target, "wb") as file:
        file.write(content)
    needs = (
        "\n  The runtime needs TensorFlow's ops (the Flex delegate): some have no form in LiteRT." if selected else ""
    )
    return archive.described() + needs
