"""Images mixed with others of their batch: `CutMix`, `MixUp`."""

import numpy as np

from kerata import ops, random
from kerata.layers.preprocessing.image.arguments import is_number, number_range
from kerata.layers.preprocessing.image.erasing import rectangles
from kerata.layers.preprocessing.image.image_layer import FreeImages, RandomImageLayer
from kerata.ops.draws import random_permutation
from kerata.random.seeds import draw_seed

# Parameters of a beta distribution are positive.
LEAST_ALPHA = 1e-3


class MixingLayer(RandomImageLayer):
    """Base of layers that mix each example with another of the batch; labels mix by weight.

    Labels must be one hot, or numbers that may be averaged.
    """

    def _order(self, images, seed):
        """For each example which other it's mixed with."""
        # That of `random.shuffle`.
        return random_permutation(draw_seed(seed, "shuffle"), self._count(images))

    def _others(self, x, transformation):
        return ops.take(x, ops.cast(transformation["permutation_order"], "int32"), axis=0)

    def _averaged(self, x, transformation):
        x = ops.cast(x, self.compute_dtype)
        weight = ops.cast(transformation["mix_weight"], ops.dtype(x))
        if len(weight.shape) > 0:
            weight = ops.reshape(weight, (-1,) + (1,) * (len(x.shape) - 1))
        return weight * x + (1 - weight) * self._others(x, transformation)

    def _labels(self, labels, transformation):
        return self._averaged(labels, transformation)


class CutMix(MixingLayer, FreeImages):
    """In training, paste a rectangle of another image of the batch into each (Yun et al., 2019).

    Args:
        factor: number f for (0, f), or two numbers, within [0, 1]: the parameters of the beta distribution from which
            the share that stays is drawn.
        seed: int; by default one is drawn.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: images `(batch, height, width, channels)`, or a dictionary in which labels (one hot) mix in the share of
    the areas, and masks are pasted too. Output: the same, floating. One image stays as it is.

    >>> import kerata
    >>> data = {"images": kerata.ops.ones((2, 4, 4, 3)), "labels": kerata.ops.eye(2)}
    >>> mixed = kerata.layers.CutMix(seed=1)(data)
    >>> kerata.ops.convert_to_numpy(kerata.ops.sum(mixed["labels"], axis=-1)).round(3).tolist()
    [1.0, 1.0]
    """

    def __init__(self, factor=1.0, seed=None, data_format=None, **kwargs):
        super().__init__(seed=seed, data_format=data_format, **kwargs)
        self.factor = number_range(factor, "factor", self, 0, 1)

    def _draw(self, images, seed):
        if len(images.shape) == 3:
            return None
        alpha = ops.maximum(self._uniform((), self.factor, seed), LEAST_ALPHA)
        kept = random.beta((self._count(images),), alpha, alpha, dtype="float32", seed=seed)
        side = ops.sqrt(1 - kept)
        return {
            "permutation_order": self._order(images, seed),
            "batch_masks": rectangles(self, images, side, side, seed),
            "mix_weight": ops.reshape(kept, (-1, 1, 1, 1)),
        }

    def _images(self, images, transformation):
        if transformation is None:
            return images
        return ops.where(transformation["batch_masks"], self._others(images, transformation), images)

    def _masks(self, masks, transformation):
        if transformation is None:
            return masks
        axis = self._axes[2]
        # All channels of an image are cut alike.
        inside = ops.take(transformation["batch_masks"], np.array([0]), axis=axis)
        return ops.where(inside, self._others(masks, transformation), masks)


class MixUp(MixingLayer, FreeImages):
    """In training, average each image with another of the batch, and their labels likewise (Zhang et al., 2018).

    Args:
        alpha: both parameters of the beta distribution from which weights are drawn; small ones mix little.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.
        seed: int; by default one is drawn.

    Input: images `(batch, height, width, channels)`, or a dictionary in which labels (one hot) and masks are averaged
    and boxes of both images kept. Output: the same, floating.

    >>> import kerata
    >>> data = {"images": kerata.ops.ones((2, 4, 4, 3)), "labels": kerata.ops.eye(2)}
    >>> mixed = kerata.layers.MixUp(seed=1)(data)
    >>> kerata.ops.convert_to_numpy(kerata.ops.sum(mixed["labels"], axis=-1)).round(3).tolist()
    [1.0, 1.0]
    """

    def __init__(self, alpha=0.2, data_format=None, seed=None, **kwargs):
        super().__init__(data_format=data_format, seed=seed, **kwargs)
        if not is_number(alpha) or alpha <= 0:
            raise ValueError(f"{self._where()}: `alpha` must be a positive number, but {alpha!r} was given.")
        self.alpha = alpha

    def _draw(self, images, seed):
        weight = random.beta((self._count(images),), float(self.alpha), float(self.alpha), dtype="float32", seed=seed)
        return {"mix_weight": weight, "permutation_order": self._order(images, seed)}

    def _images(self, images, transformation):
        return self._averaged(images, transformation)

    def _masks(self, masks, transformation):
        return self._averaged(masks, transformation)

    def _boxes(self, bounding_boxes, transformation):
        # The second half of an example's boxes are the other's.
        batched = len(bounding_boxes["boxes"].shape) == 3
        return {
            k: ops.concatenate([v, self._others(v, transformation)], axis=1 if batched or k == "boxes" else 0)
            for k, v in (("boxes", ops.cast(bounding_boxes["boxes"], "float32")), ("labels", bounding_boxes["labels"]))
        }
