"""`Layer`: state and a `call`, built on first use, at home in every backend."""

import functools
import inspect

import numpy as np

from kerata import backends, dtype_policies
from kerata.core import dtypes, names, tree
from kerata.core.changes import changes
from kerata.core.construct import ConstructedMeta
from kerata.core.errors import short_traceback
from kerata.core.masks import get_mask, set_mask
from kerata.core.scopes import StatelessScope, current_autocast, current_stateless
from kerata.graph.tensor import KerasTensor, any_symbolic, fresh, spec
from kerata.graph.trace import Node, Trace, current_trace
from kerata.layers.call import CallContext, current_call, signature_of
from kerata.layers.described import describe, is_generic
from kerata.layers.input_spec import check_input
from kerata.layers.native_spec import native_spec
from kerata.layers.operation import Operation
from kerata.layers.quick import quick_calls
from kerata.layers.rematerialization import call_of, current_remat
from kerata.layers.tracking import stores, tracked
from kerata.state.variable import Variable

# Backends whose own module classes a layer descends from: `nn.Module`, and what `tf.train.Checkpoint` takes.
NATIVE_MODULES = ("torch", "tensorflow")


class LayerMeta(ConstructedMeta):
    """Wraps `build`, and makes layers of the torch backend `torch.nn.Module`s."""

    def __init__(cls, name, bases, namespace, **kwargs):
        super().__init__(name, bases, namespace, **kwargs)
        if "build" in namespace:
            cls.build = _wrapped_build(namespace["build"])

    def __call__(cls, *args, **kwargs):
        cls = cls._class_for(args, kwargs)
        name = backends.current_name()
        if name in NATIVE_MODULES:
            cls = backends.load(name).module_class(cls)
        layer = super().__call__(*args, **kwargs)
        if cls.build is Layer.build and cls.__module__.startswith("kerata.layers."):
            # There is nothing to build. Of users' classes that isn't known: they may make weights in their call.
            layer.__dict__["built"] = True
        return layer


def _wrapped_build(build):
    """Build under the layer's path, remember the shapes, and mark it built; `super().build` inside is the plain one."""

    @functools.wraps(build)
    def wrapped(self, *args, **kwargs):
        if self._building:
            return build(self, *args, **kwargs)
        self._building = True
        try:
            with names.at_path(self._path_parts()):
                self.__dict__["_path"] = names.current_path()
                build(self, *args, **kwargs)
        finally:
            self._building = False
        self._remember_build(build, args, kwargs)
        self.built = True

    wrapped._build = build
    return wrapped


class Layer(Operation, metaclass=LayerMeta):
    """The base of all layers and models.

    A layer's weights are made in `__init__` or in `build(input_shape)`, by `add_weight`; what it computes is its
    `call`. Made under the torch backend, it is a `torch.nn.Module`.

    Args:
        activity_regularizer: regularizer of the output, or its name.
        trainable: whether its weights train.
        dtype: dtype policy or its name; `None`: the process's.
        autocast: cast floating inputs and weights to the compute dtype.
        name: name; made from the class's unless given.

    >>> import kerata
    >>> class Scale(kerata.layers.Layer):
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="factor")
    ...     def call(self, inputs):
    ...         return inputs * self.factor
    >>> layer = Scale()
    >>> layer(kerata.ops.ones((2, 3))).shape == (2, 3)
    True
    >>> [w.path for w in layer.weights]
    ['scale/factor']
    """

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        self._begin()
        return self

    @classmethod
    def _class_for(cls, args, kwargs):
        """The class to make when this one is called with these arguments."""
        return cls

    def _begin(self):
        """Everything that must be there before any attribute is set, whatever a subclass's `__init__` does first."""
        name = backends.current_name()
        backend = backends.load(name) if name in NATIVE_MODULES else None
        if backend is not None:
            backend.begin_module(self)
        self.__dict__.update(
            _trainable_variables=[],
            _non_trainable_variables=[],
            _layers=[],
            _metrics=[],
            _seed_generators=[],
            _losses=[],
            _loss_ids=set(),
            _inbound_nodes=[],
            _module=backend,
            _building=False,
            _called=False,
            _initialized=False,
            _quick=None,
            _build_shapes_dict=None,
            built=False,
        )

    def __init__(self, *, activity_regularizer=None, trainable=True, dtype=None, autocast=True, name=None, **kwargs):
        from kerata import regularizers

        shape = _shape_argument(kwargs)
        if kwargs:
            raise ValueError(
                f"{type(self).__name__}: unknown arguments {', '.join(map(repr, kwargs))} to the constructor."
            )
        if name is not None and not isinstance(name, str):
            raise ValueError(f"{type(self).__name__}: `name` must be a string, not {name!r}.")
        self.name = name or names.auto_name(type(self).__name__)
        self._dtype_policy = dtype_policies.get(dtype)
        if current_remat.get() is not None:
            self.__dict__["_remat"] = current_remat.get()
        self.autocast = autocast
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self._trainable = bool(trainable)
        self._input_spec = None
        self._supports_masking = type(self).compute_mask is not Layer.compute_mask
        self._batch_input_shape = shape
        self._initialized = True

    # ------------------------------------------------------------- attributes

    # The `RematScope` that it was made in.
    _remat = None
    # Layers of users may set attributes in their calls, which are never compiled behind their back.
    _counts_changes = False

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._counts_changes = cls.__module__.startswith("kerata.layers.")
        if cls._counts_changes and "call" in cls.__dict__:
            describe(cls, Layer.compute_output_shape, Layer.compute_output_spec)

    def __setattr__(self, name, value):
        if self._counts_changes and name[0] != "_" and self.__dict__.get("built") and name != "built":
            changes.count += 1
        self.__dict__["_quick"] = None
        if self._module is not None and self._module.takes_place(self, name, value):
            return
        # A property of the class is set as such.
        descriptor = getattr(type(self), name, None)
        if isinstance(descriptor, property):
            if descriptor.fset is None:
                raise AttributeError(f"{type(self).__name__}.{name} can't be set.")
            descriptor.fset(self, value)
            return
        if name[0] != "_" or name not in _UNTRACKED:
            old = self.__dict__.get(name)
            if old is not None and old is not value and stores(old):
                self._untrack(old)
            if self._module is not None and self._adopts_modules and self._module.is_module(value):
                value = _as_layer(value)
            if stores(value):
                value = tracked(value, self)
            if self._module is not None:
                self._module.register(self, name, value)
        self.__dict__[name] = value

    def __delattr__(self, name):
        value = self.__dict__.get(name)
        if value is not None:
            self._untrack(value)
        if self._module is not None:
            self._module.unregister(self, name)
        self.__dict__.pop(name, None)

    # Whether a framework's module in an attribute becomes a layer, so that what it holds is trained and saved.
    _adopts_modules = True

    def _track(self, value):
        if isinstance(value, Variable):
            if not any(v is value for v in (*self._trainable_variables, *self._non_trainable_variables)):
                (self._trainable_variables if value.trainable else self._non_trainable_variables).append(value)
                if self._module is not None and self._adopts_modules:
                    self._module.register_variable(self, value)
        elif isinstance(value, Layer):
            if value is not self:
                _add(self._layers, value)
                if self._module is not None:
                    self._module.register_child(self, value)
        elif getattr(value, "_tracked_as", None) == "metric":
            _add(self._metrics, value)
        elif getattr(value, "_tracked_as", None) == "seed":
            _add(self._seed_generators, value)
        elif isinstance(value, (list, tuple)):
            for v in value:
                self._track(v)
        elif isinstance(value, dict):
            for v in value.values():
                self._track(v)

    def _untrack(self, value):
        if isinstance(value, (list, tuple)):
            for v in value:
                self._untrack(v)
        elif isinstance(value, dict):
            for v in value.values():
                self._untrack(v)
        elif stores(value):
            for own in (
                self._trainable_variables,
                self._non_trainable_variables,
                self._layers,
                self._metrics,
                self._seed_generators,
            ):
                own[:] = [v for v in own if v is not value]
            if self._module is not None:
                self._module.unregister_child(self, value)

    # ------------------------------------------------------------- identity

    @property
    def path(self):
        return self.__dict__.get("_path") or "/".join((*names.path_parts(), self.name))

    def _path_parts(self):
        parts = names.path_parts()
        return parts if parts and parts[-1] == self.name and self._called_by_own_scope() else (*parts, self.name)

    def _called_by_own_scope(self):
        return self.__dict__.get("_in_scope", False)

    @property
    def trainable(self):
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        value = bool(value)
        self.__dict__["_trainable"] = value
        for v in self._trainable_variables:
            v.trainable = value
        for layer in self._layers:
            layer.trainable = value

    @property
    def dtype_policy(self):
        # A map as it was given, so that layers within get it too.
        return self._dtype_policy

    def _own_policy(self):
        policy = self._dtype_policy
        if isinstance(policy, dtype_policies.DTypePolicyMap):
            return policy[self.path]
        return policy

    @dtype_policy.setter
    def dtype_policy(self, value):
        self.__dict__["_dtype_policy"] = dtype_policies.get(value)
        self.__dict__["_quick"] = None
        self.__dict__.pop("_native_dtype", None)

    def _take_dtype(self, dtype):
        """The framework has converted the variables (`nn.Module.double`): from now on the layer has that dtype."""
        policy = self._own_policy()
        if policy.quantization_mode is not None:
            dtype = f"{policy.name.rpartition('_from_')[0]}_from_{dtype}"
        self.dtype_policy = dtype

    dtype = property(lambda self: self.variable_dtype)
    variable_dtype = property(lambda self: self._own_policy().variable_dtype)
    compute_dtype = property(lambda self: self._own_policy().compute_dtype)
    quantization_mode = property(lambda self: self._own_policy().quantization_mode)

    @property
    def input_dtype(self):
        return self.compute_dtype

    @property
    def input_spec(self):
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value):
        self.__dict__["_input_spec"] = value
        self.__dict__["_quick"] = None

    @property
    def supports_masking(self):
        return self._supports_masking

    @supports_masking.setter
    def supports_masking(self, value):
        self.__dict__["_supports_masking"] = value

    # ------------------------------------------------------------- weights

    def add_weight(
        self,
        shape=None,
        initializer=None,
        dtype=None,
        trainable=True,
        autocast=True,
        regularizer=None,
        constraint=None,
        aggregation="none",
        overwrite_with_gradient=False,
        name=None,
    ):
        """Make a variable of this layer.

        Args:
            shape: its shape; `()` for a scalar.
            initializer: initializer, its name, or a callable; by default Glorot uniform for floating dtypes, zeros else.
            dtype: by default the layer's variable dtype.
            trainable: whether it trains.
            autocast: whether it reads as the compute dtype.
            regularizer: adds a loss of its value.
            constraint: applied after each update.
            aggregation: how replicas combine.
            overwrite_with_gradient: its gradient is its new value.
            name: name of the variable.

        Raises:
            ValueError: a dimension that isn't known.
        """
        from kerata import constraints, initializers, regularizers

        shape = () if shape is None else shape
        dtype = self.variable_dtype if dtype is None else dtypes.standardize_dtype(dtype)
        if initializer is None:
            initializer = "glorot_uniform" if dtypes.is_float(dtype) else "zeros"
        if isinstance(shape, (tuple, list)) and None in shape:
            raise ValueError(
                f"{self._where()}: the weight {name or ''!r} can't have the shape {tuple(shape)}: every dimension must be known "
                "when a layer is built. Give them in `Input(shape=…)`, or call the layer on data first."
            )
        parts = names.path_parts() if self._building else self._own_path()
        with names.at_path(parts):
            variable = Variable(
                initializers.get(initializer),
                shape=shape,
                dtype=dtype,
                trainable=trainable,
                autocast=autocast,
                aggregation=aggregation,
                name=name,
            )
        variable.regularizer = regularizers.get(regularizer)
        variable.constraint = constraints.get(constraint)
        variable.overwrite_with_gradient = overwrite_with_gradient
        self._track(variable)
        self.__dict__["_quick"] = None
        if not self._trainable:
            variable.trainable = False
        return variable

    def _own_path(self):
        """Path of a layer that isn't being built: where it was built, if it is."""
        path = self.__dict__.get("_path")
        return tuple(path.split("/")) if path else self._path_parts()

    def add_variable(
        self,
        shape,
        initializer,
        dtype=None,
        trainable=True,
        autocast=True,
        regularizer=None,
        constraint=None,
        name=None,
    ):
        """The same as `add_weight`, with shape and initializer required."""
        return self.add_weight(
            shape=shape,
            initializer=initializer,
            dtype=dtype,
            trainable=trainable,
            autocast=autocast,
            regularizer=regularizer,
            constraint=constraint,
            name=name,
        )

    def _flatten_layers(self, include_self=True, recursive=True):
        """This layer and those in it, outer before inner."""
        seen, todo = set(), [self] if include_self else list(self._layers)
        while todo:
            layer = todo.pop(0)
            if id(layer) in seen:
                continue
            seen.add(id(layer))
            yield layer
            if recursive or layer is self:
                todo = list(layer._layers) + todo

    @property
    def variables(self):
        """All variables: weights, then seeds; metrics' aren't among them."""
        found = [*self._trainable_variables, *self._non_trainable_variables]
        found += [s.state for s in self._seed_generators]
        for layer in self._layers:
            found += layer.variables
        return _unique(found)

    @property
    def weights(self):
        """Variables without the seeds."""
        found = [*self._trainable_variables, *self._non_trainable_variables]
        for layer in self._layers:
            found += layer.weights
        return _unique(found)

    @property
    def trainable_variables(self):
        """Variables that train; none if the layer doesn't."""
        return [v for v in self.variables if v.trainable] if self.trainable else []

    @property
    def non_trainable_variables(self):
        """Variables that don't train (moving averages, seeds, frozen weights)."""
        return [v for v in self.variables if not v.trainable] if self.trainable else self.variables

    @property
    def trainable_weights(self):
        return [v for v in self.weights if v.trainable] if self.trainable else []

    @property
    def non_trainable_weights(self):
        return [v for v in self.weights if not v.trainable] if self.trainable else self.weights

    @property
    def metrics(self):
        found = list(self._metrics)
        for layer in self._layers:
            # Not what a model within this one was compiled with.
            found += Layer.metrics.fget(layer)
        return _unique(found)

    @property
    def metrics_variables(self):
        return [v for m in self.metrics for v in m.variables]

    def get_weights(self):
        """The weights' values as a list of NumPy arrays."""
        return [w.numpy() for w in self.weights]

    def set_weights(self, weights):
        """Set the weights' values from a list of arrays, in the order of `weights`.

        Raises:
            ValueError: another number of arrays, or other shapes; nothing is changed then.
        """
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(
                f"{self._where()}: set_weights was given {len(weights)} arrays, but there are {len(own)} weights."
            )
        for variable, value in zip(own, weights, strict=True):
            shape = tuple(np.shape(value)) if not hasattr(value, "shape") else tuple(value.shape)
            if shape != tuple(variable.shape):
                raise ValueError(
                    f"{self._where()}: set_weights was given shape {shape} for {variable.path!r}, whose shape is {tuple(variable.shape)}."
                )
        for variable, value in zip(own, weights, strict=True):
            variable.assign(value)

    def count_params(self):
        """Number of elements of all weights.

        Raises:
            ValueError: the layer isn't built.
        """
        if not self.built and not self.weights:
            raise ValueError(
                f"{self._where()}: parameters can be counted once the layer is built; call it on data, or call `build(shape)`."
            )
        return sum(int(np.prod(w.shape)) for w in self.weights)

    # ------------------------------------------------------------- building

    def build(self, input_shape):
        """Make the weights, given the shape of the inputs. Override in layers that have some."""

    def _remember_build(self, build, args, kwargs):
        _, *parameters = inspect.signature(build).parameters
        shapes = dict(zip(parameters, args, strict=False)) | kwargs
        self.__dict__["_build_shapes_dict"] = shapes

    def get_build_config(self):
        """What `build_from_config` needs to build the layer again."""
        shapes = self._build_shapes_dict
        if not shapes:
            return None
        if len(shapes) == 1:
            return {"input_shape": next(iter(shapes.values()))}
        return {"shapes_dict": shapes}

    def build_from_config(self, config):
        """Build from what `get_build_config` returned."""
        if not config:
            return
        if "input_shape" in config:
            self.build(_as_shapes(config["input_shape"]))
        elif "shapes_dict" in config:
            self.build(**{k: _as_shapes(v) for k, v in config["shapes_dict"].items()})
        self.built = True

    def _maybe_build(self, bound):
        """Build on the first call, from the shapes of what was given."""
        if self.built:
            return
        build = type(self).build
        if getattr(build, "_build", build) is Layer.build._build:
            with names.at_path(self._path_parts()):
                self.__dict__["_path"] = names.current_path()
            shapes = {f"{k}_shape": _shapes_of(v) for k, v in bound.items() if k is not None and _has_shapes(v)}
            self.__dict__["_build_shapes_dict"] = shapes
            self.built = True
            return
        shapes = {k: _shapes_of(v) for k, v in bound.items() if k is not None and _has_shapes(v)}
        parameters = list(inspect.signature(self.build).parameters.values())
        if len(parameters) == 1 and parameters[0].kind not in (
            inspect.Parameter.VAR_KEYWORD,
            inspect.Parameter.VAR_POSITIONAL,
        ):
            if not shapes:
                self.build(None)
                return
            self.build(next(iter(shapes.values())))
            return
        wanted = {p.name for p in parameters}
        given = {f"{k}_shape": s for k, s in shapes.items() if f"{k}_shape" in wanted}
        if not given and shapes and parameters and parameters[0].kind is not inspect.Parameter.VAR_KEYWORD:
            given = {parameters[0].name: next(iter(shapes.values()))}
        self.build(**given)

    # ------------------------------------------------------------- calling

    def call(self, *args, **kwargs):
        """What the layer computes. Override it."""
        raise NotImplementedError(f"{type(self).__name__} defines no `call`: write one that returns its outputs.")

    def __call__(self, *args, **kwargs):
        quick = self._quick
        if quick:
            outputs = quick.straight(self, args, kwargs)
            if outputs is not NotImplemented:
                return outputs
        if self._module is not None and self._hooked():
            # torch's hooks run in nn.Module.__call__, which comes back through `forward`.
            return self._module.call_with_hooks(self, args, kwargs)
        return self._call(args, kwargs)

    def _hooked(self):
        """Whether `torch.nn.Module` hooks are registered."""
        own = self.__dict__
        return any(
            own.get(f"_{kind}")
            for kind in ("forward_hooks", "forward_pre_hooks", "backward_hooks", "backward_pre_hooks")
        )

    def forward(self, *args, **kwargs):
        """The call, as `torch.nn.Module` names it."""
        return self._call(args, kwargs)

    @short_traceback
    def _call(self, args, kwargs):
        signature = signature_of(type(self).call)
        if not self._initialized:
            raise RuntimeError(
                f"{type(self).__name__}: `super().__init__()` was not called in its `__init__`; call it there, first thing."
            )
        phase = None
        if "training" in kwargs and not signature.accepts("training"):
            # Meant for the layers inside.
            phase = kwargs["training"]
            kwargs = {k: v for k, v in kwargs.items() if k != "training"}
        bound = signature.bind(args, kwargs, self._where())
        extra = tuple([self._prepare(x) for x in args[len(signature.names) :]])
        context = current_call.get()
        training = self._training(bound, signature, context, phase)
        symbolic = any_symbolic(extra)
        for name, value in bound.items():
            if name != "training" and type(value) is not bool:
                value = bound[name] = self._prepare(value)
                symbolic = symbolic or any_symbolic((value,))
        if self._input_spec is not None and signature.first is not None:
            check_input(self._input_spec, bound.get(signature.first), self._where())
        mask = self._fill_masks(bound, signature)
        # What the caller didn't say isn't part of the call: a node that's run later takes it from that call.
        recorded = dict(bound) if symbolic else None
        if signature.takes_training and training is not None:
            bound["training"] = training
        elif signature.takes_training and "training" in bound and bound["training"] is None:
            bound["training"] = signature.training_default
        token = None
        if context is None or context.training is not training:
            token = current_call.set(CallContext(self if context is None else context.entry, training))
        if context is None:
            self._clear_losses()
        try:
            self._maybe_build({"inputs": extra[0], **bound} if extra else bound)
            trace = current_trace.get()
            if symbolic and trace is None:
                return self._symbolic_call(bound, extra, mask, recorded)
            if symbolic and not trace.record:
                return self._run_on_symbols(bound, extra, mask)
            outputs = self._run(bound, extra, mask)
        finally:
            if token is not None:
                current_call.reset(token)
        if self._quick is not False and self._called:
            self._note_quick(args, kwargs)
        return outputs

    def _note_quick(self, args, kwargs):
        if self._quick is None:
            self.__dict__["_quick"] = quick_calls(self)
        if self._quick:
            self._quick.note(args, kwargs)

    def _training(self, bound, signature, context, phase):
        training = bound.get("training", phase)
        if training is None and context is not None:
            training = context.training
        if training is None and signature.takes_training:
            training = signature.training_default
        return training

    def _prepare(self, value):
        """Array-likes as tensors, floating ones in the compute dtype."""
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind in (list, tuple, dict):
            return tree.map_structure(self._prepare_leaf, value)
        return self._prepare_leaf(value)

    def _prepare_leaf(self, x):
        if type(x) in _PLAIN or not self._convert_input_args:
            return x
        b = backends.current()
        native = b.is_tensor(x) and not isinstance(x, np.ndarray)
        if not native and type(x) is not KerasTensor:
            if isinstance(x, Variable):
                x = x.value
            elif not hasattr(x, "__array__") and not hasattr(x, "shape"):
                return tree.map_structure(self._prepare_leaf, x) if tree.is_nested(x) else x
            mask = get_mask(x)
            x = _tensor(x)
            if mask is not None:
                set_mask(x, mask)
        if self.autocast:
            dtype = x.dtype if type(x) is KerasTensor else b.dtype_of(x)
            if dtype != self.compute_dtype and dtypes.is_float(dtype) and dtypes.is_float(self.compute_dtype):
                mask = get_mask(x)
                x = _cast(x, self.compute_dtype)
                if mask is not None:
                    set_mask(x, mask)
        return x

    _convert_input_args = True

    def _fill_masks(self, bound, signature):
        """Masks of the inputs into the parameters that take them; returns the first input's."""
        first = None
        if signature.mask_names or signature.takes_mask or self._supports_masking or _any_masks(bound):
            for i, (name, value) in enumerate(list(bound.items())):
                if name is None or not _has_shapes(value):
                    continue
                mask = tree.map_structure(lambda x: get_mask(x) if hasattr(x, "shape") else None, value)
                if i == 0:
                    first = mask
                if all(m is None for m in tree.flatten(mask)):
                    continue
                parameter = signature.mask_names.get(name)
                if parameter is None and i == 0 and signature.takes_mask:
                    parameter = "mask"
                if parameter is not None and bound.get(parameter) is None:
                    bound[parameter] = mask
            if first is None and bound.get("mask") is not None:
                first = bound["mask"]
        return first

    def _run(self, bound, extra, mask):
        """`call` under the layer's dtype policy and path."""
        autocast = self.compute_dtype if self.autocast else None
        token = current_autocast.set(autocast)
        scope = None if self._called else names.at_path(self._path_parts())
        if scope is not None:
            scope.__enter__()
            self.__dict__["_in_scope"] = True
            self.__dict__.setdefault("_path", names.current_path())
        try:
            call = self.call if self._remat is None else call_of(self, bound)
            if extra:
                named = signature_of(type(self).call).names
                positional = [bound.pop(n) for n in named if n in bound]
                outputs = call(*positional, *extra, **bound)
            else:
                outputs = call(**bound)
        finally:
            if scope is not None:
                self.__dict__["_in_scope"] = False
                scope.__exit__(None, None, None)
            current_autocast.reset(token)
        if current_trace.get() is None:
            self.__dict__["_called"] = True
        self._finish(bound, outputs, mask)
        return outputs

    def _run_on_symbols(self, bound, extra, mask):
        """`call` for shapes and dtypes alone.

        A layer of the user's own may use functions of the framework, which refuse symbols: it's called on what the
        framework has for tensors without data.
        """
        given = dict(bound)
        try:
            return self._run(bound, extra, mask)
        except Exception as error:
            if all(layer._is_pure() for layer in self._flatten_layers()):
                raise
            outputs = native_spec(lambda given: self._run(*given, None), (given, list(extra)), error)
            self._set_output_masks(given, outputs, mask)
            return outputs

    def _finish(self, bound, outputs, mask):
        if self.activity_regularizer is not None:
            from kerata.ops.elementwise import divide

            for output in tree.flatten(outputs):
                if output is not None and hasattr(output, "shape"):
                    loss = self.activity_regularizer(output)
                    # The mean over examples, as the other losses are.
                    self.add_loss(divide(loss, _shape(output)[0]) if len(output.shape) else loss)
        self._set_output_masks(bound, outputs, mask)

    def _set_output_masks(self, bound, outputs, mask):
        own = type(self).compute_mask is not Layer.compute_mask
        if not own and (mask is None or all(m is None for m in tree.flatten(mask))):
            return
        flat = list(tree.flatten(outputs))
        if own and all(get_mask(o) is not None for o in flat if o is not None):
            return
        first = next(iter(bound.values()), None)
        computed = self.compute_mask(first, mask)
        if computed is None:
            return
        masks = tree.flatten(computed)
        for output, m in zip(flat, masks, strict=False):
            if m is not None and output is not None:
                set_mask(output, m)

    @property
    def _makes_masks(self):
        """Whether outputs may have a mask where inputs have none."""
        return type(self).compute_mask is not Layer.compute_mask

    def compute_mask(self, inputs, previous_mask):
        """Mask of the outputs. By default the inputs' mask, if the layer supports masking.

        Args:
            inputs: the first argument.
            previous_mask: its mask.
        """
        return previous_mask if self._supports_masking else None

    # ------------------------------------------------------------- symbolic calls

    def _symbolic_call(self, bound, extra, mask, recorded):
        outputs = self._output_spec(bound, extra)
        signature = signature_of(type(self).call)
        args, kwargs = _node_arguments(_without_implied_masks(recorded, signature), extra, signature)
        node = Node(self, args, kwargs, outputs)
        self._inbound_nodes.append(node)
        # An output that is an input itself (an identity layer) would otherwise be claimed by two nodes.
        self._set_output_masks(bound, outputs, mask)
        return outputs

    def symbolic_call(self, *args, **kwargs):
        """The call on `KerasTensor`s."""
        return self._call(args, kwargs)

    def _output_spec(self, bound, extra):
        if not is_generic(type(self).compute_output_spec, Layer.compute_output_spec):
            kwargs = {
                k: v
                for k, v in bound.items()
                if k not in ("training", "mask") or _takes(type(self).compute_output_spec, k)
            }
            # The first by position: overrides may name it as they like.
            first = signature_of(type(self).call).first
            given = [kwargs.pop(first)] if first in kwargs and not extra else []
            return self.compute_output_spec(*given, *extra, **kwargs)
        return self._traced_spec(bound, extra)

    def compute_output_spec(self, *args, **kwargs):
        """Shapes and dtypes of the outputs, as `KerasTensor`s, by tracing `call`."""
        signature = signature_of(type(self).call)
        bound = signature.bind(args, kwargs, self._where())
        self._maybe_build(bound)
        return self._traced_spec(bound, args[len(signature.names) :])

    def _traced_spec(self, bound, extra):
        shape_given = _by_user(type(self).compute_output_shape)
        fresh = {k: tree.map_structure(_fresh, v) if _has_shapes(v) else v for k, v in bound.items()}
        extra = [tree.map_structure(_fresh, v) if _has_shapes(v) else v for v in extra]
        try:
            with Trace(record=False, dynamic=True):
                outputs = self._run_on_symbols(fresh, extra, None)
        except Exception as error:
            if shape_given:
                return self._spec_from_shape(bound)
            _explain(self, error)
            raise
        if shape_given:
            return self._spec_from_shape(bound)
        return tree.map_structure(_unmasked, outputs)

    def _spec_from_shape(self, bound):
        shapes = {k: _shapes_of(v) for k, v in bound.items() if _has_shapes(v)}
        parameters = inspect.signature(self.compute_output_shape).parameters
        if len(parameters) == 1:
            result = self.compute_output_shape(next(iter(shapes.values())))
        else:
            result = self.compute_output_shape(
                **{f"{k}_shape": s for k, s in shapes.items() if f"{k}_shape" in parameters}
            )
        return tree.map_shape_structure(lambda s: KerasTensor(s, self.compute_dtype), _as_shapes(result))

    def compute_output_shape(self, *args, **kwargs):
        """Shape of the outputs, given those of the inputs; by tracing `call`.

        Args:
            *args: shapes (nested like the inputs).
        """
        tensor = functools.partial(tree.map_shape_structure, lambda s: KerasTensor(s, self.input_dtype))
        args = [tensor(a) for a in args]
        kwargs = {k.removesuffix("_shape"): tensor(v) if v is not None else None for k, v in kwargs.items()}
        signature = signature_of(type(self).call)
        if not args and kwargs and not all(signature.accepts(k) for k in kwargs):
            args, kwargs = list(kwargs.values()), {}
        outputs = self.compute_output_spec(*args, **kwargs)
        return tree.map_structure(lambda t: t.shape if isinstance(t, KerasTensor) else None, outputs)

    # ------------------------------------------------------------- losses

    def add_loss(self, loss):
        """Add a scalar (or several) to what is minimized. Called within `call`.

        Args:
            loss: scalar tensor, or list of them.
        """
        for value in tree.flatten(loss):
            if not isinstance(value, KerasTensor) and not hasattr(value, "shape"):
                value = _tensor(value)
            scope = current_stateless.get()
            if scope is not None and scope.collect_losses:
                # Which layer it comes from is remembered, so `losses` can say whose they are.
                scope.add_loss(value)
                if isinstance(scope, Trace):
                    continue
                scope.__dict__.setdefault("losses_by_layer", {}).setdefault(id(self), []).append(value)
            else:
                self._losses.append(value)

    def _clear_losses(self):
        if current_stateless.get() is None:
            for layer in self._flatten_layers():
                if layer._losses:
                    layer._losses.clear()

    def _own_losses(self):
        scope = current_stateless.get()
        found = []
        for layer in self._flatten_layers():
            if scope is not None and scope.collect_losses:
                found += getattr(scope, "losses_by_layer", {}).get(id(layer), [])
            else:
                found += layer._losses
        return found

    @property
    def losses(self):
        """What `add_loss` got in the last call, and the weights' regularization."""
        return [*self._own_losses(), *self._regularization()]

    def _regularization(self):
        return [v.regularizer(v) for v in self.trainable_weights if v.regularizer is not None]

    # ------------------------------------------------------------- stateless

    def stateless_call(self, trainable_variables, non_trainable_variables, *args, return_losses=False, **kwargs):
        """The call as a pure function of the variables' values.

        Args:
            trainable_variables: values of `self.trainable_variables`.
            non_trainable_variables: values of `self.non_trainable_variables`.
            *args, **kwargs: as for the call.
            return_losses: return the losses too.

        Returns:
            `(outputs, new non-trainable values)`, and the list of losses if asked for.

        Raises:
            ValueError: the layer isn't built, or the numbers of values don't agree.

        >>> import kerata
        >>> layer = kerata.layers.Dense(2)
        >>> layer.build((None, 3))
        >>> values = [v.value for v in layer.trainable_variables]
        >>> y, _ = layer.stateless_call(values, [], kerata.ops.ones((1, 3)))
        >>> tuple(y.shape)
        (1, 2)
        """
        if not self.built:
            raise ValueError(
                f"{self._where()}: build the layer (call it once, or `build(shape)`) before calling it statelessly."
            )
        mapping = []
        for kind, own, given in (
            ("trainable", self.trainable_variables, trainable_variables),
            ("non-trainable", self.non_trainable_variables, non_trainable_variables),
        ):
            given = list(given)
            if len(own) != len(given):
                raise ValueError(
                    f"{self._where()}: stateless_call was given {len(given)} {kind} values, but the layer has {len(own)}."
                )
            mapping += zip(own, given, strict=True)
        with StatelessScope(mapping, collect_losses=return_losses) as scope:
            outputs = self(*args, **kwargs)
            losses = self.losses if return_losses else None
        updated = [scope.get_current_value(v) for v in self.non_trainable_variables]
        return (outputs, updated, losses) if return_losses else (outputs, updated)

    # ------------------------------------------------------------- files

    def save_own_variables(self, store):
        """Write the layer's own variables into a mapping, by number."""
        for i, v in enumerate([*self._trainable_variables, *self._non_trainable_variables]):
            store[str(i)] = v.numpy()

    def load_own_variables(self, store):
        """Set the layer's own variables from a mapping.

        Raises:
            ValueError: another number of variables, or other shapes.
        """
        own = [*self._trainable_variables, *self._non_trainable_variables]
        if len(store.keys()) != len(own):
            what = "isn't built" if not own and not self.built else f"has {len(own)} variables"
            raise ValueError(f"{self._where()} {what}, but the file has {len(store.keys())} for it.")
        for i, v in enumerate(own):
            v.assign(np.asarray(store[str(i)]))

    def common_config(self):
        config = {"name": self.name, "trainable": self.trainable, "dtype": dtype_policies.serialize(self._dtype_policy)}
        if self.activity_regularizer is not None:
            from kerata import regularizers

            config["activity_regularizer"] = regularizers.serialize(self.activity_regularizer)
        return config

    def get_config(self):
        return self.common_config()

    # ------------------------------------------------------------- the rest

    def rematerialized_call(self, layer_call, *args, **kwargs):
        """`layer_call` in a form whose intermediate values are computed again for the gradient instead of being kept."""
        return super().rematerialized_call(layer_call, *args, **kwargs)

    def quantize(self, mode=None, type_check=True, config=None):
        """Keep the weights in fewer bits. For layers that can: Dense, EinsumDense, Embedding, ReversibleEmbedding."""
        if not self.built:
            raise ValueError(f"Cannot quantize a layer that isn't yet built. {self._where()}: call it once before.")
        raise self._not_quantizable()

    def quantized_build(self, input_shape, mode):
        """Make the variables of a quantization mode. For layers that can be quantized."""
        raise self._not_quantizable()

    def quantized_call(self, *args, **kwargs):
        """The call of a quantized layer."""
        raise self._not_quantizable()

    def _not_quantizable(self):
        return NotImplementedError(f"Layer {type(self).__name__} does not have a `quantize` method implemented.")

    # Layers that run code which no trace can see through (another framework's module, say) set this.
    _opaque = False

    def _is_pure(self):
        """Whether a call does nothing but ops on tensors and variables: true of the library's layers without hooks."""
        if self._opaque or self._hooked():
            return False
        return "call" not in self.__dict__ and type(self).call.__module__.startswith("kerata.")

    def _where(self):
        """How errors name this layer."""
        name = self.__dict__.get("name", "")
        path = self.__dict__.get("_path", name)
        return f'{type(self).__name__} "{name}"' + (f" ({path})" if path != name else "")

    def __repr__(self):
        state = f"name={self.__dict__.get('name')}, built={self.built}"
        return f"<{type(self).__name__} {state}>"

    def __getstate__(self):
        state = {k: v for k, v in self.__dict__.items() if k not in ("_inbound_nodes", "_module", "_quick")}
        return state if self._module is None else self._module.bare_state(self, state)

    def __setstate__(self, state):
        self._begin()
        self.__dict__.update(state)
        for own in _TRACKERS:
            self.__dict__[own] = list(self.__dict__[own])
        if self._module is not None:
            own = (*self._trainable_variables, *self._non_trainable_variables) if self._adopts_modules else ()
            self._module.restore_module(self, own)

    def __reduce_ex__(self, protocol):
        base = type(self)
        while base.__dict__.get("_is_module_class"):
            base = base.__bases__[0]
        return _revive, (base, self._module and self._module.NAME), self.__getstate__()


_TRACKERS = ("_trainable_variables", "_non_trainable_variables", "_layers", "_metrics", "_seed_generators")
_UNTRACKED = frozenset(
    {
        *_TRACKERS,
        "_losses",
        "_loss_ids",
        "_inbound_nodes",
        "_module",
        "_building",
        "_called",
        "_initialized",
        "_input_spec",
    }
)
_PLAIN = frozenset({type(None), bool, int, float, str, bytes})


def _revive(cls, name):
    if name is not None:
        cls = backends.load(name).module_class(cls)
    return cls.__new__(cls)


def _add(items, value):
    if not any(v is value for v in items):
        items.append(value)


def _unique(items):
    seen, found = set(), []
    for item in items:
        if id(item) not in seen:
            seen.add(id(item))
            found.append(item)
    return found


def _shape_argument(kwargs):
    """The batch shape from Keras 2's `input_shape=`, `batch_input_shape=` or `input_dim=`."""
    if "batch_input_shape" in kwargs:
        return tuple(kwargs.pop("batch_input_shape"))
    if "batch_shape" in kwargs:
        return tuple(kwargs.pop("batch_shape"))
    if "input_shape" in kwargs:
        return (None, *kwargs.pop("input_shape"))
    if "input_dim" in kwargs:
        return (None, kwargs.pop("input_dim"))
    return None


def _takes(function, name):
    parameters = inspect.signature(function).parameters
    return name in parameters or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())


def _by_user(method):
    return (
        method.__module__ is not None
        and method is not Layer.compute_output_shape
        and not (method.__module__ == "kerata" or method.__module__.startswith("kerata."))
    )


def _has_shapes(value):
    if hasattr(value, "shape"):
        return True
    kind = type(value)
    if kind is dict or isinstance(value, dict):
        return any(_has_shapes(v) for v in value.values())
    if isinstance(value, (list, tuple)):
        return any(_has_shapes(v) for v in value)
    return False


def _any_masks(bound):
    for value in bound.values():
        if hasattr(value, "shape"):
            if get_mask(value) is not None:
                return True
        elif isinstance(value, (list, tuple, dict)) and any(
            get_mask(v) is not None for v in tree.flatten(value) if hasattr(v, "shape")
        ):
            return True
    return False


def _shapes_of(value):
    return tree.map_structure(lambda x: tuple(x.shape) if hasattr(x, "shape") else None, value)


def _as_shapes(value):
    """JSON's lists back to tuples, for a shape or a structure of shapes."""
    if isinstance(value, (list, tuple)):
        if all(d is None or isinstance(d, int) for d in value):
            return tuple(value)
        return type(value)(_as_shapes(v) for v in value)
    if isinstance(value, dict):
        return {k: _as_shapes(v) for k, v in value.items()}
    return value


def _without_implied_masks(bound, signature):
    """The arguments without masks that come with the tensors themselves: when a model runs, they come with them again."""
    implied = set()
    for i, (name, value) in enumerate(bound.items()):
        parameter = signature.mask_names.get(name) or ("mask" if i == 0 and signature.takes_mask else None)
        if name is None or bound.get(parameter) is None or not _has_shapes(value):
            continue
        own = tree.flatten(tree.map_structure(lambda x: get_mask(x) if hasattr(x, "shape") else None, value))
        given = tree.flatten(bound[parameter])
        if len(own) == len(given) and all(a is b for a, b in zip(own, given, strict=True)):
            implied.add(parameter)
    return {name: value for name, value in bound.items() if name not in implied} if implied else bound


def _unmasked(x):
    """A fresh symbol without the mask, which is computed outside of the trace."""
    if isinstance(x, KerasTensor):
        return fresh(x)
    return spec(tuple(x.shape), dtypes.standardize_dtype(x.dtype)) if hasattr(x, "shape") else x


def _fresh(x):
    symbol = _unmasked(x)
    mask = get_mask(x) if symbol is not x else None
    if mask is not None:
        symbol._keras_mask = mask
    return symbol


def _node_arguments(bound, extra, signature):
    """`(args, kwargs)` of a call as a model file keeps it: tensors by position, options by name."""
    args, kwargs = [], {}
    positional = True
    for name in signature.names:
        if name not in bound:
            positional = False
            continue
        if positional and _has_shapes(bound[name]):
            args.append(bound[name])
        else:
            positional = False
            kwargs[name] = bound[name]
    for name, value in bound.items():
        if name not in signature.names:
            kwargs[name] = value
    kwargs = {
        k: v
        for k, v in kwargs.items()
        if not (k == "training" and v is None) and not (k.endswith("mask") and v is None)
    }
    return (*args, *extra), kwargs


def _explain(layer, error):
    """Say which layer's call an error came from (once, the innermost)."""
    if not getattr(error, "_explained", False):
        error._explained = True
        error.add_note(f"It came up in the call of {layer._where()}.")


def _as_layer(module):
    """A torch module as a layer; a layer as it is."""
    if isinstance(module, Layer):
        return module
    from kerata.layers.wrappers.torch_module import TorchModuleWrapper

    return TorchModuleWrapper(module)


def _tensor(x):
    from kerata.ops.core import convert_to_tensor

    return convert_to_tensor(x)


def _shape(x):
    from kerata.ops.core import shape

    return shape(x)


def _cast(x, dtype):
    from kerata.ops.elementwise import cast

    return cast(x, dtype)
