"""Flows carried out in a lab: tools are probed, servers listen, clients start together, every program is ended."""

from __future__ import annotations

import contextlib
import itertools
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from linklab.errors import LabError, MeasurementError
from linklab.lab import Lab
from linklab.measure.flows import Flow, PingFlow, TcpFlow, UdpFlow
from linklab.measure.iperf3 import parse_tcp, parse_udp
from linklab.measure.ping import parse_ping
from linklab.measure.probe import tool_version
from linklab.measure.results import Origin, PingResult, Result, TcpResult, UdpResult
from linklab.program import Program

FIRST_PORT = 5201
_PATIENCE_S = 10.0
_READY = "ready"
_gates = itertools.count(1)
_ADDRESS = re.compile(r"\binet ([\d.]+)/")


@dataclass(frozen=True)
class AtOnce:
    """What flows that ran at one time gave, in their order; `start_skew_ms` lies between the first and last start."""

    results: tuple[Result, ...]
    start_skew_ms: float


def ping(lab: Lab, flow: PingFlow) -> PingResult:
    """Pings. Raises MeasurementError where it cannot be done or read; packets without an answer are a result."""
    (result,) = at_once(lab, [flow]).results
    assert isinstance(result, PingResult)
    return result


def tcp(lab: Lab, flow: TcpFlow) -> TcpResult:
    """Transfers data over TCP. Raises MeasurementError where it cannot be done or read."""
    (result,) = at_once(lab, [flow]).results
    assert isinstance(result, TcpResult)
    return result


def udp(lab: Lab, flow: UdpFlow) -> UdpResult:
    """Sends datagrams at a constant rate. Raises MeasurementError where it cannot be done or read."""
    (result,) = at_once(lab, [flow]).results
    assert isinstance(result, UdpResult)
    return result


def at_once(lab: Lab, flows: Sequence[Flow]) -> AtOnce:
    """Carries out all flows at one time: each begins when all their servers listen and all their tools are ready.

    Raises MeasurementError for the first flow that cannot be done or read, and LabError for a node that is not
    there. Either way, and at Ctrl-C, no program of theirs is left running.
    """
    if not flows:
        raise MeasurementError("there is no flow to measure: give at least one")
    origins = [_origin(lab, flow) for flow in flows]
    addresses = [flow.address or address_of(lab, flow.destination) for flow in flows]
    with contextlib.ExitStack() as programs:
        servers = [_server(programs, lab, flow, port) for port, flow in enumerate(flows, FIRST_PORT)]
        gate = _Gate(programs, lab, flows[0].source) if len(flows) > 1 else None
        clients = []
        for port, (flow, address) in enumerate(zip(flows, addresses, strict=True), FIRST_PORT):
            words = flow.words(address) if isinstance(flow, PingFlow) else flow.words(address, port)
            command = f"exec env LC_ALL=C {shlex.join(words)}"
            clients.append(_started(programs, lab, flow.source, command if gate is None else gate.before(command)))
        if gate is not None:
            gate.open(clients)
        told = [_output(client, flow) for client, flow in zip(clients, flows, strict=True)]
        starts_s, outputs = zip(*map(_split_start, told), strict=True) if gate is not None else ((0.0,), told)
        results = tuple(map(_read, flows, origins, outputs, servers))
    return AtOnce(results, 1000 * (max(starts_s) - min(starts_s)))


def address_of(lab: Lab, node: str) -> str:
    """The one IPv4 address of a node. Raises MeasurementError for none or several, LabError without such a node."""
    found = _ADDRESS.findall(lab[node].cmd("ip -4 -oneline address show scope global"))
    if len(found) != 1:
        has = f"has the addresses {', '.join(found)}" if found else "has no IPv4 address"
        raise MeasurementError(f"{node} {has}: say which one is meant with address=")
    return str(found[0])


class _Gate:
    """A lock that all clients wait for. Its holder lives in the lab, and its end opens the gate for all at once."""

    def __init__(self, programs: contextlib.ExitStack, lab: Lab, node: str) -> None:
        self._path = f"/tmp/linklab-gate-{next(_gates)}"
        # sleep inherits the locked file; infinity sets no timer that virtual time could jump to
        self._holder = _started(
            programs, lab, node, f"exec 9>{self._path}; flock -x 9; echo {_READY}; exec sleep infinity"
        )
        _wait_ready(self._holder)

    def before(self, command: str) -> str:
        """The command, held back; it prints when it was let go, by the lab's clock."""
        return f"exec 9<{self._path}; echo {_READY}; flock -s 9; exec 9<&-; date +%s.%N; {command}"

    def open(self, clients: Sequence[Program]) -> None:
        """Lets go all clients, once each is ready."""
        for client in clients:
            _wait_ready(client)
        self._holder.terminate()


def _wait_ready(program: Program) -> None:
    while f"{_READY}\n" not in program.output:
        if not program.read(_PATIENCE_S):
            raise MeasurementError(f"{program.command!r} did not get ready: {program.output.strip() or 'no output'}")


def _split_start(said: str) -> tuple[float, str]:
    """When a gated command was let go, and its own output."""
    _, start_s, output = said.split("\n", 2)
    return float(start_s), output


def _server(programs: contextlib.ExitStack, lab: Lab, flow: Flow, port: int) -> Program | None:
    """An iperf3 server for one test, listening; None for a flow that needs none."""
    if isinstance(flow, PingFlow):
        return None
    if _listens(lab, flow.destination, port):
        raise MeasurementError(f"port {port} of {flow.destination} is in use: end the program that listens there")
    # A guest has one processor, and iperf3's client polls at the end of a test: on a machine of its own the server
    # would read meanwhile what still arrives.
    first = "chrt --fifo 1 " if lab.clock == "virtual" else ""
    server = _started(programs, lab, flow.destination, f"exec env LC_ALL=C {first}iperf3 --json -s -1 -p {port}")
    try:
        lab[flow.destination].wait_listening(port, _PATIENCE_S)
    except LabError as error:
        raise MeasurementError(f"{error} iperf3 said: {server.read(0) or 'nothing'}") from None
    return server


def _listens(lab: Lab, node: str, port: int) -> bool:
    with contextlib.suppress(LabError):
        lab[node].wait_listening(port, 0)
        return True
    return False


def _started(programs: contextlib.ExitStack, lab: Lab, node: str, command: str) -> Program:
    """A program that `programs` ends."""
    program = lab[node].popen(command)
    programs.callback(_end, program)
    return program


def _end(program: Program) -> None:
    if program.returncode is None:
        with contextlib.suppress(LabError):  # the lab may have ended, and the program with it
            program.terminate()


def _output(client: Program, flow: Flow) -> str:
    try:
        client.wait(flow.longest_s)
    except LabError:
        raise MeasurementError(
            f"{client.command.rpartition('LC_ALL=C ')[2]!r} on {flow.source} was not done after {flow.longest_s:g} s "
            "of the lab's time and was ended"
        ) from None
    return client.output


def _read(flow: Flow, origin: Origin, said: str, server: Program | None) -> Result:
    if server is None:
        assert isinstance(flow, PingFlow)
        return parse_ping(said, flow, origin)
    with contextlib.suppress(LabError):
        server.wait(_PATIENCE_S)
    _end(server)  # still waits for a client that could not connect
    if isinstance(flow, UdpFlow):
        return parse_udp(said, server.output, flow, origin)
    assert isinstance(flow, TcpFlow)
    return parse_tcp(said, server.output, flow, origin)


def _origin(lab: Lab, flow: Flow) -> Origin:
    tool = "ping" if isinstance(flow, PingFlow) else "iperf3"
    return Origin(tool_version(lab, tool, flow.source), lab.clock, lab.process.kernel_release)
