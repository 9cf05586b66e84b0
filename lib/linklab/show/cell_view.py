"""What a cell of a page shows of its long work: measurements, and checks of programs.

A cell of a page shows its long work by itself. A notebook that is executed without a page, as by ``linklab run``,
nbconvert or nbval, shows none of it and measures the same.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from linklab.measure.runner import Observer, Progress
from linklab.record import somebody_watches
from linklab.show.traffic import Traffic

_REDRAWN_EVERY_S: Final = 0.25
_APPEARS_AFTER_S: Final = 2.0
"""A cell that is done sooner shows nothing."""
_STEPS: Final = 1000
_cell: CellView | None = None
"""What the cell that runs shows."""


class CellView(Observer):
    """What one cell of a page shows of its long work. It appears 2 s after the work began.

    For measurements it shows a bar and a stop button, and in the end a figure of what the links carried, which stays.
    For other work it shows a line of text, which goes. The stop button ends the tools; what they had measured is
    returned, marked ``interrupted``, and the cell's next measurement is not started.
    """

    def __init__(self) -> None:
        self._began_s = time.monotonic()
        self._pressed = threading.Event()
        self._traffic = Traffic()
        self._runs = 0
        self._bar: _Bar | None = None
        self._line = _Output()
        self._doing, self._doing_since_s, self._said_at_s = "", self._began_s, -math.inf

    def stopped(self) -> bool:
        """Return True if the stop button was pressed."""
        return self._pressed.is_set()

    def __call__(self, progress: Progress) -> None:
        """Show how far a measurement is, and note what the links carry."""
        self._runs += progress.done_s == 0
        self._traffic.add(progress)
        if self._is_due():
            self._bar = self._bar or _Bar(self._pressed.set)
            self._bar.show(progress, self._runs)

    def say(self, doing: str) -> None:
        """Show what other work is under way, and how long if it is said again."""
        now_s = time.monotonic()
        if doing != self._doing:
            self._doing, self._doing_since_s = doing, now_s
        if self._bar is not None or not self._is_due() or now_s - self._said_at_s < _REDRAWN_EVERY_S:
            return
        self._said_at_s, passed_s = now_s, int(now_s - self._doing_since_s)
        self._line.show({"text/plain": f"{doing} ..." + (f" {passed_s} s of your time" if passed_s else "")})

    def end(self, *_: object) -> None:
        """End the view: the figure of what the links carried stays, and nothing else."""
        if self._bar is not None:
            if self._traffic.busiest:
                _Output().show(self._traffic.figure())
            self._bar.end()
        self._line.clear()

    def _is_due(self) -> bool:
        return time.monotonic() - self._began_s >= _APPEARS_AFTER_S


def current_view() -> CellView | None:
    """Return what the cell that runs shows; None where nobody watches."""
    global _cell
    if not somebody_watches():
        return None
    if _cell is None:
        from IPython import get_ipython

        view = _cell = CellView()
        events = get_ipython().events

        def end(*_: object) -> None:
            global _cell
            _cell = None
            events.unregister("post_run_cell", end)
            view.end()

        events.register("post_run_cell", end)
    return _cell


def tell(doing: str) -> None:
    """Say in the cell that runs what is under way, where somebody watches: the scene of a check, say."""
    if (view := current_view()) is not None:
        view.say(doing)


class _Output:
    """An output of the cell that runs, which what is shown next takes the place of."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, shown: object) -> None:
        """Show something; a dictionary is Jupyter's bundle."""
        from IPython.display import display

        raw = isinstance(shown, dict)
        if self._handle is None:
            self._handle = display(shown, display_id=True, raw=raw)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(shown, raw=raw)

    def clear(self) -> None:
        """Show nothing any more."""
        if self._handle is not None:
            self.show({})


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
        self._output = _Output()
        self._output.show(self._row)

    def show(self, progress: Progress, run: int) -> None:
        self._bar.value = round(_STEPS * progress.share)
        which = f"measurement {run}, " if run > 1 else ""
        self._label.value = f"{which}{progress.flow_titles}: {progress.done_s:.0f} of {progress.total_s:.0f} s"

    def end(self) -> None:
        """Remove the widgets: in a notebook that is opened again they would show an error."""
        self._output.clear()
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
