"""The JAX backend."""

from kerata.backends.jax import sparse
from kerata.backends.jax.control import *  # noqa: F403
from kerata.backends.jax.core import *  # noqa: F403
from kerata.backends.jax.creation import *  # noqa: F403
from kerata.backends.jax.differentiation import *  # noqa: F403
from kerata.backends.jax.elementwise import *  # noqa: F403
from kerata.backends.jax.fft import *  # noqa: F403
from kerata.backends.jax.foreign import *  # noqa: F403
from kerata.backends.jax.image import *  # noqa: F403
from kerata.backends.jax.indexing import *  # noqa: F403
from kerata.backends.jax.linalg import *  # noqa: F403
from kerata.backends.jax.nn import *  # noqa: F403
from kerata.backends.jax.random import *  # noqa: F403
from kerata.backends.jax.reduction import *  # noqa: F403
from kerata.backends.jax.row_gradients import *  # noqa: F403
from kerata.backends.jax.shape import *  # noqa: F403
from kerata.backends.jax.sparse import densify, is_composite, sparse_one_hot, to_sparse
from kerata.backends.jax.stepping import *  # noqa: F403
from kerata.backends.jax.text import *  # noqa: F403
