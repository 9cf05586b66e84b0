"""Define errors for people: one line says what was wrong and what to do."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Final

_QUOTES: Final = reprlib.Repr()
_QUOTES.maxstring = _QUOTES.maxother = 80  # characters


class LinklabError(Exception):
    """Base of all errors that Linklab raises on purpose.

    ``str(error)`` is the whole message. In a notebook it is shown without a traceback, because the
    reader's next step stands in the message and not in Linklab's own source.
    """

    def _render_traceback_(self) -> list[str]:
        """Return what IPython prints instead of a traceback (its hook for exceptions that render themselves)."""
        return [f"{type(self).__name__}: {self}"]


class NetworkError(LinklabError):
    """A network that cannot exist as described: a duplicate address, a rate out of range, ..."""


class LabError(LinklabError):
    """The lab process could not be started, was lost, or refused what it was asked."""


class LabTimeout(LabError):
    """A command, or a wait for something in the lab, was not done in the time that it was given."""


class LabEnded(LabError):
    """The lab is gone: it was stopped, or it ended unexpectedly. Another has to be started."""


class UnknownNode(LabError):
    """The lab's network has no node of that name."""


class MeasurementError(LinklabError):
    """Something cannot be measured truthfully here; the message gives the reason and the fix."""


BY_NAME: Final[Mapping[str, type[LinklabError]]] = {
    kind.__name__: kind
    for kind in (LinklabError, NetworkError, LabError, LabTimeout, LabEnded, UnknownNode, MeasurementError)
}
"""The errors that a lab may raise in the notebook, by the name that its message gives: these and no others."""


def quoted(value: object) -> str:
    """Return a value as Python writes it, in one line, with ``...`` in place of what makes it long."""
    return " ".join(_QUOTES.repr(value).split())
