"""Measure with the course's simpleperf, Linklab's own or a student's: its flow, its result, and its tables, read."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from linklab.errors import LabError, MeasurementError
from linklab.guest import init
from linklab.measure.flows import FlowOf, WholeSeconds
from linklab.measure.reference import REFERENCE
from linklab.measure.results import Origin, Sample, Stream, ToolResult
from linklab.measure.simpleperf_rows import Row as PrintedRow
from linklab.measure.simpleperf_rows import (
    amount_bytes,
    by_connection,
    clean,
    plain_rows,
    rate_mbps,
    read,
    sample,
    totals,
)
from linklab.measure.tool import IN_LAB, Job, Tool
from linklab.measure.tools.iperf3 import listens_at
from linklab.schema import Range

if TYPE_CHECKING:
    from linklab.lab import Lab

_CHECK = "linklab check"
_LONGEST_QUOTE = 160
_OWN_IN_LAB = f"{IN_LAB}/simpleperf.py"
_MISSING = re.compile(r"ModuleNotFoundError: No module named '([^']+)'")


@dataclass(frozen=True)
class SimpleperfFlow(FlowOf["SimpleperfResult"]):
    """A bulk transfer by the course's simpleperf, `streams` connections side by side.

    `program` is a file of the lab's folder, which is the notebook's; None is Linklab's own. It prints a row each
    `interval_s` whole seconds, or with None only its totals, which a program that does not know ``-i`` yet can do too.
    ``-P`` is left away for one connection. Raises MeasurementError for a duration or an interval that is not whole
    seconds, or a number of connections outside 1 to 5.
    """

    tool_name: ClassVar[str] = "simpleperf"

    duration_s: WholeSeconds = 25
    streams: Annotated[int, Range(ge=1, le=5)] = 1
    interval_s: WholeSeconds | None = 1
    program: str | Path | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.program is not None:
            object.__setattr__(self, "program", str(self.program))


@dataclass(frozen=True, repr=False)
class SimpleperfResult(ToolResult):
    """A bulk transfer by the course's simpleperf, as the program tells it.

    `throughput_mbps` is what the server says of all connections together, which is what arrived.
    `client_throughput_mbps` is the client's own total. `received_bytes` is the server's amount, with as many digits as
    it prints (whole MB unless it is told otherwise); None where it says none. `streams` and `samples` are the
    client's rows, one stream per connection; there are no samples without ``-i``. `said` is all that the client
    printed, and `server_said` the server.
    """

    QUANTITY: ClassVar[str] = "throughput_mbps"

    flow: SimpleperfFlow
    origin: Origin
    throughput_mbps: float
    client_throughput_mbps: float
    received_bytes: int | None
    streams: tuple[Stream, ...]
    samples: tuple[Sample, ...]
    said: str
    server_said: str


class Simpleperf(Tool[SimpleperfFlow, SimpleperfResult]):
    """A student's program. Its server runs until it is ended, and prints its totals a moment after the client."""

    flow = SimpleperfFlow
    result = SimpleperfResult

    def prepare(self, lab: Lab, job: Job[SimpleperfFlow]) -> None:
        """Find the program, which runs in the lab's folder, where it lies; Linklab's own is written into the lab.

        Raises MeasurementError where there is none.
        """
        super().prepare(lab, job)
        name, program = name_of(job.flow), job.flow.program
        data = _reference() if program is None else _in_folder(lab, str(program))
        if program is None:
            lab.write_file(_OWN_IN_LAB, data)
        # -u: a program that does not flush its lines would tell all at its end. -B: its next run takes the same steps
        python = f"exec env PYTHONPATH={init.PACKAGES} python3 -u -B"
        job.extra = f"{python} {shlex.quote(str(program or _OWN_IN_LAB))}"
        digest = hashlib.sha256(data).hexdigest()[:12]
        job.tool_version = f"{name}{' of Linklab' if program is None else ''} (SHA-256 {digest}) on {job.tool_version}"

    def server(self, job: Job[SimpleperfFlow]) -> str:
        """Return the server's command."""
        return f"{job.extra} -s -b {job.address} -p {job.port}"

    def listens(self, lab: Lab, job: Job[SimpleperfFlow], said: str, patience_s: float) -> bool:
        """Return whether the server listens at its port."""
        return listens_at(lab, job, patience_s)

    def client(self, job: Job[SimpleperfFlow]) -> str:
        """Return the client's command."""
        flow = job.flow
        words = ["-c", "-I", job.address, "-p", str(job.port), "-t", f"{flow.duration_s:g}"]
        words += [] if flow.interval_s is None else ["-i", f"{flow.interval_s:g}"]
        words += [] if flow.streams == 1 else ["-P", str(flow.streams)]
        return f"{job.extra} {shlex.join(words)}"

    def server_done(self, job: Job[SimpleperfFlow], said: str) -> bool:
        """Return whether there is a row for each connection."""
        return len(plain_rows(said.splitlines())) >= job.flow.streams

    def parse(self, job: Job[SimpleperfFlow], origin: Origin) -> SimpleperfResult:
        """Read what client and server printed.

        Raises MeasurementError, with what the program said last, where the client failed or the totals of both sides
        cannot be found; of one that was stopped, the client's rows until then suffice.
        """
        client, server, flow, interrupted = job.stdout, job.server_stdout, job.flow, job.interrupted
        if job.status != 0 and not interrupted:
            raise _failed(client, job.status, flow)
        own = plain_rows(client.splitlines())
        parts, sent, received = by_connection(own), totals(own), _server_rows(server.splitlines())
        if not interrupted:
            _refuse_too_few(sent, client, "client", flow)
            _refuse_too_few(received, server, "server", flow)
        elif not sent:
            raise MeasurementError(f"{name_of(flow)} was stopped before it had printed a row: nothing was measured")
        rates = {name: rate_mbps(row.rate) for name, row in sent.items()}
        series = {name: _samples(parts[name], sent[name], interrupted) for name in parts}
        arrived = fsum(rate_mbps(row.rate) for row in received) if received else _mean_mbps(series)
        return SimpleperfResult(
            flow,
            origin,
            throughput_mbps=arrived,
            client_throughput_mbps=_mean_mbps(series) if interrupted else fsum(rates.values()),
            received_bytes=round(sum(map(amount_bytes, received))) if received else None,
            streams=tuple(Stream(rates[name], series[name]) for name in sent),
            samples=together(series),
            said=clean(client),
            server_said=clean(server),
            interrupted=interrupted,
        )

    def no_server(self, job: Job[SimpleperfFlow], said: str, status: int | None) -> MeasurementError:
        """Return the error for a server that ended, or does not listen."""
        name, what = name_of(job.flow), "ended" if status is not None else "does not listen"
        start = f"the server of {name} on {job.flow.destination}"
        return _missing(said, start) or MeasurementError(
            f"{start} {what}; {last_words(said)}; try it alone ({_CHECK} {name})"
        )

    def overdue(self, job: Job[SimpleperfFlow]) -> MeasurementError:
        """Return the error for a client that did not end in time."""
        flow, name = job.flow, name_of(job.flow)
        return MeasurementError(
            f"{name} from {flow.source} to {flow.destination} was not done after {flow.longest_s:g} s of the lab's "
            f"time and was ended; {last_words(job.stdout)}; try it alone ({_CHECK} {name})"
        )


SIMPLEPERF: Final = Simpleperf()


def _reference() -> bytes:
    if not REFERENCE.is_file():
        raise MeasurementError("this Linklab comes without its simpleperf.py: name yours with program=")
    return REFERENCE.read_bytes()


def _in_folder(lab: Lab, program: str) -> bytes:
    """Return a program of the lab's folder, which is the notebook's."""
    try:
        return lab.read_file(program)
    except LabError:
        raise MeasurementError(
            f"there is no program {program} in the lab's folder: write it first (Lab 02), or leave program= away"
        ) from None


def name_of(flow: SimpleperfFlow) -> str:
    """Return the name of the program's file, for messages."""
    return PurePath(flow.program).name if flow.program is not None else "simpleperf.py"


def together(series: Mapping[str, Sequence[Sample]]) -> tuple[Sample, ...]:
    """Add up the rates of all connections in each interval, as far as all have come."""
    return tuple(
        Sample(
            min(one.start_s for one in same),
            max(one.end_s for one in same),
            fsum(one.throughput_mbps for one in same),
        )
        for same in zip(*series.values(), strict=False)
    )


def _samples(found: tuple[Sample, ...], last: PrintedRow, interrupted: bool) -> tuple[Sample, ...]:
    """Return the intervals; none where the total is all that was printed."""
    return () if not interrupted and found == (sample(last),) else found


def _server_rows(lines: Sequence[str]) -> list[PrintedRow]:
    """Return a row for each connection, or the sum over all where the server printed nothing else."""
    return plain_rows(lines) or [
        row for row in read((0.0, line) for line in lines).rows if row.is_sum and row.is_possible
    ]


def _mean_mbps(series: Mapping[str, Sequence[Sample]]) -> float:
    """Return the mean rate of all connections together, over the intervals that were printed."""
    total = 0.0
    for samples in series.values():
        length_s = fsum(one.end_s - one.start_s for one in samples)
        megabits = fsum(one.throughput_mbps * (one.end_s - one.start_s) for one in samples)
        total += megabits / length_s if length_s else 0.0
    return total


def _refuse_too_few(
    found: Mapping[str, PrintedRow] | Sequence[PrintedRow], said: str, side: str, flow: SimpleperfFlow
) -> None:
    one_for_all = side == "server" and len(found) == 1
    if len(found) == flow.streams or (found and one_for_all and _is_sum(found)):
        return
    where = flow.source if side == "client" else flow.destination
    name = name_of(flow)
    if found:
        raise MeasurementError(
            f"the {side} of {name} on {where} printed totals of {len(found)} connections, not {flow.streams}: "
            f"try its -P ({_CHECK} {name})"
        )
    why = read((0.0, line) for line in said.splitlines()).complaint or last_words(said)
    raise MeasurementError(
        f"the {side} of {name} on {where} printed no total that is known; {why}; try it alone ({_CHECK} {name})"
    )


def _is_sum(found: Mapping[str, PrintedRow] | Sequence[PrintedRow]) -> bool:
    return not isinstance(found, Mapping) and found[0].is_sum


def _failed(said: str, status: int | None, flow: SimpleperfFlow) -> MeasurementError:
    name, words = name_of(flow), last_words(said)
    start = f"{name} from {flow.source} to {flow.destination}"
    if (missing := _missing(said, start)) is not None:
        return missing
    flags = [flag for flag in ("-i", "-P") if re.search(rf"(?<![\w-]){flag}(?![\w-])", words)]
    how = {"-i": "measure with interval_s=None", "-P": "measure with streams=1"}
    fix = " and ".join(how[flag] for flag in flags) or "mend it"
    return MeasurementError(f"{start} ended with status {status}; {words}; {fix} ({_CHECK} {name})")


def _missing(said: str, start: str) -> MeasurementError | None:
    found = _MISSING.search(said)
    return found and MeasurementError(f"{start} needs the package {found[1]}: install it (pip install {found[1]})")


def last_words(said: str) -> str:
    """Return the last line that a program printed, as a part of a message."""
    lines = [line.strip() for line in clean(said).splitlines() if line.strip()]
    return f"it printed last: {lines[-1][:_LONGEST_QUOTE]!r}" if lines else "it printed nothing"
