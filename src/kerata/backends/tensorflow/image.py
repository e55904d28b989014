"""Images on TensorFlow."""

import tensorflow as tf


def resize_bilinear(images, height, width, axis):
    last = axis == 1
    x = images if last else tf.transpose(images, (0, 2, 3, 1))
    x = tf.image.resize(x, (height, width), method="bilinear")
    return x if last else tf.transpose(x, (0, 3, 1, 2))


def weighted_sum(x, weights, axis):
    if axis == -1:
        return tf.matmul(x, tf.reshape(weights, (-1, 1)))
    return tf.reduce_sum(x * weights, axis, True)
