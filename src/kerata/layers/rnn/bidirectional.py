"""A recurrent layer in both directions (Schuster & Paliwal, 1997)."""

from kerata import ops
from kerata.core import serialization
from kerata.core.errors import one_of
from kerata.layers.layer import Layer

MERGE_MODES = ("sum", "mul", "concat", "ave", None)


class Bidirectional(Layer):
    """Two copies of a recurrent layer, one of which reads the sequence from its end.

    Args:
        layer: an `RNN`, or another layer with `go_backwards`, `return_sequences`, `return_state`.
        merge_mode: `"concat"`, `"sum"`, `"mul"`, `"ave"`, or `None` for both outputs, unmerged.
        weights: the layer's first weights, arrays.
        backward_layer: layer for the backward direction, with the opposite `go_backwards`; made from `layer` unless
            given.

    Call arguments: as of `RNN`; `initial_state` holds the forward layer's states, then the backward layer's.

    >>> import kerata
    >>> layer = kerata.layers.Bidirectional(kerata.layers.LSTM(4, return_sequences=True))
    >>> tuple(layer(kerata.ops.ones((2, 3, 5))).shape)
    (2, 3, 8)
    """

    def __init__(self, layer, merge_mode="concat", weights=None, backward_layer=None, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(f"Bidirectional: `layer` must be a Layer, but {layer!r} was given.")
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError(f"Bidirectional: `backward_layer` must be a Layer, but {backward_layer!r} was given.")
        super().__init__(**kwargs)
        self.merge_mode = one_of(merge_mode, MERGE_MODES, "merge_mode", self._where())
        # A copy, so that the layer given may be used elsewhere.
        with serialization.apart():
            self._copy(layer, backward_layer)
        self._check_directions()
        self.stateful = layer.stateful
        self.return_sequences = layer.return_sequences
        self.return_state = layer.return_state
        self.supports_masking = True
        self.input_spec = layer.input_spec
        self._initial_weights = weights

    def _copy(self, layer, backward_layer):
        config = serialization.serialize_keras_object(layer)
        if getattr(layer, "zero_output_for_mask", None) is not None and layer.return_sequences:
            # Masked steps would otherwise repeat another step's output in each direction.
            config["config"]["zero_output_for_mask"] = True
        self.forward_layer = _copied(config, name=f"forward_{layer.name}")
        if backward_layer is None:
            backwards = not config["config"].get("go_backwards", False)
            backward_layer = _copied(config, name=f"backward_{layer.name}", go_backwards=backwards)
        else:
            backward_layer.name = f"backward_{backward_layer.name.removeprefix('backward_')}"
        self.backward_layer = backward_layer

    def _check_directions(self):
        forward, backward = self.forward_layer, self.backward_layer
        if forward.go_backwards == backward.go_backwards:
            raise ValueError(f"{self._where()}: the two layers must have opposite `go_backwards`.")
        for name in ("stateful", "return_sequences", "return_state"):
            if getattr(forward, name) != getattr(backward, name):
                raise ValueError(f"{self._where()}: the two layers must have the same `{name}`.")

    def build(self, sequences_shape, initial_state_shape=None):
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                layer.build(sequences_shape)
                layer.built = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def compute_output_shape(self, sequences_shape, initial_state_shape=None):
        """Shape of the outputs; a list of both directions' unless they're merged, and the states' with `return_state`."""
        return super().compute_output_shape(sequences_shape)

    def call(self, sequences, initial_state=None, mask=None, training=None):
        forward_state = backward_state = None
        if initial_state is not None:
            half = len(initial_state) // 2
            forward_state, backward_state = initial_state[:half], initial_state[half:]
        forward = self.forward_layer(sequences, initial_state=forward_state, mask=mask, training=training)
        backward = self.backward_layer(sequences, initial_state=backward_state, mask=mask, training=training)
        states = ()
        if self.return_state:
            states = (*forward[1:], *backward[1:])
            forward, backward = forward[0], backward[0]
        if self.return_sequences:
            # Back in the order of time.
            backward = ops.flip(backward, axis=1)
        output = self._merge(forward, backward)
        if not self.return_state:
            return output
        return (*output, *states) if self.merge_mode is None else (output, *states)

    def _merge(self, forward, backward):
        if self.merge_mode == "concat":
            return ops.concatenate([forward, backward], axis=-1)
        if self.merge_mode == "sum":
            return forward + backward
        if self.merge_mode == "ave":
            return (forward + backward) / 2
        if self.merge_mode == "mul":
            return forward * backward
        return (forward, backward)

    @property
    def states(self):
        """The states of stateful layers, forward's first; `None` if they keep none."""
        if not self.forward_layer.states:
            return None
        return [*self.forward_layer.states, *self.backward_layer.states]

    def reset_state(self):
        """Zeros for the states of stateful layers."""
        if not self.stateful:
            raise AttributeError(f"{self._where()}: only a stateful layer has states to reset.")
        self.forward_layer.reset_state()
        self.backward_layer.reset_state()

    reset_states = reset_state

    def compute_mask(self, _, mask):
        """The inputs' mask for sequences; states have none."""
        mask = mask[0] if isinstance(mask, (list, tuple)) else mask
        output_mask = mask if self.return_sequences else None
        masks = (output_mask, output_mask) if self.merge_mode is None else (output_mask,)
        if self.return_state:
            return (*masks, *(None for _ in range(2 * len(self.forward_layer.state_size))))
        return masks if self.merge_mode is None else output_mask

    def get_config(self):
        return {
            **super().get_config(),
            "merge_mode": self.merge_mode,
            "layer": serialization.serialize_keras_object(self.forward_layer),
            "backward_layer": serialization.serialize_keras_object(self.backward_layer),
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A layer from its config; the two inside keep their names."""
        config = dict(config)
        for name in ("layer", "backward_layer"):
            if config.get(name) is not None:
                config[name] = serialization.deserialize_keras_object(config[name], custom_objects=custom_objects)
        layer = config["layer"]
        layer.name = layer.name.removeprefix("forward_")
        return cls(**config)


def _copied(config, **changes):
    config = {**config, "config": {**config["config"], **changes}}
    config.pop("build_config", None)
    config.pop("shared_object_id", None)
    return serialization.deserialize_keras_object(config)
