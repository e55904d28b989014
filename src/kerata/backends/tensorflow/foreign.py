"""What comes from elsewhere: functions written for JAX, and saved models."""

from kerata.backends.tensorflow.core import tf


def jax_caller(function, platforms):
    """A function of lists of JAX arrays as one of lists of TensorFlow's tensors, with its gradient.

    Args:
        function: function of four lists, the last of which holds the inputs; gives lists of arrays.
        platforms: those to compile it for; `None`: the one there is.
    """
    from jax.experimental import jax2tf

    @tf.function(autograph=False)
    def native(*lists):
        shapes = [None] * (len(lists) - 1) + [[_polymorphic(x, i) for i, x in enumerate(lists[-1])]]
        converted = jax2tf.convert(function, polymorphic_shapes=shapes, native_serialization_platforms=platforms)
        return converted(*lists)

    return native


def _polymorphic(x, number):
    """The shape as jax2tf reads it: all inputs have one batch size, any other unknown dimension is its own."""
    dims = [
        str(d) if d is not None else "batch" if axis == 0 else f"d{number}_{axis}"
        for axis, d in enumerate(x.shape.as_list())
    ]
    return f"({', '.join(dims)}{',' if len(dims) == 1 else ''})"


def load_saved_model(path):
    """What `tf.saved_model.load` gives for this folder."""
    return tf.saved_model.load(path)


def saved_function(loaded, name):
    """The function of this name of a loaded model, or `None`."""
    found = getattr(loaded, name, None)
    return found if callable(found) else loaded.signatures.get(name) if name in loaded.signatures else None


def saved_function_names(loaded):
    """Names of the functions that a loaded model can be called by."""
    own = [n for n in dir(loaded) if n[0] != "_" and hasattr(getattr(loaded, n), "concrete_functions")]
    return sorted({*own, *loaded.signatures})


def saved_variables(loaded, functions):
    """`(trainable, others)`: the `tf.Variable`s of a loaded model, as it lists them, else those that the functions use."""
    if hasattr(loaded, "trainable_variables"):
        return list(loaded.trainable_variables), list(getattr(loaded, "non_trainable_variables", ()))
    found = {}
    for function in functions:
        for concrete in getattr(function, "concrete_functions", [function]):
            found |= {v.ref(): v for v in concrete.graph.variables}
    return [v for v in found.values() if v.trainable], [v for v in found.values() if not v.trainable]


def saved_call(function, inputs, options, storages, values):
    """Call a saved function, whose gradient goes to `values`: those which its variables have.

    The function reads its variables itself, so a gradient would end there.
    """
    flat = tf.nest.flatten(inputs)
    count, box = len(flat), {}

    @tf.custom_gradient
    def run(*args):
        own = list(args[:count])
        with tf.GradientTape() as tape:
            tape.watch([x for x in own if x.dtype.is_floating])
            box["outputs"] = function(tf.nest.pack_sequence_as(inputs, own), **options)
        leaves = tf.nest.flatten(box["outputs"])

        def gradients(*upstream, variables=()):
            found = tape.gradient(leaves, [*own, *storages], output_gradients=list(upstream))
            return found, [None for _ in variables]

        return leaves, gradients

    leaves = run(*flat, *values)
    return tf.nest.pack_sequence_as(box["outputs"], leaves)


def variable_name(storage):
    return storage.name.split(":")[0]
