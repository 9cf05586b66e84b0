"""What a running program reports of its throughput, drawn while it runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from linklab.show.live_curves import Curves, throughput

_REDRAWN_EVERY_S = 0.25


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
    # a program that has not loaded IPython is not run by it
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and getattr(shell, "kernel", None) is not None


def _displayed(figure: Any) -> Any:
    from IPython.display import display

    return display(figure, display_id=True)  # type: ignore[no-untyped-call]
