"""`StringLookup`: words to numbers."""

from kerata.layers.preprocessing.index_lookup import IndexLookup


class StringLookup(IndexLookup):
    """The number of each string in a vocabulary.

    Args:
        max_tokens: most tokens of the vocabulary that `adapt` makes, special ones included; `None`: all.
        num_oov_indices: numbers for strings that aren't in the vocabulary (out of vocabulary, oov); with several, a string's hash says
            which. 0: such strings are an error.
        mask_token: a string that means nothing, with number 0; `None`: there's none.
        oov_token: what `invert` gives for numbers of unknown strings.
        vocabulary: list or array of strings, or the path of a text file with one a line; without it call `adapt`.
        idf_weights: inverse document frequency of each token, for `"tf_idf"`.
        invert: the other way: numbers in, strings out.
        output_mode: `"int"`: the number. `"one_hot"`: a vector for each string. `"multi_hot"`, `"count"`: a vector for each example, with
            1 for every token in it, or how often it is. `"tf_idf"`: counts times inverse document frequency.
        pad_to_max_tokens: make vectors `max_tokens` long, whatever the vocabulary's size.
        sparse: return sparse tensors (TensorFlow, JAX).
        encoding: of `bytes` in the vocabulary.
        name: name.
        salt: an integer or two: hash unknown strings with SipHash and this key.

    Input: strings (lists, NumPy arrays; TensorFlow's tensors) of any shape. Output: int64 of the same shape, or a float32 encoding; with
    `invert` strings: TensorFlow's tensor, a list on PyTorch, an array elsewhere.

    Needs no TensorFlow. Inside a model strings work on the TensorFlow backend; elsewhere, map the layer over the data.

    Raises:
        ValueError: arguments that exclude one another; a vocabulary file that's missing, a vocabulary with tokens that repeat.
        TypeError: inputs that are no text; text inside a model, where tensors hold numbers only.

    >>> import kerata
    >>> layer = kerata.layers.StringLookup(vocabulary=["cat", "dog"])
    >>> kerata.ops.convert_to_numpy(layer(["dog", "cat", "horse"])).tolist()
    [2, 1, 0]
    >>> layer = kerata.layers.StringLookup(output_mode="count")
    >>> layer.adapt(["dog", "cat", "dog"])
    >>> layer.get_vocabulary()
    ['[UNK]', 'dog', 'cat']
    >>> kerata.ops.convert_to_numpy(layer([["cat", "cat", "dog"]])).tolist()
    [[0.0, 1.0, 2.0]]
    """

    def __init__(
        self,
        max_tokens=None,
        num_oov_indices=1,
        mask_token=None,
        oov_token="[UNK]",
        vocabulary=None,
        idf_weights=None,
        invert=False,
        output_mode="int",
        pad_to_max_tokens=False,
        sparse=False,
        encoding="utf-8",
        name=None,
        salt=None,
        **kwargs,
    ):
        self.encoding = encoding
        kwargs.pop("vocabulary_dtype", None)
        super().__init__(
            max_tokens,
            num_oov_indices,
            mask_token,
            oov_token,
            "string",
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            invert=invert,
            output_mode=output_mode,
            sparse=sparse,
            pad_to_max_tokens=pad_to_max_tokens,
            name=name,
            salt=salt,
            **kwargs,
        )

    def get_config(self):
        config = super().get_config()
        del config["vocabulary_dtype"]
        return {**config, "encoding": self.encoding}
