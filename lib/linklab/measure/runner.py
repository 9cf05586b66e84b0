"""Carry out flows in a lab: find the tools, start servers, start clients together, and end every program."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from linklab.errors import MeasurementError, UnknownNode, quoted
from linklab.guest import lab_api
from linklab.guest import programs as programs_in_labs
from linklab.lab import Lab
from linklab.measure import recordings
from linklab.measure.flows import Flow, FlowOf, ResultT_co
from linklab.measure.programs import PATIENCE_S, Gate, RunPrograms, split_start
from linklab.measure.results import MeasurementStopped, Origin, Run, Sample, ToolResult
from linklab.measure.snapshot import RunSnapshot
from linklab.measure.tool import IN_LAB, Job, Tool
from linklab.measure.tools import tool_of
from linklab.network import NetworkState
from linklab.program import Program

FIRST_PORT: Final = 5201
_LAST_WORDS_S: Final = 0.25
_LOOKS: Final = 20
_DRAIN_S: Final = 3.0
"""How long what is under way may take when a run is stopped."""
_PROGRAMS: Final = Path(programs_in_labs.__file__).parent


@dataclass(frozen=True)
class Progress:
    """How far a run is: `done_s` of about `total_s` seconds of the lab's time; both are 0 while tools get ready.

    `curves` has the intervals so far, by flow and connection, of those tools that print them while they run:
    simpleperf does, iperf3 with ``--json`` prints all at its end.
    """

    flows: tuple[Flow, ...]
    done_s: float
    total_s: float
    curves: Mapping[str, tuple[Sample, ...]]

    @property
    def share(self) -> float:
        """The share that is done, from 0 to 1."""
        return min(1.0, self.done_s / self.total_s) if self.total_s else 0.0

    @property
    def words(self) -> str:
        """The titles of the flows, in a line."""
        return ", ".join(flow.title for flow in self.flows)


OnProgress = Callable[[Progress], object]
Stop = Callable[[], bool]


def run(
    lab: Lab, flow: FlowOf[ResultT_co], *, on_progress: OnProgress | None = None, stop: Stop | None = None
) -> ResultT_co:
    """Carry out one flow, and return its tool's result: of a `PingFlow` a `PingResult`.

    Lost packets are a result. Raises MeasurementError where it cannot be done or read; see `run_together` for the rest.
    """
    (result,) = run_together(lab, [flow], on_progress=on_progress, stop=stop).results
    found: Any = result
    return found  # type: ignore[no-any-return]  # the tool's parse has this type


def run_together(
    lab: Lab,
    flows: Flow | Sequence[Flow],
    *,
    on_progress: OnProgress | None = None,
    stop: Stop | None = None,
    record: bool | str | Sequence[str] = False,
) -> Run:
    """Carry out all flows at one time, whatever their tools: each starts when all are ready.

    A flow with `start_s` starts so much later by the lab's time. `on_progress` gets a `Progress` each second of it.
    `stop` is asked several times a second whether to stop; then the tools are ended as by Ctrl-C, and what they had
    measured comes back, marked `interrupted`.

    `record` keeps what happens to each packet at all interfaces, or at those that are named (``["r2-eth2"]``) and the
    other ends of their cables: `Run.recording`. The digits are the same with and without it.

    Raises MeasurementError for the first flow that cannot be done or read, LabError for a node that is not there, and
    `MeasurementStopped` (a KeyboardInterrupt, with what was measured as `partial`) at Ctrl-C, or where nothing was
    measured yet. Either way no program of theirs is left running.
    """
    flows = listed(flows)
    tools = [tool_of(flow) for flow in flows]
    for flow in flows:
        for node in (flow.source, flow.destination):
            lab[node]  # raises for one that is not there, before anything runs
    recorded = None if not record else recordings.interfaces_in([] if record is True else record)
    try:
        with RunPrograms(lab) as programs:
            return _Runner(lab, flows, tools, programs, on_progress, stop, recorded).results()
    except MeasurementStopped:
        raise
    except KeyboardInterrupt:
        raise MeasurementStopped("the measurement was stopped; measured: nothing yet") from None
    finally:
        if recorded is not None:
            recordings.drop(lab)


def listed(flows: Flow | Sequence[Flow]) -> tuple[Flow, ...]:
    """Return one flow, or a list of flows, as a tuple. Raises MeasurementError for none, and for what is no flow."""
    if isinstance(flows, FlowOf):
        return (flows,)
    if isinstance(flows, str) or not isinstance(flows, Iterable):
        raise MeasurementError(f"{quoted(flows)} is no flow: give flows in a list, as [PingFlow('h1', 'h4')]")
    found = tuple(flows)
    if not found:
        raise MeasurementError("there is no flow to measure: give at least one")
    for flow in found:
        tool_of(flow)
    return found


def address_in(state: NetworkState, node: str) -> str:
    """Return the one IPv4 address of a node. Raises MeasurementError for none or several, UnknownNode for no node."""
    found = state.node(node)
    if found is None:
        raise UnknownNode(f"there is no node {node!r} here: choose one of {', '.join(n.name for n in state.nodes)}")
    addresses = [address.partition("/")[0] for item in found.interfaces for address in item.addresses]
    if len(addresses) != 1:
        has = f"has the addresses {', '.join(addresses)}" if addresses else "has no IPv4 address"
        raise MeasurementError(f"{node} {has}: say which one is meant with address=")
    return addresses[0]


def curves(flows: Sequence[Flow], said: Sequence[str]) -> dict[str, tuple[Sample, ...]]:
    """Return the intervals that the tools have printed so far, by flow and connection. Pure."""
    return {
        f"{flow.name} {connection}": samples
        for flow, text in zip(flows, said, strict=True)
        for connection, samples in tool_of(flow).curves(flow, text).items()
    }


@dataclass
class _Task:
    """A flow that is carried out: its tool and job, and its programs once they run."""

    tool: Tool[Any, Any]
    job: Job[Any]
    server: Program | None = None
    client: Program | None = None
    start_s: float | None = None


class _Runner:
    """Carries out one run, from reading the network back to the results."""

    def __init__(
        self,
        lab: Lab,
        flows: Sequence[Flow],
        tools: Sequence[Tool[Any, Any]],
        programs: RunPrograms,
        on_progress: OnProgress | None,
        stop: Stop | None,
        record: Sequence[str] | None,
    ) -> None:
        self._lab, self._programs, self._flows = lab, programs, tuple(flows)
        self._on_progress, self._stop = on_progress, stop
        self._total_s = max(flow.start_s + flow.lasts_s for flow in flows)
        self._exact = any(tool.exact for tool in tools)
        self._gated = self._exact or len(flows) > 1 or any(flow.start_s for flow in flows)
        self._gate: Gate | None = None
        self._snapshot, self._records = RunSnapshot(lab, record), record is not None
        network = self._snapshot.network
        self._tasks = [
            _Task(
                tool,
                Job(
                    flow,
                    number,
                    flow.address or address_in(network, flow.destination),
                    FIRST_PORT + number,
                    lab.seed,
                    network,
                ),
            )
            for number, (flow, tool) in enumerate(zip(flows, tools, strict=True))
        ]
        self._failure: Exception | None = None
        self._stopping = False

    def results(self) -> Run:
        """Carry the run out, and return what was measured."""
        for task in self._tasks:
            task.tool.check(self._lab, task.job)
        for task in self._tasks:
            task.tool.prepare(self._lab, task.job)
        self._tell(0.0)
        with ExitStack() as watching:
            if self._exact:
                self._bring_programs()
                self._make_gate()
            for task in self._tasks:
                task.server = self._server(task)
            for task in self._tasks:
                task.job.capture = watching.enter_context(task.tool.watching(self._lab, task.job))
            self._start_clients()
            stopped, pressed = self._follow_clients()
            if self._failure is not None:
                raise self._failure
            for task in self._tasks:
                assert task.client is not None
                task.job.interrupted = task.client.returncode is None
            if stopped or pressed:
                self._programs.interrupt(self._clients)
            self._collect(PATIENCE_S if not stopped and not pressed else _DRAIN_S)
        if not stopped and not pressed:
            overdue = next((task for task in self._tasks if task.job.interrupted), None)
            if overdue is not None:
                raise overdue.tool.overdue(overdue.job)
        reordered = sum(task.tool.reordered(task.job) for task in self._tasks)
        results = self._read(self._snapshot.finish(reordered))
        starts_s = [task.start_s - task.job.flow.start_s for task in self._tasks if task.start_s is not None]
        skew_ms = 1000 * (max(starts_s) - min(starts_s)) if len(starts_s) > 1 else 0.0
        recording = self._recording() if self._records else None
        found = Run(tuple(results), skew_ms, interrupted=stopped or pressed, recording=recording)
        if pressed or (stopped and not results):
            kept = f"{len(results)} of {len(self._tasks)} flows are kept in its .partial" if results else "nothing yet"
            raise MeasurementStopped(f"the measurement was stopped; measured: {kept}", found if results else None)
        return found

    @property
    def _clients(self) -> list[Program]:
        return [task.client for task in self._tasks if task.client is not None]

    def _recording(self) -> recordings.Recording:
        recording = recordings.Recording(self._snapshot.network)
        recordings.fill(recording, self._lab.process.call(lab_api.recorded), *self._snapshot.span_s)
        return recording

    def _bring_programs(self) -> None:
        for file in sorted(_PROGRAMS.glob("*.py")):  # in another folder they may lie in another order
            if not file.name.startswith("__"):
                self._lab.write_file(f"{IN_LAB}/linklab/guest/programs/{file.name}", file.read_bytes())

    def _make_gate(self) -> Gate:
        if self._gate is None:
            self._gate = Gate(self._lab, self._programs, self._flows[0].source, exact=self._exact)
            for task in self._tasks:
                task.job.gate = self._gate.path
        return self._gate

    def _server(self, task: _Task) -> Program | None:
        """Start the server of one flow, and wait until it is ready. Return None for a flow that needs none."""
        tool, job = task.tool, task.job
        command = tool.server(job)
        if command is None:
            return None
        if tool.listens(self._lab, job, "", 0):
            raise MeasurementError(
                f"port {job.port} of {job.flow.destination} is in use: end the program that listens there"
            )
        server = self._programs.start(job.flow.destination, command)
        # a request that acts: recorded digits come after it
        deadline_s = self._lab.process.call(lab_api.now) + PATIENCE_S
        while not tool.listens(self._lab, job, server.output, 0.5):
            if tool.exact:
                server.read(0.5)
            if server.poll() is not None or self._lab.now() >= deadline_s:
                said = server.output or server.read(0)
                raise tool.no_server(job, said, server.returncode)
        return server

    def _start_clients(self) -> None:
        gate = self._make_gate() if self._gated else None
        for task in self._tasks:
            command = task.tool.client(task.job)
            if gate is not None and not task.tool.exact:
                command = gate.before(command, task.job.flow.start_s)
            task.client = self._programs.start(task.job.flow.source, command)
        if gate is not None:
            gate.open(self._clients)

    def _follow_clients(self) -> tuple[bool, bool]:
        """Return whether the `stop` hook ended the run, and whether Ctrl-C did."""
        margin_s = 0.0 if self._gate is None else self._gate.margin_s
        limit_s = margin_s + max(flow.longest_s for flow in self._flows)
        stop = self._asked if self._stop is not None or self._on_progress is not None else None
        try:
            outcome = self._programs.follow(self._clients, limit_s, self._tell, stop)
        except KeyboardInterrupt:
            return self._stopping, not self._stopping
        return outcome == "interrupted", False

    def _asked(self) -> bool:
        self._stopping = self._stopping or self._failure is not None or (self._stop is not None and self._stop())
        return self._stopping

    def _tell(self, done_s: float) -> None:
        if self._on_progress is None or self._failure is not None:
            return
        said = [split_start(c.output)[1] if self._gated else c.output for c in self._clients]
        so_far = curves(self._flows, said) if said else {}
        try:
            self._on_progress(Progress(self._flows, done_s, self._total_s, so_far))
        except Exception as failure:  # the lab must finish its answer first
            self._failure = failure

    def _collect(self, patience_s: float) -> None:
        """Gather what all have printed. A server has `patience_s` to end after its client, and more while it prints."""
        ending = [task.server for task in self._tasks if task.server is not None and task.tool.server_ends]
        heard = -1
        while heard != (heard := sum(len(server.output) for server in ending)):
            if self._programs.follow(ending, patience_s) == "done":
                break
        ours = [task.server for task in self._tasks if task.tool.exact and task.tool.server_ends and task.server]
        self._programs.interrupt(ours)
        talking = [task for task in self._tasks if task.server is not None and not task.tool.server_ends]
        for _ in range(_LOOKS):
            if all(task.tool.server_done(task.job, task.server.output) for task in talking if task.server):
                break
            self._programs.follow([task.server for task in talking if task.server], _LAST_WORDS_S)
        for task in self._tasks:
            assert task.client is not None
            said = task.client.output
            task.start_s, task.job.stdout = split_start(said) if self._gated else (0.0, said)
            task.job.status = task.client.returncode
            if task.server is not None:
                self._programs.end(task.server)  # it may wait for a client that could not connect
                task.job.server_stdout = task.server.output

    def _read(self, origin: Origin) -> list[ToolResult]:
        results: list[ToolResult] = []
        for task in self._tasks:
            job = task.job
            # of a run that was stopped, what had not begun yet is left out
            with contextlib.suppress(MeasurementError) if job.interrupted else contextlib.nullcontext():
                results.append(task.tool.parse(job, replace(origin, tool=job.tool)))
        return results
