"""`ExportArchive`: functions of models, with their weights, as a TensorFlow SavedModel."""

import inspect
import itertools

from kerata import backends
from kerata.core import tree
from kerata.export.files import replacing_folder
from kerata.export.planning import plan_for
from kerata.export.signature import symbol
from kerata.graph.tensor import KerasTensor
from kerata.layers.layer import Layer
from kerata.state.variable import Variable


class ExportArchive:
    """A TensorFlow SavedModel to be: endpoints, which are functions of tensors, and the variables that they use.

    The functions may be written for any backend: where it isn't TensorFlow they are traced to their graphs of ops, which run as
    TensorFlow's functions. TensorFlow must be installed.

    Args:
        format: `"saved_model"`.

    Raises:
        ValueError: another format.
        ImportError: TensorFlow isn't installed.

    An example::

        archive = kerata.export.ExportArchive()
        archive.track(model)
        spec = kerata.InputSpec(shape=(None, 3), dtype="float32")
        archive.add_endpoint("serve", lambda x: model(x, training=False), [spec])
        archive.add_endpoint("train", lambda x: model(x, training=True), [spec])
        archive.write_out("folder")
        tf.saved_model.load("folder").serve(inputs)
    """

    def __init__(self, format="saved_model"):
        if format != "saved_model":
            raise ValueError(f"ExportArchive: `format` must be 'saved_model', not {format!r}.")
        self._backend = backends.load("tensorflow")
        self._tf_trackable = self._backend.empty_trackable()
        self._endpoints = {}  # name: concrete function
        self._signatures = {}
        self._resources, self._layers = [], []
        self._stored = {}  # id of a variable: (variable, what TensorFlow stores of it)

    @property
    def variables(self):
        """The variables of everything tracked and of all endpoints, TensorFlow's."""
        return self._all_variables()

    @property
    def trainable_variables(self):
        """Those that train."""
        return [v for v in self._all_variables() if v.trainable]

    @property
    def non_trainable_variables(self):
        """Those that don't."""
        return [v for v in self._all_variables() if not v.trainable]

    def _all_variables(self):
        found = [storage for _, storage in self._stored.values()]
        for concrete in self._endpoints.values():
            found += self._backend.variables_of(concrete)
        return list({id(v): v for v in found}.values())

    def track(self, resource):
        """Have the SavedModel hold a layer's variables, or a resource of TensorFlow's that endpoints use.

        Args:
            resource: a built layer or model, or a TensorFlow trackable, such as a table.

        Raises:
            ValueError: anything else, or a layer that isn't built.
        """
        if isinstance(resource, Layer):
            _check_built(resource, "track")
            self._layers.append(resource)
            for variable in resource.variables:
                self._store(variable)
        elif self._backend.is_trackable(resource):
            self._resources.append(resource)
        else:
            raise ValueError(
                f"ExportArchive.track: `resource` must be a layer, a model or a TensorFlow trackable, not {resource!r}, "
                f"a {type(resource).__name__}."
            )

    def add_endpoint(self, name, fn, input_signature=None, **kwargs):
        """Add a function that the SavedModel can be called by.

        Args:
            name: its name.
            fn: a function of tensors, written with ops, layers and variables; on TensorFlow also with its own functions.
            input_signature: list of the arguments, structures of `InputSpec`, `KerasTensor` or anything with shape and dtype;
                unknown dimensions are `None`. `None`: `fn` is a `tf.function` that was called.
            **kwargs: `is_static` and `jax2tf_kwargs`, which Keras needs on JAX, are taken and change nothing.

        Returns:
            The `tf.function` that was made.

        Raises:
            ValueError: a name that there is already, no signature, one without shapes or dtypes, or a function that can't be
                traced.
        """
        unknown = set(kwargs) - {"is_static", "jax2tf_kwargs"}
        if unknown:
            raise ValueError(f"ExportArchive.add_endpoint: unknown arguments {sorted(unknown)}.")
        if name in self._endpoints:
            raise ValueError(f"ExportArchive: the endpoint name {name!r} is already taken: give another one.")
        if input_signature is None:
            if not self._backend.was_called(fn):
                raise ValueError(
                    f"ExportArchive: the endpoint {name!r} needs an `input_signature`, for instance "
                    '`[kerata.InputSpec(shape=(None, 3), dtype="float32")]`: `fn` is no `tf.function` that was called.'
                )
            made = self._backend.endpoint(fn)
        else:
            symbols = [tree.map_structure(symbol, argument) for argument in input_signature]
            if backends.current_name() != "tensorflow":
                fn = self._traced(fn, symbols)
            made = self._backend.endpoint(fn, self._specs(symbols))
        function, self._signatures[name], self._endpoints[name] = made
        setattr(self._tf_trackable, name, function)
        return function

    def track_and_add_endpoint(self, name, resource, input_signature, **kwargs):
        """`track` a layer or model, and `add_endpoint` its call.

        Args:
            name: the endpoint's name.
            resource: a built layer or model.
            input_signature: list of the arguments, as in `add_endpoint`.
            **kwargs: as in `add_endpoint`.
        """
        self.track(resource)
        return self.add_endpoint(name, resource.__call__, input_signature, **kwargs)

    def add_variable_collection(self, name, variables):
        """Add a list of variables that the loaded SavedModel has under a name.

        Args:
            name: the name.
            variables: list, tuple or set of variables.

        Raises:
            ValueError: anything else.
        """
        if not isinstance(variables, (list, tuple, set)):
            raise ValueError(
                f"ExportArchive: `variables` must be a list, tuple or set, not a {type(variables).__name__}: {variables!r}."
            )
        wrong = [v for v in variables if not isinstance(v, Variable) and not self._backend.is_trackable(v)]
        if wrong:
            raise ValueError(f"ExportArchive: `variables` holds what is no variable: {wrong[0]!r}.")
        stored = [self._store(v) if isinstance(v, Variable) else v for v in variables]
        setattr(self._tf_trackable, name, stored)

    def write_out(self, filepath, options=None, verbose=True):
        """Write the SavedModel.

        The first endpoint is also the signature `serving_default`, unless there is one of this name.

        Args:
            filepath: its folder, which is made; a SavedModel that is there already is replaced.
            options: `tf.saved_model.SaveOptions`.
            verbose: whether to print what was written.

        Raises:
            ValueError: there are no endpoints.
        """
        if not self._endpoints:
            raise ValueError("ExportArchive.write_out: No endpoints have been set: add one by `add_endpoint` first.")
        root = self._tf_trackable
        root.variables, root.trainable_variables = self.variables, self.trainable_variables
        root.non_trainable_variables, root.tracked_resources = self.non_trainable_variables, self._all_resources()
        signatures = dict(self._signatures)
        signatures.setdefault("serving_default", next(iter(signatures.values())))
        with replacing_folder(filepath) as folder:
            self._backend.write_saved_model(root, folder, signatures, options)
        if verbose:
            print(f"Exported a SavedModel to {str(filepath)!r}.\n{self.described()}")

    def described(self):
        """Endpoints, one a line."""
        return "\n".join(f"  {name}: {_described(concrete)}" for name, concrete in self._endpoints.items())

    def _all_resources(self):
        """Those tracked, and the tables that layers had made by now."""
        layers = [layer for tracked in self._layers for layer in tracked._flatten_layers()]
        return [*self._resources, *(table for layer in layers for table in self._backend.tables_of(layer))]

    # ------------------------------------------------------------- tracing

    def _store(self, variable):
        """TensorFlow's variable for a variable: its own, or a copy."""
        if id(variable) not in self._stored:
            own = variable._backend is self._backend
            storage = (
                variable.storage
                if own
                else self._backend.stored_variable(variable.numpy(), bool(variable.trainable), variable.path)
            )
            self._stored[id(variable)] = variable, storage
        return self._stored[id(variable)][1]

    def _specs(self, symbols):
        number = itertools.count()

        def spec(s):
            return self._backend.tensor_spec(s.shape, s.dtype, s._name or f"input_{next(number)}")

        def specs(argument):
            if isinstance(argument, dict):
                # Inputs without names of their own have those of their keys.
                named = {k: s for k, s in argument.items() if isinstance(s, KerasTensor) and not s._name}
                own = {k: self._backend.tensor_spec(s.shape, s.dtype, str(k)) for k, s in named.items()}
                return {k: own[k] if k in own else tree.map_structure(spec, s) for k, s in argument.items()}
            return tree.map_structure(spec, argument)

        return [specs(argument) for argument in symbols]

    def _traced(self, function, symbols):
        """A function of TensorFlow's tensors that computes what this one does on its own backend."""
        b = self._backend
        plan = plan_for(b, function, symbols)
        storages = [self._store(v) for v in plan.variables]
        updated = [self._store(v) for v in plan.updated]

        signature = _signature_of(function, len(symbols))

        def call(*args, **kwargs):
            arguments = list(signature.bind(*args, **kwargs).arguments.values())
            with backends.use_backend("tensorflow"):
                results = plan.function(*tree.flatten(arguments), *[b.read(v) for v in storages])
            for storage, value in zip(updated, results[plan.count :], strict=False):
                b.assign(storage, value)
            return tree.pack_sequence_as(plan.structure, results[: plan.count])

        call.__signature__ = signature
        return call


def _signature_of(function, count):
    """Names of a function's first arguments, by which it can be called."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    own = [p.name for p in inspect.signature(function).parameters.values() if p.kind in kinds][:count]
    names = own if len(own) == count else [f"args_{i}" for i in range(count)]
    return inspect.Signature([inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names])


def _described(concrete):
    return concrete.pretty_printed_signature().partition("\nCaptures:")[0]


def _check_built(layer, where):
    if not layer.built:
        raise ValueError(f"ExportArchive.{where}: {layer._where()} isn't built: call it, or build it, before.")
