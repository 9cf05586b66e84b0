"""What is measured, seen while it runs: a figure that grows, and above it a bar with a stop button where tools run.

The bar is there only where somebody can see and click it. A notebook that is executed without a page, as by
``linklab run``, nbconvert or nbval, shows no widgets and measures the same.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Protocol, TypeVar

from linklab.lab import Lab
from linklab.measure import OnProgress, Progress, ShouldStop
from linklab.show.chart import LINES
from linklab.show.over_time import Intervals, summed, throughput

_REDRAWN_EVERY_S: Final = 0.25
_STEPS: Final = 1000
_What = TypeVar("_What", contravariant=True)
_Given = TypeVar("_Given", covariant=True)


class Measurement(Protocol[_What, _Given]):
    """`linklab.measure.run`, ``run_together``, ``repeated`` and all others that can be watched."""

    def __call__(self, lab: Lab, flows: _What, /, *, on_progress: OnProgress, stop: ShouldStop) -> _Given: ...


def watched(measurement: Measurement[_What, _Given], lab: Lab, flows: _What) -> _Given:
    """Return ``measurement(lab, flows)``; meanwhile the notebook shows a bar, a stop button and a live figure.

    ``show.watched(measure.run, lab, TcpFlow("h1", "h4"))``. The stop button ends the tools, and what they had measured
    is returned, marked ``interrupted``. Raises what the measurement raises.
    """
    with Watch() as watch:
        return measurement(lab, flows, on_progress=watch, stop=watch.stopped)


def live(
    lines: Iterable[str],
    read: Callable[[Sequence[str]], Intervals],
    *,
    ceiling_mbps: float | None = None,
    duration_s: float | None = None,
) -> Intervals:
    """Print lines as they come and draw what they say; return what they said in the end.

    ``lines`` is a `linklab.program.Program`, or anything else that gives lines. ``read`` makes intervals of all lines
    so far. The other arguments are those of `throughput`. One figure stands above the lines and is drawn anew, a few
    times a second at most. Where nobody watches, it is drawn once, below them; outside of notebooks only the lines
    are printed.
    """
    said: list[str] = []
    found: Intervals = {}
    figure = _LiveFigure(ceiling_mbps)
    figure.show(found, duration_s)
    try:
        for line in lines:
            print(line, flush=True)
            said.append(line)
            found = read(said)
            figure.show(found, duration_s)
    finally:
        figure.show(found, duration_s, now=True)
    return found


class _LiveFigure:
    """A figure in the output of the cell that runs; nothing outside of notebooks.

    It is drawn anew a few times a second where somebody watches, and else once, at the end.
    """

    def __init__(self, ceiling_mbps: float | None = None) -> None:
        self._ceiling_mbps = ceiling_mbps
        self._handle: Any = None
        self._drawn: Intervals | None = None
        self._drawn_at = -math.inf

    def show(self, found: Intervals, duration_s: float | None, *, now: bool = False) -> None:
        """Draw intervals, unless they are to be seen already; soon after the last time only if it must be now."""
        due = now or (somebody_watches() and time.monotonic() - self._drawn_at >= _REDRAWN_EVERY_S)
        if not due or found == self._drawn or not _in_notebook():
            return
        shown = found if len(found) <= len(LINES) else summed(found)
        figure = throughput(shown, ceiling_mbps=self._ceiling_mbps, duration_s=duration_s)
        if self._handle is None:
            self._handle = _displayed(figure)
        else:
            self._handle.update(figure)
        self._drawn, self._drawn_at = found, time.monotonic()

    def remove(self) -> None:
        """Take the figure out of the output."""
        if self._handle is not None:
            self._handle.update({}, raw=True)


class Watch:
    """What is to be seen of a measurement, for a ``with`` statement: call it with each `Progress`.

    ``stopped`` says whether the button was pressed. Where nobody watches, it shows nothing.
    """

    def __init__(self) -> None:
        self._pressed = threading.Event()
        self._bar = _Bar(self._pressed.set) if somebody_watches() else None
        self._figure = _LiveFigure()
        self._last: Progress | None = None

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._bar is None:
            return
        self._figure.remove()
        how = "stopped" if kind is not None or self.stopped() else "measured"
        last = self._last
        self._bar.end(
            f"{how}: {last.flow_titles}, {last.done_s:.1f} s of the lab's time" if last else "nothing was measured"
        )

    def stopped(self) -> bool:
        """Return True if the stop button was pressed."""
        return self._pressed.is_set()

    def __call__(self, progress: Progress) -> None:
        """Show how far the measurement is."""
        self._last = progress
        if self._bar is not None:
            self._bar.show(progress)
            if progress.curves:
                self._figure.show(progress.curves, progress.total_s, now=progress.share == 1)


class _Bar:
    """How far a measurement is, and a button that stops it, in the output of the cell that runs."""

    def __init__(self, press: Callable[[], object]) -> None:
        import ipywidgets

        self._bar = ipywidgets.IntProgress(max=_STEPS, description="", layout={"width": "16em"})
        self._label = ipywidgets.Label()
        tooltip = "End the tools and keep what they have measured"
        self._button = ipywidgets.Button(description="Stop", icon="stop", tooltip=tooltip)
        self._button.on_click(lambda _: self._stop(press))
        self._row = ipywidgets.HBox([self._bar, self._button, self._label])
        _let_clicks_through(self._button.comm)
        self._handle = _displayed(self._row)

    def show(self, progress: Progress) -> None:
        self._bar.value = round(_STEPS * progress.share)
        self._label.value = f"{progress.flow_titles}: {progress.done_s:.0f} of {progress.total_s:.0f} s"

    def end(self, words: str) -> None:
        """Replace the widgets by a line of text: in a notebook that is opened again they would show an error."""
        self._handle.update({"text/plain": words}, raw=True)
        for widget in (self._row, *self._row.children):
            for part in (widget, widget.layout, getattr(widget, "style", None)):
                if part is not None:
                    part.close()

    def _stop(self, press: Callable[[], object]) -> None:
        press()
        self._button.disabled = True
        self._button.description = "Stopping"


def _let_clicks_through(comm: Any) -> None:
    """Have the kernel hear a click on a widget while the cell still runs.

    JupyterLab sends the click to a thread (a subshell) beside the cell. ipykernel 7.4 hands it on to whoever spoke last
    through that widget, here the cell, which would hear of it after its end; it remembers that in this attribute.
    Kernels without the attribute do as the page says. Kernels without subshells hear Ctrl-C alone.
    """
    if hasattr(comm, "_reply_subshell_id"):
        del comm._reply_subshell_id


def somebody_watches() -> bool:
    """Return True in the kernel of a page. Jupyter's server names the notebook to kernels of its own only."""
    return _in_notebook() and "JPY_SESSION_NAME" in os.environ


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")  # a program that has not loaded IPython is not run by it
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def _displayed(shown: object) -> Any:
    from IPython.display import display

    return display(shown, display_id=True)  # type: ignore[no-untyped-call]
