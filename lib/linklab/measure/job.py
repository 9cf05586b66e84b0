"""The tools that carry out flows: what each needs first, its commands, and how its output becomes a result."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure.flows import Flow, PingFlow, SimpleperfFlow, TcpFlow, UdpFlow
from linklab.measure.probe import tool_version
from linklab.measure.program_file import Brought, bring
from linklab.measure.results import Origin, Result
from linklab.measure.tools.iperf3 import parse_tcp, parse_udp
from linklab.measure.tools.ping import parse_ping
from linklab.measure.tools.simpleperf import last_words, name_of, no_server, parse_simpleperf


@dataclass
class Job:
    """One flow of a run: `said` collects what the client printed, `status` is its exit status once it has ended."""

    flow: Flow
    address: str
    port: int
    tool: str = ""
    program: Brought | None = None
    said: str = ""
    status: int | None = None
    server_said: str = ""

    def prepare(self, lab: Lab) -> None:
        """Asks for the tool and brings the program along. Raises MeasurementError with the fix where one is missing."""
        if isinstance(self.flow, SimpleperfFlow):
            python = tool_version(lab, "python3", self.flow.source)
            self.program = bring(lab, self.flow.program)
            self.tool = f"{self.program.title} on {python}"
        else:
            self.tool = tool_version(lab, "ping" if isinstance(self.flow, PingFlow) else "iperf3", self.flow.source)

    def server_command(self, *, first: bool) -> str | None:
        """The server's command; None for a flow that needs none. `first`: before all others on its processor."""
        if isinstance(self.flow, PingFlow):
            return None
        if isinstance(self.flow, SimpleperfFlow):
            assert self.program is not None
            return self.program.command(self.flow.server_words(self.program.file, self.address, self.port))
        # A guest has one processor, and iperf3's client polls at the end of a test: on a machine of its own the server
        # would read meanwhile what still arrives.
        prefix = "chrt --fifo 1 " if first else ""
        return f"exec env LC_ALL=C {prefix}iperf3 --json -s -1 -p {self.port}"

    def client_command(self) -> str:
        """The client's command."""
        if isinstance(self.flow, PingFlow):
            return f"exec env LC_ALL=C {shlex.join(self.flow.words(self.address))}"
        if isinstance(self.flow, SimpleperfFlow):
            assert self.program is not None
            return self.program.command(self.flow.words(self.program.file, self.address, self.port))
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
            return no_server(said, what, self.flow)
        return MeasurementError(f"the iperf3 server on {node} {what}; it said: {said.strip() or 'nothing'}")

    def overdue(self) -> MeasurementError:
        """What to say of a client that does not come to its end."""
        flow = self.flow
        if isinstance(flow, SimpleperfFlow):
            return MeasurementError(
                f"{name_of(flow)} from {flow.source} to {flow.destination} was not done after {flow.longest_s:g} s of "
                f"the lab's time and was ended; {last_words(self.said)}; "
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
