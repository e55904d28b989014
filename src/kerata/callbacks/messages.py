"""Where callbacks write what they do."""

import logging

from kerata.core import config

_logger = logging.getLogger("kerata")


def say(message, end="\n"):
    """Print a message, or log it after `kerata.config.disable_interactive_logging()`."""
    if config.is_interactive_logging_enabled():
        print(message, end=end, flush=True)
    else:
        _logger.info(message.strip())
