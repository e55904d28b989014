"""Layers: what models are made of."""

from kerata.core import lazy

_RANKS = ("1D", "2D", "3D")


def _ranked(*names, ranks=_RANKS):
    return [n.replace("*", rank) for n in names for rank in ranks]


__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        "layer": ["Layer"],
        "input_spec": ["InputSpec"],
        "lookup": ["deserialize", "serialize"],
        "activations.activation": ["Activation"],
        "activations.rectified": ["ELU", "LeakyReLU", "PReLU", "ReLU"],
        "activations.softmax": ["Softmax"],
        "attention.additive": ["AdditiveAttention"],
        "attention.attention": ["Attention"],
        "attention.grouped_query": ["GroupQueryAttention=GroupedQueryAttention"],
        "attention.multi_head": ["MultiHeadAttention"],
        "convolution.convolution": _ranked("Conv*", "Convolution*=Conv*"),
        "convolution.depthwise": _ranked("DepthwiseConv*", ranks=("1D", "2D")),
        "convolution.separable": _ranked("SeparableConv*", "SeparableConvolution*=SeparableConv*", ranks=("1D", "2D")),
        "convolution.transposed": _ranked("Conv*Transpose", "Convolution*Transpose=Conv*Transpose"),
        "core.dense": ["Dense"],
        "core.einsum_dense": ["EinsumDense"],
        "core.embedding": ["Embedding"],
        "core.identity": ["Identity"],
        "core.input_layer": ["Input", "InputLayer"],
        "core.lambda_layer": ["Lambda"],
        "core.masking": ["Masking"],
        "core.reversible_embedding": ["ReversibleEmbedding"],
        "core.wrapper": ["Wrapper"],
        "merging.concatenate": ["Concatenate", "concatenate"],
        "merging.dot": ["Dot", "dot"],
        "merging.elementwise": [
            "Add",
            "Average",
            "Maximum",
            "Minimum",
            "Multiply",
            "Subtract",
            "add",
            "average",
            "maximum",
            "minimum",
            "multiply",
            "subtract",
        ],
        "normalization.batch": ["BatchNormalization"],
        "normalization.group": ["GroupNormalization"],
        "normalization.layer_normalization": ["LayerNormalization"],
        "normalization.rms": ["RMSNormalization"],
        "normalization.spectral": ["SpectralNormalization"],
        "normalization.unit": ["UnitNormalization"],
        "pooling.adaptive": _ranked("AdaptiveAveragePooling*", "AdaptiveMaxPooling*"),
        "pooling.global_pooling": _ranked(
            "GlobalAveragePooling*",
            "GlobalAvgPool*=GlobalAveragePooling*",
            "GlobalMaxPooling*",
            "GlobalMaxPool*=GlobalMaxPooling*",
        ),
        "pooling.pooling": _ranked(
            "AveragePooling*", "AvgPool*=AveragePooling*", "MaxPooling*", "MaxPool*=MaxPooling*"
        ),
        "preprocessing.rescaling": ["Rescaling"],
        "regularization.activity_regularization": ["ActivityRegularization"],
        "regularization.dropout": ["Dropout"],
        "regularization.noise": ["AlphaDropout", "GaussianDropout", "GaussianNoise"],
        "regularization.spatial_dropout": _ranked("SpatialDropout*"),
        "reshaping.cropping": _ranked("Cropping*"),
        "reshaping.flatten": ["Flatten"],
        "reshaping.padding": _ranked("ZeroPadding*"),
        "reshaping.permute": ["Permute"],
        "reshaping.repeat_vector": ["RepeatVector"],
        "reshaping.reshape": ["Reshape"],
        "reshaping.upsampling": _ranked("UpSampling*"),
        "rnn.bidirectional": ["Bidirectional"],
        "rnn.conv_lstm": _ranked("ConvLSTM*"),
        "rnn.gru": ["GRU", "GRUCell"],
        "rnn.lstm": ["LSTM", "LSTMCell"],
        "rnn.rnn": ["RNN"],
        "rnn.simple": ["SimpleRNN", "SimpleRNNCell"],
        "rnn.stacked_cells": ["StackedRNNCells"],
        "rnn.time_distributed": ["TimeDistributed"],
        "wrappers.torch_module": ["TorchModuleWrapper"],
    },
)
