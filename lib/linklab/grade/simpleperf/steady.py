"""A place that outlives its lab: with it one scene is lost, which is played once more in a fresh one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linklab.errors import LabError
from linklab.grade.simpleperf.place import Place


class SteadyPlace:
    """A place, made anew if it dies. Raises LabError where none can be made, and where a scene fails in a fresh one."""

    def __init__(self, make: Callable[[], Place]) -> None:
        self._make = make
        self._place = make()
        self.virtual, self.pace_mbps, self.title = self._place.virtual, self._place.pace_mbps, self._place.title
        self._closed = False

    @property
    def server(self) -> str:
        """As `Place.server`."""
        return self._place.server

    @property
    def relay(self) -> str:
        """As `Place.relay`."""
        return self._place.relay

    @property
    def shaped(self) -> str | None:
        """As `Place.shaped`."""
        return self._place.shaped

    def play(self, plans: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """As `Place.play`."""
        if self._closed:
            self._renew()
        try:
            return self._place.play(plans)
        except LabError:
            self._renew()
            return self._place.play(plans)

    def _renew(self) -> None:
        self.close()
        self._place = self._make()
        self._closed = False

    def close(self) -> None:
        """As `Place.close`."""
        if not self._closed:
            self._closed = True
            self._place.close()
