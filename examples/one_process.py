"""Train on one framework, look at the same model on all the others, export it: python examples/one_process.py"""

import numpy as np

import kerata as keras

if __name__ == "__main__":
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(512, 20, 4)).astype("float32")
    y = (x[:, :, 0].sum(1) > 0).astype("float32")[:, None]

    inputs = keras.Input((20, 4))
    attended = keras.layers.MultiHeadAttention(2, 8)(inputs, inputs)
    hidden = keras.layers.LSTM(16)(keras.layers.LayerNormalization()(inputs + attended))
    model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(hidden))
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=5, verbose=2)

    reference = model.predict(x, verbose=0)
    for name in keras.config.installed():
        other = model.to_backend(name)
        print(f"{name:12} largest difference {np.abs(other.predict(x, verbose=0) - reference).max():.1e}")
