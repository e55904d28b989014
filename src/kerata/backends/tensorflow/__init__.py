"""The TensorFlow backend."""

from kerata.backends.tensorflow import ragged, sparse
from kerata.backends.tensorflow.control import *  # noqa: F403
from kerata.backends.tensorflow.core import *  # noqa: F403
from kerata.backends.tensorflow.creation import *  # noqa: F403
from kerata.backends.tensorflow.differentiation import *  # noqa: F403
from kerata.backends.tensorflow.eager_calls import reading, whole
from kerata.backends.tensorflow.elementwise import *  # noqa: F403
from kerata.backends.tensorflow.fft import *  # noqa: F403
from kerata.backends.tensorflow.foreign import *  # noqa: F403
from kerata.backends.tensorflow.image import *  # noqa: F403
from kerata.backends.tensorflow.indexing import *  # noqa: F403
from kerata.backends.tensorflow.linalg import *  # noqa: F403
from kerata.backends.tensorflow.module import *  # noqa: F403
from kerata.backends.tensorflow.nn import *  # noqa: F403
from kerata.backends.tensorflow.random import *  # noqa: F403
from kerata.backends.tensorflow.reduction import *  # noqa: F403
from kerata.backends.tensorflow.row_gradients import *  # noqa: F403
from kerata.backends.tensorflow.saved_models import *  # noqa: F403
from kerata.backends.tensorflow.shape import *  # noqa: F403
from kerata.backends.tensorflow.sparse import densify, is_composite, map_values, sparse_one_hot, to_sparse
from kerata.backends.tensorflow.stepping import *  # noqa: F403
from kerata.backends.tensorflow.text import *  # noqa: F403
