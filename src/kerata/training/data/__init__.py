"""Feeding of training: every kind of data that users have, as one kind of source of batches."""

from kerata.core import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        "make": ["make_source"],
        "source": ["Source", "Spec"],
        "arrays": ["ArraySource"],
        "pydataset": ["PyDataset", "PyDatasetSource"],
        "streams": ["GeneratorSource", "TensorFlowSource", "TorchSource"],
        "parts": ["pack_x_y_sample_weight", "unpack_x_y_sample_weight"],
        "split": ["train_validation_split", "unpack_validation_data"],
        "weights": ["class_weight_to_sample_weights"],
        "prefetching": ["prefetch"],
        "order": ["permutation"],
    },
)
