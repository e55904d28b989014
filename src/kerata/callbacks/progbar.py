"""`Progbar`: progress on a terminal, or in a log."""

import os
import sys
import time

import numpy as np

from kerata.callbacks.messages import say
from kerata.core import config

BOLD, GREEN, WHITE, RESET = "\x1b[1m", "\x1b[32m", "\x1b[37m", "\x1b[0m"
FULL = "━"
MINUTE, HOUR = 60, 3600
# Where a line can't be drawn over (a file, a pipe), it is written this rarely.
LOG_INTERVAL_SECONDS = 10.0


class Progbar:
    """Shows how far a run is, how long it takes, and numbers measured in it.

    On a terminal or in a notebook the line is drawn over. In a file or a pipe there is a line at the end,
    and one every ten seconds.

    Args:
        target: number of steps, or `None` if unknown.
        width: width of the bar in characters.
        verbose: 0 for nothing, 1 for a bar, 2 for one line at the end.
        interval: seconds between two drawings; with 0 each update is drawn.
        stateful_metrics: names of numbers to show as they are.
        stateless_metrics: names of numbers to show averaged over the steps, all others as they are. Without
            either list all are averaged.
        unit_name: what a step is called.

    >>> import kerata
    >>> bar = kerata.utils.Progbar(10, verbose=2)
    >>> bar.update(10, values=[("loss", 0.5)])      # doctest: +SKIP
    10/10 - 0s - 3us/step - loss: 0.5000
    """

    def __init__(
        self,
        target,
        width=20,
        verbose=1,
        interval=0.05,
        stateful_metrics=None,
        stateless_metrics=None,
        unit_name="step",
    ):
        if stateful_metrics is not None and stateless_metrics is not None:
            raise ValueError("Progbar: Only one of `stateful_metrics` and `stateless_metrics` may be given.")
        self.target = target
        self.width = width
        self.verbose = verbose
        self.unit_name = unit_name
        self.stateful_metrics = None if stateful_metrics is None else set(stateful_metrics)
        self.stateless_metrics = None if stateless_metrics is None else set(stateless_metrics)
        self._dynamic = config.is_interactive_logging_enabled() and _can_draw_over()
        self.interval = interval if self._dynamic or not interval else max(interval, LOG_INTERVAL_SECONDS)
        self._values = {}  # name: [sum, weight], or [value, 1] for those shown as they are
        self._seen = 0
        self._begun = time.time()
        self._last = self._begun  # a run shorter than the interval gets one line, its last
        self._first = None  # (time, steps) of the first update
        self._drawn = 0  # characters of the line on the screen

    def due(self, finalize=False):
        """Whether an update now would be seen; values needn't be fetched for one that wouldn't."""
        if self.verbose == 0:
            return False
        return finalize or (self.verbose == 1 and time.time() - self._last >= self.interval)

    def update(self, current, values=None, finalize=None):
        """Say how far it is.

        Args:
            current: steps done.
            values: list of `(name, value)`, new numbers.
            finalize: whether this is the last update; by default, whether the target is reached.
        """
        if finalize is None:
            finalize = self.target is not None and current >= self.target
        self._take(current, values or (), finalize)
        now = time.time()
        if self._first is None and current:
            self._first = (now, current)
        if self.verbose == 0:
            return
        if self.verbose == 2:
            if finalize:
                say(" - ".join([self._counter(current), *self._facts(current, now, True)]))
        elif finalize or now - self._last >= self.interval:
            self._draw(current, now, finalize)
            self._last = now

    def add(self, n, values=None):
        """Say that `n` more steps are done."""
        self.update(self._seen + n, values)

    def advance(self, current):
        """Note that `current` steps are done, without drawing."""
        if self._first is None and current:
            self._first = (time.time(), current)
        self._seen = current

    def _take(self, current, values, finalize):
        steps = max(current - self._seen, 1)
        self._seen = current
        for name, value in values:
            value = float(np.mean(value)) if not isinstance(value, (int, float)) else value
            # The last numbers are those of the whole, not of one more step.
            if finalize or not self._is_averaged(name):
                self._values[name] = [value, 1]
            else:
                total, weight = self._values.get(name, (0.0, 0))
                self._values[name] = [total + value * steps, weight + steps]

    def _is_averaged(self, name):
        if self.stateless_metrics is not None:
            return name in self.stateless_metrics
        return self.stateful_metrics is None or name not in self.stateful_metrics

    def _counter(self, current):
        if self.target is None:
            return f"{current:7d}/Unknown"
        return f"{current:{len(str(self.target))}d}/{self.target}"

    def _facts(self, current, now, finalize):
        """Time, pace and numbers."""
        pace = self._pace(current, now)
        if finalize or self.target is None:
            shown = f"{now - self._begun:.0f}s"
        else:
            shown = _duration(pace * (self.target - current))
        numbers = [f"{name}: {_number(total / weight)}" for name, (total, weight) in self._values.items()]
        return [shown, f"{_short(pace)}/{self.unit_name}", *numbers]

    def _pace(self, current, now):
        """Seconds a step; without the first ones if that makes it faster: they have the compiling in them."""
        if not current:
            return 0.0
        overall = (now - self._begun) / current
        if self._first is None or current <= self._first[1]:
            return overall
        return min(overall, (now - self._first[0]) / (current - self._first[1]))

    def _draw(self, current, now, finalize):
        shown, pace, *numbers = self._facts(current, now, finalize)
        room = _columns() if self._dynamic and not finalize else None
        tail = " - ".join([f"{shown} {pace}", *numbers])
        counter = self._counter(current)
        width = self._bar_width(room, len(counter) + len(tail) + 2)
        text = " ".join(filter(None, [counter, FULL * width, tail]))
        if room is not None and len(text) > room:
            tail = tail[: len(tail) - (len(text) - room)]
            text = text[:room]
        padding = " " * max(self._drawn - len(text), 0)
        self._drawn = 0 if finalize else len(text)
        if not self._dynamic:
            say(text)
            return
        line = " ".join(filter(None, [f"{BOLD}{counter}{RESET}", self._bar(current, width), _bold_first(tail)]))
        say(f"\r{line}{padding}", end="\n" if finalize else "")

    def _bar_width(self, room, others):
        if not self.target:
            return 0
        if room is None:
            return self.width
        return min(self.width, max(room - others, 5))

    def _bar(self, current, width):
        if not width:
            return ""
        done = int(width * min(current / self.target, 1))
        return f"{GREEN}{FULL * done}{RESET}{WHITE}{FULL * (width - done)}{RESET}"


def _bold_first(tail):
    first, space, rest = tail.partition(" ")
    return f"{BOLD}{first}{RESET}{space}{rest}"


def _number(value):
    return f"{value:.4f}" if abs(value) > 1e-3 or value == 0 else f"{value:.4e}"


def _duration(seconds):
    if seconds > HOUR:
        return f"{seconds // HOUR:.0f}:{seconds % HOUR // MINUTE:02.0f}:{seconds % MINUTE:02.0f}"
    if seconds > MINUTE:
        return f"{seconds // MINUTE:.0f}:{seconds % MINUTE:02.0f}"
    return f"{seconds:.0f}s"


def _short(seconds):
    if seconds >= 1 or seconds == 0:
        return f"{seconds:.0f}s"
    return f"{seconds * 1e3:.0f}ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f}us"


def _columns():
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns - 1
    except (OSError, ValueError, AttributeError):  # a notebook: no limit is known
        return None


def _can_draw_over():
    if "PYCHARM_HOSTED" in os.environ or "ipykernel" in sys.modules:
        return True
    isatty = getattr(sys.stdout, "isatty", None)
    return bool(isatty and isatty()) and os.environ.get("TERM") != "dumb"
