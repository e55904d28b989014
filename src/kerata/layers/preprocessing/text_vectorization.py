"""`TextVectorization`: texts to the numbers of their words."""

import numpy as np

from kerata import backends, ops
from kerata.core import errors, serialization
from kerata.core.changes import changes
from kerata.graph.tensor import KerasTensor
from kerata.layers.preprocessing import encoding
from kerata.layers.preprocessing.adapting import Adapting, batches, host_array
from kerata.layers.preprocessing.host_layer import HostLayer
from kerata.layers.preprocessing.index_lookup import MODES
from kerata.layers.preprocessing.string_lookup import StringLookup

STANDARDIZE = ("lower_and_strip_punctuation", "lower", "strip_punctuation")
SPLIT = ("whitespace", "character")


class TextVectorization(Adapting, HostLayer):
    """Turns texts into numbers: standardized, split into tokens, each token looked up in a vocabulary.

    Args:
        max_tokens: most tokens of the vocabulary that `adapt` makes, special ones included; `None`: all.
        standardize: `"lower_and_strip_punctuation"`, `"lower"`, `"strip_punctuation"` (ASCII letters and punctuation, as
            in TensorFlow), `None`, or a function of an array of strings (on the TensorFlow backend: of a string tensor)
            that returns one of the same shape.
        split: `"whitespace"`, `"character"`, `None`, or a function of the array that returns a list of tokens for each text.
        ngrams: `None`; an integer n: also all runs of 2 … n tokens; or a tuple of the lengths of runs.
        output_mode: `"int"`: the tokens' numbers, 0 behind the end, 1 for unknown tokens. `"multi_hot"`, `"count"`,
            `"tf_idf"`: a vector for each text, as in `StringLookup`. `"one_hot"`: a vector for each token, zeros behind the end.
        output_sequence_length: with `"int"`, cut or fill texts to this length.
        pad_to_max_tokens: make vectors `max_tokens` long.
        vocabulary: list or array of strings, or the path of a text file with one a line; without it call `adapt`.
        idf_weights: inverse document frequency of each token, for `"tf_idf"`.
        sparse: return sparse tensors (TensorFlow, JAX).
        ragged: return ragged tensors (TensorFlow): rows as long as their texts.
        encoding: of the bytes of texts.
        name: name.

    Input: texts, of shape `(batch,)`, `(batch, 1)` or `()`. Output: int64 of shape `(batch, length of the longest)`, or
    float32 `(batch, tokens)`, with `"one_hot"` `(batch, length of the longest, tokens)`.

    Needs no TensorFlow. Inside a model texts work on the TensorFlow backend; elsewhere, map the layer over the data.

    Raises:
        ValueError: unknown names, arguments that exclude one another, texts of another shape.
        TypeError: text inside a model, where tensors hold numbers only.

    >>> import kerata
    >>> layer = kerata.layers.TextVectorization()
    >>> layer.adapt(["The cat sat.", "The dog!"])
    >>> layer.get_vocabulary()
    ['', '[UNK]', 'the', 'sat', 'dog', 'cat']
    >>> kerata.ops.convert_to_numpy(layer(["the DOG sat", "a cat"])).tolist()
    [[2, 4, 3], [1, 5, 0]]
    """

    def __init__(
        self,
        max_tokens=None,
        standardize="lower_and_strip_punctuation",
        split="whitespace",
        ngrams=None,
        output_mode="int",
        output_sequence_length=None,
        pad_to_max_tokens=False,
        vocabulary=None,
        idf_weights=None,
        sparse=False,
        ragged=False,
        encoding="utf-8",
        name=None,
        **kwargs,
    ):
        size = kwargs.pop("vocabulary_size", None)
        super().__init__(name=name, **kwargs)
        owner = self._where()
        _known_or_callable(standardize, STANDARDIZE, "standardize", owner)
        _known_or_callable(split, SPLIT, "split", owner)
        errors.one_of(output_mode, MODES, "output_mode", owner)
        self._check_lengths(output_mode, output_sequence_length, ragged, owner)
        self.autocast = False
        self.max_tokens = max_tokens
        self.standardize = standardize
        self.split = split
        self.ngrams = ngrams
        self._sizes = _ngram_sizes(ngrams, owner)
        self.output_mode = output_mode
        self.output_sequence_length = output_sequence_length
        self.pad_to_max_tokens = pad_to_max_tokens
        self.sparse = sparse
        self.ragged = ragged
        self.encoding = encoding
        self._lookup_layer = StringLookup(
            max_tokens=max_tokens,
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            pad_to_max_tokens=pad_to_max_tokens,
            mask_token="" if output_mode == "int" else None,
            output_mode=output_mode,
            sparse=sparse,
            encoding=encoding,
            vocabulary_size=size,
            dtype=self._dtype_policy,
        )

    def _check_lengths(self, output_mode, length, ragged, owner):
        if length is not None and output_mode != "int":
            raise ValueError(
                f"{owner}: `output_sequence_length` must not be set if `output_mode` is not 'int'; it is {output_mode!r}."
            )
        if length is not None:
            errors.positive_int(length, "output_sequence_length", owner)
        if ragged and output_mode != "int":
            raise ValueError(f"{owner}: `ragged` may only be true if `output_mode` is 'int'; it is {output_mode!r}.")
        if ragged and backends.current_name() != "tensorflow":
            raise ValueError(
                f"{owner}: `ragged=True` cannot be used with the {backends.current_name()} backend: only TensorFlow has ragged tensors. "
                "Leave `ragged` out."
            )

    # ------------------------------------------------------------- vocabulary

    def get_vocabulary(self, include_special_tokens=True):
        """The vocabulary as a list, in the order of the numbers.

        Args:
            include_special_tokens: with `""` (padding) and `"[UNK]"` in front.
        """
        return self._lookup_layer.get_vocabulary(include_special_tokens)

    def set_vocabulary(self, vocabulary, idf_weights=None):
        """Set the vocabulary; see `StringLookup.set_vocabulary`.

        Args:
            vocabulary: tokens, or the path of a file with one a line.
            idf_weights: weight of each token, for `"tf_idf"`.
        """
        self._lookup_layer.set_vocabulary(vocabulary, idf_weights)

    def vocabulary_size(self):
        """Number of tokens, padding and unknown included."""
        return self._lookup_layer.vocabulary_size()

    def adapt(self, data, batch_size=None, steps=None):
        """Make the vocabulary of texts, forgetting the old one.

        Args:
            data: texts: list, array, tensor; or batches of them: a `tf.data.Dataset`, `PyDataset`, generator or another iterable.
            batch_size: how many texts of a list or an array are looked at together.
            steps: how many batches to look at; by default all.

        Raises:
            ValueError: no texts, or texts of another shape than the layer takes.
        """
        self._adapt(batches(data, self._where(), steps, batch_size))

    def reset_state(self):
        """Forget the texts seen by `update_state`."""
        self._lookup_layer.reset_state()

    def update_state(self, data):
        """Count the tokens of a batch of texts.

        Args:
            data: texts.
        """
        data = host_array(data) if hasattr(data, "shape") else np.asarray(data)
        with backends.use_backend("numpy"):
            tokens = self._tokens_of(data.reshape(1) if not data.ndim else data)
            documents = tokens.rows() if tokens.shape is None or len(tokens.shape) > 1 else [[t] for t in tokens.flat]
        self._lookup_layer._count(tokens.flat, documents if self.output_mode == "tf_idf" else None, len(documents))

    def finalize_state(self):
        """Make the vocabulary of the tokens seen."""
        self._lookup_layer.finalize_state()

    # ------------------------------------------------------------- calling

    def build(self, input_shape=None):
        """There are no weights."""

    _opaque = True
    # XLA has no text.
    supports_jit = False

    def _needs(self, name):
        # Functions of the user's get what their backend's tensors are.
        own = callable(self.standardize) or callable(self.split)
        return name == "tensorflow" and (self.sparse or self.ragged or own)

    def call(self, inputs):
        self._check_text(inputs)
        if not hasattr(inputs, "shape"):
            inputs = backends.current().text_of(inputs)
        tokens = self._tokens_of(inputs)
        lookup = self._lookup_layer
        if self.output_mode != "int":
            return self._encodings(tokens)
        lookup._must_be_ready()
        numbers = encoding.of_values(lookup._indices, tokens)
        if self.ragged and hasattr(numbers, "flat_values"):
            return numbers if self.output_sequence_length is None else numbers[..., : self.output_sequence_length]
        dense = backends.current().dense_rows(numbers, tokens, self.output_sequence_length)
        return encoding.cast(dense, lookup._output_dtype())

    def _encodings(self, tokens):
        lookup, b = self._lookup_layer, backends.current()
        if self.output_mode == "one_hot" and _in_rows(tokens):
            return self._one_hot(tokens)
        if b.NAME != "numpy" or tokens.shape is not None:
            if b.NAME == "numpy":
                lookup._must_be_ready()
                found = lookup._indices(tokens).reshape(tokens.shape)
                return lookup._encoded(found, scale=lookup.idf_weights)
            return lookup.call(tokens)
        # Rows of their own length are counted as they are.
        lookup._must_be_ready()
        depth, rows = lookup._depth(), len(tokens.lengths)
        place = lookup._indices(tokens) + b.row_numbers(tokens) * depth
        counts = np.bincount(place, minlength=rows * depth).reshape(rows, depth)
        if self.output_mode == "multi_hot":
            counts = np.minimum(counts, 1)
        counts = ops.cast(counts, lookup._output_dtype())
        return counts if lookup.idf_weights is None else counts * lookup.idf_weights

    def _one_hot(self, tokens):
        """A vector for each token; rows of their own length are filled up with vectors of zeros."""
        lookup = self._lookup_layer
        lookup._must_be_ready()
        # Rows are filled up with 0, which is to be no token's number.
        numbers = encoding.of_values(lambda t: lookup._indices(t) + 1, tokens)
        numbers = backends.current().dense_rows(numbers, tokens, None) - 1
        return ops.one_hot(numbers, lookup._depth(), dtype=lookup._output_dtype(), sparse=self.sparse)

    def _tokens_of(self, x):
        """Standardized and split texts, as the backend has text."""
        b = backends.current()
        if not encoding.text_dtype(x):
            raise TypeError(f"{self._where()}: the inputs must be texts, but their dtype is {x.dtype}.")
        if callable(self.standardize):
            x = b.received_text(self.standardize(b.text_array(x)))
        elif self.standardize is not None:
            x = b.standardize_text(x, self.standardize)
        if self.split is not None:
            x = self._split(b, x)
        if self._sizes is not None:
            x = b.ngrams(x, self._sizes)
        return b.text_of(x)

    def _split(self, b, x):
        x = b.text_of(x)
        rank = len(x.shape)
        if rank > 1:
            if x.shape[-1] != 1:
                raise ValueError(
                    f"{self._where()}: to split texts into tokens, the input must have the shape (batch,) or (batch, 1), but has "
                    f"{tuple(x.shape)}. Give each text as one string."
                )
            x = b.squeeze_text(x)
        if callable(self.split):
            return b.received_text(self.split(b.text_array(x)))
        return b.split_text(x, self.split, self.encoding)

    def compute_output_shape(self, input_shape):
        batch = tuple(input_shape)[:1]
        if self.output_mode == "one_hot" and self.split is None and self._sizes is None:
            return self._lookup_layer.compute_output_shape(input_shape)
        if self.output_mode == "one_hot":
            return (*batch, None, self._lookup_layer._depth())
        if self.output_mode != "int":
            return (*batch, self._lookup_layer._depth())
        if self.split is None and self._sizes is None:
            if self.output_sequence_length is None or len(input_shape) < 2:
                return tuple(input_shape)
            return (*input_shape[:-1], self.output_sequence_length)
        return (*batch, self.output_sequence_length)

    def compute_output_spec(self, inputs):
        shape, dtype = self.compute_output_shape(inputs.shape), self._lookup_layer._output_dtype()
        return KerasTensor(shape, dtype, sparse=self.sparse, ragged=bool(self.ragged))

    # ------------------------------------------------------------- files

    def get_config(self):
        lookup = self._lookup_layer
        return {
            **self.common_config(),
            "max_tokens": self.max_tokens,
            "standardize": _serialized(self.standardize),
            "split": _serialized(self.split),
            "ngrams": self.ngrams,
            "output_mode": self.output_mode,
            "output_sequence_length": self.output_sequence_length,
            "pad_to_max_tokens": self.pad_to_max_tokens,
            "sparse": self.sparse,
            "ragged": self.ragged,
            "vocabulary": lookup.input_vocabulary,
            "idf_weights": lookup.input_idf_weights,
            "encoding": self.encoding,
            "vocabulary_size": self.vocabulary_size(),
        }

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        for name in ("standardize", "split"):
            if isinstance(config.get(name), dict):
                config[name] = serialization.deserialize_keras_object(config[name])
        if isinstance(config.get("ngrams"), list):
            config["ngrams"] = tuple(config["ngrams"])
        return cls(**config)

    # The vocabulary is in files twice, under the layer and under the lookup layer in it, as Keras writes it.

    def save_own_variables(self, store):
        self._lookup_layer.save_own_variables(store)

    def load_own_variables(self, store):
        self._lookup_layer.load_own_variables(store)

    def save_assets(self, dir_path):
        """Write the vocabulary into a folder, unless the config has it."""
        self._lookup_layer.save_assets(dir_path)

    def load_assets(self, dir_path):
        """Read the vocabulary that `save_assets` wrote."""
        self._lookup_layer.load_assets(dir_path)
        changes.count += 1


def _in_rows(tokens):
    """Whether these are rows of their own length, on the host or on TensorFlow."""
    return hasattr(tokens, "flat_values") or getattr(tokens, "lengths", None) is not None


def _known_or_callable(value, choices, name, owner):
    if value is not None and not callable(value):
        errors.one_of(value, choices, name, owner)


def _ngram_sizes(ngrams, owner):
    """Lengths of the runs of tokens; `None`: there are none but single tokens."""
    if ngrams is None:
        return None
    if isinstance(ngrams, int) and not isinstance(ngrams, bool):
        return tuple(range(1, errors.positive_int(ngrams, "ngrams", owner) + 1))
    if isinstance(ngrams, (tuple, list)) and ngrams and all(isinstance(n, int) and n > 0 for n in ngrams):
        return tuple(ngrams)
    raise ValueError(
        f"{owner}: `ngrams` must be None, a positive integer or a tuple of them, but {ngrams!r} was given."
    )


def _serialized(value):
    return serialization.serialize_keras_object(value) if callable(value) else value
