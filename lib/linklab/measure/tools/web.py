"""A page with objects over TLS 1.3, by HTTP/1.0, 1.1, 2 or 3: when its name was known, when each part had come.

The server is nginx, the browser libcurl. The browser asks for the base file, and when that is there for all objects at
once; over HTTP/1.0 one after another. `WebFlow.connections` bounds how many connections it has at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from linklab.guest import web
from linklab.measure.flows import FlowOf
from linklab.measure.results import Origin, ToolResult
from linklab.measure.tool import Job, Tool, program_command
from linklab.schema import Range

_PROGRAM: Final = Path(web.__file__)
_WAIT_S: Final = 60
"""How long the browser waits for one file before it gives up."""

Http = Literal["1.0", "1.1", "2", "3"]
"""Versions of HTTP (RFC 1945, 9112, 9113, 9114)."""


@dataclass(frozen=True)
class WebFlow(FlowOf["WebResult"]):
    """A page that `source` loads from `destination`: a base file of `base_bytes`, and `objects` of `object_bytes`.

    HTTP/1.0 opens a connection for each file, HTTP/1.1 opens at most `connections` and keeps them, HTTP/2 and 3 have
    one. With two `visits` the page is loaded a second time, a second later, over new connections, whose TLS sessions
    are resumed; with `early_data` the request then goes out with the first message of TLS (0-RTT, RFC 8446, section
    2.3), except over HTTP/3, for which the lab's curl cannot. With `by_name` the browser asks the name server in the
    node's ``/etc/resolv.conf`` for www.shop.example, else it knows the address. Raises MeasurementError for numbers
    out of their ranges.
    """

    tool_name: ClassVar[str] = "web"

    http: Http = "2"
    objects: Annotated[int, Range(ge=0, le=100)] = 8
    object_bytes: Annotated[int, Range(ge=1, le=10_000_000)] = 1000
    base_bytes: Annotated[int, Range(ge=1, le=10_000_000)] = 1000
    connections: Annotated[int, Range(ge=1, le=6)] = 1
    visits: Annotated[int, Range(ge=1, le=2)] = 1
    early_data: bool = False
    by_name: bool = False

    @property
    def longest_s(self) -> float:
        """Latest time by which it must have ended, even if each file hardly comes."""
        return super().longest_s + self.visits * (1 + self.objects) * _WAIT_S


@dataclass(frozen=True)
class WebObject:
    """An object of a page: its number from 1, when it was asked for, and when it was there, in ms of its visit."""

    number: int
    asked_ms: float
    loaded_ms: float


@dataclass(frozen=True)
class PageVisit:
    """A page that was loaded. Times are in ms since its beginning.

    The name was known at `name_ms`, the base file's connection open at `connected_ms`, its TLS ready at `secure_ms`
    (for HTTP/3 both are one), its first byte there at `first_byte_ms`, and all of it at `base_ms`. `objects` stand in
    the order in which they were complete.
    """

    name_ms: float
    connected_ms: float
    secure_ms: float
    first_byte_ms: float
    base_ms: float
    objects: tuple[WebObject, ...]

    @property
    def page_ms(self) -> float:
        """When the last part of the page was there."""
        return max((it.loaded_ms for it in self.objects), default=self.base_ms)


@dataclass(frozen=True, repr=False)
class WebResult(ToolResult):
    """The visits of a page, in their order."""

    QUANTITY: ClassVar[str] = "page_ms"

    flow: WebFlow
    origin: Origin
    visits: tuple[PageVisit, ...]

    @property
    def page_ms(self) -> float | None:
        """How long the last visit took, from its beginning to the last byte of the page."""
        return self.visits[-1].page_ms if self.visits else None


class Web(Tool[WebFlow, WebResult]):
    """nginx, which runs until it is ended, and libcurl."""

    flow = WebFlow
    result = WebResult
    version_command = "curl --version"
    waits_for_gate = True
    own_program = _PROGRAM

    def server(self, job: Job[WebFlow]) -> str:
        """Return the server's command."""
        files = {name: getattr(job.flow, name) for name in ("objects", "base_bytes", "object_bytes")}
        return program_command(_PROGRAM.name, "serve", port=job.port, **files)

    def client(self, job: Job[WebFlow]) -> str:
        """Return the browser's command."""
        names = ("http", "connections", "objects", "visits", "early_data", "by_name")
        page = {name: getattr(job.flow, name) for name in names}
        return program_command(
            _PROGRAM.name, "load", **job.start, address=job.address, port=job.port, wait_s=_WAIT_S, **page
        )


WEB: Final = Web()
