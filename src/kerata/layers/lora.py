"""Low-rank adaptation: a frozen weight plus a trained product of two small ones (Hu et al., 2021)."""

import numpy as np

from kerata import ops
from kerata.core.errors import positive_int


class Adaptable:
    """What layers with one large weight have in common: `enable_lora`, and files that hold the merged weight.

    A layer of this kind keeps the weight as `_kernel` (its public name is `kernel`) and says in `_adapter_shapes(rank)`
    which two weights make its low-rank addition.
    """

    _config_unless = {"lora_rank": None, "lora_alpha": None}
    lora_enabled = False
    # What the adapters are called: `lora_kernel_a`, `lora_kernel_b`.
    _adapted = "kernel"
    _constrained = "kernel"

    def enable_lora(self, rank, lora_alpha=None, a_initializer="he_uniform", b_initializer="zeros"):
        """Freeze the large weight and train a product of two matrices of this rank beside it.

        Args:
            rank: number of columns of the first and rows of the second.
            lora_alpha: the product counts `lora_alpha / rank`; `None`: as often as `rank`.
            a_initializer, b_initializer: of the two.

        Raises:
            ValueError: the layer isn't built, is adapted already, or its weight is constrained.
        """
        if getattr(self, f"{self._adapted}_constraint") is not None:
            raise ValueError(f"{self._where()}: LoRA is incompatible with {self._constrained} constraints.")
        if not (self.built or self._building):
            raise ValueError(
                f"{self._where()}: Cannot enable lora on a layer that isn't yet built; call it once before."
            )
        if self.lora_enabled:
            raise ValueError(f"{self._where()}: lora is already enabled, with rank {self.lora_rank}.")
        rank = positive_int(rank, "rank", self._where())
        a, b = self._adapter_shapes(rank)
        regularizer = getattr(self, f"{self._adapted}_regularizer")
        for shape, part, initializer in ((a, "a", a_initializer), (b, "b", b_initializer)):
            name = f"lora_{self._adapted}_{part}"
            weight = self.add_weight(name=name, shape=shape, initializer=initializer, regularizer=regularizer)
            setattr(self, name, weight)
        large = getattr(self, f"_{self._adapted}", None)
        if large is not None and large.trainable:
            large.trainable = False
        self.lora_enabled = self._special = True
        self.lora_rank = rank
        self.lora_alpha = rank if lora_alpha is None else lora_alpha

    def _set_lora(self, rank, alpha):
        self.lora_rank = rank
        self.lora_alpha = rank if alpha is None else alpha

    def get_config(self):
        config = super().get_config()
        if self.lora_rank:
            config.update(lora_rank=self.lora_rank, lora_alpha=self.lora_alpha)
        return config

    def _enable_lora_as_constructed(self):
        """Called at the end of `build`."""
        if self.lora_rank:
            self.enable_lora(self.lora_rank, self.lora_alpha)

    @property
    def _large(self):
        return getattr(self, f"_{self._adapted}")

    def _adapters(self):
        return tuple(getattr(self, f"lora_{self._adapted}_{part}") for part in "ab")

    def _merged(self):
        """The large weight, with the adapters' product if there are any."""
        if not self.lora_enabled:
            return self._large
        return self._large + self._addition()

    def _addition(self):
        """What the adapters add to the weight."""
        return (self.lora_alpha / self.lora_rank) * ops.matmul(*self._adapters())

    def _adaptation(self, equation, x):
        """What the adapters add to the einsum of `x` with the weight, without multiplying them out."""
        inputs, rest = equation.split(",")
        weight, outputs = rest.split("->")
        rank = next(c for c in "rstuvwxyzabcdefghijklmnopq" if c not in equation)
        a, b = self._adapters()
        y = ops.einsum(f"{inputs},{weight[:-1]}{rank},{rank}{weight[-1]}->{outputs}", x, a, b)
        return (self.lora_alpha / self.lora_rank) * y

    def save_own_variables(self, store):
        """The weights by number; adapters merged into the weight that they adapt."""
        if not self.lora_enabled:
            super().save_own_variables(store)
            return
        store["0"] = ops.convert_to_numpy(self._merged())
        for i, variable in enumerate(self._kept_beside(), 1):
            store[str(i)] = variable.numpy()

    def load_own_variables(self, store):
        """The weights by number; adapters begin anew at zero."""
        if not self.lora_enabled:
            super().load_own_variables(store)
            return
        own = [self._large, *self._kept_beside()]
        if len(store.keys()) != len(own):
            raise ValueError(
                f"{self._where()} has {len(own)} variables besides LoRA's, but the file has {len(store.keys())}."
            )
        for i, variable in enumerate(own):
            variable.assign(np.asarray(store[str(i)]))
        for adapter in self._adapters():
            adapter.assign(ops.zeros(adapter.shape, adapter.dtype))

    def _kept_beside(self):
        """The layer's other variables."""
        left_out = {id(self._large), *map(id, self._adapters())}
        own = [*self._trainable_variables, *self._non_trainable_variables]
        return [v for v in own if id(v) not in left_out]
