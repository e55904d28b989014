"""Quantization: fewer bits for weights and activations."""

from kerata.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "quantizer": ["Quantizer", "AbsMaxQuantizer"],
        "rounding": ["abs_max_quantize", "abs_max_quantize_grouped_with_zero_point"],
        "nibbles": ["pack_int4", "unpack_int4"],
        "eight_bit_floats": ["compute_float8_amax_history", "compute_float8_scale", "quantize_and_dequantize"],
        "fake_quantization": ["fake_quant_with_min_max_vars"],
        "configs": [
            "AWQConfig",
            "Float8QuantizationConfig",
            "GPTQConfig",
            "Int4QuantizationConfig",
            "Int8QuantizationConfig",
            "QuantizationConfig",
        ],
        "lookup": ["deserialize", "get", "serialize"],
    },
)
