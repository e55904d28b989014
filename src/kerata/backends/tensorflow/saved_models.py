"""SavedModels and LiteRT files, of functions of tensors."""

import inspect
import re

from kerata.backends.tensorflow.core import tf


def tensor_spec(shape, dtype, name):
    return tf.TensorSpec(shape, dtype, _allowed(name))


def is_trackable(resource):
    """Whether it's a resource of TensorFlow's own that SavedModels can hold, such as a table or a variable."""
    return isinstance(resource, tf.__internal__.tracking.Trackable)


def was_called(function):
    """Whether it's a `tf.function` that knows signatures."""
    return hasattr(function, "_list_all_concrete_functions") and bool(function._list_all_concrete_functions())


def endpoint(function, signature=None):
    """`(function, signature of a SavedModel, concrete function)`: with a list of structures of specs, one an argument, or as it was
    called last."""
    if signature is None:
        concrete = function._list_all_concrete_functions()[-1]
        return function, concrete, concrete

    def made(function):
        return tf.function(function, input_signature=signature, autograph=False)

    # While it's saved it's traced anew: two traces of one function would be two functions of one name in the file.
    saved, concrete = made(function), made(function).get_concrete_function()
    if not _is_deep(concrete.structured_outputs):
        return saved, saved, concrete

    def flat(*inputs, **named):
        return dict(_named(saved(*inputs, **named)))

    flat.__signature__ = inspect.signature(function)
    return saved, made(flat), concrete


def _is_deep(outputs):
    """Whether outputs are nested more than signatures of SavedModels can be."""
    values = outputs.values() if isinstance(outputs, dict) else outputs if isinstance(outputs, (list, tuple)) else ()
    return any(tf.nest.is_nested(v) for v in values)


def _named(outputs, path=()):
    """`(name, tensor)` of nested outputs: the keys that lead to each, joined; numbers follow `output`."""
    if not tf.nest.is_nested(outputs):
        yield "_".join(path if not path[0].isdigit() else ("output", *path)), outputs
        return
    items = outputs.items() if isinstance(outputs, dict) else enumerate(outputs)
    for key, value in items:
        yield from _named(value, (*path, str(key)))


def variables_of(concrete):
    return list(concrete.graph.variables)


def stored_variable(array, trainable, name):
    return tf.Variable(array, trainable=trainable, name=_allowed(name))


def _allowed(name):
    """A name in the few characters that TensorFlow's may have."""
    name = re.sub(r"[^A-Za-z0-9_./-]", "_", name)
    return name if re.match("[A-Za-z0-9.]", name) else f"v{name}"


def empty_trackable():
    """What a SavedModel is written of: whatever is put into its attributes."""
    return tf.__internal__.tracking.AutoTrackable()


def write_saved_model(root, folder, signatures, options=None):
    tf.saved_model.save(root, folder, signatures=signatures, options=options)


def litert_of(folder, options):
    """The LiteRT file (bytes) of a SavedModel, and whether it holds TensorFlow's own ops.

    Args:
        folder: of the SavedModel.
        options: attributes of `tf.lite.TFLiteConverter`, and `enable_select_tf_ops`: whether ops that LiteRT hasn't got may
            be TensorFlow's, which the runtime must then have; `None`: if it can't be without.

    Raises:
        ValueError: an unknown option, or an op that the format can't express.
    """
    options = dict(options)
    select = options.pop("enable_select_tf_ops", None)
    known = tf.lite.TFLiteConverter.from_saved_model(folder) if options else None
    for name in options:
        if name[0] == "_" or not hasattr(known, name):
            raise ValueError(f"export: the LiteRT converter has no option {name!r}. See `tf.lite.TFLiteConverter`.")
    if not select:
        try:
            return _converted(folder, [tf.lite.OpsSet.TFLITE_BUILTINS], options), False
        except Exception as error:
            if select is False:
                raise _inexpressible(error) from error
    try:
        return _converted(folder, [tf.lite.OpsSet.TFLITE_BUILTINS, tf.lite.OpsSet.SELECT_TF_OPS], options), True
    except Exception as error:
        raise _inexpressible(error) from error


def _converted(folder, supported, options):
    converter = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=["serving_default"])
    converter.target_spec.supported_ops = supported
    for name, value in options.items():
        setattr(converter, name, value)
    return converter.convert()


def _inexpressible(error):
    found = dict.fromkeys(re.findall(r"'(tf\.\w+)' op|\b(tf\.\w+)\(tensor", str(error)))
    names = sorted({name for pair in found for name in pair if name})
    return ValueError(f"export: LiteRT can't express this model: {', '.join(names) or error}.")
