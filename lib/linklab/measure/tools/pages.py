"""Web pages, loaded one after another: how long each takes from the first connection to the last byte.

Each object of a page has a connection of its own, one after another, as HTTP/1.0 has them (RFC 1945). So a page of n
small objects takes 2 n round trips, of which half connect. A browser opens several connections and keeps them; what
stays the same is that round trips make the time, and not the rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, ClassVar, Final

from linklab.measure.flows import FlowOf, Positive, WholeSeconds
from linklab.measure.results import Origin, ToolResult
from linklab.measure.tool import Job, Tool, program_command
from linklab.schema import Range

ROUND_TRIPS: Final = 2
"""Round trips of one small object: one to connect, one for the request and its answer."""
_PROGRAM: Final = "pages.py"
_WAIT_S: Final = 120
"""How long the client waits for a connection, or for data, before it gives up."""


@dataclass(frozen=True)
class PageFlow(FlowOf["PageResult"]):
    """Pages that `source` loads from `destination` for `duration_s`, with a pause of `pause_s` after each.

    A page has `objects` of `object_bytes`. The last page that has begun in time is loaded to its end. Raises
    MeasurementError for a duration that is not of whole seconds, a pause that is not positive, objects outside 1 to
    100, or bytes outside 1 to 10 million. An object up to 14,480 bytes comes in one round trip (RFC 6928).
    """

    tool_name: ClassVar[str] = "page"

    duration_s: WholeSeconds = 20
    objects: Annotated[int, Range(ge=1, le=100)] = 6
    object_bytes: Annotated[int, Range(ge=1, le=10_000_000)] = 10_000
    pause_s: Positive = 1.0

    @property
    def longest_s(self) -> float:
        """Latest time by which it must have ended, even if the last page's objects hardly come."""
        return super().longest_s + self.objects * _WAIT_S

    @property
    def round_trips(self) -> int:
        """How many round trips a page of small objects takes."""
        return ROUND_TRIPS * self.objects


@dataclass(frozen=True, repr=False)
class PageResult(ToolResult):
    """When each page began, in seconds since the flow's start, and how long it took, in ms."""

    QUANTITY: ClassVar[str] = "page_mean_ms"

    flow: PageFlow
    origin: Origin
    begin_s: tuple[float, ...]
    page_ms: tuple[float, ...]

    @property
    def page_mean_ms(self) -> float | None:
        """The mean page load time."""
        return fmean(self.page_ms) if self.page_ms else None


class Pages(Tool[PageFlow, PageResult]):
    """Linklab's own web server, which runs until it is ended, and client."""

    flow = PageFlow
    result = PageResult
    waits_for_gate = True

    def server(self, job: Job[PageFlow]) -> str:
        """Return the server's command."""
        return program_command(
            _PROGRAM, "serve", port=job.port, ip_version=job.flow.ip_version, object_bytes=job.flow.object_bytes
        )

    def client(self, job: Job[PageFlow]) -> str:
        """Return the client's command."""
        flow = job.flow
        pages = {name: getattr(flow, name) for name in ("objects", "duration_s", "pause_s")}
        return program_command(
            _PROGRAM, "load", **job.start, address=job.address, port=job.port, wait_s=_WAIT_S, **pages
        )


PAGES: Final = Pages()
