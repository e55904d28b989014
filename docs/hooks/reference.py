"""Pages of the API reference, made from the docstrings while the documentation is built."""

import importlib
import inspect
import re

from mkdocs.structure.files import File

# Public packages, and what they hold in a line.
PACKAGES = {
    "kerata": "Models, variables, tensors",
    "kerata.layers": "Layers",
    "kerata.ops": "Ops",
    "kerata.ops.image": "Ops on images",
    "kerata.random": "Random numbers",
    "kerata.transforms": "Gradients, compilation, vectorization",
    "kerata.models": "Models",
    "kerata.losses": "Losses",
    "kerata.metrics": "Metrics",
    "kerata.optimizers": "Optimizers",
    "kerata.optimizers.schedules": "Learning-rate schedules",
    "kerata.callbacks": "Callbacks",
    "kerata.activations": "Activations",
    "kerata.initializers": "Initializers",
    "kerata.regularizers": "Regularizers",
    "kerata.constraints": "Constraints",
    "kerata.quantizers": "Quantizers",
    "kerata.dtype_policies": "Dtype policies",
    "kerata.saving": "Files",
    "kerata.config": "Configuration",
    "kerata.backend": "The backend in force",
    "kerata.tree": "Nested structures",
    "kerata.utils": "Utilities",
    "kerata.compat": "Running Keras code",
}
_SECTION = re.compile(r"^(Args|Arguments|Call arguments|Returns|Raises|Attributes|Yields|Input|Output|Source|Reference)s?:\s*(.*)$")


def on_files(files, config):
    """Add a page for each package, and the list of them."""
    for package in PACKAGES:
        files.append(File.generated(config, f"reference/{package}.md", content=page(package)))
    lines = [f"| [`{package}`]({package}.md) | {title} |" for package, title in PACKAGES.items()]
    index = "\n".join(["# API reference", "", "| package | |", "| --- | --- |", *lines, ""])
    files.append(File.generated(config, "reference/index.md", content=index))
    return files


def page(package):
    """A package's page: each public name with its signature and docstring."""
    module = importlib.import_module(package)
    parts = [f"# `{package}`", "", formatted(inspect.getdoc(module) or "")]
    for name in public_names(module):
        value = getattr(module, name)
        if callable(value):
            parts += ["", f"## `{name}`", "", f"```python\n{package}.{name}{signature(value)}\n```", "", described(value)]
    return "\n".join(parts) + "\n"


def public_names(module):
    names = getattr(module, "__all__", None) or dir(module)
    found = [n for n in names if not n.startswith("_") and not inspect.ismodule(getattr(module, n))]
    return sorted(n for n in found if not isinstance(getattr(module, n), type(importlib)))


def signature(value):
    try:
        given = inspect.signature(value)
    except (TypeError, ValueError):
        return "(…)"
    parameters = [p.replace(annotation=p.empty) for p in given.parameters.values()]
    text = str(given.replace(parameters=parameters, return_annotation=given.empty))
    return re.sub(r"<[^<>]*object at 0x[0-9a-f]+>", "…", text)


def described(value):
    text = formatted(inspect.getdoc(value) or "")
    if not inspect.isclass(value):
        return text
    own = [
        (name, member)
        for name, member in vars(value).items()
        if not name.startswith("_") and inspect.isfunction(member) and member.__doc__ and not is_generic(member)
    ]
    lines = [f"- `{name}{signature(member)}`: {first_line(member)}" for name, member in own]
    return text + ("\n\n**Methods**\n\n" + "\n".join(lines) if lines else "")


def is_generic(member):
    """Made for each class alike, from what its constructor or `call` says."""
    return hasattr(member, "is_derived") or hasattr(member, "__wrapped__")


def first_line(member):
    return inspect.getdoc(member).split("\n\n")[0].replace("\n", " ")


def formatted(doc):
    """A docstring as Markdown: sections with their entries as lists, examples as code."""
    out, lines, indent = [], doc.splitlines(), None
    i = 0
    while i < len(lines):
        line = lines[i]
        section = _SECTION.match(line)
        if line.lstrip().startswith(">>>"):
            block = []
            while i < len(lines) and lines[i].strip():
                block.append(lines[i].strip() if indent is None else lines[i])
                i += 1
            out += ["", "```pycon", *block, "```", ""]
            continue
        if section:
            out += ["", f"**{line.split(':')[0]}**", ""]
            indent = None
            if section[2]:
                out += [section[2]]
        elif line.startswith("    ") and re.match(r"^ {4}[\w*`.,() ]+: ", line):
            name, rest = line.strip().split(": ", 1)
            out.append(f"- `{name.strip('`')}`: {rest}")
        else:
            out.append(line.strip() if line.startswith("     ") else line.removeprefix("    "))
        i += 1
    return "\n".join(out)
