"""`DataLayer`: a layer that also runs in input pipelines."""

import functools
import sys

from kerata import backends, ops
from kerata.layers.layer import Layer
from kerata.random.seeds import SeedGenerator

# What traces the functions of `tf.data`, whatever the backend.
PIPELINE = "tensorflow"


def in_foreign_pipeline():
    """Whether a TensorFlow graph is being built (`tf.data.Dataset.map`) while another backend is in force."""
    tensorflow = sys.modules.get(PIPELINE)
    eager = getattr(tensorflow, "executing_eagerly", None)
    return eager is not None and not eager() and backends.current_name() != PIPELINE


def pipeline_safe(method):
    """A method that works on TensorFlow while `tf.data` traces it, and else on the current backend."""

    @functools.wraps(method)
    def wrapped(*args, **kwargs):
        if in_foreign_pipeline():
            with backends.use_backend(PIPELINE):
                return method(*args, **kwargs)
        return method(*args, **kwargs)

    return wrapped


def build_at_home(layer, inputs):
    """Make the weights of a layer that a foreign pipeline calls first: they belong to the layer's own backend."""
    if not layer.built and in_foreign_pipeline():
        layer.build(tuple(inputs.shape))


class DataLayer(Layer):
    """Base of preprocessing layers: in `tf.data.Dataset.map` TensorFlow's tensors go in and come out on every backend.

    Eagerly, inside models, and in a `torch.utils.data.Dataset` it is a layer like any other.
    """

    # Tells AutoGraph, which rewrites what `tf.data` traces, that there is no Python control flow to be rewritten here.
    autograph_info__ = None

    @pipeline_safe
    def __call__(self, inputs, **kwargs):
        return super().__call__(inputs, **kwargs)

    def _seed_source(self):
        """The generator to draw from: the layer's, or in another framework's pipeline its twin over there."""
        backend = backends.current()
        own = self.generator
        if backend.NAME != PIPELINE or own.state.backend == PIPELINE:
            return own
        twin = self.__dict__.get("_pipeline_generator")
        if twin is None:
            twin = self.__dict__["_pipeline_generator"] = SeedGenerator(own.seed)
        return twin

    def convert_weight(self, weight):
        """A weight as a tensor of the backend in force.

        Args:
            weight: anything with values.
        """
        return ops.convert_to_tensor(weight)
