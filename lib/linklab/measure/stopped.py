"""What ends a measurement before its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linklab.measure.run import AtOnce


class MeasurementStopped(KeyboardInterrupt):
    """Ctrl-C during a measurement: its tools have been ended, and `partial` keeps what they had measured, or is
    None. `runs` has those that had been completed before, of a measurement that is repeated.

    It is a KeyboardInterrupt, so that whatever measures on and on ends too.
    """

    def __init__(self, message: str, partial: AtOnce | None = None) -> None:
        super().__init__(message)
        self.partial = partial
        self.runs: tuple[AtOnce, ...] = ()

    def _render_traceback_(self) -> list[str]:
        """What IPython prints instead of a traceback."""
        return [f"{type(self).__name__}: {self}"]
