"""The layers and what they are called on: one line, one case. What is done with it is in `contract.py`."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Sample:
    """One layer, made and called.

    Attributes:
        name: public name in `keras.layers`.
        arguments: of the constructor; a function is called with the `layers` module, ours or Keras's.
        inputs: positional arguments of the call; arrays, or lists of them.
        call: keyword arguments of the call.
        trained: also called with `training=True`, which draws nothing at random.
        differs: config keys in which Keras's configs are known to differ.
        note: tells cases of one layer apart.
        tolerance: relative, against Keras.
    """

    name: str
    arguments: dict
    inputs: tuple
    call: dict = field(default_factory=dict)
    trained: bool = False
    differs: tuple = ()
    note: str = ""
    tolerance: float = 1e-5

    def __str__(self):
        return f"{self.name}-{self.note}" if self.note else self.name

    @property
    def wraps(self):
        """Whether other layers are inside, which have dtype policies of their own."""
        return any(map(callable, self.arguments.values()))

    def make(self, layers, **more):
        given = {k: v(layers) if callable(v) else v for k, v in self.arguments.items()}
        return getattr(layers, self.name)(**given, **more)


def f(*shape, seed=0):
    """Normal float32 numbers."""
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def i(*shape, high=5):
    """Integers from 0 to `high - 1`."""
    return np.random.default_rng(0).integers(0, high, size=shape).astype("int32")


def m(*rows):
    """A mask from strings of 0 and 1."""
    return np.array([[c == "1" for c in row] for row in rows])


SAMPLES = []


def sample(name, *inputs, call=None, trained=False, differs=(), note="", tolerance=1e-5, **arguments):
    SAMPLES.append(Sample(name, arguments, inputs, call or {}, trained, differs, note, tolerance))


X2, X3, X4, X5 = f(2, 6), f(2, 8, 3), f(2, 8, 8, 3), f(2, 4, 4, 4, 3)
PADDED, GAPS = m("11111000", "11100000"), m("01101110", "11010001")

# core
sample("Dense", X2, units=4, activation="relu")
sample("Dense", X3, units=4, use_bias=False, note="3d")
sample(
    "Dense",
    X2,
    units=4,
    kernel_regularizer="l2",
    activity_regularizer="l1",
    bias_constraint="max_norm",
    note="penalties",
)
sample("Dense", X2, units=4, lora_rank=2, note="lora")
sample("EinsumDense", X3, equation="abc,cd->abd", output_shape=(None, 4), bias_axes="d", activation="tanh")
sample("EinsumDense", X4, equation="ab...,bc->ac...", output_shape=(4, None, None), bias_axes="c", note="elided")
sample("EinsumDense", X3, equation="...x,xy->...y", output_shape=4, note="leading")
sample("EinsumDense", X3, equation="abc,cde->abde", output_shape=(None, 4, 2), bias_axes="de", lora_rank=2, note="lora")
sample("Embedding", i(2, 4), input_dim=5, output_dim=3)
sample("Embedding", i(2, 4), input_dim=5, output_dim=3, mask_zero=True, note="mask")
sample("Embedding", i(2, 4), input_dim=5, output_dim=3, lora_rank=2, note="lora")
sample("ReversibleEmbedding", i(2, 4), input_dim=5, output_dim=3)
sample("ReversibleEmbedding", f(2, 4, 3), input_dim=5, output_dim=3, call={"reverse": True}, note="reverse")
sample(
    "ReversibleEmbedding",
    f(2, 4, 3),
    input_dim=5,
    output_dim=3,
    tie_weights=False,
    logit_soft_cap=2.0,
    call={"reverse": True},
    note="untied",
)
sample("Masking", np.where(PADDED[..., None], X3, 0).astype("float32"))
sample("Identity", X2)

# convolution
sample("Conv1D", X3, filters=4, kernel_size=3, activation="relu")
sample("Conv1D", X3, filters=4, kernel_size=3, padding="causal", dilation_rate=2, note="causal")
sample("Conv2D", X4, filters=4, kernel_size=3, activation="relu")
sample("Conv2D", X4, filters=6, kernel_size=(3, 2), strides=2, padding="same", groups=3, use_bias=False, note="groups")
sample("Conv2D", f(2, 3, 8, 8), filters=4, kernel_size=3, data_format="channels_first", dilation_rate=2, note="first")
sample("Conv3D", X5, filters=4, kernel_size=2, strides=(1, 2, 1))
sample("Conv1DTranspose", X3, filters=4, kernel_size=3, strides=2)
sample("Conv2DTranspose", X4, filters=4, kernel_size=3, strides=2, padding="same", activation="relu")
sample("Conv2DTranspose", X4, filters=4, kernel_size=3, strides=2, output_padding=1, padding="same", note="output")
sample("Conv3DTranspose", X5, filters=2, kernel_size=2, strides=2)
sample("DepthwiseConv1D", X3, kernel_size=3, depth_multiplier=2)
sample("DepthwiseConv2D", X4, kernel_size=3, strides=2, padding="same", activation="relu")
sample("SeparableConv1D", X3, filters=4, kernel_size=3, depth_multiplier=2)
sample("SeparableConv2D", X4, filters=4, kernel_size=3, padding="same", activation="relu")

# pooling
sample("MaxPooling1D", X3, pool_size=3, strides=2)
sample("MaxPooling2D", X4, pool_size=(3, 2), strides=2, padding="same")
sample("MaxPooling3D", X5)
sample("AveragePooling1D", X3, pool_size=3, strides=2, padding="same")
sample("AveragePooling2D", X4, pool_size=2)
sample("AveragePooling3D", X5, pool_size=2)
sample("GlobalMaxPooling1D", X3)
sample("GlobalMaxPooling2D", X4, keepdims=True)
sample("GlobalMaxPooling3D", X5)
sample("GlobalAveragePooling1D", X3)
sample("GlobalAveragePooling1D", X3, call={"mask": GAPS}, keepdims=True, note="mask")
sample("GlobalAveragePooling2D", f(2, 3, 8, 8), data_format="channels_first")
sample("GlobalAveragePooling3D", X5)
sample("AdaptiveAveragePooling1D", X3, output_size=3)
sample("AdaptiveAveragePooling2D", X4, output_size=(3, 2))
sample("AdaptiveAveragePooling3D", X5, output_size=2)
sample("AdaptiveMaxPooling1D", X3, output_size=3)
sample("AdaptiveMaxPooling2D", X4, output_size=(3, 2))
sample("AdaptiveMaxPooling3D", X5, output_size=2)

# normalization
sample("BatchNormalization", X2, trained=True)
sample("BatchNormalization", X4, trained=True, axis=1, momentum=0.9, scale=False, note="axis")
sample("BatchNormalization", X3, trained=True, call={"mask": GAPS}, note="mask")
sample(
    "BatchNormalization",
    X2,
    trained=True,
    renorm=True,
    renorm_clipping={"rmin": 0.9, "rmax": 1.1, "dmax": 0.1},
    note="renorm",
)
sample("BatchNormalization", X2, trained=True, trainable=False, note="frozen")
sample("LayerNormalization", X3)
sample("LayerNormalization", X4, axis=[1, 3], center=False, note="axes")
sample("LayerNormalization", X3, rms_scaling=True, note="rms")
sample("RMSNormalization", X3)
sample("GroupNormalization", f(2, 5, 6), groups=3)
sample("GroupNormalization", f(2, 4, 5), groups=-1, axis=1, scale=False, note="instance")
sample("UnitNormalization", X3, axis=[1, 2])
sample("SpectralNormalization", X2, layer=lambda k: k.Dense(3, name="inner"), power_iterations=2, trained=True)

# regularization (inference: masks of random layers are tested on their own)
sample("Dropout", X2, rate=0.5)
sample("SpatialDropout1D", X3, rate=0.5)
sample("SpatialDropout2D", X4, rate=0.5)
sample("SpatialDropout3D", X5, rate=0.5)
sample("AlphaDropout", X2, rate=0.5)
sample("GaussianNoise", X2, stddev=0.1)
sample("GaussianDropout", X2, rate=0.2)
sample("ActivityRegularization", X2, l1=0.1, l2=0.2)

# reshaping
sample("Flatten", X3)
sample("Flatten", X4, data_format="channels_first", note="first")
sample("Reshape", X3, target_shape=(4, -1))
sample("Permute", X4, dims=(2, 3, 1))
sample("RepeatVector", X2, n=3)
sample("Cropping1D", X3, cropping=(1, 2))
sample("Cropping2D", X4, cropping=((1, 2), (0, 3)))
sample("Cropping3D", X5, cropping=1)
sample("ZeroPadding1D", X3, padding=(1, 2))
sample("ZeroPadding2D", X4, padding=((1, 2), (0, 3)))
sample("ZeroPadding3D", X5)
sample("UpSampling1D", X3, size=3)
sample("UpSampling2D", X4, size=(2, 3))
sample("UpSampling2D", X4, interpolation="bilinear", note="bilinear")
sample("UpSampling3D", X5, size=(1, 2, 3))

# merging
for merge in ("Add", "Average", "Maximum", "Minimum", "Multiply"):
    sample(merge, [X3, f(2, 8, 3, seed=1), f(2, 3, seed=2)])
sample("Subtract", [X3, f(2, 1, 3, seed=1)])
sample("Concatenate", [X3, f(2, 8, 5, seed=1)])
sample("Concatenate", [X3, f(2, 4, 3, seed=1)], axis=1, note="axis")
sample("Dot", [X3, f(2, 8, 5, seed=1)], axes=1)
sample("Dot", [X2, f(2, 6, seed=1)], axes=-1, normalize=True, note="cosine")
sample("Dot", [X3, f(2, 4, 3, seed=1)], axes=(2, 2), note="pair")

# activations
sample("Activation", X2, activation="silu")
sample("ReLU", X2, max_value=1.0, negative_slope=0.1, threshold=0.2)
sample("LeakyReLU", X2, negative_slope=0.2)
sample("PReLU", X3, alpha_initializer="ones", shared_axes=[1])
sample("ELU", X2, alpha=0.5)
sample("Softmax", X3, axis=1)
sample("Softmax", f(2, 8), call={"mask": GAPS}, note="mask")
sample("Softmax", X3, axis=(1, 2), note="axes")

# attention
Q, V, K = f(2, 4, 6), f(2, 5, 6, seed=1), f(2, 5, 6, seed=2)
MHA = {"num_heads": 2, "key_dim": 3}
sample("MultiHeadAttention", Q, V, **MHA)
sample("MultiHeadAttention", Q, V, K, value_dim=4, output_shape=7, use_bias=False, **MHA, note="key")
sample("MultiHeadAttention", Q, Q, call={"use_causal_mask": True}, **MHA, note="causal")
sample(
    "MultiHeadAttention",
    Q,
    V,
    call={"query_mask": m("1110", "1111"), "value_mask": m("11100", "11111"), "return_attention_scores": True},
    **MHA,
    note="scores",
)
sample("MultiHeadAttention", Q, V, call={"value_mask": m("11100", "11011")}, **MHA, note="mask")
sample("MultiHeadAttention", Q, Q, use_gate=True, sliding_window=2, **MHA, note="gate")
sample("MultiHeadAttention", f(2, 3, 4, 6), f(2, 3, 4, 6, seed=1), attention_axes=(1, 2), **MHA, note="axes")
sample("MultiHeadAttention", f(2, 3, 4, 6), f(2, 3, 4, 6, seed=1), attention_axes=2, **MHA, note="axis")
GQA = {"head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 2}
sample("GroupQueryAttention", Q, V, **GQA)
sample(
    "GroupQueryAttention", Q, Q, call={"use_causal_mask": True, "return_attention_scores": True}, **GQA, note="scores"
)
sample("GroupQueryAttention", Q, Q, use_gate=True, sliding_window=2, **GQA, note="gate")
sample("Attention", [Q, V])
sample("Attention", [Q, V, K], use_scale=True, score_mode="concat", note="concat")
sample(
    "Attention",
    [Q, V],
    call={"mask": [m("1110", "1111"), m("11100", "11111")], "return_attention_scores": True, "use_causal_mask": True},
    note="scores",
)
sample("AdditiveAttention", [Q, V])

# recurrent
for rnn in ("SimpleRNN", "LSTM", "GRU"):
    sample(rnn, X3, units=4)
    sample(rnn, X3, units=4, return_sequences=True, return_state=True, go_backwards=True, note="backwards")
    sample(rnn, X3, units=4, return_sequences=True, call={"mask": GAPS}, note="mask")
    sample(rnn, X3, units=4, unroll=True, return_state=True, use_bias=False, call={"mask": PADDED}, note="unroll")
sample("LSTM", X3, units=4, activation="relu", recurrent_activation="hard_sigmoid", note="activations")
sample("LSTM", X3, units=4, call={"initial_state": [f(2, 4, seed=3), f(2, 4, seed=4)]}, note="state")
sample("GRU", X3, units=4, reset_after=False, note="before")
sample("RNN", X3, cell=lambda k: k.LSTMCell(4, name="c"), return_sequences=True)
sample(
    "RNN",
    X3,
    cell=lambda k: k.StackedRNNCells([k.GRUCell(4, name="a"), k.LSTMCell(3, name="b")], name="s"),
    note="stacked",
)
sample(
    "RNN",
    X3,
    cell=lambda k: k.SimpleRNNCell(4, name="c"),
    zero_output_for_mask=True,
    return_sequences=True,
    call={"mask": GAPS},
    note="zeros",
)
sample("Bidirectional", X3, layer=lambda k: k.LSTM(4, return_sequences=True, name="l"))
sample(
    "Bidirectional", X3, layer=lambda k: k.LSTM(4, return_sequences=True, name="l"), call={"mask": GAPS}, note="mask"
)
sample("Bidirectional", X3, layer=lambda k: k.GRU(4, return_state=True, name="l"), merge_mode="sum", note="sum")
sample("Bidirectional", X3, layer=lambda k: k.GRU(4, name="l"), merge_mode=None, call={"mask": PADDED}, note="apart")
sample("TimeDistributed", X3, layer=lambda k: k.Dense(4, name="l"))
sample("TimeDistributed", f(2, 3, 5, 5, 2), layer=lambda k: k.Conv2D(4, 2, name="l"), note="images")
sample("ConvLSTM1D", f(2, 3, 6, 2), filters=3, kernel_size=3, return_sequences=True, return_state=True)
sample("ConvLSTM2D", f(2, 3, 6, 6, 2), filters=3, kernel_size=3, strides=2, padding="same", go_backwards=True)
sample(
    "ConvLSTM2D",
    f(2, 3, 2, 6, 6),
    filters=3,
    kernel_size=2,
    data_format="channels_first",
    note="first",
)
sample("ConvLSTM3D", f(1, 2, 3, 3, 3, 1), filters=2, kernel_size=2)

# preprocessing
sample("Rescaling", i(2, 4, 3), scale=0.5, offset=1.0)
sample("Rescaling", X3, scale=[0.5, 1.0, 2.0], note="channels")

# images: what is random has one possible value, or doesn't act in inference (integers where Keras writes into the input)
IMAGES, BYTES = np.abs(f(2, 6, 5, 3)) * 80, i(2, 6, 5, 3, high=256)
SINGLE = {"seed": 1}
INFERENCE = {"training": False}
sample("AutoContrast", IMAGES)
sample("AutoContrast", BYTES, value_range=[20, 200], note="bytes")
sample("Equalization", IMAGES, trained=True, value_range=[0, 255])
sample("ContrastLimitedAdaptiveHistogramEqualization", IMAGES, tile_grid_size=(2, 2), clip_limit=3.0)
sample("Solarization", BYTES, value_range=[0, 255], **SINGLE)
sample("RandomBrightness", BYTES, factor=(0.2, 0.2), value_range=[0, 255], **SINGLE)
sample("RandomColorDegeneration", IMAGES, factor=(0.3, 0.3), **SINGLE)
sample("RandomColorJitter", IMAGES, brightness_factor=(0.2, 0.2), saturation_factor=(0.6, 0.6), **SINGLE)
sample("RandomContrast", IMAGES, factor=(0.0, 0.0), **SINGLE)
sample("RandomGrayscale", IMAGES, factor=1.0, differs=("seed",))
sample("RandomHue", IMAGES, factor=(0.0, 0.0), tolerance=1e-4, **SINGLE)
sample("RandomInvert", IMAGES, factor=(1.0, 1.0), **SINGLE)
sample("RandomPosterization", IMAGES, factor=(3, 3), **SINGLE)
sample("RandomSaturation", IMAGES, factor=(0.3, 0.3), tolerance=1e-4, **SINGLE)
sample("RandomSharpness", IMAGES, factor=(0.8, 0.8), **SINGLE)
sample("RandomGaussianBlur", IMAGES, factor=(1.0, 1.0), sigma=(0.7, 0.7), kernel_size=(3, 5), **SINGLE)
sample("RandomRotation", IMAGES, factor=(0.1, 0.1), fill_mode="constant", tolerance=1e-4, **SINGLE)
sample("RandomTranslation", IMAGES, height_factor=(0.2, 0.2), width_factor=(-0.3, -0.3), tolerance=1e-4, **SINGLE)
sample("RandomZoom", IMAGES, height_factor=(0.2, 0.2), width_factor=(-0.3, -0.3), tolerance=1e-4, **SINGLE)
sample("RandomShear", IMAGES, x_factor=(0.0, 0.0), y_factor=(0.0, 0.0), tolerance=1e-4, **SINGLE)
sample("RandomPerspective", IMAGES, factor=(1.0, 1.0), scale=0.0, tolerance=1e-3, **SINGLE)
sample("RandomElasticTransform", IMAGES, call=INFERENCE, **SINGLE)
sample("RandomErasing", IMAGES, factor=(1.0, 1.0), scale=(1.0, 1.0), fill_value=7.0, call=INFERENCE, **SINGLE)
sample("RandomFlip", IMAGES, mode="vertical", call=INFERENCE, **SINGLE)
sample("RandomCrop", IMAGES, height=6, width=5, **SINGLE)
sample("CenterCrop", IMAGES, height=4, width=2)
sample("CenterCrop", IMAGES, height=8, width=10, note="larger")
sample("Resizing", IMAGES, height=4, width=3, crop_to_aspect_ratio=True)
sample("Resizing", IMAGES, height=4, width=9, pad_to_aspect_ratio=True, interpolation="nearest", note="pad")
sample("CutMix", IMAGES, call=INFERENCE, **SINGLE)
sample("MixUp", IMAGES, call=INFERENCE, **SINGLE)
sample("AugMix", IMAGES, call=INFERENCE, **SINGLE)
sample("RandAugment", IMAGES, call=INFERENCE, **SINGLE)
sample("MaxNumBoundingBoxes", IMAGES, max_number=3)
sample("Pipeline", X4, layers=lambda k: [k.Rescaling(0.5, name="a"), k.Rescaling(2.0, offset=1.0, name="b")])

# numbers and sound to features; layers for categories and text have samples of their own in `preprocessing/`
sample("Normalization", X3, axis=-1)
sample("Normalization", X3, mean=[0.5, 1.0, 2.0], variance=[1.0, 4.0, 9.0], invert=True, note="given")
sample("CategoryEncoding", i(2, 6), num_tokens=5, output_mode="count")
sample("Hashing", i(2, 6), num_bins=5, output_mode="multi_hot")
sample("MelSpectrogram", f(2, 64), fft_length=16, sequence_stride=8, num_mel_bins=4, tolerance=1e-4)
sample("STFTSpectrogram", f(2, 32, 2), frame_length=8, mode="stft", tolerance=1e-4)
sample("STFTSpectrogram", f(2, 32, 2), frame_length=8, mode="magnitude", expand_dims=True, tolerance=1e-4, note="2d")
