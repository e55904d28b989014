"""What is done at certain moments of `fit`, `evaluate` and `predict`."""

from kerata.core import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        "backup_and_restore": ["BackupAndRestore"],
        "callback": ["Callback"],
        "callback_list": ["CallbackList"],
        "csv_logger": ["CSVLogger"],
        "early_stopping": ["EarlyStopping"],
        "history": ["History"],
        "lambda_callback": ["LambdaCallback"],
        "learning_rate_scheduler": ["LearningRateScheduler"],
        "model_checkpoint": ["ModelCheckpoint"],
        "monitor": ["MonitorCallback"],
        "progbar_logger": ["ProgbarLogger"],
        "reduce_lr_on_plateau": ["ReduceLROnPlateau"],
        "remote_monitor": ["RemoteMonitor"],
        "swap_ema_weights": ["SwapEMAWeights"],
        "tensorboard": ["TensorBoard"],
        "terminate_on_nan": ["TerminateOnNaN"],
        # Which writes files: a room on the floor above.
        "kerata.saving.orbax_checkpoint": ["OrbaxCheckpoint"],
    },
)
