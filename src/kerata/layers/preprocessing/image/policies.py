"""Several augmentations at random: `RandAugment`, `AugMix`."""

import numpy as np

from kerata import backends, ops, random
from kerata.core.errors import integer, positive_int
from kerata.layers.preprocessing.image.affine import RandomRotation, RandomShear, RandomTranslation
from kerata.layers.preprocessing.image.arguments import INTERPOLATIONS, choice, is_number, number_range, pixel_range
from kerata.layers.preprocessing.image.blurring import RandomSharpness
from kerata.layers.preprocessing.image.histograms import AutoContrast, Equalization
from kerata.layers.preprocessing.image.image_layer import RandomImageLayer
from kerata.layers.preprocessing.image.pointwise import (
    RandomBrightness,
    RandomColorDegeneration,
    RandomContrast,
    RandomPosterization,
    Solarization,
)
from kerata.ops.draws import random_split
from kerata.random.seeds import SeedGenerator, draw_seed

GEOMETRIC = ("random_shear", "random_translation", "random_rotation")
COLORS = ("random_brightness", "random_color_degeneration", "random_contrast", "random_sharpness")
OTHERS = ("random_posterization", "solarization", "auto_contrast", "equalization")
BITS = 8


class KeyStream(SeedGenerator):
    """Keys to draw with that all come from one, a tensor uint32[2]."""

    # Keys split off at a time: more than a layer needs.
    AT_ONCE = 8

    def __init__(self, key):
        self.keys = [key]

    def next(self, ordered=True):
        if len(self.keys) == 1:
            self.keys = list(ops.unstack(random_split(self.keys[0], self.AT_ONCE)))
        return self.keys.pop()


class PolicyLayer(RandomImageLayer):
    """Base of layers that choose among others.

    Args:
        value_range: the lowest and the highest value of a pixel.
        factor: number f for (0, f), or two numbers, within [0, 1]: how strong.
        interpolation: `"nearest"` or `"bilinear"`.
    """

    def __init__(self, *, value_range, factor, interpolation, **kwargs):
        super().__init__(**kwargs)
        self.value_range = pixel_range(value_range, self)
        self.factor = number_range(factor, "factor", self, 0, 1)
        self.interpolation = choice(interpolation, INTERPOLATIONS, "interpolation", self)

    def _made(self, names):
        """The layers of these names, as strong as `factor` says."""
        low, high = self.factor
        common = {
            "data_format": self.data_format,
            "dtype": self.dtype_policy,
            "bounding_box_format": self.bounding_box_format,
        }
        seeded = {**common, "seed": self.seed}
        moved = {**seeded, "interpolation": self.interpolation}
        colored = {**seeded, "value_range": self.value_range}
        make = {
            "random_shear": lambda: RandomShear((low, high), (low, high), **moved),
            "random_translation": lambda: RandomTranslation((low, high), (low, high), **moved),
            "random_rotation": lambda: RandomRotation((low, high), **moved),
            "random_brightness": lambda: RandomBrightness((low, high), **colored),
            "random_color_degeneration": lambda: RandomColorDegeneration((low, high), **colored),
            "random_contrast": lambda: RandomContrast((low, high), **colored),
            "random_sharpness": lambda: RandomSharpness((low, high), **colored),
            "solarization": lambda: Solarization((low, high), (low, high), **colored),
            "random_posterization": lambda: RandomPosterization((1, max(1, int(BITS * high))), **colored),
            "auto_contrast": lambda: AutoContrast(value_range=self.value_range, **common),
            "equalization": lambda: Equalization(value_range=self.value_range, **common),
        }
        for name in names:
            setattr(self, name, make[name]())
        return tuple(names)

    def build(self, input_shape):
        """There is nothing to make.

        Args:
            input_shape: shape of the images.
        """


class RandAugment(PolicyLayer):
    """In training, apply some of eleven augmentations, drawn at random (Cubuk et al., 2020).

    Args:
        value_range: the lowest and the highest value of a pixel.
        num_ops: how many are applied, one after the other.
        factor: number f for (0, f), or two numbers, within [0, 1]: how strong.
        interpolation: `"nearest"` or `"bilinear"`.
        seed: int; by default one is drawn.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: colour images `(batch, height, width, 3)` or one of them, or a dictionary, in which boxes and masks
    follow. Output: the same, floating.

    >>> import kerata
    >>> tuple(kerata.layers.RandAugment()(kerata.ops.ones((2, 8, 8, 3))).shape)
    (2, 8, 8, 3)
    """

    def __init__(
        self,
        value_range=(0, 255),
        num_ops=2,
        factor=0.5,
        interpolation="bilinear",
        seed=None,
        data_format=None,
        **kwargs,
    ):
        super().__init__(
            value_range=value_range,
            factor=factor,
            interpolation=interpolation,
            seed=seed,
            data_format=data_format,
            **kwargs,
        )
        self.num_ops = integer(num_ops, "num_ops", self._where(), minimum=0)
        self._choices = self._made((*GEOMETRIC, *COLORS, *OTHERS))

    def _draw(self, images, seed):
        drawn = {n: getattr(self, n).get_random_transformation(images, seed=seed) for n in self._choices}
        which = random.randint((self.num_ops,), 0, len(self._choices), seed=seed)
        return {"transforms": drawn, "layer_idxes": which}

    def _images(self, images, transformation):
        return self._applied("transform_images", images, transformation)

    def _masks(self, masks, transformation):
        return self._applied("transform_segmentation_masks", masks, transformation)

    def _boxes(self, bounding_boxes, transformation):
        boxes = {**bounding_boxes, "boxes": ops.cast(bounding_boxes["boxes"], "float32")}
        return self._applied("transform_bounding_boxes", boxes, transformation)

    def _applied(self, method, value, transformation):
        drawn = transformation["transforms"]
        branches = [lambda x, n=n: _alike(getattr(getattr(self, n), method)(x, drawn[n]), x) for n in self._choices]
        which = _values(transformation["layer_idxes"])
        return _repeated(self.num_ops, which, lambda i, v: _chosen(which[i], branches, v), value)


def _values(drawn):
    """A NumPy array of what was drawn if its values are at hand: not while a function is traced."""
    traced = ops.is_tensor(drawn) and not backends.current().is_concrete(drawn)
    return drawn if traced else ops.convert_to_numpy(drawn)


def _known(x):
    return isinstance(x, (int, bool, np.ndarray, np.generic))


def _chosen(index, branches, *operands):
    """The branch with this number, called; without a compilation where the number is known."""
    return branches[int(index)](*operands) if _known(index) else ops.switch(index, branches, *operands)


def _either(condition, first, second):
    """What one of two functions returns, which alone is run."""
    if _known(condition):
        return first() if condition else second()
    return ops.cond(condition, first, second)


def _repeated(count, drawn, body, value):
    """`value = body(i, value)` for i from 0; a loop where what was drawn isn't known, so the body is traced once."""
    if count and not _known(drawn):
        return ops.fori_loop(0, count, body, value)
    for i in range(count):
        value = body(i, value)
    return value


def _alike(changed, original):
    """Results in the dtypes of what went in, as branches need them."""
    if isinstance(changed, dict):
        return {k: _alike(changed[k], v) for k, v in original.items()}
    return ops.cast(changed, ops.dtype(original))


class AugMix(PolicyLayer):
    """In training, mix images with several chains of augmentations of them (Hendrycks et al., 2020).

    Args:
        value_range: the lowest and the highest value of a pixel.
        num_chains: number of chains.
        chain_depth: how many augmentations a chain has at most.
        factor: number f for (0, f), or two numbers, within [0, 1]: how strong.
        alpha: parameter of the distributions from which the weights of chains and of the mixture are drawn.
        all_ops: whether brightness, colour degeneration, contrast and sharpness are among the augmentations.
        interpolation: `"nearest"` or `"bilinear"`.
        seed: int; by default one is drawn.
        data_format: `"channels_last"`, `"channels_first"`; `None`: `config.image_data_format()`.

    Input: colour images `(batch, height, width, 3)` or one of them, or a dictionary. Output: the same, floating.

    >>> import kerata
    >>> tuple(kerata.layers.AugMix()(kerata.ops.ones((2, 8, 8, 3))).shape)
    (2, 8, 8, 3)
    """

    def __init__(
        self,
        value_range=(0, 255),
        num_chains=3,
        chain_depth=3,
        factor=0.3,
        alpha=1.0,
        all_ops=True,
        interpolation="bilinear",
        seed=None,
        data_format=None,
        **kwargs,
    ):
        super().__init__(
            value_range=value_range,
            factor=factor,
            interpolation=interpolation,
            seed=seed,
            data_format=data_format,
            **kwargs,
        )
        self.num_chains = positive_int(num_chains, "num_chains", self._where())
        self.chain_depth = positive_int(chain_depth, "chain_depth", self._where())
        if not is_number(alpha) or alpha <= 0:
            raise ValueError(f"{self._where()}: `alpha` must be a positive number, but {alpha!r} was given.")
        self.alpha = alpha
        self.all_ops = all_ops
        self._choices = self._made((*GEOMETRIC, *(COLORS if all_ops else ()), *OTHERS))

    def _draw(self, images, seed):
        alpha = float(self.alpha)
        weights = random.gamma((self.num_chains,), alpha, dtype="float32", seed=seed)
        steps = self.num_chains * self.chain_depth
        return {
            # Dirichlet: gammas by their sum.
            "chain_mixing_weights": weights / ops.sum(weights),
            "weight_sample": random.beta((), alpha, alpha, dtype="float32", seed=seed),
            "layer_idxes": random.randint((steps,), 0, len(self._choices), seed=seed),
            "depths": random.randint((self.num_chains,), 1, self.chain_depth + 1, seed=seed),
            # What the augmentations draw they draw from these, and only those that are chosen.
            "keys": random_split(draw_seed(seed), steps),
        }

    def _images(self, images, transformation):
        names = ("layer_idxes", "keys", "depths", "chain_mixing_weights")
        which, keys, depths, weights = (_values(transformation[name]) for name in names)
        branches = [self._branch(getattr(self, name)) for name in self._choices]
        last = self.chain_depth - 1

        def step(i, state):
            changed, mixed = state
            chain, depth = i // self.chain_depth, i % self.chain_depth
            # Each chain begins with the images themselves.
            given = _either(depth == 0, lambda: images, lambda: changed)
            changed = _either(depth < depths[chain], lambda: _chosen(which[i], branches, given, keys[i]), lambda: given)
            return changed, _either(
                depth == last, lambda: mixed + ops.cast(weights[chain], ops.dtype(images)) * changed, lambda: mixed
            )

        steps = self.num_chains * self.chain_depth
        _, mixed = _repeated(steps, which, step, (images, ops.zeros_like(images)))
        weight = ops.cast(transformation["weight_sample"], ops.dtype(images))
        return weight * images + (1 - weight) * mixed

    def _branch(self, layer):
        def apply(images, key):
            drawn = layer.get_random_transformation(images, seed=KeyStream(key))
            return _alike(layer.transform_images(images, drawn), images)

        return apply
