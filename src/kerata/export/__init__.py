"""Floor 6: models leave for other runtimes."""

from kerata.core import lazy

__getattr__, __dir__, __all__ = lazy.attach(__name__, {"archive": ["ExportArchive"], "export_model": ["export_model"]})
