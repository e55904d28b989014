"""`PyDataset`, under both names that it has had."""

from kerata.training.data.pydataset import PyDataset

Sequence = PyDataset

__all__ = ["PyDataset", "Sequence"]
