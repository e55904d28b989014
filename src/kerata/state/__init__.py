"""Floor 3: variables and the scopes that stand in for them."""

from kerata.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {"variable": ["Variable"], "kerata.core.scopes": ["StatelessScope", "AutocastScope", "in_stateless_scope"]},
)
