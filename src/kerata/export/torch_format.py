"""Models as programs of `torch.export`."""

import os

from kerata import backends
from kerata.core import tree
from kerata.export.files import replacing_all
from kerata.export.planning import plan_for
from kerata.export.signature import inference, input_names


def write(model, filepath, symbols, **options):
    """Write the `.pt2` file; returns a description."""
    path = os.fspath(filepath)
    if not path.endswith(".pt2"):
        raise ValueError(f"export: the path of a program of torch.export must end with '.pt2', not {path!r}.")
    b = backends.load("torch")
    plan = plan_for(b, inference(model, symbols), symbols)

    def run(inputs, values):
        with backends.use_backend("torch"):
            results = plan.function(*tree.flatten(list(inputs)), *values[: len(plan.variables)])
        updates = zip(updated, results[plan.count : plan.count + len(updated)], strict=True)
        return tree.pack_sequence_as(plan.structure, results[: plan.count]), updates

    variables = list({id(v): v for v in [*plan.variables, *plan.updated]}.values())
    positions = {id(v): i for i, v in enumerate(variables)}
    updated = [positions[id(v)] for v in plan.updated]
    values = [(v.path, b.convert(v.numpy()), bool(v.trainable)) for v in variables]
    try:
        program = b.exported_program(run, values, symbols, options)
    except Exception as error:
        raise ValueError(
            f"export: PyTorch can't make a program of {model._where()}: {str(error).splitlines()[0]} A dimension that must be "
            "known can be given by `input_signature`, other constraints by `dynamic_shapes`."
        ) from error
    with replacing_all(path) as target:
        b.save_program(program, target)
    named = zip(input_names(model, symbols), tree.flatten(symbols), strict=True)
    return "\n".join(f"  input {name}: {t.shape}, {t.dtype}" for name, t in named)
