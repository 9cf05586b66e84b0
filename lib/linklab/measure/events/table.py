"""Events as a table that can be asked, and that shows itself in a notebook."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from html import escape
from typing import Final, Literal, NamedTuple, get_args

from linklab.errors import MeasurementError, quoted

EventKind = Literal[
    "loss",
    "retransmission",
    "window",
    "timeout",
    "queue full",
    "longest wait",
    "neighbour",
    "route",
    "cut",
    "healed",
    "rule",
    "flow begins",
    "flow ends",
]
"""What an event is about. Packets tell of the routes and rules by which they went."""
_KINDS: Final = get_args(EventKind)
_SHOWN: Final = 50
"""Rows of a table that is shown; a run may have thousands of losses."""
_HEADINGS: Final = ("time (s)", "event", "where", "what", "why", "flow")


class Event(NamedTuple):
    """Something that happened. `at_s` is the picture's time: seconds since the recording's first packet.

    `where` is an interface, a node or a cable ("r1-r2"). `what` is a sentence; `why` says the cause in one or more, and
    is empty where none is known. `packet` is the number of the packet that it is about (`PacketHop.packet`), None where
    it is about none. `flow` is the flow's name as the picture has it, or empty.
    """

    at_s: float
    kind: EventKind
    where: str
    what: str
    why: str = ""
    packet: int | None = None
    flow: str = ""


class Events(tuple[Event, ...]):
    """The events of a recording, in the order of time."""

    __slots__ = ()

    def of(self, *kinds: EventKind, where: str = "", flow: str = "") -> Events:
        """Return the events of these kinds (all, if none is named), at one place, and of one flow.

        `where` is a place as the events have it; `flow` a flow's name, or a word of it: "h1".

        Raises MeasurementError for a kind that there is not.
        """
        for kind in kinds:
            if kind not in _KINDS:
                raise MeasurementError(f"there is no kind of event {quoted(kind)}: choose of {', '.join(_KINDS)}")
        named = re.compile(rf"(?<![\w-]){re.escape(flow)}(?![\w-])" if flow else "")
        return Events(
            it
            for it in self
            if (not kinds or it.kind in kinds) and (not where or it.where == where) and named.search(it.flow)
        )

    def first(self, *kinds: EventKind, where: str = "", flow: str = "") -> Event:
        """Return the first event of these kinds; see `of`. Raises MeasurementError where there is none."""
        return self._some(*kinds, where=where, flow=flow)[0]

    def last(self, *kinds: EventKind, where: str = "", flow: str = "") -> Event:
        """Return the last event of these kinds; see `of`. Raises MeasurementError where there is none."""
        return self._some(*kinds, where=where, flow=flow)[-1]

    def _some(self, *kinds: EventKind, where: str, flow: str) -> Events:
        found = self.of(*kinds, where=where, flow=flow)
        if not found:
            there = ", ".join(f"{count} {kind}" for kind, count in Counter(it.kind for it in self).items())
            raise MeasurementError(f"no such event is in this recording: it has {there or 'none'}")
        return found

    def __repr__(self) -> str:
        widths = [max(len(row[column]) for row in (_HEADINGS, *self._rows)) for column in range(3)]
        lines = [
            "  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), " ".join(row[3:5])])
            for row in (_HEADINGS, *self._rows)
        ]
        return "\n".join([*lines, *self._more])

    def _repr_html_(self) -> str:
        """Return what a notebook shows for it."""
        head = "".join(f'<th scope="col">{text}</th>' for text in _HEADINGS)
        rows = ["".join(f"<td>{escape(text)}</td>" for text in row) for row in self._rows]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        more = "".join(f"<p>{text}</p>" for text in self._more)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"

    @property
    def _rows(self) -> Iterable[tuple[str, ...]]:
        return [(f"{it.at_s:.6f}", it.kind, it.where, it.what, it.why, it.flow) for it in self[:_SHOWN]]

    @property
    def _more(self) -> list[str]:
        more = len(self) - _SHOWN
        return [f"and {more:,} more: .of('loss') has those of one kind"] if more > 0 else []
