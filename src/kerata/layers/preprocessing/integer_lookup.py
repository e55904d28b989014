"""`IntegerLookup`: categories that are integers to numbers without gaps."""

from kerata.core import dtypes
from kerata.layers.preprocessing.index_lookup import IndexLookup


class IntegerLookup(IndexLookup):
    """The number of each integer in a vocabulary.

    Args:
        max_tokens: most tokens of the vocabulary that `adapt` makes, special ones included; `None`: all.
        num_oov_indices: numbers for integers that aren't in the vocabulary (out of vocabulary, oov); with several, `oov_method` says
            which. 0: such integers are an error.
        mask_token: an integer that means nothing, with number 0; `None`: there's none.
        oov_token: what `invert` gives for numbers of unknown integers.
        vocabulary: list or array of integers, or the path of a text file with one a line; without it call `adapt`.
        vocabulary_dtype: `"int64"`.
        idf_weights: inverse document frequency of each token, for `"tf_idf"`.
        invert: the other way: numbers in, integers of the vocabulary out.
        output_mode: as in `StringLookup`.
        sparse: return sparse tensors (TensorFlow, JAX).
        pad_to_max_tokens: make vectors `max_tokens` long, whatever the vocabulary's size.
        oov_method: how unknown integers are spread: `"floormod"` (the remainder) or `"farmhash"` (a hash).
        salt: an integer or two: with `"farmhash"`, use SipHash with this key.
        name: name.

    Input: integers of any shape. Output: int64 of the same shape, or a float32 encoding. It works inside models on every backend.

    Raises:
        ValueError: arguments that exclude one another; a vocabulary file that's missing, a vocabulary with tokens that repeat.

    >>> import kerata
    >>> layer = kerata.layers.IntegerLookup(vocabulary=[12, 36, 1138])
    >>> kerata.ops.convert_to_numpy(layer([[36, 12], [7, 1138]])).tolist()
    [[2, 1], [0, 3]]
    """

    def __init__(
        self,
        max_tokens=None,
        num_oov_indices=1,
        mask_token=None,
        oov_token=-1,
        vocabulary=None,
        vocabulary_dtype="int64",
        idf_weights=None,
        invert=False,
        output_mode="int",
        sparse=False,
        pad_to_max_tokens=False,
        oov_method="floormod",
        salt=None,
        name=None,
        **kwargs,
    ):
        if dtypes.standardize_dtype(vocabulary_dtype) != "int64":
            raise ValueError(
                f"{type(self).__name__}: `vocabulary_dtype` must be 'int64', but {vocabulary_dtype!r} was given."
            )
        super().__init__(
            max_tokens,
            num_oov_indices,
            mask_token,
            oov_token,
            "int64",
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            invert=invert,
            output_mode=output_mode,
            sparse=sparse,
            pad_to_max_tokens=pad_to_max_tokens,
            name=name,
            oov_method=oov_method,
            salt=salt,
            **kwargs,
        )
