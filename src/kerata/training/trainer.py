"""`Trainer`: `compile`, `fit`, `evaluate`, `predict` and what they are made of."""

import inspect

import numpy as np

from kerata import backends
from kerata.core import tree
from kerata.core.errors import positive_int, short_traceback
from kerata.core.serialization import deserialize_keras_object, serialize_keras_object
from kerata.training.compiled_losses import OutputLosses
from kerata.training.compiled_metrics import OutputMetrics
from kerata.training.outputs import batch_size, output_names


class Trainer:
    """The part of a model that trains: a mix-in of `Model`."""

    def __init__(self):
        # A layer with this mix-in is a model, if not one of class `Model`, which says these two itself.
        self.__dict__.setdefault("_backend", backends.current())
        self.__dict__.setdefault("_forward", None)
        self.__dict__.update(
            compiled=False,
            optimizer=None,
            loss=None,
            stop_training=False,
            stop_evaluating=False,
            stop_predicting=False,
            _compile_loss=None,
            _compile_metrics=None,
            _loss_tracker=None,
            _compile_config=None,
            _steps={},
            _run_eagerly=False,
            _jit_compile="auto",
            steps_per_execution=1,
        )

    # ------------------------------------------------------------- compile

    def compile(
        self,
        optimizer="rmsprop",
        loss=None,
        loss_weights=None,
        metrics=None,
        weighted_metrics=None,
        run_eagerly=False,
        steps_per_execution=1,
        jit_compile="auto",
        auto_scale_loss=True,
    ):
        """Say how the model is trained.

        Args:
            optimizer: optimizer, or its name.
            loss: loss, its name, or a function of `(y_true, y_pred)`; a list or dict of them for several outputs.
            loss_weights: factors of the outputs' losses: a list or dict of numbers.
            metrics: list of metrics, names or functions; a list of lists or a dict for several outputs.
            weighted_metrics: the same, for metrics that take sample and class weights into account.
            run_eagerly: don't compile the step, so that it can be debugged.
            steps_per_execution: batches in one call of the compiled step; `"auto"` lets Kerata choose. With 1, Kerata still runs
                several at once when no callback looks at single batches.
            jit_compile: `True`, `False`, or `"auto"` where it pays.
            auto_scale_loss: scale the loss under `mixed_float16`.

        Raises:
            ValueError: an unknown name, or options that exclude each other.
        """
        from kerata import metrics as metrics_module
        from kerata import optimizers

        if run_eagerly and jit_compile is True:
            raise ValueError("compile: `run_eagerly=True` and `jit_compile=True` exclude each other.")
        if jit_compile not in (True, False, "auto"):
            raise ValueError(f"compile: `jit_compile` must be True, False or 'auto', not {jit_compile!r}.")
        if steps_per_execution != "auto":
            steps_per_execution = positive_int(steps_per_execution, "steps_per_execution", "compile")
        if weighted_metrics is not None and not isinstance(weighted_metrics, (list, tuple, dict)):
            raise ValueError("compile: `weighted_metrics` must be a list, tuple or dict.")
        if metrics is not None and not isinstance(metrics, (list, tuple, dict)):
            raise ValueError(f"compile: `metrics` must be a list, tuple or dict, not {metrics!r}: write `metrics=[…]`.")
        # All of it is looked up before anything is changed.
        optimizer = optimizers.get(optimizer)
        losses = OutputLosses(loss, loss_weights) if loss is not None else None
        compiled_metrics = OutputMetrics(metrics, weighted_metrics) if metrics or weighted_metrics else None
        if auto_scale_loss and optimizer is not None and self.compute_dtype == "float16":
            optimizer = _scaled(optimizer)
        self.optimizer = optimizer
        # Straight into the dict: trackers of compile aren't the model's own metrics.
        self.__dict__.update(
            loss=loss,
            loss_weights=loss_weights,
            _compile_loss=losses,
            _compile_metrics=compiled_metrics,
            _compile_config={
                "loss": loss,
                "loss_weights": loss_weights,
                "metrics": metrics,
                "weighted_metrics": weighted_metrics,
                "run_eagerly": run_eagerly,
                "steps_per_execution": steps_per_execution,
                "jit_compile": jit_compile,
            },
        )
        self.__dict__["_loss_tracker"] = metrics_module.Mean(name="loss")
        self.__dict__["_steps"] = {}
        self.run_eagerly, self.jit_compile = run_eagerly, jit_compile
        self.steps_per_execution = steps_per_execution
        self.stop_training = False
        self.compiled = True

    @property
    def run_eagerly(self):
        return self._run_eagerly

    @run_eagerly.setter
    def run_eagerly(self, value):
        self.__dict__["_run_eagerly"] = value
        self.__dict__["_steps"] = {}

    @property
    def jit_compile(self):
        """Whether steps are compiled as a whole: what was said, or what `"auto"` comes to with this model on its backend."""
        if self._jit_compile != "auto":
            return self._jit_compile
        by_default = getattr(self._backend, "compiles_by_default", None)
        return by_default is not None and not self.run_eagerly and by_default(self)

    @jit_compile.setter
    def jit_compile(self, value):
        self.__dict__["_jit_compile"] = value
        self.__dict__["_steps"] = {}

    def get_compile_config(self):
        """The arguments of `compile`, serialized; `None` before it."""
        if not self.compiled:
            return {}
        config = {"optimizer": self.optimizer, **self._compile_config}
        return {k: _serialized(v) for k, v in config.items()}

    def compile_from_config(self, config):
        """Compile from what `get_compile_config` returned."""
        if not config:
            return
        self.compile(**{k: deserialize_keras_object(v) if k != "jit_compile" else v for k, v in config.items()})
        if self.optimizer is not None and self.built:
            self.optimizer.build(self.trainable_variables)

    @property
    def metrics(self):
        found = [m for m in (self._loss_tracker, self._compile_metrics) if m is not None]
        found += [m for m in super().metrics if m not in found]
        if self._compile_loss is not None and self._compile_loss.built:
            found += self._compile_loss.metrics
        return found

    @property
    def metrics_names(self):
        return [m.name for m in self.metrics]

    def reset_metrics(self):
        """Begin all metrics anew."""
        for metric in self.metrics:
            metric.reset_state()

    def get_metrics_result(self):
        """`{name: value}` of all metrics."""
        found = {}
        for metric in self.metrics:
            result = metric.result()
            if isinstance(result, dict):
                found.update(result)
            else:
                found[metric.name] = result
        return found

    # ------------------------------------------------------------- what the steps ask

    def _unbuilt(self):
        """Whether some layer still has to be built by a call."""
        return not self.built or any(not layer.built for layer in self._flatten_layers())

    def _symbolic_build(self, iterator=None, data_batch=None):
        """Make the variables of layers, metrics and optimizer by a batch's shapes (the name is that of Keras's scripts)."""
        from kerata.training.step import build

        build(self, "train", next(iter(iterator)) if data_batch is None else data_batch)

    def _metrics_unbuilt(self):
        return any(part is not None and not part.built for part in (self._compile_metrics, self._compile_loss))

    def _traceable(self):
        """Whether all layers are the library's own, so that their calls can be traced once and run from the trace."""
        return all(layer._is_pure() for layer in self._flatten_layers())

    # ------------------------------------------------------------- one step

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The scalar to minimize. Override it for a loss of your own.

        Args:
            x, y: inputs and targets.
            y_pred: outputs.
            sample_weight: weights of the samples.
            training: the phase.
        """
        from kerata import ops

        total = None
        if self._compile_loss is not None:
            if not self._compile_loss.built:
                self._compile_loss.build(output_names(self, y_pred), y_pred)
            total = self._compile_loss(y, y_pred, sample_weight)
        for extra in self.losses:
            extra = ops.cast(extra, "float32") if total is None else ops.cast(extra, total.dtype)
            extra = ops.sum(extra) if len(extra.shape) else extra
            total = extra if total is None else total + extra
        if total is None:
            raise ValueError(
                f"{self._where()}: there is no loss to minimize. Give one to `compile(loss=…)`, call `add_loss` in a layer, or "
                "override `compute_loss` or `train_step`."
            )
        return total

    def _loss_of(self, x, y, y_pred, sample_weight, training):
        """`compute_loss`, told of the phase if it asks: overrides written for older versions don't."""
        parameters = inspect.signature(self.compute_loss).parameters
        told = "training" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        phase = {"training": training} if told else {}
        return self.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, **phase)

    def stateless_compute_loss(
        self,
        trainable_variables,
        non_trainable_variables,
        metrics_variables,
        x=None,
        y=None,
        y_pred=None,
        sample_weight=None,
        training=True,
    ):
        """`compute_loss` as a pure function of the variables' values; returns the loss and the new values of each kind."""
        from kerata.core.scopes import StatelessScope

        kinds = (self.trainable_variables, self.non_trainable_variables, self.metrics_variables)
        values = (trainable_variables, non_trainable_variables, metrics_variables)
        mapping = [pair for own, given in zip(kinds, values, strict=True) for pair in zip(own, given, strict=True)]
        with StatelessScope(mapping) as scope:
            loss = self.compute_loss(x, y, y_pred, sample_weight=sample_weight, training=training)
        return loss, *([scope.get_current_value(v) for v in own] for own in kinds)

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """Update the compiled metrics and return the results of all."""
        self._update_metrics(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def _update_metrics(self, y, y_pred, sample_weight):
        metrics = self._compile_metrics
        if metrics is not None:
            if not metrics.built:
                metrics.build(output_names(self, y_pred), y, y_pred)
            metrics.update_state(y, y_pred, sample_weight)

    def train_step(self, *data):
        """One step of training: forward, gradient, update, metrics. Override it for a step of your own.

        Written with `kerata.transforms.value_and_grad`, one `train_step(self, data)` works on every training backend.
        As JAX users write it, `train_step(self, state, data)` is pure: it gets and returns the variables' values.

        Args:
            *data: a batch as it comes from the data, `(x, y, sample_weight)` without what is missing; or `state` and
                `data`.

        Returns:
            `{name: value}` of the metrics; of a state the same and the new state.
        """
        return self._step_of("train", self._train, data)

    def _train(self, data):
        from kerata.transforms.gradient import sparse_value_and_grad

        x, y, sample_weight = _parts(data)

        def forward():
            y_pred = self._forward_pass(x, training=True)
            loss = self._loss_of(x, y, y_pred, sample_weight, training=True)
            scaled = self.optimizer.scale_loss(loss) if self.optimizer is not None else loss
            return scaled, (loss, y_pred)

        variables = self.trainable_variables
        (_, (loss, y_pred)), gradients = sparse_value_and_grad(forward, variables)()
        if self.optimizer is not None and variables:
            self.optimizer.apply(gradients, variables)
        loss, y_pred = tree.map_structure(_stopped, (loss, y_pred))
        self._loss_tracker.update_state(loss, sample_weight=_samples(x))
        return self._measured(x, y, y_pred, sample_weight)

    def _forward_pass(self, x, training):
        return self(x, training=training) if self._takes_training() else self(x)

    def _takes_training(self):
        from kerata.layers.call import signature_of

        return signature_of(type(self).call).accepts("training")

    def test_step(self, *data):
        """One step of evaluation: of `data`, or as a pure one of `state` and `data`, as `train_step`."""
        return self._step_of("test", self._test, data)

    def _step_of(self, kind, step, data):
        from kerata.training.step import pure_step

        def with_logs(data):
            logs = step(data)
            return self.get_metrics_result() if logs is None else logs

        if len(data) == 1:
            return with_logs(*data)
        state, batch = data
        return pure_step(self, kind, with_logs, state, batch)

    def _test(self, data):
        x, y, sample_weight = _parts(data)
        y_pred = self._forward_pass(x, training=False)
        loss = self._loss_of(x, y, y_pred, sample_weight, training=False)
        self._loss_tracker.update_state(loss, sample_weight=_samples(x))
        return self._measured(x, y, y_pred, sample_weight)

    def _measured(self, x, y, y_pred, sample_weight):
        """Bring the metrics up to date; the logs if the user computes them, `None` if they are to be read off the metrics."""
        if self._own_metrics:
            return self.compute_metrics(x, y, y_pred, sample_weight)
        self._update_metrics(y, y_pred, sample_weight)
        return None

    @property
    def _own_metrics(self):
        """Whether `compute_metrics` is overridden."""
        return type(self).compute_metrics is not Trainer.compute_metrics

    def predict_step(self, data):
        """The outputs for a batch."""
        x, _, _ = _parts(data)
        return self._forward_pass(x, training=False)

    # ------------------------------------------------------------- whole runs

    @short_traceback
    def fit(
        self,
        x=None,
        y=None,
        batch_size=None,
        epochs=1,
        verbose="auto",
        callbacks=None,
        validation_split=0.0,
        validation_data=None,
        shuffle=True,
        class_weight=None,
        sample_weight=None,
        initial_epoch=0,
        steps_per_epoch=None,
        validation_steps=None,
        validation_batch_size=None,
        validation_freq=1,
    ):
        """Train for a number of epochs.

        Args:
            x: inputs: arrays (also in lists and dicts), a `PyDataset`, a generator, a `tf.data.Dataset` or torch `DataLoader`.
            y: targets, for arrays.
            batch_size: samples in a step (arrays only), by default 32.
            epochs: number of the last epoch.
            verbose: 0 silent, 1 progress bar, 2 one line an epoch, `"auto"`.
            callbacks: list of callbacks.
            validation_split: share of the arrays' end to validate on.
            validation_data: `(x, y)`, `(x, y, sample_weight)`, or a data set.
            shuffle: a new order in each epoch (arrays, `PyDataset`); `"batch"`: inside batches.
            class_weight: `{class: weight}`.
            sample_weight: weights of the samples.
            initial_epoch: number of epochs done already.
            steps_per_epoch: steps in an epoch, by default one pass.
            validation_steps, validation_batch_size: the same for validation.
            validation_freq: validate every so many epochs, or after the epochs in this list (from 1).

        Returns:
            The `History` callback: `.history` is `{name: [value of each epoch]}`.

        Raises:
            ValueError: not compiled, or data that don't fit.
        """
        from kerata.training import loop

        with self._entered():
            return loop.fit(
                self,
                x,
                y,
                batch_size,
                epochs,
                verbose,
                callbacks,
                validation_split,
                validation_data,
                shuffle,
                class_weight,
                sample_weight,
                initial_epoch,
                steps_per_epoch,
                validation_steps,
                validation_batch_size,
                validation_freq,
            )

    @short_traceback
    def evaluate(
        self,
        x=None,
        y=None,
        batch_size=None,
        verbose="auto",
        sample_weight=None,
        steps=None,
        callbacks=None,
        return_dict=False,
        **kwargs,
    ):
        """Loss and metrics on data.

        Args:
            x, y, batch_size, verbose, sample_weight, callbacks: as for `fit`.
            steps: number of batches, by default all.
            return_dict: return `{name: value}`.

        Returns:
            The loss, or a list of the loss and the metrics; or a dict.
        """
        from kerata.training import loop

        with self._entered():
            return loop.evaluate(
                self, x, y, batch_size, verbose, sample_weight, steps, callbacks, return_dict, **kwargs
            )

    @short_traceback
    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        """Outputs for data, as NumPy arrays.

        Args:
            x: inputs, as for `fit`.
            batch_size: samples in a step (arrays only), by default 32.
            verbose: 0 silent, 1 progress bar, `"auto"`.
            steps: number of batches, by default all.
            callbacks: list of callbacks.
        """
        from kerata.training import loop

        quick = self.__dict__.get("_forward")
        if type(x) is np.ndarray and quick is not None and callbacks is None and steps is None:
            result = quick.predict(x, batch_size or 32)
            if result is not quick.DECLINED:
                if verbose in (1, "auto"):
                    loop.announce_predict(verbose)
                return result
        with self._entered():
            return loop.predict(self, x, batch_size, verbose, steps, callbacks)

    def _entered(self):
        """The model's own backend, for the length of a run."""
        return backends.use_backend(self._backend)

    # ------------------------------------------------------------- single batches

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, return_dict=False):
        """One step of training on one batch.

        Args:
            x, y, sample_weight: one batch.
            class_weight: `{class: weight}`.
            return_dict: return `{name: value}`.

        Returns:
            The loss, or a list of the loss and the metrics; or a dict: of this batch alone.
        """
        self._must_be_compiled("train_on_batch")
        with self._entered():
            self.reset_metrics()
            data = _batch(self, x, y, sample_weight, class_weight)
            return self._results(self._step("train", data).run_once(data), return_dict)

    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False):
        """Loss and metrics on one batch."""
        self._must_be_compiled("test_on_batch")
        with self._entered():
            self.reset_metrics()
            data = _batch(self, x, y, sample_weight, None)
            return self._results(self._step("test", data).run_once(data), return_dict)

    def predict_on_batch(self, x):
        """Outputs for one batch, as NumPy arrays."""
        from kerata.training import loop

        with self._entered():
            quick = self.__dict__.get("_forward")
            if type(x) is np.ndarray and quick is not None:
                result = quick.predict(x, len(x))
                if result is not quick.DECLINED:
                    return result
            data = (tree.map_structure(_host, x),)
            outputs = self._step("predict", data).run_once(data)
            b = backends.current()
            return tree.map_structure(lambda output: loop.joined(b, [output]), outputs)

    def _results(self, logs, return_dict):
        from kerata.callbacks.logs import as_numbers

        logs = as_numbers(logs)
        if return_dict:
            return logs
        names = ["loss", *(n for n in logs if n != "loss")] if "loss" in logs else list(logs)
        values = [logs[n] for n in names]
        return values[0] if len(values) == 1 else values

    def _step(self, kind, data):
        """The (cached) compiled step of a kind: `"train"`, `"test"` or `"predict"`."""
        from kerata.training.step import make_step

        step = self._steps.get(kind)
        if step is None or not step.usable():
            step = self._steps[kind] = make_step(self, kind, data)
        return step

    def make_train_function(self, force=False):
        """Forget the compiled training step (`force`), so that the next run makes it anew."""
        self._forget_step("train", force)

    def make_test_function(self, force=False):
        """The same for evaluation."""
        self._forget_step("test", force)

    def make_predict_function(self, force=False):
        """The same for prediction."""
        self._forget_step("predict", force)
        return self.predict_on_batch

    def _forget_step(self, kind, force):
        if force:
            self._steps.pop(kind, None)

    def _must_be_compiled(self, what):
        if not self.compiled:
            raise ValueError(f"{self._where()}: call `compile(optimizer, loss, …)` before `{what}`.")

    @property
    def _own_train_step(self):
        """`None` for the library's step, `"data"` for an overridden `train_step(data)`, `"state"` for JAX's `(state, data)`."""
        return _style(self.train_step, Trainer.train_step)

    @property
    def _own_test_step(self):
        return _style(self.test_step, Trainer.test_step)


def _style(method, default):
    """Which of the two forms a bound step has (it may be set on the model itself, or be static)."""
    if getattr(method, "__func__", None) is default:
        return None
    parameters = list(inspect.signature(method).parameters)
    return "state" if len(parameters) >= 2 and parameters[0] == "state" else "data"


def _parts(data):
    if isinstance(data, (tuple, list)):
        data = tuple(data)
        return (*data, None, None)[:3] if len(data) < 3 else data
    return data, None, None


def _samples(x):
    # (Optional inputs may be missing.)
    return batch_size(next(v for v in tree.flatten(x) if v is not None))


def _stopped(x):
    from kerata import ops

    return ops.stop_gradient(x) if hasattr(x, "shape") else x


def _scaled(optimizer):
    from kerata import optimizers

    if isinstance(optimizer, optimizers.LossScaleOptimizer):
        return optimizer
    return optimizers.LossScaleOptimizer(optimizer, name="loss_scale_optimizer")


def _serialized(value):
    return serialize_keras_object(value)


def _host(value):
    from kerata.training.data import rows

    return rows.batch_leaf(value, None) if not isinstance(value, np.ndarray) or value.dtype == np.float64 else value


def _batch(model, x, y, sample_weight, class_weight):
    from kerata.training.data.weights import weigh_classes

    x, y, sample_weight = tree.map_structure(lambda v: None if v is None else _host(v), (x, y, sample_weight))
    if class_weight is not None:
        sample_weight = weigh_classes(y, sample_weight, class_weight)
    if sample_weight is not None:
        return x, y, sample_weight
    return (x,) if y is None else (x, y)
