"""What is measured, seen while it runs: a bar with a stop button and a plot, or a program's lines and their plot.

The widgets are there only where somebody can see and click them. A notebook that is executed without a page, as by
``linklab run``, nbconvert or nbval, shows no widgets and measures the same.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Protocol, TypeVar

from linklab.lab import Lab
from linklab.measure import OnProgress, Progress, Stop
from linklab.show.chart import LINES
from linklab.show.rates import Curves, summed, throughput

_REDRAWN_EVERY_S: Final = 0.25
_STEPS: Final = 1000
_What = TypeVar("_What", contravariant=True)
_Given = TypeVar("_Given", covariant=True)


class Measurement(Protocol[_What, _Given]):
    """`linklab.measure.run`, ``run_together``, ``repeated`` and all others that can be watched."""

    def __call__(self, lab: Lab, flows: _What, /, *, on_progress: OnProgress, stop: Stop) -> _Given: ...


def watched(
    measurement: Measurement[_What, _Given], lab: Lab, flows: _What, *, ceiling_mbps: float | None = None
) -> _Given:
    """``measurement(lab, flows)``, with a bar, a stop button and a live plot in the notebook; what it returns.

    ``show.watched(measure.run, lab, TcpFlow("h1", "h4"))``. ``ceiling_mbps`` is drawn into the plot. The stop button
    ends the tools, and what they had measured is returned, marked ``interrupted``. Raises what the measurement raises.
    """
    with Watch(ceiling_mbps=ceiling_mbps) as watch:
        return measurement(lab, flows, on_progress=watch, stop=watch.stopped)


class Watch:
    """What is to be seen of a measurement, for a ``with`` statement: call it with each `Progress`.

    ``stopped`` says whether the button was pressed. Where nobody watches, it shows nothing.
    """

    def __init__(self, *, ceiling_mbps: float | None = None) -> None:
        self._ceiling_mbps = ceiling_mbps
        self._pressed = threading.Event()
        self._panel = _Panel(self._pressed.set) if somebody_watches() else None
        self._last: Progress | None = None
        self._drawn_at: float | None = None

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._panel is not None:
            self._panel.end(self._words_after(failed=kind is not None))

    def stopped(self) -> bool:
        """Return True if the stop button was pressed."""
        return self._pressed.is_set()

    def __call__(self, progress: Progress) -> None:
        """Shows how far it is; a few times a second at most, but always its beginning and its end."""
        self._last = progress
        now_s = time.monotonic()
        due = self._drawn_at is None or now_s - self._drawn_at >= _REDRAWN_EVERY_S
        if self._panel is None or not (due or progress.share in (0.0, 1.0)):
            return
        self._drawn_at = now_s
        self._panel.show(progress, self._ceiling_mbps)

    def _words_after(self, *, failed: bool) -> str:
        if self._last is None:
            return "nothing was measured"
        how = "stopped" if failed or self.stopped() else "measured"
        return f"{how}: {self._last.words}, {self._last.done_s:.1f} s of the lab's time"


class _Panel:
    """The widgets, in the output of the cell that runs."""

    def __init__(self, press: Any) -> None:
        import ipywidgets
        from IPython.display import display

        self._bar = ipywidgets.IntProgress(max=_STEPS, description="", layout={"width": "16em"})
        self._label = ipywidgets.Label()
        self._button = ipywidgets.Button(
            description="Stop", icon="stop", tooltip="End the tools and keep what they have measured"
        )
        self._button.on_click(lambda _: self._stop(press))
        self._plot = ipywidgets.Image(format="png", layout={"display": "none", "max_width": "100%", "width": "720px"})
        row = ipywidgets.HBox([self._bar, self._button, self._label])
        self._box = ipywidgets.VBox([row, self._plot])
        _let_clicks_through(self._button.comm)
        self._handle: Any = display(self._box, display_id=True)  # type: ignore[no-untyped-call]

    def show(self, progress: Progress, ceiling_mbps: float | None) -> None:
        self._bar.value = round(_STEPS * progress.share)
        self._label.value = f"{progress.words}: {progress.done_s:.0f} of {progress.total_s:.0f} s"
        if progress.curves:
            curves = progress.curves if len(progress.curves) <= len(LINES) else summed(progress.curves)
            figure = throughput(curves, ceiling_mbps=ceiling_mbps, duration_s=progress.total_s)
            self._plot.value = figure.png()
            self._plot.layout.display = ""

    def end(self, words: str) -> None:
        """A line of text stays: widgets without their kernel would show an error when the notebook is opened again."""
        self._handle.update({"text/plain": words}, raw=True)
        row = self._box.children[0]
        for widget in (self._box, row, self._plot, *row.children):
            for part in (widget, widget.layout, getattr(widget, "style", None)):
                if part is not None:
                    part.close()

    def _stop(self, press: Any) -> None:
        press()
        self._button.disabled = True
        self._button.description = "Stopping"


def _let_clicks_through(comm: Any) -> None:
    """Has the kernel take what the page says of a widget in the thread that the page asks for, not the cell's own.

    JupyterLab sends it to a thread beside the cell that runs. ipykernel 7.4 sends it back to whoever spoke last through
    that widget, here the cell, which would hear of the click when it has ended; it remembers that in this attribute.
    Kernels that do not have it do as the page says, and where there are no such threads Ctrl-C remains.
    """
    if hasattr(comm, "_reply_subshell_id"):
        del comm._reply_subshell_id


def somebody_watches() -> bool:
    """Return True in the kernel of a page. Jupyter's server names the notebook to kernels of its own only."""
    return _in_notebook() and "JPY_SESSION_NAME" in os.environ


def live(
    lines: Iterable[str],
    read: Callable[[Sequence[str]], Curves],
    *,
    ceiling_mbps: float | None = None,
    duration_s: float | None = None,
) -> Curves:
    """Prints the lines as they come and draws what they say; returns what they said in the end.

    ``lines`` is a `linklab.program.Program`, or anything else that gives lines. ``read`` makes intervals of all lines
    so far. The other arguments are those of `throughput`. One figure stands above the lines and is drawn anew, a few
    times a second at most. Where nobody watches, the last state is what stays in the notebook; outside of notebooks
    only the lines are printed.
    """
    said: list[str] = []
    curves: Curves = {}
    shape: dict[str, Any] = {"ceiling_mbps": ceiling_mbps, "duration_s": duration_s}
    picture = _Picture(curves, shape)
    try:
        for line in lines:
            print(line, flush=True)
            said.append(line)
            found = read(said)
            if found != curves:
                curves = found
                picture.show(curves)
    finally:
        picture.show(curves, finally_=True)
    return curves


class _Picture:
    """The figure in the notebook's output; nothing where there is no notebook."""

    def __init__(self, curves: Curves, shape: dict[str, Any]) -> None:
        self._shape, self._drawn, self._drawn_at = shape, curves, time.monotonic()
        self._handle = _displayed(throughput(curves, **shape)) if _in_notebook() else None

    def show(self, curves: Curves, *, finally_: bool = False) -> None:
        """Draws it anew, unless it has just been drawn; `finally_` draws whatever is not to be seen yet."""
        if self._handle is None or curves == self._drawn:
            return
        if finally_ or time.monotonic() - self._drawn_at >= _REDRAWN_EVERY_S:
            self._handle.update(throughput(curves, **self._shape))
            self._drawn, self._drawn_at = curves, time.monotonic()


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")  # a program that has not loaded IPython is not run by it
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def _displayed(figure: Any) -> Any:
    from IPython.display import display

    return display(figure, display_id=True)  # type: ignore[no-untyped-call]
