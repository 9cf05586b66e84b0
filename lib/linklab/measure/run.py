"""Flows carried out in a lab: tools are probed, servers listen, clients start together, every program is ended."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from linklab import __version__
from linklab.errors import LabError, MeasurementError
from linklab.lab import Lab
from linklab.measure.addresses import address_in, address_of
from linklab.measure.crew import PATIENCE_S, Crew, Gate, Member, split_start
from linklab.measure.flows import Flow, PingFlow, SimpleperfFlow, TcpFlow, UdpFlow, due_s
from linklab.measure.job import Job
from linklab.measure.progress import OnProgress, Progress, Stop, curves
from linklab.measure.results import PingResult, Result, SimpleperfResult, TcpResult, UdpResult
from linklab.measure.simpleperf_rows import plain_rows
from linklab.measure.stopped import MeasurementStopped
from linklab.measure.surroundings import Before, origin_of
from linklab.measure.trust import Fidelity, Surroundings

__all__ = ["FIRST_PORT", "AtOnce", "address_of", "at_once", "ping", "simpleperf", "tcp", "udp"]

FIRST_PORT = 5201
_LAST_WORDS_S = 0.25
_LOOKS = 20


@dataclass(frozen=True)
class AtOnce:
    """What flows that ran at one time gave, in their order.

    `start_skew_ms` lies between the first and the last start, of which `start_s` of flows is taken off. `interrupted`:
    the run was stopped, and what could not be read of it is missing in `results`.
    """

    results: tuple[Result, ...]
    start_skew_ms: float
    interrupted: bool = False

    @property
    def fidelity(self) -> Fidelity | None:
        """What was seen of the machine and the network meanwhile."""
        return self.results[0].fidelity if self.results else None


def ping(lab: Lab, flow: PingFlow, *, on_progress: OnProgress | None = None, stop: Stop | None = None) -> PingResult:
    """Pings. Raises MeasurementError where it cannot be done or read; packets without an answer are a result."""
    (result,) = at_once(lab, [flow], on_progress=on_progress, stop=stop).results
    assert isinstance(result, PingResult)
    return result


def tcp(lab: Lab, flow: TcpFlow, *, on_progress: OnProgress | None = None, stop: Stop | None = None) -> TcpResult:
    """Transfers data over TCP. Raises MeasurementError where it cannot be done or read."""
    (result,) = at_once(lab, [flow], on_progress=on_progress, stop=stop).results
    assert isinstance(result, TcpResult)
    return result


def udp(lab: Lab, flow: UdpFlow, *, on_progress: OnProgress | None = None, stop: Stop | None = None) -> UdpResult:
    """Sends datagrams at a constant rate. Raises MeasurementError where it cannot be done or read."""
    (result,) = at_once(lab, [flow], on_progress=on_progress, stop=stop).results
    assert isinstance(result, UdpResult)
    return result


def simpleperf(
    lab: Lab, flow: SimpleperfFlow, *, on_progress: OnProgress | None = None, stop: Stop | None = None
) -> SimpleperfResult:
    """Transfers data by a simpleperf.

    Raises MeasurementError, with what the program said last, where it crashes, hangs or prints what is not known.
    """
    (result,) = at_once(lab, [flow], on_progress=on_progress, stop=stop).results
    assert isinstance(result, SimpleperfResult)
    return result


def at_once(
    lab: Lab,
    flows: Sequence[Flow],
    *,
    offset_s: float = 0.0,
    on_progress: OnProgress | None = None,
    stop: Stop | None = None,
) -> AtOnce:
    """Carries out all flows at one time: each begins when all their servers listen and all their tools are ready.

    All begin `offset_s` of the lab's time after that, and a flow with `start_s` so much later still. `on_progress`
    gets a `Progress` each second of the lab's time. `stop` is asked several times a second whether to stop; then the
    tools are ended as by Ctrl-C, and what they had measured comes back, marked `interrupted`.

    Raises MeasurementError for the first flow that cannot be done or read, LabError for a node that is not there, and
    `MeasurementStopped` (a KeyboardInterrupt, with what was measured as `partial`) at Ctrl-C, or where nothing was
    measured yet. Either way no program of theirs is left running.
    """
    if not flows:
        raise MeasurementError("there is no flow to measure: give at least one")
    if not offset_s >= 0:
        raise MeasurementError(f"offset_s is {offset_s}: choose 0 or more seconds")
    for flow in flows:
        for node in (flow.source, flow.destination):
            lab[node]  # raises for one that is not there, before anything runs
    with Crew(lab) as crew:
        return _Run(lab, flows, crew, offset_s, on_progress, stop).results()


class _Run:
    """One run, from the first look around to its results."""

    def __init__(
        self,
        lab: Lab,
        flows: Sequence[Flow],
        crew: Crew,
        offset_s: float,
        on_progress: OnProgress | None,
        stop: Stop | None,
    ) -> None:
        self._lab, self._crew, self._offset_s = lab, crew, offset_s
        self._on_progress, self._stop = on_progress, stop
        self._total_s = offset_s + max(map(due_s, flows))
        self._before = Before(lab)
        network = self._before.network
        self._jobs = [
            Job(flow, flow.address or address_in(network, flow.destination), port)
            for port, flow in enumerate(flows, FIRST_PORT)
        ]
        self._clients: list[Member] = []
        self._servers: list[Member | None] = []
        self._gated = len(flows) > 1 or offset_s > 0 or any(flow.start_s for flow in flows)
        self._failure: Exception | None = None
        self._stopping = False

    def results(self) -> AtOnce:
        """Carries it out."""
        for job in self._jobs:
            job.prepare(self._lab)
        self._tell(0.0)
        self._servers = [self._server(job) for job in self._jobs]
        self._start_clients()
        stopped, pressed = self._follow_clients()
        if self._failure is not None:
            raise self._failure
        unfinished = [client.running for client in self._clients]
        if stopped or pressed:
            self._crew.interrupt(self._clients)
        starts_s = self._collect()
        if not stopped and not pressed and any(unfinished):
            raise self._jobs[unfinished.index(True)].overdue()
        surroundings = self._before.after(self._crew.late_ms, self._crew.longest_late_ms)
        results = self._read(surroundings, unfinished)
        begun = [start - job.flow.start_s for start, job in zip(starts_s, self._jobs, strict=True) if start is not None]
        found = AtOnce(
            tuple(results), 1000 * (max(begun) - min(begun)) if len(begun) > 1 else 0.0, interrupted=stopped or pressed
        )
        if pressed or (stopped and not results):
            kept = f"{len(results)} of {len(self._jobs)} flows are kept in its .partial" if results else "nothing yet"
            raise MeasurementStopped(f"the measurement was stopped; measured: {kept}", found if results else None)
        return found

    def _server(self, job: Job) -> Member | None:
        """A server for one test, listening; None for a flow that needs none."""
        node, port = job.flow.destination, job.port
        command = job.server_command(first=self._lab.clock == "virtual")
        if command is None:
            return None
        if self._listens(node, port, 0):
            raise MeasurementError(f"port {port} of {node} is in use: end the program that listens there")
        server = self._crew.start(node, command)
        deadline_s = self._lab.now() + PATIENCE_S
        while not self._listens(node, port, 0.5):
            if server.program.poll() is not None or self._lab.now() >= deadline_s:
                said = server.program.output or server.program.read(0)
                raise job.no_server(said, server.program.returncode)
        return server

    def _listens(self, node: str, port: int, patience_s: float) -> bool:
        with contextlib.suppress(LabError):
            self._lab[node].wait_listening(port, patience_s)
            return True
        return False

    def _start_clients(self) -> None:
        gate = Gate(self._crew, self._jobs[0].flow.source) if self._gated else None
        for job in self._jobs:
            command = job.client_command()
            if gate is not None:
                command = gate.before(command, self._offset_s + job.flow.start_s)
            self._clients.append(self._crew.start(job.flow.source, command))
        if gate is not None:
            gate.open(self._clients)

    def _follow_clients(self) -> tuple[bool, bool]:
        """Whether it was stopped by the hook, and whether by Ctrl-C."""
        limit_s = self._offset_s + max(job.flow.longest_s for job in self._jobs)
        stop = self._asked if self._stop is not None or self._on_progress is not None else None
        try:
            outcome = self._crew.follow(self._clients, limit_s, self._tell, stop)
        except KeyboardInterrupt:
            return self._stopping, not self._stopping
        return outcome == "interrupted", False

    def _asked(self) -> bool:
        self._stopping = self._stopping or self._failure is not None or (self._stop is not None and self._stop())
        return self._stopping

    def _tell(self, done_s: float) -> None:
        if self._on_progress is None or self._failure is not None:
            return
        said = [split_start(c.program.output)[1] if self._gated else c.program.output for c in self._clients]
        flows = tuple(job.flow for job in self._jobs)
        so_far = curves(flows, said) if said else {}
        try:
            self._on_progress(Progress(flows, done_s, self._total_s, so_far))
        except Exception as failure:  # the lab must finish its answer first
            self._failure = failure

    def _collect(self) -> list[float | None]:
        """Gathers what all have said; when each client began."""
        pairs = list(zip(self._jobs, self._servers, strict=True))
        self._crew.follow([server for job, server in pairs if server and job.server_ends_itself], PATIENCE_S)
        talking = [(job, server) for job, server in pairs if server and not job.server_ends_itself]
        for _ in range(_LOOKS):
            if all(len(plain_rows(server.program.output.splitlines())) >= job.connections for job, server in talking):
                break
            self._crew.follow([server for _, server in talking], _LAST_WORDS_S)
        starts_s: list[float | None] = []
        for job, client, server in zip(self._jobs, self._clients, self._servers, strict=True):
            said = client.program.output
            start_s, job.said = split_start(said) if self._gated else (0.0, said)
            job.status = client.program.returncode
            starts_s.append(start_s)
            if server is not None:
                self._crew.end(server)  # it may wait for a client that could not connect
                job.server_said = server.program.output
        return starts_s

    def _read(self, around: Surroundings, cut_short: Sequence[bool]) -> list[Result]:
        results: list[Result] = []
        for job, cut in zip(self._jobs, cut_short, strict=True):
            origin = replace(
                origin_of(job.tool, self._lab),
                network=around.network,
                machine=around.machine,
                linklab=__version__,
                started_at=around.started_at,
                virtual_s=around.fidelity.virtual_s,
                wall_s=around.fidelity.wall_s,
            )
            # of a run that was stopped, what had not begun yet is left out
            with contextlib.suppress(MeasurementError) if cut else contextlib.nullcontext():
                results.append(job.read(origin, interrupted=cut))
        disordered = sum(result.out_of_order_packets for result in results if isinstance(result, UdpResult))
        seen = around.fidelity
        fidelity = replace(seen, reordered_packets=seen.reordered_packets + disordered)
        return [replace(result, fidelity=fidelity) for result in results]
