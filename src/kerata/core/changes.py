"""Whether what was compiled from layers as they were still holds."""


class Changes:
    """Counts how often a built layer of the library was changed: an attribute set, a hook registered.

    Compiled calls and steps remember the count that they were made at.

    Attributes:
        count: number of changes so far.
        swapped: number of variables whose parameter something else stands for just now (`torch.func.functional_call`).
        lent: number of training steps that hold variables' values just now.
    """

    count = 0
    swapped = 0
    lent = 0


changes = Changes()
