"""Models as TensorFlow SavedModels."""

from kerata.export.archive import ExportArchive


def write(model, filepath, symbols, **kwargs):
    """Write the folder; returns a description."""
    archive = archived(model, symbols, **kwargs)
    archive.write_out(filepath, verbose=False)
    return archive.described()


def archived(model, symbols, **kwargs):
    """The model's inference as the endpoint `serve`."""
    archive = ExportArchive()
    archive.track(model)
    archive.add_endpoint("serve", lambda inputs: model(inputs, training=False), [symbols], **kwargs)
    return archive
