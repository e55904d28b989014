"""Images on TensorFlow."""

import tensorflow as tf

from kerata.backends.tensorflow.core import EAGER_ALONE, in_xla


def resize_bilinear(images, height, width, axis):
    last = axis == 1
    x = images if last else tf.transpose(images, (0, 2, 3, 1))
    x = tf.image.resize(x, (height, width), method="bilinear")
    return x if last else tf.transpose(x, (0, 3, 1, 2))


_KERNELS = {"linear": "triangle", "bilinear": "triangle", "cubic": "keyscubic", "bicubic": "keyscubic"}


def _stretched(images, size, scale, translation, method, antialias):
    return tf.raw_ops.ScaleAndTranslate(
        images=images,
        size=size,
        scale=scale,
        translation=translation,
        kernel_type=_KERNELS.get(method, method),
        antialias=antialias,
    )


EAGER_ALONE["stretched"] = _stretched


def weighted_sum(x, weights, axis):
    if axis == -1:
        return tf.matmul(x, tf.reshape(weights, (-1, 1)))
    return tf.reduce_sum(x * weights, axis, True)


def hue_saturation_value(images, axis):
    return _by_last_axis(tf.image.rgb_to_hsv, images, axis)


def red_green_blue(images, axis):
    return _by_last_axis(_from_hsv, images, axis)


def _by_last_axis(function, images, axis):
    """Kernels of colours want the bands last."""
    if axis == -1:
        return function(images)
    return tf.experimental.numpy.moveaxis(function(tf.experimental.numpy.moveaxis(images, axis, -1)), -1, axis)


@tf.custom_gradient
def _from_hsv(images):
    """TensorFlow's kernel, which has no gradient."""

    def gradient(upstream):
        hue, saturation, value = tf.split(images, 3, axis=-1)
        # Each band rises or falls linearly from where the hue meets its middle, cut off at 0 and 1.
        middles, signs, tops = (tf.constant(c, images.dtype) for c in ((3, 2, 4), (1, -1, -1), (-1, 2, 2)))
        distance = hue * 6.0 - middles
        bands = signs * tf.abs(distance) + tops
        slopes = tf.where((bands > 0) & (bands < 1), 6.0 * signs * tf.sign(distance), tf.zeros_like(bands))
        bands = tf.clip_by_value(bands, 0, 1)
        parts = (value * saturation * slopes, value * (bands - 1.0), 1.0 - saturation + saturation * bands)
        return tf.concat([tf.reduce_sum(upstream * part, -1, keepdims=True) for part in parts], -1)

    return tf.image.hsv_to_rgb(images), gradient


def interpolated(images, transform, fill_mode, fill_value):
    shape = tf.shape(images)
    transform = tf.broadcast_to(transform, (shape[0], 8))
    if not tf.executing_eagerly() and in_xla():
        return _sampled(images, transform, fill_mode, fill_value)

    @tf.custom_gradient
    def native(images, transform):
        y = tf.raw_ops.ImageProjectiveTransformV3(
            images=images,
            transforms=transform,
            output_shape=shape[1:3],
            interpolation="BILINEAR",
            fill_mode=_FILLS[fill_mode],
            fill_value=fill_value,
        )
        return tf.ensure_shape(y, images.shape), gradient

    def gradient(upstream):
        # The kernel's own gradient goes by the inverse transform, which is only nearly right.
        with tf.GradientTape() as tape:
            tape.watch((images, transform))
            y = _sampled(images, transform, fill_mode, fill_value)
        return tape.gradient(y, (images, transform), upstream)

    return native(images, transform)


_FILLS = {"constant": "CONSTANT", "nearest": "NEAREST", "reflect": "REFLECT"}


def _sampled(images, transform, fill_mode, fill_value):
    """The same by plain functions."""
    batch, height, width = tf.unstack(tf.shape(images)[:3])
    y, x = (tf.cast(v, transform.dtype) for v in tf.meshgrid(tf.range(height), tf.range(width), indexing="ij"))
    a0, a1, a2, b0, b1, b2, c0, c1 = tf.unstack(transform[:, :, None, None], axis=1)
    scale = c0 * x + c1 * y + 1.0
    row, column = (b0 * x + b1 * y + b2) / scale, (a0 * x + a1 * y + a2) / scale
    which = tf.range(batch)[:, None, None]
    flat, total = tf.reshape(images, (-1, images.shape[-1])), 0.0
    for at_row, share_row in _neighbours(row):
        for at_column, share_column in _neighbours(column):
            place = (which * height + _folded(at_row, height, fill_mode)) * width + _folded(at_column, width, fill_mode)
            value = tf.gather(flat, place)
            if fill_mode == "constant":
                inside = (at_row >= 0) & (at_row < height) & (at_column >= 0) & (at_column < width)
                value = tf.where(inside[..., None], value, tf.cast(fill_value, value.dtype))
            total += value * tf.cast(share_row * share_column, value.dtype)[..., None]
    return total


def _neighbours(place):
    below = tf.floor(place)
    index = tf.cast(below, tf.int32)
    return (index, 1.0 - (place - below)), (index + 1, place - below)


def _folded(index, size, mode):
    """Index of the pixel that stands for a place outside."""
    if mode == "reflect":
        index = index % (2 * size)
        return tf.where(index >= size, 2 * size - 1 - index, index)
    return tf.clip_by_value(index, 0, size - 1)
