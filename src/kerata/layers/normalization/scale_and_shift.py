"""What normalization layers with a scale `gamma` and a shift `beta` share."""

from kerata import constraints, initializers, ops, regularizers
from kerata.core import dtypes


class ScaleAndShift:
    """The arguments for `gamma` and `beta`, and making the two.

    They are kept, and used, in the variable dtype: statistics in half precision would be too coarse.
    """

    def _set_scale_and_shift(
        self,
        center,
        scale,
        beta_initializer,
        gamma_initializer,
        beta_regularizer,
        gamma_regularizer,
        beta_constraint,
        gamma_constraint,
    ):
        self.center = center
        self.scale = scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)
        self.gamma = self.beta = None

    def _add_scale_and_shift(self, shape, center=True):
        if self.scale:
            self.gamma = self.add_weight(
                name="gamma",
                shape=shape,
                initializer=self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint,
                autocast=False,
            )
        if self.center and center:
            self.beta = self.add_weight(
                name="beta",
                shape=shape,
                initializer=self.beta_initializer,
                regularizer=self.beta_regularizer,
                constraint=self.beta_constraint,
                autocast=False,
            )

    def _narrowed(self, x):
        """What was normalized in the compute dtype."""
        return x if dtypes.standardize_dtype(x.dtype) == self.compute_dtype else ops.cast(x, self.compute_dtype)

    def _widened(self, x):
        """Half-precision tensors in float32, in which they are normalized."""
        return ops.cast(x, "float32") if dtypes.standardize_dtype(x.dtype) in ("float16", "bfloat16") else x
