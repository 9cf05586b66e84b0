"""The tools that carry out flows: what each needs first, its commands, and how its output becomes a result."""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure.flows import Flow, PingFlow, SimpleperfFlow, TcpFlow, UdpFlow
from linklab.measure.iperf3 import parse_tcp, parse_udp
from linklab.measure.ping import parse_ping
from linklab.measure.probe import tool_version
from linklab.measure.results import Origin, Result
from linklab.measure.simpleperf import last_words, name_of, parse_simpleperf

REFERENCE = Path(__file__).parents[3] / "solutions" / "simpleperf.py"
"""The simpleperf that Linklab's own checkout holds."""
_LARGEST_FILE_BYTES = 200_000
_MOST_FILES = 30


@dataclass
class Job:
    """One flow of a run: `said` collects what the client printed, `status` is its exit status once it has ended."""

    flow: Flow
    address: str
    port: int
    tool: str = ""
    file: str = ""
    said: str = ""
    status: int | None = None
    server_said: str = ""

    def prepare(self, lab: Lab) -> None:
        """Asks for the tool and brings the program along. Raises MeasurementError with the fix where one is missing."""
        if isinstance(self.flow, SimpleperfFlow):
            self.tool, self.file = _installed(lab, self.flow)
        else:
            self.tool = tool_version(lab, "ping" if isinstance(self.flow, PingFlow) else "iperf3", self.flow.source)

    def server_command(self, *, first: bool) -> str | None:
        """The server's command; None for a flow that needs none. `first`: before all others on its processor."""
        if isinstance(self.flow, PingFlow):
            return None
        if isinstance(self.flow, SimpleperfFlow):
            words = self.flow.server_words(self.file, self.address, self.port)
            return f"exec env PYTHONUNBUFFERED=1 {shlex.join(words)}"
        # A guest has one processor, and iperf3's client polls at the end of a test: on a machine of its own the server
        # would read meanwhile what still arrives.
        prefix = "chrt --fifo 1 " if first else ""
        return f"exec env LC_ALL=C {prefix}iperf3 --json -s -1 -p {self.port}"

    def client_command(self) -> str:
        """The client's command."""
        if isinstance(self.flow, PingFlow):
            return f"exec env LC_ALL=C {shlex.join(self.flow.words(self.address))}"
        if isinstance(self.flow, SimpleperfFlow):
            # unbuffered: a program that does not flush its lines would show them all at its end
            return f"exec env PYTHONUNBUFFERED=1 {shlex.join(self.flow.words(self.file, self.address, self.port))}"
        return f"exec env LC_ALL=C {shlex.join(self.flow.words(self.address, self.port))}"

    @property
    def server_ends_itself(self) -> bool:
        """Whether the server ends after one client."""
        return isinstance(self.flow, TcpFlow | UdpFlow)

    @property
    def connections(self) -> int:
        """How many rows a simpleperf's server prints."""
        return self.flow.streams if isinstance(self.flow, SimpleperfFlow) else 0

    def no_server(self, said: str, status: int | None) -> MeasurementError:
        """What to say of a server that does not listen."""
        node, what = self.flow.destination, "ended" if status is not None else "does not listen"
        if isinstance(self.flow, SimpleperfFlow):
            name = name_of(self.flow)
            return MeasurementError(
                f"the server of {name} on {node} {what}; it printed last: {last_words(said)!r}; "
                f"try it alone (linklab check {name})"
            )
        return MeasurementError(f"the iperf3 server on {node} {what}; it said: {said.strip() or 'nothing'}")

    def overdue(self) -> MeasurementError:
        """What to say of a client that does not come to its end."""
        flow = self.flow
        if isinstance(flow, SimpleperfFlow):
            return MeasurementError(
                f"{name_of(flow)} from {flow.source} to {flow.destination} was not done after {flow.longest_s:g} s of "
                f"the lab's time and was ended; it printed last: {last_words(self.said)!r}; "
                f"try it alone (linklab check {name_of(flow)})"
            )
        words = flow.words(self.address) if isinstance(flow, PingFlow) else flow.words(self.address, self.port)
        return MeasurementError(
            f"{shlex.join(words)!r} on {flow.source} was not done after {flow.longest_s:g} s of the lab's time and was "
            "ended"
        )

    def read(self, origin: Origin, *, interrupted: bool) -> Result:
        """The result. Raises MeasurementError for what cannot be read."""
        if isinstance(self.flow, PingFlow):
            return parse_ping(self.said, self.flow, origin, interrupted=interrupted)
        if isinstance(self.flow, SimpleperfFlow):
            both = (self.said, self.server_said)
            return parse_simpleperf(*both, self.status, self.flow, origin, interrupted=interrupted)
        if isinstance(self.flow, UdpFlow):
            return parse_udp(self.said, self.server_said, self.flow, origin, interrupted=interrupted)
        return parse_tcp(self.said, self.server_said, self.flow, origin, interrupted=interrupted)


def _installed(lab: Lab, flow: SimpleperfFlow) -> tuple[str, str]:
    """What to call the program in metadata, and where its copy lies in the lab: on the lab's own /tmp."""
    python = tool_version(lab, "python3", flow.source)
    files = program_files(flow.program)
    name = next(iter(files))
    digest = hashlib.sha256(b"\0".join(files.values())).hexdigest()[:12]
    whose = f"{name} of Linklab" if flow.program is None else name
    folder = f"/tmp/linklab-simpleperf-{digest}"
    encoded = {each: base64.b64encode(data).decode() for each, data in files.items()}
    lab.process.call("linklab.emulation.bring:bring", folder, encoded)
    return f"{whose} (SHA-256 {hashlib.sha256(files[name]).hexdigest()[:12]}) on {python}", f"{folder}/{name}"


def program_files(program: str | Path | None) -> Mapping[str, bytes]:
    """The program, by its file's name, and the Python files beside it, which it may import.

    Raises MeasurementError where there is none, or where it is none.
    """
    path = REFERENCE if program is None else Path(program)
    if not path.is_file():
        if program is None:
            raise MeasurementError("this Linklab comes without its simpleperf.py: name yours with program=")
        raise MeasurementError(f"there is no program {path}: write it first (Lab 02), or leave program= away")
    files = {path.name: _bytes(path)}
    if program is None:
        return files
    for other in sorted(path.resolve().parent.glob("*.py")):
        small = other.is_file() and other.stat().st_size <= _LARGEST_FILE_BYTES
        if small and other.name != path.name and len(files) < _MOST_FILES:
            files[other.name] = _bytes(other)
    return files


def _bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MeasurementError(f"{path} cannot be read: {error.strerror}") from None
    if not data.strip() or len(data) > _LARGEST_FILE_BYTES:
        raise MeasurementError(f"{path} has {len(data)} bytes: that is no simpleperf (Lab 02)")
    return data
