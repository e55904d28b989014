"""The PyTorch backend."""

import kerata.backends.torch.dynamo  # noqa: F401
from kerata.backends.torch import settled  # noqa: F401
from kerata.backends.torch.control import *  # noqa: F403
from kerata.backends.torch.core import *  # noqa: F403
from kerata.backends.torch.creation import *  # noqa: F403
from kerata.backends.torch.differentiation import *  # noqa: F403
from kerata.backends.torch.elementwise import *  # noqa: F403
from kerata.backends.torch.exporting import exported_program, save_program
from kerata.backends.torch.fft import *  # noqa: F403
from kerata.backends.torch.image import *  # noqa: F403
from kerata.backends.torch.indexing import *  # noqa: F403
from kerata.backends.torch.linalg import *  # noqa: F403
from kerata.backends.torch.module import *  # noqa: F403
from kerata.backends.torch.nn import *  # noqa: F403
from kerata.backends.torch.optimizers import *  # noqa: F403
from kerata.backends.torch.random import *  # noqa: F403
from kerata.backends.torch.reduction import *  # noqa: F403
from kerata.backends.torch.row_gradients import *  # noqa: F403
from kerata.backends.torch.shape import *  # noqa: F403
from kerata.backends.torch.stepping import *  # noqa: F403
from kerata.backends.torch.text import *  # noqa: F403
