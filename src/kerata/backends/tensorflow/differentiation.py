"""Functions with gradients of their own on TensorFlow, and such as are computed twice."""

from kerata.backends.tensorflow.core import tf

# Gradients of what a function reads besides would be lost.
RECOMPUTES_FROM_INPUTS_ALONE = True


def with_gradient(forward, backward, inputs):
    @tf.custom_gradient
    def run(*args):
        return tuple(forward(*args)), lambda *upstream: list(backward(*args, *upstream))

    return run(*inputs)


def recomputed(function, inputs):
    """As `tf.recompute_grad`, which would also look for variables."""

    @tf.custom_gradient
    def run(*args):
        def grad(*upstream):
            # Compilers would otherwise find that both times are the same, and keep the first.
            again = [tf.identity(a) for a in args]
            with tf.GradientTape() as tape, tf.control_dependencies(list(upstream)):
                tape.watch(again)
                outputs = function(*again)
            return tape.gradient(outputs, again, upstream, unconnected_gradients=tf.UnconnectedGradients.ZERO)

        return tuple(function(*args)), grad

    return run(*inputs)
