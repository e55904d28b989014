"""Configs of Keras 2 in the form of Keras 3.

They differ in how a Functional model's calls are written (`[[["dense", 0, 0, {}]]]`), in arguments that
went away, and in a few names. Files of Keras 2 say so by their `keras_version`.
"""

# Arguments that Keras 3 doesn't have. What they ask for is either its only way, or was of no effect.
_GONE = {
    "time_major",
    "implementation",
    "input_length",
    "query_shape",
    "key_shape",
    "value_shape",
    "softmax_robust_masking",
    "is_legacy_optimizer",
    "initial_decay",
}
_GONE_OF_OPTIMIZERS = {"jit_compile", "decay"}
# Kernels of these layers go by other names; they inherited arguments that they don't use.
_UNUSED = {
    "Depthwise": {"filters", "groups", "kernel_initializer", "kernel_regularizer", "kernel_constraint"},
    "Separable": {"groups", "kernel_initializer", "kernel_regularizer", "kernel_constraint"},
}
_SPELLINGS = {"lr": "learning_rate"}
_CONSTANT = "_CONSTANT_VALUE"


def is_older(keras_version):
    """Whether a file's `keras_version` is before 3. A file that doesn't say is older."""
    text = keras_version.decode() if isinstance(keras_version, bytes) else str(keras_version or "")
    return not text.startswith(("3.", "4."))


def modern_config(config):
    """A model's or layer's config, and all in it, as Keras 3 would have written it."""
    if isinstance(config, list):
        return [modern_config(item) for item in config]
    if not isinstance(config, dict):
        return config
    config = {key: modern_config(value) for key, value in config.items() if key != "build_config"}
    if "class_name" in config and isinstance(config.get("config"), dict):
        config = _modern_object(config)
    if config.get("inbound_nodes"):
        config["inbound_nodes"] = [_modern_node(node) for node in config["inbound_nodes"]]
    if "layers" in config and "output_layers" in config:
        config = _renumbered(config)
    if config.get("compile_config"):
        config["compile_config"] = modern_training(config["compile_config"])
    return config


def modern_training(config):
    """Compile settings."""
    config = dict(config)
    if "optimizer_config" in config:
        config["optimizer"] = config.pop("optimizer_config")
    optimizer = config.get("optimizer")
    if isinstance(optimizer, dict):
        arguments = {_SPELLINGS.get(k, k): v for k, v in optimizer["config"].items()}
        arguments = {k: v for k, v in arguments.items() if k not in _GONE | _GONE_OF_OPTIMIZERS}
        name = optimizer["class_name"].rpartition(">")[2]
        config["optimizer"] = {"module": "keras.optimizers", "class_name": name, "config": arguments}
    for key in ("metrics", "weighted_metrics", "loss"):
        config[key] = _modern_metric(modern_config(config.get(key)))
    # `None` left the choice to Keras.
    return {k: v for k, v in config.items() if v is not None}


def _modern_object(entry):
    arguments = {k: v for k, v in entry["config"].items() if k not in _GONE}
    name = entry["class_name"]
    for beginning, unused in _UNUSED.items():
        if name.startswith(beginning):
            arguments = {k: v for k, v in arguments.items() if k not in unused}
    if not name.endswith("Wrapper"):
        # A loss or metric is its class; its function needn't be told.
        arguments.pop("fn", None)
    if name == "Policy":
        return {"module": "keras", "class_name": "DTypePolicy", "config": {"name": arguments["name"]}}
    if name == "BatchNormalization" and isinstance(arguments.get("axis"), list):
        (arguments["axis"],) = arguments["axis"]
    if arguments.get("reduction") == "auto":
        arguments["reduction"] = "sum_over_batch_size"
    if name != "InputLayer" and "inbound_nodes" in entry:
        # Within a graph the input says its shape; as an argument it would make a second input.
        arguments.pop("batch_input_shape", None)
    return {**entry, "config": arguments}


def _modern_metric(value):
    if isinstance(value, list):
        return [_modern_metric(item) for item in value]
    if isinstance(value, dict) and value.get("class_name", "").endswith("MetricWrapper"):
        return value["config"].get("fn") or value["config"]["name"]
    if isinstance(value, dict) and "class_name" not in value:
        return {key: _modern_metric(item) for key, item in value.items()}
    return value


def _modern_node(node):
    """One call: `[[layer, node, output, kwargs], ...]` becomes `{"args", "kwargs"}`."""
    if isinstance(node, dict) and "args" in node:
        return node
    connections = [node] if _is_connection(node) else node
    if not isinstance(connections, list):
        return node
    tensors = [c[3].get("value") if c[0] == _CONSTANT else _tensor(c) for c in connections]
    kwargs = {}
    for connection in connections:
        if len(connection) > 3 and connection[0] != _CONSTANT:
            kwargs.update(connection[3])
    kwargs = {key: _tensor(v) if _is_connection(v) else v for key, v in kwargs.items()}
    return {"args": [tensors[0] if len(tensors) == 1 else tensors], "kwargs": kwargs}


def _renumbered(config):
    """Calls of a model within a model are counted from 0, not from 1: its own making was call 0 before."""
    calls = {entry["name"]: len(entry.get("inbound_nodes") or ()) for entry in config["layers"] if "name" in entry}
    used = list(_histories(config["layers"])) + list(_addresses(config["output_layers"]))
    beyond = {name for name, call, _ in used if call and call >= calls.get(name, call + 1)}
    for address in used:
        if address[0] in beyond:
            address[1] -= 1
    return config


def _histories(value):
    if isinstance(value, list):
        for item in value:
            yield from _histories(item)
    elif isinstance(value, dict):
        if value.get("class_name") == "__keras_tensor__":
            yield value["config"]["keras_history"]
        elif "inbound_nodes" in value:
            # The models within have addresses of their own.
            yield from _histories(value["inbound_nodes"])
        elif "args" in value:
            yield from _histories([value["args"], list(value["kwargs"].values())])


def _addresses(value):
    if _is_connection(value):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _addresses(item)
    elif isinstance(value, dict):
        yield from _addresses(list(value.values()))


def _is_connection(value):
    return (
        isinstance(value, list)
        and len(value) in (3, 4)
        and isinstance(value[0], str)
        and all(isinstance(v, int) for v in value[1:3])
    )


def _tensor(connection):
    # Shape and dtype are found by making the calls again.
    return {
        "class_name": "__keras_tensor__",
        "config": {"shape": [], "dtype": "float32", "keras_history": connection[:3]},
    }
