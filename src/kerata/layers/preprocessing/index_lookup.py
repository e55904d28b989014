"""`IndexLookup`: a vocabulary, and the number of each of its tokens; what the lookup layers share."""

import os

import numpy as np

from kerata import backends, ops
from kerata.core import dtypes, errors
from kerata.core.changes import changes
from kerata.graph.tensor import KerasTensor
from kerata.graph.trace import current_trace
from kerata.layers.preprocessing import encoding
from kerata.layers.preprocessing.adapting import Adapting, host_array
from kerata.layers.preprocessing.encoding import EncodingLayer
from kerata.layers.preprocessing.hashing import salt_of
from kerata.ops.hashing import hash_buckets

MODES = ("int", "one_hot", "multi_hot", "count", "tf_idf")
OOV_METHODS = ("floormod", "farmhash")
_FILE = "vocabulary.txt"
# A table of all integers between the smallest and the largest token is made up to this many times the vocabulary's size.
_SPREAD = 8


class IndexLookup(Adapting, EncodingLayer):
    """Base of `StringLookup` and `IntegerLookup`; see there.

    The numbers are: 0 for the mask token, if there is one; then `num_oov_indices` for tokens that aren't in the vocabulary; then the
    vocabulary. Encodings leave the mask token out.
    """

    # XLA has neither text nor hashes.
    supports_jit = False

    def __init__(
        self,
        max_tokens,
        num_oov_indices,
        mask_token,
        oov_token,
        vocabulary_dtype,
        vocabulary=None,
        idf_weights=None,
        invert=False,
        output_mode="int",
        sparse=False,
        pad_to_max_tokens=False,
        name=None,
        oov_method="floormod",
        salt=None,
        **kwargs,
    ):
        # What configs say besides: the size of a vocabulary that is kept elsewhere.
        size = kwargs.pop("vocabulary_size", None)
        owner = f'{type(self).__name__} "{name}"' if name else type(self).__name__
        unknown = set(kwargs) - {"dtype", "trainable", "autocast", "activity_regularizer"}
        if unknown:
            raise ValueError(f"{owner}: Unrecognized keyword argument(s): {', '.join(sorted(map(repr, unknown)))}.")
        super().__init__(output_mode=output_mode, sparse=sparse, name=name, **kwargs)
        owner = self._where()
        self._check(owner, max_tokens, num_oov_indices, pad_to_max_tokens, output_mode, invert, idf_weights)
        errors.one_of(oov_method, OOV_METHODS, "oov_method", owner)
        if salt is not None and oov_method != "farmhash" and vocabulary_dtype != "string":
            raise ValueError(f'{owner}: `salt` is used with `oov_method="farmhash"` only, but that is {oov_method!r}.')
        self.autocast = False
        self.max_tokens = max_tokens
        self.num_oov_indices = num_oov_indices
        self.mask_token = mask_token
        self.oov_token = oov_token
        self.vocabulary_dtype = vocabulary_dtype
        self.invert = invert
        self.pad_to_max_tokens = pad_to_max_tokens
        self.oov_method = oov_method
        self.salt = salt_of(salt, owner)
        self._size_in_config = size
        self.input_vocabulary = self.input_idf_weights = None
        self._begin_vocabulary()
        if vocabulary is not None:
            self._take_vocabulary(vocabulary, idf_weights)

    def _check(self, owner, max_tokens, num_oov_indices, pad_to_max_tokens, output_mode, invert, idf_weights):
        if max_tokens is not None and max_tokens <= 1:
            raise ValueError(f"{owner}: If set, `max_tokens` must be greater than 1. {max_tokens} was given.")
        if pad_to_max_tokens and max_tokens is None:
            raise ValueError(f"{owner}: If pad_to_max_tokens is True, must set `max_tokens`.")
        if num_oov_indices < 0:
            raise ValueError(
                f"{owner}: `num_oov_indices` must be greater than or equal to 0. {num_oov_indices} was given."
            )
        errors.one_of("multi_hot" if output_mode == "binary" else output_mode, MODES, "output_mode", owner)
        if invert and output_mode != "int":
            raise ValueError(f"{owner}: `output_mode` must be `'int'` when `invert` is true. It is {output_mode!r}.")
        if idf_weights is not None and output_mode != "tf_idf":
            raise ValueError(
                f"{owner}: `idf_weights` should only be set if `output_mode` is `'tf_idf'`; it is {output_mode!r}."
            )

    def _take_vocabulary(self, vocabulary, idf_weights):
        """The constructor's vocabulary; a file's isn't part of the config but kept in archives, as what was adapted is."""
        is_file = isinstance(vocabulary, (str, os.PathLike))
        if self.output_mode == "tf_idf" and idf_weights is None:
            raise ValueError(
                f"{self._where()}: with `output_mode='tf_idf'` a `vocabulary` comes with `idf_weights`, one for each token."
            )
        self.set_vocabulary(vocabulary, idf_weights)
        if not is_file:
            self.input_vocabulary = [self._token(t) for t in _listed(vocabulary)]
            self.input_idf_weights = None if idf_weights is None else [float(w) for w in np.asarray(idf_weights)]

    # ------------------------------------------------------------- the vocabulary

    def _begin_vocabulary(self):
        self.__dict__["_tokens"] = None
        self.idf_weights = None
        self._changed()
        self.reset_state()

    def _changed(self):
        """Tables and compiled calls know the old vocabulary."""
        self.__dict__["_tables"] = {}
        changes.count += 1

    def _token(self, token):
        """A token as the vocabulary has it: a `str` or an `int`."""
        if self.vocabulary_dtype == "string":
            return token.decode(self._encoding(), "replace") if isinstance(token, bytes) else str(token)
        try:
            return int(token)
        except ValueError:
            raise ValueError(f"{self._where()}: the vocabulary must hold integers, but {token!r} is in it.") from None

    def _encoding(self):
        return getattr(self, "encoding", "utf-8")

    def _special_tokens(self):
        # Encodings have no place for the mask.
        masks = [] if self.mask_token is None or self.output_mode != "int" else [self.mask_token]
        return [*masks, *[self.oov_token] * self.num_oov_indices]

    def _first_index(self):
        """Number of the first token of the vocabulary while the mask has number 0."""
        return self.num_oov_indices + (self.mask_token is not None)

    def set_vocabulary(self, vocabulary, idf_weights=None):
        """Set the vocabulary.

        Args:
            vocabulary: tokens in order, the special ones in front or left out; or the path of a file with one a line.
            idf_weights: for `output_mode="tf_idf"`, the weight of each token.

        Raises:
            ValueError: a file that's missing, tokens that repeat, the mask token elsewhere than in front, more than
                `max_tokens`, weights of another length.
        """
        owner = self._where()
        if isinstance(vocabulary, (str, os.PathLike)):
            vocabulary = _from_file(os.fspath(vocabulary), owner)
        tokens = [self._token(t) for t in _listed(vocabulary)]
        if not tokens:
            raise ValueError(f"{owner}: Cannot set an empty vocabulary.")
        special = self._special_tokens()
        given_special = len(tokens) >= len(special) > 0 and tokens[: len(special)] == special
        weights = None if idf_weights is None else self._checked_weights(idf_weights, tokens, owner)
        if given_special:
            tokens = tokens[len(special) :]
        self._check_tokens(tokens, owner)
        size = len(tokens) + len(special)
        if self.max_tokens is not None and size > self.max_tokens:
            raise ValueError(
                f"{owner}: Attempted to set a vocabulary larger than `max_tokens`: {size} tokens with the special ones, and "
                f"`max_tokens` is {self.max_tokens}."
            )
        self.__dict__["_tokens"] = tokens
        self._changed()
        if weights is not None:
            self._set_idf(weights[len(special) :] if given_special else weights)

    def _checked_weights(self, weights, tokens, owner):
        weights = np.asarray(host_array(weights) if hasattr(weights, "shape") else weights, "float32")
        if self.output_mode != "tf_idf":
            raise ValueError(
                f"{owner}: `idf_weights` should only be set if `output_mode` is `'tf_idf'`; it is {self.output_mode!r}."
            )
        if weights.shape != (len(tokens),):
            raise ValueError(
                f"{owner}: `idf_weights` must be the same length as vocabulary: {len(tokens)} tokens, but the weights' shape is "
                f"{weights.shape}."
            )
        return weights

    def _check_tokens(self, tokens, owner):
        if len(set(tokens)) < len(tokens):
            seen, repeated = set(), []
            for t in tokens:
                if t in seen and t not in repeated:
                    repeated.append(t)
                seen.add(t)
            raise ValueError(
                f"{owner}: The passed vocabulary has at least one repeated term. Each token may stand in it once; repeated: "
                f"{repeated[:10]}."
            )
        if self.mask_token is not None and self.mask_token in tokens:
            raise ValueError(
                f"{owner}: Found reserved mask token at unexpected location in `vocabulary`. {self.mask_token!r} is at "
                f"{tokens.index(self.mask_token)}; special tokens stand in front, in the order {self._special_tokens()}, or are left out."
            )

    def _set_idf(self, weights):
        """Weights of the vocabulary; tokens that aren't in it count with the mean."""
        if self.output_mode != "tf_idf":
            return
        weights = np.asarray(weights, "float32")
        oov = np.full(self.num_oov_indices, weights.mean() if len(weights) else 0.0, "float32")
        self.idf_weights = np.concatenate([oov, weights])
        self._pad_idf()

    def _pad_idf(self):
        if self.pad_to_max_tokens and self.idf_weights is not None:
            depth = self._depth()
            self.idf_weights = np.pad(self.idf_weights[:depth], (0, max(depth - len(self.idf_weights), 0)))

    def get_vocabulary(self, include_special_tokens=True):
        """The vocabulary as a list, in the order of the numbers.

        Args:
            include_special_tokens: with the mask and out-of-vocabulary tokens in front.
        """
        tokens = list(self._tokens or [])
        return [*self._special_tokens(), *tokens] if include_special_tokens else tokens

    def vocabulary_size(self):
        """Number of tokens, special ones included."""
        if self._tokens is None:
            return max(self._size_in_config or 0, len(self._special_tokens()))
        return len(self._special_tokens()) + len(self._tokens)

    # ------------------------------------------------------------- adapt

    def reset_state(self):
        """Forget the data seen by `update_state`."""
        self.__dict__["_counts"], self.__dict__["_documents"], self.__dict__["_seen"] = {}, {}, 0

    def update_state(self, data):
        """Count the tokens of a batch.

        Args:
            data: tokens, of shape `(batch, n)` or `(n,)`; for `"tf_idf"` each row is a document.
        """
        if self.input_vocabulary is not None:
            raise ValueError(f"{self._where()}: can't adapt: its `vocabulary` was given.")
        data = host_array(data) if hasattr(data, "shape") else np.asarray(data)
        rows = data.reshape(len(data), -1) if data.ndim else data.reshape(1, 1)
        if self.vocabulary_dtype != "string":
            rows = rows.astype("int64")
        self._count(rows.ravel().tolist(), rows.tolist() if self.output_mode == "tf_idf" else None, len(rows))

    def _count(self, tokens, documents, number):
        counts = self._counts
        for token in tokens:
            counts[token] = counts.get(token, 0) + 1
        if documents is not None:
            self.__dict__["_seen"] += number
            for document in documents:
                for token in set(document):
                    self._documents[token] = self._documents.get(token, 0) + 1

    def finalize_state(self):
        """Make the vocabulary of the tokens seen, the most frequent first, and of equally frequent ones the greatest first."""
        if self.input_vocabulary is not None or not self._counts:
            return
        counts, documents = (self._merged(d) for d in (self._counts, self._documents))
        for token in (self.mask_token, self.oov_token):
            counts.pop(token, None)
        # Two passes, each stable: strings compare as their bytes do.
        order = sorted(counts, key=_sort_key, reverse=True)
        order.sort(key=counts.__getitem__, reverse=True)
        if self.max_tokens is not None:
            order = order[: self.max_tokens - len(self._special_tokens())]
        self.__dict__["_tokens"] = order
        self._changed()
        if self.output_mode == "tf_idf":
            # log(1 + documents / (1 + documents with the token)), as is usual.
            found = np.array([documents.get(t, 0) for t in order], "float64")
            self._set_idf(np.log(1 + self._seen / (1 + found)))
        self.reset_state()

    def _merged(self, counts):
        """Counts by token, whatever the strings came as."""
        result = {}
        for token, n in counts.items():
            token = self._token(token)
            result[token] = result.get(token, 0) + n
        return result

    def _adapt(self, stream):
        if self.input_vocabulary is not None:
            raise ValueError(f"{self._where()}: can't adapt: its `vocabulary` was given.")
        super()._adapt(stream)

    # ------------------------------------------------------------- calling

    @property
    def compute_dtype(self):
        return self.vocabulary_dtype

    @property
    def variable_dtype(self):
        return self.vocabulary_dtype

    @property
    def _opaque(self):
        return self.vocabulary_dtype == "string" or self.invert

    def _output_dtype(self):
        if self.output_mode != "int":
            dtype = self._own_policy().compute_dtype
            return dtype if dtype != "string" else "float32"
        if self.invert:
            return self.vocabulary_dtype
        dtype = self._own_policy().compute_dtype
        return dtype if dtypes.is_int(dtype) else "int64"

    def _depth(self):
        if self.pad_to_max_tokens:
            return self.max_tokens
        return self.vocabulary_size()

    def call(self, inputs):
        self._must_be_ready()
        if self.invert:
            return encoding.of_values(self._tokens_at, inputs)
        indices = encoding.of_values(self._indices, inputs)
        if self.output_mode == "int":
            return self._encoded(indices)
        if self.mask_token is not None:
            indices = encoding.of_values(lambda i: i - 1, indices)
        return self._encoded(indices, scale=self.idf_weights)

    def _must_be_ready(self):
        if self._tokens is not None:
            return
        if self.output_mode != "int" and not self.pad_to_max_tokens:
            raise RuntimeError(
                f"{self._where()}: When using `output_mode={self.output_mode}` and `pad_to_max_tokens=False`, the layer's vocabulary must "
                "be set before it's called: give `vocabulary`, or call `adapt` on data."
            )
        if current_trace.get() is None:
            raise RuntimeError(f"{self._where()} has no vocabulary yet: give `vocabulary`, or call `adapt` on data.")

    def _needs(self, name):
        return self.sparse

    def _indices(self, x):
        """Numbers of tokens."""
        text = encoding.text_dtype(x)
        if self.vocabulary_dtype == "string":
            if not text:
                raise TypeError(
                    f"{self._where()}: the inputs must be strings, but their dtype is {dtypes.standardize_dtype(x.dtype)}."
                )
            self._check_text(x)
            found = self._text_table().find(x)
        else:
            if text:
                x = self._integers(x)
            found = self._find_integers(x)
            if self.num_oov_indices == 1:
                return found
        return self._with_oov(x, found)

    def _integers(self, x):
        """Integers that came as text."""
        try:
            return np.asarray(x).astype("int64")
        except (ValueError, TypeError):
            raise TypeError(f"{self._where()}: the inputs must be integers, but are text.") from None

    def _numbers(self):
        """Tokens with a number of their own, and the numbers."""
        first = self._first_index()
        masks = [] if self.mask_token is None else [self.mask_token]
        tokens = self._tokens or []
        return [*masks, *tokens], [*range(len(masks)), *range(first, first + len(tokens))]

    def _text_table(self):
        b = backends.current()
        table = self._tables.get(b.NAME)
        if table is None:
            table = self._tables[b.NAME] = b.TextTable(*self._numbers())
        return table

    def _find_integers(self, x):
        """Numbers of integers; of those that aren't in the vocabulary `_missing()`."""
        x = ops.cast(x, "int64")
        below, dense, keys, numbers = self._integer_table(dtypes.standardize_dtype(x.dtype))
        if dense is not None:
            # A difference that overflows is outside of the table too: it would be inside only of a token.
            return ops.take(dense, ops.maximum(x - below, 0))
        if not len(keys):
            return ops.zeros_like(x) + self._missing()
        place = ops.clip(ops.searchsorted(keys, x), 0, len(keys) - 1)
        return ops.where(ops.equal(ops.take(keys, place), x), ops.take(numbers, place), self._missing())

    def _missing(self):
        """What integers get that aren't in the vocabulary: their number, if they have but one, else -1."""
        return self._first_index() - 1 if self.num_oov_indices == 1 else -1

    def _integer_table(self, dtype):
        """Tokens in order, or a table of all integers between the smallest and the largest, if those aren't many.

        Returns:
            `(the integer of the table's first place, the table, tokens, their numbers)`; what's outside is in its first and last place.
        """
        table = self._tables.get(dtype)
        if table is None:
            keys, numbers = (np.array(v, "int64") for v in self._numbers())
            info = np.iinfo(dtype)
            fits = (keys >= info.min) & (keys <= info.max)
            order = np.argsort(keys[fits])
            keys, numbers = keys[fits][order].astype(dtype), numbers[fits][order].astype(dtype)
            below = dense = None
            if len(keys) and int(keys[-1]) - int(keys[0]) < _SPREAD * len(keys) + 1024:
                dense = np.full(int(keys[-1]) - int(keys[0]) + 3, self._missing(), dtype)
                # As an array, which may overflow: so do the differences.
                below = int((keys[:1] - 1)[0])
                dense[keys.astype("int64") - int(keys[0]) + 1] = numbers
            table = self._tables[dtype] = below, dense, keys, numbers
        return table

    def _with_oov(self, x, found):
        """The numbers, with those of out-of-vocabulary tokens."""
        first = self._first_index() - self.num_oov_indices
        if self.num_oov_indices == 1:
            return ops.where(found < 0, first, found) if first else ops.maximum(found, 0)
        if self.num_oov_indices == 0:
            return self._without_oov(x, found)
        if isinstance(found, np.ndarray):
            return self._host_oov(x, found, first)
        return ops.where(found < 0, self._oov(x) + first, found)

    def _oov(self, x):
        if self.vocabulary_dtype != "string" and self.oov_method == "floormod":
            return ops.mod(ops.cast(x, "int64"), self.num_oov_indices)
        return hash_buckets(x, self.num_oov_indices, self.salt)

    def _host_oov(self, x, found, first):
        """The same on the host: only what isn't in the vocabulary is hashed."""
        missing = found < 0
        if missing.any():
            flat = (
                np.array([*x.flat, None], dtype=object)[:-1] if hasattr(x, "flat") and isinstance(x.flat, list) else x
            )
            found = found.copy()
            found[missing] = self._oov(flat[missing]) + first
        return found

    def _without_oov(self, x, found):
        if isinstance(found, np.ndarray) and (found < 0).any():
            flat = np.asarray(x.flat if isinstance(getattr(x, "flat", None), list) else x)
            raise ValueError(
                f"{self._where()}: When `num_oov_indices=0` all inputs should be in vocabulary, but these aren't: "
                f"{flat[found < 0].ravel()[:10].tolist()}. Add them, or use `num_oov_indices=1`."
            )
        return found

    def _tokens_at(self, indices):
        """The tokens of these numbers; out-of-vocabulary ones for numbers that nothing has."""
        indices = ops.cast(indices, "int64")
        tokens = self.get_vocabulary()
        if self.vocabulary_dtype == "string":
            if not self._has_text():
                return self._host_tokens(indices)
            return backends.current().text_at(tokens, indices, self.oov_token)
        known = np.array([*tokens, self.oov_token], "int64")
        inside = ops.logical_and(indices >= 0, indices < len(tokens))
        return ops.take(ops.cast(known, "int64"), ops.where(inside, indices, len(tokens)))

    def _host_tokens(self, indices):
        """Text of a tensor of numbers, on backends without text."""
        if current_trace.get() is not None:
            raise self._refuse_text("string")
        from kerata.layers.preprocessing.host_layer import handed_over

        b = backends.current()
        return handed_over(
            backends.load("numpy").text_at(self.get_vocabulary(), b.to_numpy(indices), self.oov_token), b
        )

    def compute_output_shape(self, input_shape):
        if self.output_mode == "int":
            return tuple(input_shape)
        return super().compute_output_shape(input_shape)

    def compute_output_spec(self, inputs):
        spec = super().compute_output_spec(inputs)
        return KerasTensor(spec.shape, self._output_dtype(), sparse=spec.sparse)

    # ------------------------------------------------------------- files

    def get_build_config(self):
        return {}

    def build_from_config(self, config):
        self.built = True

    def get_config(self):
        return {
            **self.common_config(),
            "invert": self.invert,
            "max_tokens": self.max_tokens,
            "num_oov_indices": self.num_oov_indices,
            "oov_token": self.oov_token,
            "mask_token": self.mask_token,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
            "pad_to_max_tokens": self.pad_to_max_tokens,
            "vocabulary_dtype": self.vocabulary_dtype,
            "idf_weights": self.input_idf_weights,
            "vocabulary": self.input_vocabulary,
            "vocabulary_size": self.vocabulary_size(),
            "oov_method": self.oov_method,
            "salt": self.salt,
        }

    def save_own_variables(self, store):
        if self.output_mode == "tf_idf" and self.idf_weights is not None:
            store["idf_weights"] = np.asarray(self.idf_weights, "float32")

    def load_own_variables(self, store):
        if self.output_mode == "tf_idf" and "idf_weights" in store.keys():  # noqa: SIM118
            self.idf_weights = np.asarray(store["idf_weights"], "float32")
            changes.count += 1

    def save_assets(self, dir_path):
        """Write the vocabulary into a folder, unless the config has it."""
        if self.input_vocabulary is not None or self._tokens is None:
            return
        with open(os.path.join(dir_path, _FILE), "w", encoding="utf-8", newline="") as file:
            file.write("\n".join(str(t) for t in self.get_vocabulary()))

    def load_assets(self, dir_path):
        """Read the vocabulary that `save_assets` wrote."""
        path = os.path.join(dir_path, _FILE)
        if self.input_vocabulary is not None or not os.path.exists(path):
            return
        weights = self.idf_weights
        self.set_vocabulary(_lines(path))
        self.idf_weights = weights

    def __getstate__(self):
        return {**super().__getstate__(), "_tables": {}}


def _sort_key(token):
    return token.encode("utf-8", "surrogatepass") if isinstance(token, str) else token


def _listed(vocabulary):
    """The tokens of a list, an array or a tensor."""
    if hasattr(vocabulary, "shape"):
        vocabulary = host_array(vocabulary)
    return vocabulary.tolist() if isinstance(vocabulary, np.ndarray) else list(vocabulary)


def _lines(path):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    return text.removesuffix("\n").split("\n")


def _from_file(path, owner):
    if not os.path.exists(path):
        raise ValueError(f"{owner}: Vocabulary file {path} does not exist.")
    return [line.rstrip("\r") for line in _lines(path)]
