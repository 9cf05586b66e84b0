"""The mistakes that a program can make: where they show, and how a check may name them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .choices import Choices


@dataclass(frozen=True)
class Fault:
    """A mistake. At least one of the checks ``keys`` must fail for it, and any of ``causes`` (names of
    `linklab.programs.simpleperf.mistakes.Mistake`) names it. ``hint_only``: it costs nothing, the cause is a hint.

    ``fits`` tells with which choices it can be made.
    """

    name: str
    keys: frozenset[str]
    causes: frozenset[str]
    hint_only: bool = False
    fits: Callable[[Choices], bool] = lambda choices: True


def _always(choices: Choices) -> bool:
    return True


def _fault(name: str, keys: str, causes: str, fits: Callable[[Choices], bool] = _always, hint: bool = False) -> Fault:
    return Fault(name, frozenset(keys.split()), frozenset(causes.split()), hint, fits)


def _blocking_client(c: Choices) -> bool:
    return c["parallel"] != "asyncio"


def _threads(c: Choices) -> bool:
    return c["parallel"] in ("threads", "thread class", "futures")


def _no_timer(c: Choices) -> bool:
    return c["rows"] != "by a timer"


def _blocking_server(c: Choices) -> bool:
    return c["server"] not in ("selectors", "asyncio")


def _accept_loop(c: Choices) -> bool:
    return c["server"] in ("threading", "thread class", "_thread", "multiprocessing", "fork")


def _one_process(c: Choices) -> bool:
    return c["server"] not in ("multiprocessing", "fork")


_ALL_RATES = "client-rate server-rate"
_ROWS = "interval-rows interval-join interval-sum interval-rates interval-total interval-remainder interval-stall"
_NUM = "num-understood num-exact num-time num-rows num-rate"
_PARALLEL = "parallel-together parallel-client parallel-server parallel-bytes"

FAULTS: Final[tuple[Fault, ...]] = (
    # the rate and its units
    _fault("rate-bytes-client", "client-rate", "BYTES_AS_BITS"),
    _fault("rate-mebi-client", "client-rate", "BINARY_UNITS"),
    _fault("rate-mebi-server", "server-rate", "BINARY_UNITS"),
    _fault("rate-125", _ALL_RATES, "RATE_UNIT"),
    _fault("rate-125th", _ALL_RATES, "RATE_UNIT"),  # 1/125 is 8/1000
    _fault(
        "rate-follows-format",
        f"{_ALL_RATES} format",
        "RATE_BY_FORMAT WRONG_RATE",
        lambda c: c["rows"] == "running",
    ),
    _fault("whole-seconds", f"{_ALL_RATES} ack", "WHOLE_SECONDS INTEGER_DIVISION WRONG_RATE CLOCK SERVER_CLOCK"),
    # amounts
    _fault("amount-binary-server", "format bytes", "BINARY_UNITS"),
    _fault("amount-in-bits", "format bytes conserved", "WRONG_AMOUNT BYTES_AS_BITS BITS_TWICE SENDS_COUNTED"),
    _fault("format-refused", "format", "FORMAT_REFUSED FORMAT_IGNORED", lambda c: c["num"] != "bare"),
    # the clocks
    _fault("asked-time-rate", "ack client-rate", "ASKED_TIME WRONG_RATE CLOCK_BEFORE_ACK"),
    _fault("server-clock-from-start", "server-rate", "SERVER_CLOCK", _one_process),
    _fault("server-clock-late", "server-rate", "SERVER_CLOCK WRONG_RATE CLOCK", _blocking_server),
    # rows
    _fault("no-client-row", "client-row", "NO_ROW"),
    _fault("no-server-row", "server-row", "NO_ROW"),
    # intervals
    _fault("interval-refused", "interval-rows", "INTERVAL_REFUSED"),
    _fault("interval-amount-cumulative", _ROWS, "CUMULATIVE INTERVAL_SUM"),
    _fault("interval-gaps", "interval-join", "INTERVAL_GAPS"),
    _fault("interval-rate-from-start", "interval-rates", "RATE_FROM_START INTERVAL_RATE WRONG_RATE CUMULATIVE"),
    _fault("interval-extra", _ROWS, "INTERVAL_EXTRA"),
    _fault("interval-extra-repeat", _ROWS, "INTERVAL_EXTRA INTERVAL_GAPS INTERVAL_SUM"),
    _fault("crash-interval", _ROWS, "CRASH TRACEBACK", _no_timer),
    _fault("no-total", "interval-total", "NO_TOTAL", lambda c: c["total"] != "repeated"),
    _fault("total-rate-interval", "interval-total interval-rates", "TOTAL_RATE WRONG_RATE"),
    # -n
    _fault("num-time", "num-time", "NUM_TIME", lambda c: c["num_beside"] == "accepts -t"),
    _fault("num-refused", _NUM, "NUM_REFUSED"),
    _fault("num-rate-bytes", f"{_NUM} client-rate", "RATE_UNIT BYTES_AS_BITS CLOCK"),
    _fault("num-rate-kilo", f"{_NUM} client-rate", "RATE_UNIT WRONG_RATE CLOCK"),
    _fault("num-time-doubled", f"{_NUM} client-rate", "CLOCK WRONG_RATE"),
    _fault("crash-num", _NUM, "CRASH TRACEBACK", _blocking_client),
    # -P
    _fault("parallel-one-worker", "parallel-together", "PARALLEL_IN_TURN"),
    _fault(
        "shared-count",
        "parallel-bytes parallel-client",
        "PARALLEL_SUMMED WRONG_AMOUNT SENDS_COUNTED",
        _threads,
    ),
    _fault("crash-parallel", _PARALLEL, "CRASH TRACEBACK", _blocking_client),
    # what passes
    _fault("client-bytes-calls", "bytes conserved", "CHUNK_SIZE SENDS_COUNTED BINARY_UNITS", _blocking_client),
    _fault("server-bytes-lost", "bytes conserved", "BYTES_LOST WRONG_AMOUNT"),
    _fault("never-acknowledges-open", "ends", "NO_ACKNOWLEDGEMENT NO_END", _blocking_server),
    _fault("leaves-soon", "leaves-well ack", "NO_WAIT CLOCK_BEFORE_ACK", _blocking_client),
    _fault("never-ends", "ends", "NO_END"),
    _fault("status-not-zero", "leaves-well", "STATUS_NOT_ZERO"),
    # the server and its clients
    _fault("joins-thread", "concurrent", "ONE_AT_A_TIME", lambda c: c["server"] == "threading"),
    _fault(
        "clients-mixed",
        "parallel-bytes parallel-server concurrent",
        "CLIENTS_MIXED PARALLEL_SUMMED WRONG_AMOUNT BYTES_LOST",
        lambda c: c["server"] in ("threading", "thread class", "_thread", "socketserver"),
    ),
    _fault("stops-listening", "concurrent parallel-together", "REFUSES ONE_AT_A_TIME ONE_CLIENT_ONLY", _accept_loop),
    _fault("abrupt-traceback", "quiet", "TRACEBACK ABRUPT_CLIENT", lambda c: c["server"] != "asyncio"),
    # arguments
    _fault("neither-mode", "modes", "MODES ACCEPTED"),
    _fault("any-port", "ports", "PORT_RANGE ACCEPTED"),
    _fault("address-replaced", "addresses", "ADDRESS_UNCHECKED ACCEPTED"),
    _fault("any-format", "formats", "ACCEPTED"),
    _fault("traceback-on-format", "formats", "TRACEBACK"),
    _fault("zero-time-accepted", "times", "ACCEPTED"),
    _fault("traceback-on-time", "times", "TRACEBACK"),
    _fault("parallel-clamped", "parallels", "PARALLEL_RANGE ACCEPTED"),
    _fault("parallel-assert", "parallels", "TRACEBACK"),
    _fault("bad-num-accepted", "amounts", "ACCEPTED"),
    _fault("traceback-on-num", "amounts", "TRACEBACK"),
    _fault("any-interval", "interval-text", "ACCEPTED"),
    _fault("traceback-on-interval", "interval-text", "TRACEBACK"),
    _fault("no-server-status-zero", "no-server", "STATUS_ZERO", _blocking_client),
    _fault("no-message", "modes ports addresses times parallels no-server", "NO_MESSAGE"),
    _fault("unnamed", "ports addresses times parallels amounts", "UNNAMED NO_MESSAGE", _always, True),
    _fault("no-help", "help", "NO_HELP"),
)

BY_NAME: Final = {fault.name: fault for fault in FAULTS}
