"""Carry out flows in a lab: find the tools, start servers, start clients together, and end every program."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from linklab.errors import MeasurementError, UnknownNode, quoted
from linklab.guest import programs as programs_in_labs
from linklab.lab import Lab
from linklab.measure import recordings
from linklab.measure.flows import Flow, FlowOf, ResultT_co
from linklab.measure.programs import PATIENCE_S, Gate, RunPrograms, split_start
from linklab.measure.results import MeasurementStopped, Origin, QueueCounters, Run, ToolResult
from linklab.measure.snapshot import RunSnapshot
from linklab.measure.tool import IN_LAB, Job, Tool
from linklab.measure.tools import tool_of
from linklab.network import Network, NetworkState
from linklab.network.model import version_of
from linklab.program import Program

FIRST_PORT: Final = 5201
"""The port of the first flow's server; each further flow has the next one."""
_SERVER_OUTPUT_WAIT_S: Final = 0.25
"""Seconds that a server which keeps running gets at a time to print what is missing of its result."""
_MAX_SERVER_WAITS: Final = 20
"""How many times in a row it gets them."""
_DRAIN_S: Final = 3.0
"""Seconds that servers get to end after a run was stopped."""
_PROGRAMS: Final = Path(programs_in_labs.__file__).parent


@dataclass(frozen=True)
class Progress:
    """How far a run is: `done_s` of about `total_s` seconds of the lab's time. `done_s` is 0 until the flows start.

    `queues` are the counters of all shaped interfaces since the lab's start; `network` is the network as it was read
    back before the run.
    """

    flows: tuple[Flow, ...]
    done_s: float
    total_s: float
    queues: tuple[QueueCounters, ...]
    network: NetworkState

    @property
    def share(self) -> float:
        """The share that is done, from 0 to 1."""
        return min(1.0, self.done_s / self.total_s) if self.total_s else 0.0

    @property
    def flow_titles(self) -> str:
        """The titles of the flows in one line, separated by commas."""
        return ", ".join(flow.title for flow in self.flows)


class Observer:
    """Sees how far a run is, and can stop it."""

    def __call__(self, progress: Progress, /) -> None:
        """Take note of how far the run is. It is called before the start, and then each second of the lab's time."""

    def stopped(self) -> bool:
        """Return True to stop the run. It is asked several times a second of real time."""
        return False


_new_observer: Callable[[], Observer | None] | None = None


def observe(new_observer: Callable[[], Observer | None]) -> None:
    """Have `new_observer` asked for an observer of each run; it may return None."""
    global _new_observer
    _new_observer = new_observer


def run(lab: Lab, flow: FlowOf[ResultT_co]) -> ResultT_co:
    """Carry out one flow, and return its tool's result: a `PingResult` for a `PingFlow`.

    Packet loss is no error. Raises MeasurementError if the flow cannot run or its tool's output cannot be read; see
    `run_together` for the arguments and the other errors.
    """
    (result,) = run_together(lab, [flow]).results
    found: Any = result
    return found  # type: ignore[no-any-return]  # the tool's parse has this type


def run_together(
    lab: Lab,
    flows: Flow | Sequence[Flow],
    *,
    record: bool | str | Sequence[str] = False,
) -> Run:
    """Run all flows at the same time, with the same tool or different ones, and return their results.

    The flows start together once all tools are ready; a flow with `start_s` starts that many seconds later (lab's
    time).

    `record` records what happens to each packet (`Run.recording`): at all interfaces, or at the named ones
    (``["r2-eth2"]``) and at the other ends of their cables. Recording does not change the measured values.

    Raises MeasurementError for a network in place of a lab, and for the first flow that cannot run or whose output
    cannot be read, LabError for a node that the lab does not have. Raises `MeasurementStopped` (a KeyboardInterrupt) at
    Ctrl-C, with the results so far in `partial`; also if the run was stopped before anything was measured. No program
    of the run is left running in any of these cases.
    """
    if isinstance(lab, Network):
        raise MeasurementError(f"{lab.name} is a network, not a running lab: with start(network) as lab, then give lab")
    flows = as_flows(flows)
    tools = [tool_of(flow) for flow in flows]
    observer = None if _new_observer is None else _new_observer()
    for flow in flows:
        for node in (flow.source, flow.destination):
            lab[node]  # raises LabError for a node that the lab does not have, before anything runs
    recorded = None if not record else recordings.interfaces_in([] if record is True else record)
    try:
        with RunPrograms(lab) as programs:
            return _Runner(lab, flows, tools, programs, observer, recorded).carry_out()
    except MeasurementStopped:
        raise
    except KeyboardInterrupt:
        raise MeasurementStopped("the measurement was stopped; measured: nothing yet") from None
    finally:
        if recorded is not None:
            recordings.drop(lab)


def as_flows(flows: Flow | Sequence[Flow]) -> tuple[Flow, ...]:
    """Return one flow, or a list of flows, as a tuple.

    Raises MeasurementError for an empty list, and for anything that is not a flow.
    """
    if isinstance(flows, FlowOf):
        return (flows,)
    if isinstance(flows, str) or not isinstance(flows, Iterable):
        raise MeasurementError(f"{quoted(flows)} is no flow: give flows in a list, as [PingFlow('h1', 'h4')]")
    found = tuple(flows)
    if not found:
        raise MeasurementError("there is no flow to measure: give at least one")
    for flow in found:
        if isinstance(flow, list | tuple):
            raise MeasurementError("here a list of flows lies in another list: join lists with +, as of_h1 + of_h2")
        tool_of(flow)
    return found


def address_in(state: NetworkState, node: str) -> str:
    """Return the only IPv4 address of a node, whatever addresses of IPv6 it has beside it.

    Raises MeasurementError if the node has no such address or several, UnknownNode if there is no such node.
    """
    found = state.node(node)
    if found is None:
        raise UnknownNode(f"there is no node {node!r} here: choose one of {', '.join(n.name for n in state.nodes)}")
    every = [address.partition("/")[0] for item in found.interfaces for address in item.addresses]
    addresses = [address for address in every if version_of(address) == 4]
    if len(addresses) != 1:
        has = f"has the addresses {', '.join(addresses)}" if addresses else "has no IPv4 address"
        raise MeasurementError(f"{node} {has}: say which one is meant with address=")
    return addresses[0]


def _asked(flow: Flow) -> str:
    """Return what a flow asks for, in words. Defaults are left out: a new field of a tool moves no digit."""
    asked = [type(flow).__name__]
    for field in fields(flow):
        value = getattr(flow, field.name)
        if field.compare and value != field.default:
            asked.append(f"{field.name}={value}".removesuffix(".0"))  # 10.0 is 10
    return " ".join(asked)


@dataclass
class _Task:
    """One flow while it runs: its tool, its job (flow, address, port and output), and its programs once they run.

    `started_at_ns` is when the client really started, in ns since the epoch by the lab's clock: None if it never did,
    0 if it did not wait at a gate. `Flow.start_s` is the delay that was asked for.
    """

    tool: Tool[Any, Any]
    job: Job[Any]
    server: Program | None = None
    client: Program | None = None
    started_at_ns: int | None = None


class _Runner:
    """Carries out one run, from reading the network back to the results.

    Each flow is a `_Task`, which its `Tool` carries out; the results of all together are the `Run`.
    """

    def __init__(
        self,
        lab: Lab,
        flows: Sequence[Flow],
        tools: Sequence[Tool[Any, Any]],
        programs: RunPrograms,
        observer: Observer | None,
        record: Sequence[str] | None,
    ) -> None:
        self._lab, self._programs, self._flows = lab, programs, tuple(flows)
        self._observer = observer
        self._total_s = max(flow.start_s + flow.lasts_s for flow in flows)
        # A gate is a start barrier: a file for which all clients wait. Several flows need one, a flow with a delay,
        # and the programs that wait for it themselves.
        self._exact = any(tool.waits_for_gate for tool in tools)
        self._gated = self._exact or len(flows) > 1 or any(flow.start_s for flow in flows)
        self._gate: Gate | None = None
        self._record = record
        self._network = network = lab.state()
        self._tasks = [
            _Task(
                tool,
                Job(
                    flow,
                    number,
                    flow.address or (address_in(network, flow.destination) if tool.needs_address else ""),
                    FIRST_PORT + number,
                    lab.seed,
                    network,
                ),
            )
            for number, (flow, tool) in enumerate(zip(flows, tools, strict=True))
        ]
        self._failure: Exception | None = None
        self._stopping = False

    def carry_out(self) -> Run:
        """Carry out the run, and return what was measured."""
        for task in self._tasks:
            task.tool.check(self._lab, task.job)
        for task in self._tasks:
            task.tool.prepare(self._lab, task.job)
        # What was prepared is known from an earlier run, or takes commands: it comes before the run begins.
        nodes = [node for flow in self._flows for node in (flow.source, flow.destination)]
        asked = ", ".join(map(_asked, self._flows))
        snapshot = RunSnapshot(self._lab, self._network, nodes, asked, self._record)
        self._report_progress(0.0, snapshot.queues)
        with ExitStack() as observers:
            if self._exact:
                self._copy_programs_into_lab()
                self._make_gate()
            for task in self._tasks:
                task.server = self._server(task)
            for task in self._tasks:
                task.job.capture = observers.enter_context(task.tool.watching(self._lab, task.job))
            self._start_clients()
            stopped_by_observer, stopped_by_ctrl_c = self._follow_clients()
            stopped = stopped_by_observer or stopped_by_ctrl_c
            if self._failure is not None:
                raise self._failure
            for task in self._tasks:
                assert task.client is not None
                task.job.interrupted = task.client.returncode is None
            if stopped:
                self._programs.interrupt(self._clients)
            self._collect(_DRAIN_S if stopped else PATIENCE_S)
        if not stopped:
            overdue = next((task for task in self._tasks if task.job.interrupted), None)
            if overdue is not None:
                raise overdue.tool.overdue(overdue.job)
        reordered = sum(task.tool.reordered(task.job) for task in self._tasks)
        results = self._read(snapshot.finish(reordered))
        # skew: how far apart the flows started, apart from the delays that were asked for
        starts_ns = [
            it.started_at_ns - round(it.job.flow.start_s * 1e9) for it in self._tasks if it.started_at_ns is not None
        ]
        skew_ms = (max(starts_ns) - min(starts_ns)) / 1e6 if len(starts_ns) > 1 else 0.0
        recording = None if self._record is None else self._recording(snapshot.span_s)
        found = Run(tuple(results), skew_ms, interrupted=stopped, recording=recording)
        if stopped_by_ctrl_c or (stopped_by_observer and not results):
            kept = f"{len(results)} of {len(self._tasks)} flows are kept in its .partial" if results else "nothing yet"
            raise MeasurementStopped(f"the measurement was stopped; measured: {kept}", found if results else None)
        return found

    @property
    def _clients(self) -> list[Program]:
        return [task.client for task in self._tasks if task.client is not None]

    def _recording(self, span_s: tuple[float, float]) -> recordings.Recording:
        recording = recordings.Recording(self._network, plan=self._lab.network, controlled=self._lab.controlled)
        recordings.fill(recording, self._lab, *span_s)
        return recording

    def _copy_programs_into_lab(self) -> None:
        for file in sorted(_PROGRAMS.glob("*.py")):  # glob's order depends on the file system
            if not file.name.startswith("__"):
                self._lab.write_file(f"{IN_LAB}/linklab/guest/programs/{file.name}", file.read_bytes())

    def _make_gate(self) -> Gate:
        if self._gate is None:
            self._gate = Gate(self._lab, self._programs, self._flows[0].source, exact=self._exact)
            for task in self._tasks:
                task.job.gate = self._gate.path
        return self._gate

    def _server(self, task: _Task) -> Program | None:
        """Start the server of one flow, and wait until it is ready. Return None if the flow needs no server."""
        tool, job = task.tool, task.job
        command = tool.server(job)
        if command is None:
            return None
        if tool.listens(self._lab, job, "", 0):
            raise MeasurementError(
                f"port {job.port} of {job.flow.destination} is in use: end the program that listens there"
            )
        server = self._programs.start(job.flow.destination, command)
        deadline_s = self._lab.now() + PATIENCE_S
        while not tool.listens(self._lab, job, server.output, 0.5):
            if tool.waits_for_gate:
                server.read(0.5)
            if server.poll() is not None or self._lab.now() >= deadline_s:
                output = server.output or server.read(0)
                raise tool.no_server(job, output, server.returncode)
        return server

    def _start_clients(self) -> None:
        gate = self._make_gate() if self._gated else None
        for task in self._tasks:
            command = task.tool.client(task.job)
            if gate is not None and not task.tool.waits_for_gate:
                command = gate.before(command, task.job.flow.start_s)
            task.client = self._programs.start(task.job.flow.source, command)
        if gate is not None:
            gate.open(self._clients)

    def _follow_clients(self) -> tuple[bool, bool]:
        """Wait for the clients. Return whether the observer stopped the run, and whether Ctrl-C did."""
        margin_s = 0.0 if self._gate is None else self._gate.margin_s
        limit_s = margin_s + max(flow.longest_s for flow in self._flows)
        hooks = (None, None) if self._observer is None else (self._report_progress, self._should_stop)
        try:
            outcome = self._programs.follow(self._clients, limit_s, *hooks)
        except KeyboardInterrupt:  # raised also if the observer stopped the run: then it was no Ctrl-C
            return self._stopping, not self._stopping
        return outcome == "interrupted", False

    def _should_stop(self) -> bool:
        assert self._observer is not None
        self._stopping = self._stopping or self._failure is not None or self._observer.stopped()
        return self._stopping

    def _report_progress(self, done_s: float, queues: tuple[QueueCounters, ...]) -> None:
        if self._observer is None or self._failure is not None:
            return
        try:
            self._observer(Progress(self._flows, done_s, self._total_s, queues, self._network))
        except Exception as failure:  # raised later: the lab has to finish its current answer first
            self._failure = failure

    def _collect(self, patience_s: float) -> None:
        """Collect the output of all programs.

        A server that ends by itself gets `patience_s` after its client, and again as long as it prints.
        """
        ending_servers = [
            task.server for task in self._tasks if task.server is not None and task.tool.server_exits_after_client
        ]
        size_before, size_now = -1, sum(len(server.output) for server in ending_servers)
        while size_now != size_before:
            if self._programs.follow(ending_servers, patience_s) == "done":
                break
            size_before, size_now = size_now, sum(len(server.output) for server in ending_servers)
        own_servers = [
            task.server
            for task in self._tasks
            if task.tool.waits_for_gate and task.tool.server_exits_after_client and task.server
        ]
        self._programs.interrupt(own_servers)  # Linklab's own programs print their result at Ctrl-C
        lasting_servers = [
            task for task in self._tasks if task.server is not None and not task.tool.server_exits_after_client
        ]
        for _ in range(_MAX_SERVER_WAITS):
            if all(task.tool.server_done(task.job, task.server.output) for task in lasting_servers if task.server):
                break
            self._programs.follow([task.server for task in lasting_servers if task.server], _SERVER_OUTPUT_WAIT_S)
        for task in self._tasks:
            assert task.client is not None
            output = task.client.output
            task.started_at_ns, task.job.stdout = split_start(output) if self._gated else (0, output)
            task.job.status = task.client.returncode
            if task.server is not None:
                self._programs.end(task.server)  # it may wait for a client that could not connect
                task.job.server_stdout = task.server.output

    def _read(self, origin: Origin) -> list[ToolResult]:
        results: list[ToolResult] = []
        for task in self._tasks:
            job = task.job
            # in a run that was stopped, flows without a readable result are left out
            with contextlib.suppress(MeasurementError) if job.interrupted else contextlib.nullcontext():
                results.append(task.tool.parse(job, replace(origin, tool=job.tool_version)))
        return results
