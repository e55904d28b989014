"""A `Model` as ONNX's own messages and files: the only room that needs the package `onnx`."""

import os

import numpy as np

from kerata.graph.onnx.model import Block

# A protobuf message can't hold more than 2 GiB; larger constants go into a file of their own.
MOST_INLINE = 2**31 - 2**26
PRODUCER = "kerata"


def size(model):
    """Bytes of all constants."""
    return sum(a.nbytes for a in model.constants.values())


def serialized(model):
    """The model as bytes. For less than 2 GiB of weights."""
    return _model(model).SerializeToString()


def save(model, path):
    """Write the model into a file, weights of 2 GiB or more into a second one beside it (`<name>.data`)."""
    onnx = _onnx()
    message = _model(model)
    if size(model) <= MOST_INLINE:
        onnx.save_model(message, path)
        return
    onnx.save_model(
        message,
        path,
        save_as_external_data=True,
        location=os.path.basename(path) + ".data",
        size_threshold=1024,
    )


def _onnx():
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise ImportError('ONNX models need the package `onnx`: pip install "kerata[onnx]"') from None
    return onnx


def _model(model):
    from kerata.version import __version__

    onnx = _onnx()
    writer = _Messages(onnx)
    constants = [
        onnx.numpy_helper.from_array(np.asarray(a, order="C"), n) for n, a in model.constants.items()
    ]
    graph = writer.graph(model.block, model.name, constants)
    operators = [onnx.helper.make_opsetid("", model.opset)]
    version = onnx.helper.find_min_ir_version_for(operators)
    return onnx.helper.make_model(
        graph,
        opset_imports=operators,
        ir_version=version,
        producer_name=PRODUCER,
        producer_version=__version__,
    )


class _Messages:
    def __init__(self, onnx):
        self.onnx = onnx
        self.count = 0

    def element(self, dtype):
        return self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))

    def graph(self, block, name, constants=()):
        return self.onnx.helper.make_graph(
            [self.node(call) for call in block.calls],
            name,
            [self.info(i) for i in block.inputs],
            [self.info(o) for o in block.outputs],
            list(constants),
        )

    def info(self, info):
        return self.onnx.helper.make_tensor_value_info(info.name, self.element(info.dtype), info.shape)

    def node(self, call):
        message = self.onnx.helper.make_node(call.kind, call.inputs, call.outputs, call.outputs[0])
        for name, value in call.attributes.items():
            if isinstance(value, Block):
                self.count += 1
                value = self.graph(value, f"{call.outputs[0]}_{name}")
            elif name == "to":
                value = self.element(value)
            message.attribute.append(self.onnx.helper.make_attribute(name, value))
        return message
