"""The NumPy backend: full inference, and the oracle of the tests. It computes no gradients."""

from kerata.backends.numpy.control import *  # noqa: F403
from kerata.backends.numpy.core import *  # noqa: F403
from kerata.backends.numpy.creation import *  # noqa: F403
from kerata.backends.numpy.differentiation import *  # noqa: F403
from kerata.backends.numpy.elementwise import *  # noqa: F403
from kerata.backends.numpy.fft import *  # noqa: F403
from kerata.backends.numpy.indexing import *  # noqa: F403
from kerata.backends.numpy.linalg import *  # noqa: F403
from kerata.backends.numpy.nn import *  # noqa: F403
from kerata.backends.numpy.random import *  # noqa: F403
from kerata.backends.numpy.reduction import *  # noqa: F403
from kerata.backends.numpy.shape import *  # noqa: F403
from kerata.backends.numpy.stepping import *  # noqa: F403
from kerata.backends.numpy.text import *  # noqa: F403
