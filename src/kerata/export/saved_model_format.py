"""Models as TensorFlow SavedModels."""

from kerata.export.archive import ExportArchive
from kerata.export.signature import inference


def write(model, filepath, symbols, **kwargs):
    """Write the folder; returns a description."""
    archive = archived(model, symbols, **kwargs)
    archive.write_out(filepath, verbose=False)
    return archive.described()


def archived(model, symbols, **kwargs):
    """The model's inference as the endpoint `serve`."""
    if not model.built:
        # Shapes that were given are enough to make the weights.
        model(*symbols)
    archive = ExportArchive()
    archive.track(model)
    archive.add_endpoint("serve", inference(model, symbols), list(symbols), **kwargs)
    return archive
