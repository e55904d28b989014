"""Run in a process of its own: what Keras on TensorFlow makes of the samples, as a pickle. Its NumPy backend takes no text."""

import json
import os
import pathlib
import pickle
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import keras
import numpy as np
from preprocessing_samples import SAMPLES


def result(name, arguments, inputs, adapt, call):
    layer = getattr(keras.layers, name)(**arguments)
    if adapt is not None:
        layer.adapt(adapt)
    output = layer(inputs, **call)
    # Vectors of single tokens come as a ragged tensor.
    output = np.asarray(output.to_tensor() if hasattr(output, "to_tensor") else output)
    vocabulary = [t.item() if isinstance(t, np.generic) else t for t in getattr(layer, "get_vocabulary", list)()]
    # Plain lists and numbers: Keras's own kinds of them can't leave the process.
    config = json.loads(json.dumps(layer.get_config(), default=lambda x: np.asarray(x).tolist()))
    return output, config, vocabulary


results = [result(n, a, i, ad, c) for n, a, i, ad, _, c in SAMPLES]
with open(sys.argv[1], "wb") as file:
    pickle.dump(results, file)
