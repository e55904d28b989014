"""`RemoteMonitor`: the logs of each epoch, sent to a server."""

import json
import warnings

from kerata.callbacks.callback import Callback


class RemoteMonitor(Callback):
    """Post the logs of each epoch, and its number, to a server.

    A server that can't be reached is warned of, and training goes on. Needs the `requests` package.

    Args:
        root: the server, with scheme and port.
        path: what is posted to there.
        field: name of the form field that has the logs as JSON; unused with `send_as_json`.
        headers: dict of HTTP headers.
        send_as_json: whether the request's body is the JSON itself (`application/json`) instead of a form.

    ```python
    model.fit(x, y, callbacks=[kerata.callbacks.RemoteMonitor("http://localhost:9000", send_as_json=True)])
    ```
    """

    def __init__(
        self,
        root="http://localhost:9000",
        path="/publish/epoch/end/",
        field="data",
        headers=None,
        send_as_json=False,
    ):
        self.root = root
        self.path = path
        self.field = field
        self.headers = headers
        self.send_as_json = send_as_json

    def on_epoch_end(self, epoch, logs=None):
        requests = _requests()
        said = {"epoch": epoch, **{name: _plain(value) for name, value in (logs or {}).items()}}
        body = {"json": said} if self.send_as_json else {"data": {self.field: json.dumps(said)}}
        try:
            requests.post(self.root + self.path, **body, headers=self.headers)
        except requests.exceptions.RequestException as error:
            warnings.warn(
                f"Could not reach RemoteMonitor root server at {self.root} after epoch {epoch}: {error}", stacklevel=2
            )


def _requests():
    try:
        import requests
    except ImportError as error:
        raise ImportError("RemoteMonitor needs the `requests` package: pip install requests") from error
    return requests


def _plain(value):
    """A logged value as JSON has it; an array of one number is that number."""
    if not hasattr(value, "tolist"):
        return value
    return value.item() if value.size == 1 else value.tolist()
