"""What a simpleperf prints, read: the reference's tables, and any that the conformance checks understand. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from linklab.errors import MeasurementError
from linklab.measure.flows import SimpleperfFlow
from linklab.measure.results import Origin, Sample, SimpleperfResult, Stream
from linklab.measure.simpleperf_rows import (
    Row,
    amount_bytes,
    by_connection,
    clean,
    plain_rows,
    rate_mbps,
    read,
    sample,
    told_apart,
    totals,
)

_CHECK = "linklab check"
_LONGEST_QUOTE = 160
_MISSING = re.compile(r"ModuleNotFoundError: No module named '([^']+)'")


def name_of(flow: SimpleperfFlow) -> str:
    """The program's file name, as messages call it."""
    return PurePath(flow.program).name if flow.program is not None else "simpleperf.py"


def parse_simpleperf(
    client: str, server: str, status: int | None, flow: SimpleperfFlow, origin: Origin, *, interrupted: bool = False
) -> SimpleperfResult:
    """Reads what client and server printed. `status` is the client's exit status.

    Raises MeasurementError, with what the program said last, where the client failed or the totals of both sides
    cannot be found; where it was `interrupted`, the client's rows until then suffice.
    """
    if status != 0 and not interrupted:
        raise _failed(client, status, flow)
    own = told_apart(plain_rows(client.splitlines()), flow.streams)
    parts, sent, received = by_connection(own), totals(own), _server_rows(server.splitlines())
    if not interrupted:
        _refuse_too_few(sent, client, "client", flow)
        _refuse_too_few(received, server, "server", flow)
    elif not sent:
        raise MeasurementError(f"{name_of(flow)} was stopped before it had printed a row: nothing was measured")
    rates = {name: rate_mbps(row.rate) for name, row in sent.items()}
    series = {name: _samples(parts[name], sent[name], interrupted) for name in parts}
    arrived = sum(rate_mbps(row.rate) for row in received) if received else _mean_mbps(series)
    return SimpleperfResult(
        flow,
        origin,
        throughput_mbps=arrived,
        client_throughput_mbps=_mean_mbps(series) if interrupted else sum(rates.values()),
        received_bytes=round(sum(map(amount_bytes, received))) if received else None,
        streams=tuple(Stream(rates[name], series[name]) for name in sent),
        samples=together(series),
        said=clean(client),
        server_said=clean(server),
        interrupted=interrupted,
    )


def together(series: Mapping[str, Sequence[Sample]]) -> tuple[Sample, ...]:
    """The intervals of all connections as one: rates of the same interval added up, as far as all have come."""
    return tuple(
        Sample(
            min(one.start_s for one in same),
            max(one.end_s for one in same),
            sum(one.throughput_mbps for one in same),
        )
        for same in zip(*series.values(), strict=False)
    )


def _samples(found: tuple[Sample, ...], last: Row, interrupted: bool) -> tuple[Sample, ...]:
    """Without the total, which stands alone where there are no intervals."""
    return () if not interrupted and found == (sample(last),) else found


def _server_rows(lines: Sequence[str]) -> list[Row]:
    """A row for each connection, or the one over all where that is all there is."""
    return plain_rows(lines) or [row for row in read((0.0, line) for line in lines).rows if row.is_sum]


def _mean_mbps(series: Mapping[str, Sequence[Sample]]) -> float:
    """Of all connections together, over the intervals that there are."""
    total = 0.0
    for samples in series.values():
        length_s = sum(one.end_s - one.start_s for one in samples)
        megabits = sum(one.throughput_mbps * (one.end_s - one.start_s) for one in samples)
        total += megabits / length_s if length_s else 0.0
    return total


def _refuse_too_few(found: Mapping[str, Row] | Sequence[Row], said: str, side: str, flow: SimpleperfFlow) -> None:
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
    raise MeasurementError(
        f"the {side} of {name} on {where} printed no total that is known; {last_words(said)}; "
        f"try it alone ({_CHECK} {name})"
    )


def _is_sum(found: Mapping[str, Row] | Sequence[Row]) -> bool:
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


def no_server(said: str, what: str, flow: SimpleperfFlow) -> MeasurementError:
    """What to say of a server that ended, or does not listen (`what`)."""
    name = name_of(flow)
    start = f"the server of {name} on {flow.destination}"
    return _missing(said, start) or MeasurementError(
        f"{start} {what}; {last_words(said)}; try it alone ({_CHECK} {name})"
    )


def _missing(said: str, start: str) -> MeasurementError | None:
    found = _MISSING.search(said)
    return found and MeasurementError(f"{start} needs the package {found[1]}: install it (pip install {found[1]})")


def last_words(said: str) -> str:
    """What it printed last, as a part of a message."""
    lines = [line.strip() for line in clean(said).splitlines() if line.strip()]
    return f"it printed last: {lines[-1][:_LONGEST_QUOTE]!r}" if lines else "it printed nothing"
