"""A function written for JAX as a layer."""

import inspect

import numpy as np

from kerata import backends
from kerata.core import dtypes, names, serialization, tree
from kerata.core.scopes import current_autocast
from kerata.graph.tensor import KerasTensor, any_symbolic
from kerata.layers.layer import Layer
from kerata.random.seeds import SeedGenerator, make_default_seed
from kerata.state.variable import Variable

CALL_ARGUMENTS = ("params", "state", "rng", "inputs", "training")
INIT_ARGUMENTS = ("rng", "inputs", "training")


class JaxLayer(Layer):
    """A model that is a JAX function, as a layer; on the jax backend, and on tensorflow's (by `jax2tf`) with JAX installed.

    Args:
        call_fn: the model, a function of (some of) the arguments `params`, `state`, `rng` (a key), `inputs` and
            `training` (a bool), known by these names, `inputs` being required. With `state` it returns
            `(outputs, new state)`, else the outputs. Several inputs come as one structure.
        init_fn: makes the first parameters when the layer is built: a function of `inputs` (ones of their shapes) and,
            if it likes, `rng` and `training`. Returns `params`, or `(params, state)` if `call_fn` has a `state`.
        params: parameters, a tree as JAX knows it (`None`: of `init_fn`). Its floating arrays are trained.
        state: what isn't trained and changes with each call, a tree likewise.
        seed: seed of the keys; one is drawn unless given.
        native_serialization_platforms: on tensorflow, platforms to compile for (`"cpu"`, `"cuda"`, `"tpu"`); by default
            the one there is.
        **kwargs: `name`, `dtype`, …, as for any layer.

    Raises:
        ValueError: another backend is in force; `call_fn` or `init_fn` lacks `inputs` or has an argument of another
            name; there is nothing to make the parameters of; the new state nests unlike the old.

    >>> import kerata
    >>> def scale(params, inputs):
    ...     return inputs * params["by"]
    >>> with kerata.config.use_backend("jax"):
    ...     import jax.numpy as jnp
    ...     layer = kerata.layers.JaxLayer(scale, params={"by": jnp.full(2, 3.0)})
    ...     kerata.ops.convert_to_numpy(layer(jnp.ones((1, 2)))), len(layer.trainable_weights)
    (array([[3., 3.]], dtype=float32), 1)
    """

    # JAX's functions don't take symbols.
    _opaque = True

    def __init__(
        self,
        call_fn,
        init_fn=None,
        params=None,
        state=None,
        seed=None,
        native_serialization_platforms=None,
        **kwargs,
    ):
        owner = type(self).__name__
        if backends.current_name() not in ("jax", "tensorflow"):
            raise ValueError(
                f"{owner}: it runs on the jax and tensorflow backends, but the current one is {backends.current_name()!r}; "
                "switch by `keras.config.set_backend('jax')`."
            )
        takes = _checked_arguments(call_fn, "call_fn", CALL_ARGUMENTS, owner)
        init_takes = () if init_fn is None else _checked_arguments(init_fn, "init_fn", INIT_ARGUMENTS, owner)
        if init_fn is None and params is None and state is None and {"params", "state"} & set(takes):
            raise ValueError(
                f"{owner}: `call_fn` has parameters or a state, so give `params` or `state`, or an `init_fn` that makes them."
            )
        super().__init__(**kwargs)
        self.call_fn = call_fn
        self.init_fn = init_fn
        self.seed = seed
        self.native_serialization_platforms = native_serialization_platforms
        self._takes, self._init_takes = takes, init_takes
        self._init_seed = make_default_seed() if seed is None else seed
        if "rng" in takes:
            self.seed_generator = SeedGenerator(seed)
        # The trees keep their classes: they are none of the layer's own containers.
        self.__dict__.update(params=None, state=None, _callers={})
        if params is not None or state is not None:
            self._keep(params, state)

    # ------------------------------------------------------------- variables

    def _keep(self, params, state):
        """The trees with variables in the place of their arrays and numbers."""
        self.__dict__["params"] = self._with_variables(params, True)
        self.__dict__["state"] = self._with_variables(state, False)

    def _with_variables(self, values, trainable):
        if values is None:
            return None
        jax = backends.load("jax")
        leaves, structure = jax.flatten_tree(values)
        with names.at_path(self._own_path()):
            made = [self._variable(v, n, trainable) for v, n in zip(leaves, jax.leaf_names(values), strict=True)]
        return jax.unflatten_tree(structure, made)

    def _variable(self, value, name, trainable):
        """A leaf as a variable of the layer; what is no array or number stays as it is."""
        if isinstance(value, Variable):
            value = value.numpy()
        array = np.asarray(value)
        if array.dtype.kind in "OUS":
            return value
        floating = dtypes.is_float(dtypes.standardize_dtype(array.dtype))
        if array.dtype == np.float64:
            array = array.astype("float32")
        variable = Variable(
            array, trainable=trainable and floating and self.trainable, autocast=trainable, name=name or "variable"
        )
        self._track(variable)
        return variable

    def _variables_of(self, values):
        leaves, structure = backends.load("jax").flatten_tree(values)
        return [v for v in leaves if isinstance(v, Variable)], leaves, structure

    # ------------------------------------------------------------- building

    def _maybe_build(self, bound):
        if not self.built:
            # Shapes alone don't tell `init_fn` that the inputs are, say, indices.
            self.__dict__["_input_dtypes"] = tree.map_structure(
                lambda x: dtypes.standardize_dtype(x.dtype) if hasattr(x, "dtype") else None, bound.get("inputs")
            )
        super()._maybe_build(bound)

    def build(self, input_shape):
        if self.params is not None or self.state is not None or self.init_fn is None:
            return
        jax = backends.load("jax")
        dtype_of_inputs = self.__dict__.get("_input_dtypes")
        with jax.at_once():
            given = {
                "inputs": self._placeholders(input_shape, dtype_of_inputs),
                "rng": jax.prng_key(self._init_seed),
                "training": True,
            }
            made = self.init_fn(**{name: given[name] for name in self._init_takes})
        params, state = made if "state" in self._takes else (made, None)
        self._keep(params, state)

    def _placeholders(self, shapes, kinds):
        """Ones of these shapes and dtypes, nested alike."""
        if tree.is_shape(shapes):
            ones_of = backends.load("jax").ones_of
            return ones_of([1 if d is None else d for d in shapes], kinds or self.input_dtype)
        if isinstance(shapes, dict):
            return {k: self._placeholders(v, kinds and kinds[k]) for k, v in shapes.items()}
        return type(shapes)(self._placeholders(v, kinds and kinds[i]) for i, v in enumerate(shapes))

    def get_build_config(self):
        config = super().get_build_config()
        kinds = self.__dict__.get("_input_dtypes")
        if config and kinds is not None and any(kind != self.input_dtype for kind in tree.flatten(kinds)):
            config["input_dtypes"] = kinds
        return config

    def build_from_config(self, config):
        if config and "input_dtypes" in config:
            self.__dict__["_input_dtypes"] = config["input_dtypes"]
        super().build_from_config(config)

    # ------------------------------------------------------------- calling

    def call(self, inputs, training=False):
        if any_symbolic((inputs,)):
            return self.compute_output_spec(inputs, training)
        jax = backends.load("jax")
        flat, structure = jax.flatten_tree(inputs)
        params, state = self._variables_of(self.params)[0], self._variables_of(self.state)[0]
        key = [self.seed_generator.next()] if "rng" in self._takes else []
        function, box = self._caller(bool(training), structure)
        outputs, new = function([v.value for v in params], [v.value for v in state], key, flat)
        for variable, value in zip(state, new, strict=True):
            variable.assign(value)
        return jax.unflatten_tree(box["outputs"], outputs)

    def _caller(self, training, structure):
        """The model as a function of lists of the backend's tensors, and where it notes how its outputs nest."""
        backend = backends.current()
        if (training, structure) in self._callers and backend.NAME != "jax":
            return self._callers[training, structure]
        box = {}
        function = self._function(training, structure, box)
        native = backend.jax_caller(function, self.native_serialization_platforms)
        if backend.NAME != "jax":
            # It's compiled, and kept.
            self._callers[training, structure] = native, box
        return native, box

    def _function(self, training, structure, box):
        """The model as a function of lists of arrays: parameters, state, key, inputs. Gives lists: outputs, new state."""
        jax = backends.load("jax")

        def function(params, state, key, inputs):
            given = {
                "params": self._refilled(self.params, params),
                "state": self._refilled(self.state, state),
                "rng": key[0] if key else None,
                "inputs": jax.unflatten_tree(structure, inputs),
                "training": training,
            }
            outputs = self.call_fn(**{name: given[name] for name in self._takes})
            new = []
            if "state" in self._takes:
                outputs, new_state = outputs
                new = self._like_state(new_state)
            leaves, box["outputs"] = jax.flatten_tree(outputs)
            return leaves, new

        return function

    def _refilled(self, values, arrays):
        """A tree with arrays in the place of its variables."""
        arrays = iter(arrays)
        _, leaves, structure = self._variables_of(values)
        return backends.load("jax").unflatten_tree(
            structure, [next(arrays) if isinstance(v, Variable) else v for v in leaves]
        )

    def _like_state(self, new_state):
        """The arrays of a new state, one for each variable of the old."""
        found, structure = backends.load("jax").flatten_tree(new_state)
        _, leaves, expected = self._variables_of(self.state)
        if structure != expected:
            raise ValueError(
                f"{self._where()}: the new state that `call_fn` returned nests unlike the state given to it. "
                f"Given: {expected}; returned: {structure}."
            )
        return [new for new, old in zip(found, leaves, strict=True) if isinstance(old, Variable)]

    def compute_output_spec(self, inputs, training=False):
        """Shapes and dtypes of the outputs, by running `call_fn` on shapes alone."""
        self._maybe_build({"inputs": inputs})
        jax = backends.load("jax")
        symbols, structure = jax.flatten_tree(inputs)
        params, state = self._variables_of(self.params)[0], self._variables_of(self.state)[0]
        specs = [(tuple(v.shape), self._read_dtype(v)) for v in (*params, *state)]
        specs += [((2,), "uint32")] if "rng" in self._takes else []
        specs += [(tuple(x.shape), dtypes.standardize_dtype(x.dtype)) for x in symbols]
        box = {}
        function = self._function(bool(training), structure, box)
        first, second = len(params), len(params) + len(state)
        third = len(specs) - len(symbols)

        def run(arrays):
            return function(arrays[:first], arrays[first:second], arrays[second:third], arrays[third:])[0]

        found = jax.on_shapes(run, specs)
        return jax.unflatten_tree(box["outputs"], [KerasTensor(shape, dtype) for shape, dtype in found])

    def _read_dtype(self, variable):
        """The dtype in which a call reads a variable."""
        wanted = current_autocast.get() or (self.compute_dtype if self.autocast else None)
        casts = wanted and variable.autocast and dtypes.is_float(variable.dtype)
        return wanted if casts else variable.dtype

    # ------------------------------------------------------------- configs

    def __getstate__(self):
        return {**super().__getstate__(), "_callers": {}}

    def get_config(self):
        functions = {"call_fn": self.call_fn, "init_fn": self.init_fn}
        return {**self._options(), **{k: serialization.serialize_keras_object(f) for k, f in functions.items()}}

    def _options(self):
        """The part of the config that doesn't say what is called."""
        config = {**self.common_config(), "native_serialization_platforms": self.native_serialization_platforms}
        if self.seed is not None:
            config["seed"] = self.seed
        return config


def _checked_arguments(function, name, allowed, owner):
    """The names of a function's arguments, all of which must be among those allowed."""
    found = tuple(inspect.signature(function).parameters)
    listed = ", ".join(f"`{a}`" for a in allowed)
    if "inputs" not in found:
        raise ValueError(f"{owner}: `{name}` has no argument `inputs`; it may have {listed}, known by their names.")
    unknown = [a for a in found if a not in allowed]
    if unknown:
        raise ValueError(
            f"{owner}: `{name}` has an argument `{unknown[0]}`, but it may have {listed} only, known by their names."
        )
    return found
