"""`SymbolicScope`: shapes and nothing else."""

from kerata.graph.trace import Trace


class SymbolicScope:
    """While it is entered, calls on `KerasTensor`s find out shapes and dtypes only: they make no nodes of Functional models,
    and what they assign to variables is dropped.

    >>> import kerata
    >>> dense = kerata.layers.Dense(2)
    >>> with kerata.SymbolicScope():
    ...     shape = dense(kerata.KerasTensor((4, 3))).shape
    >>> shape, dense.built, hasattr(dense, "output")
    ((4, 2), True, False)
    """

    def __enter__(self):
        self._trace = Trace(record=False, dynamic=True)
        self._trace.__enter__()
        return self

    def __exit__(self, *error):
        return self._trace.__exit__(*error)
