"""Floor 3: random numbers, the same on every backend for the same seed."""

from kerata.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "distributions": [
            "beta", "binomial", "categorical", "dropout", "gamma", "normal", "randint", "shuffle",
            "truncated_normal", "uniform",
        ],
        "seeds": ["SeedGenerator", "draw_seed", "global_seed_generator", "make_default_seed"],
    },
)  # fmt: skip
