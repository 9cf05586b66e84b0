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

    ``fits`` tells with which choices it can be made, ``place`` what part of the program it breaks: of two mistakes in
    one program each breaks another part.
    """

    name: str
    place: str
    keys: frozenset[str]
    causes: frozenset[str]
    hint_only: bool = False
    fits: Callable[[Choices], bool] = lambda choices: True


def _always(choices: Choices) -> bool:
    return True


def _fault(
    name: str, place: str, keys: str, causes: str, fits: Callable[[Choices], bool] = _always, hint: bool = False
) -> Fault:
    return Fault(name, place, frozenset(keys.split()), frozenset(causes.split()), hint, fits)


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


def _single_calls(c: Choices) -> bool:
    return c["calls"] == "1"


def _no_sum(c: Choices) -> bool:
    return c["sum_row"] == "none"


def _with_units_of_num(c: Choices) -> bool:
    return c["num"] != "bare"


def _no_preamble(c: Choices) -> bool:
    return c["preamble"] == "none"


_ALL_RATES = "client-rate server-rate"
_ROWS = "interval-rows interval-join interval-sum interval-rates interval-total interval-remainder interval-stall"
_NUM = "num-understood num-exact num-time num-rows num-rate"
_PARALLEL = "parallel-together parallel-client parallel-server parallel-bytes"

FAULTS: Final[tuple[Fault, ...]] = (
    # the rate and its units
    _fault("rate-bytes", "rate", _ALL_RATES, "BYTES_AS_BITS"),
    _fault("rate-bytes-client", "rate", "client-rate", "BYTES_AS_BITS"),
    _fault("rate-bits-twice", "rate", _ALL_RATES, "BITS_TWICE"),
    _fault("rate-mebi", "rate", _ALL_RATES, "BINARY_UNITS"),
    _fault("rate-kibi", "rate", _ALL_RATES, "BINARY_UNITS"),
    _fault("rate-mebi-client", "rate", "client-rate", "BINARY_UNITS"),
    _fault("rate-mebi-server", "rate", "server-rate", "BINARY_UNITS"),
    _fault("rate-125", "rate", _ALL_RATES, "WRONG_RATE BYTES_AS_BITS"),
    _fault("rate-125th", "rate", _ALL_RATES, "WRONG_RATE BITS_TWICE"),  # 1/125 is 8/1000
    _fault("rate-1000-by-8", "rate", _ALL_RATES, "WRONG_RATE BYTES_AS_BITS BITS_TWICE"),
    _fault("rate-integer", "rate", _ALL_RATES, "INTEGER_DIVISION WHOLE_SECONDS WRONG_RATE"),
    _fault(
        "rate-follows-format",
        "rate",
        f"{_ALL_RATES} format",
        "RATE_BY_FORMAT WRONG_RATE",
        lambda c: c["rows"] == "running",
    ),
    _fault(
        "whole-seconds", "rate", f"{_ALL_RATES} ack", "WHOLE_SECONDS INTEGER_DIVISION WRONG_RATE CLOCK SERVER_CLOCK"
    ),
    # amounts
    _fault("amount-binary", "amount", "format bytes", "BINARY_UNITS"),
    _fault("amount-binary-server", "amount", "format bytes", "BINARY_UNITS"),
    _fault("amount-in-bits", "amount", "format bytes conserved", "WRONG_AMOUNT BYTES_AS_BITS BITS_TWICE SENDS_COUNTED"),
    _fault("format-ignored", "format", "format", "FORMAT_IGNORED", lambda c: c["num"] != "bare"),
    _fault("format-refused", "format", "format", "FORMAT_REFUSED FORMAT_IGNORED", lambda c: c["num"] != "bare"),
    # the clocks
    _fault("clock-before-ack", "clock", "ack", "CLOCK_BEFORE_ACK"),
    _fault("asked-time", "clock", "ack client-rate", "ASKED_TIME"),
    _fault("asked-time-rate", "clock", "ack client-rate", "ASKED_TIME WRONG_RATE CLOCK_BEFORE_ACK"),
    _fault("time-ignored", "clock", "time", "TIME_IGNORED"),
    _fault("server-clock-from-start", "server clock", "server-rate", "SERVER_CLOCK", _one_process),
    _fault("server-clock-late", "server clock", "server-rate", "SERVER_CLOCK WRONG_RATE CLOCK", _blocking_server),
    # rows
    _fault("no-client-row", "row", "client-row", "NO_ROW"),
    _fault("no-server-row", "row", "server-row", "NO_ROW"),
    # intervals
    _fault("interval-ignored", "interval", "interval-rows", "INTERVAL_IGNORED"),
    _fault("interval-refused", "interval", "interval-rows", "INTERVAL_REFUSED"),
    _fault("first-twice", "interval", _ROWS, "FIRST_TWICE INTERVAL_EXTRA"),
    _fault("last-missing", "interval", _ROWS, "LAST_MISSING"),
    _fault("remainder-lost", "interval", _ROWS, "LAST_MISSING INTERVAL_SUM"),
    _fault("interval-cumulative", "interval", _ROWS, "CUMULATIVE", _no_timer),
    _fault("interval-amount-cumulative", "interval", _ROWS, "CUMULATIVE INTERVAL_SUM"),
    _fault("interval-assumed", "interval", f"{_ROWS} ack", "INTERVAL_CLOCK", lambda c: c["rows"] == "running"),
    _fault("interval-gaps", "interval", "interval-join", "INTERVAL_GAPS"),
    _fault(
        "interval-rate-from-start", "interval", "interval-rates", "RATE_FROM_START INTERVAL_RATE WRONG_RATE CUMULATIVE"
    ),
    _fault("interval-extra", "interval", _ROWS, "INTERVAL_EXTRA"),
    _fault("interval-extra-repeat", "interval", _ROWS, "INTERVAL_EXTRA INTERVAL_GAPS INTERVAL_SUM"),
    _fault("crash-interval", "interval", _ROWS, "CRASH TRACEBACK", _no_timer),
    _fault("no-total", "interval", "interval-total", "NO_TOTAL", lambda c: c["total"] != "repeated"),
    _fault("total-rate-interval", "interval", "interval-total interval-rates", "TOTAL_RATE WRONG_RATE"),
    # -n
    _fault("num-ignored", "num", _NUM, "NUM_IGNORED"),
    _fault("num-whole-mb", "num", "num-exact num-rows", "NUM_ROUNDED"),
    _fault("num-binary", "num", "num-exact", "BINARY_UNITS", _with_units_of_num),
    _fault("num-chunks", "num", "num-exact num-rows", "NUM_CHUNKS", _single_calls, True),
    _fault("num-chunks-1024", "num", "num-exact num-rows", "NUM_CHUNKS CHUNK_SIZE", _single_calls, True),
    _fault("num-time", "num", "num-time", "NUM_TIME", lambda c: c["num_beside"] == "accepts -t"),
    _fault("num-refused", "num", _NUM, "NUM_REFUSED"),
    _fault("num-rate-bytes", "num clock", f"{_NUM} client-rate", "WRONG_RATE BYTES_AS_BITS CLOCK"),
    _fault("num-rate-kilo", "num clock", f"{_NUM} client-rate", "WRONG_RATE CLOCK"),
    _fault("num-rate-asked-time", "num clock", f"{_NUM} client-rate", "ASKED_TIME WRONG_RATE CLOCK"),
    _fault("num-time-wrong", "num clock", f"{_NUM} client-rate", "ASKED_TIME CLOCK WRONG_RATE"),
    _fault("num-time-doubled", "num clock", f"{_NUM} client-rate", "CLOCK WRONG_RATE"),
    _fault("crash-num", "num", _NUM, "CRASH TRACEBACK", _blocking_client),
    # -P
    _fault("parallel-ignored", "parallel", _PARALLEL, "PARALLEL_IGNORED"),
    _fault("parallel-in-turn", "parallel", "parallel-together", "PARALLEL_IN_TURN", _threads),
    _fault("parallel-one-worker", "parallel", "parallel-together", "PARALLEL_IN_TURN"),
    _fault("parallel-shared", "parallel", _PARALLEL, "PARALLEL_SHARED", _threads),
    _fault("parallel-rows-missing", "parallel", "parallel-client", "PARALLEL_ROWS", _no_sum),
    _fault(
        "shared-count",
        "parallel",
        "parallel-bytes parallel-client",
        "PARALLEL_SUMMED WRONG_AMOUNT SENDS_COUNTED",
        _threads,
    ),
    _fault("crash-parallel", "parallel", _PARALLEL, "CRASH TRACEBACK", _blocking_client),
    # what passes
    _fault("chunk-1024", "count", "bytes conserved", "CHUNK_SIZE SENDS_COUNTED BINARY_UNITS", _single_calls),
    _fault("client-bytes-calls", "count", "bytes conserved", "CHUNK_SIZE SENDS_COUNTED BINARY_UNITS", _blocking_client),
    _fault("reads-counted", "received", "bytes conserved", "READS_COUNTED"),
    _fault("server-bytes-lost", "received", "bytes conserved", "BYTES_LOST WRONG_AMOUNT"),
    _fault("end-counted", "received", "conserved", "END_COUNTED", _always, True),
    _fault("end-glued", "end", "ends glued", "END_GLUED"),
    _fault("end-in-pieces", "end", "pieces", "END_IN_PIECES"),
    _fault("end-in-data", "end", "pieces", "END_IN_DATA", _always, True),
    _fault("never-acknowledges", "answer", "ends", "NO_ACKNOWLEDGEMENT"),
    _fault("never-acknowledges-open", "answer", "ends", "NO_ACKNOWLEDGEMENT WAITS NO_END", _blocking_server),
    _fault("leaves-at-once", "clock", "ends ack", "NO_WAIT CLOCK_BEFORE_ACK"),
    _fault("leaves-soon", "clock", "ends ack", "NO_WAIT CLOCK_BEFORE_ACK", _blocking_client),
    _fault("never-ends", "status", "ends", "NO_END WAITS"),
    _fault("status-not-zero", "status", "ends", "STATUS_NOT_ZERO"),
    # the server and its clients
    _fault("bind-ignored", "socket", "listens", "BIND_IGNORED", lambda c: c["server"] != "asyncio"),
    _fault("port-ignored", "socket", "connects", "PORT_IGNORED NO_CONNECTION"),
    _fault("serverip-ignored", "socket", "connects", "ADDRESS_IGNORED NO_CONNECTION"),
    _fault(
        "one-at-a-time",
        "many",
        "concurrent",
        "ONE_AT_A_TIME",
        lambda c: _accept_loop(c) or c["server"] == "socketserver",
    ),
    _fault("joins-thread", "many", "concurrent", "ONE_AT_A_TIME", lambda c: c["server"] == "threading"),
    _fault("one-client-only", "many", "concurrent abrupt", "ONE_CLIENT_ONLY", _accept_loop),
    _fault(
        "clients-mixed",
        "received",
        "parallel-bytes parallel-server concurrent",
        "CLIENTS_MIXED PARALLEL_SUMMED WRONG_AMOUNT BYTES_LOST",
        lambda c: c["server"] in ("threading", "thread class", "_thread", "socketserver"),
    ),
    _fault(
        "stops-listening", "many", "concurrent parallel-together", "REFUSES ONE_AT_A_TIME ONE_CLIENT_ONLY", _accept_loop
    ),
    _fault("no-reuseaddr", "reuse", "restart", "NO_REUSEADDR"),
    _fault("abrupt-dies", "abrupt", "abrupt", "ABRUPT_CLIENT", _one_process),
    _fault("abrupt-traceback", "abrupt", "quiet", "TRACEBACK ABRUPT_CLIENT", lambda c: c["server"] != "asyncio"),
    _fault("spins", "abrupt", "abrupt quiet", "SPINS ENDLESS", _no_preamble),
    # arguments
    _fault("both-modes", "modes", "modes", "MODES ACCEPTED"),
    _fault("neither-mode", "modes", "modes", "MODES ACCEPTED"),
    _fault("low-port-accepted", "ports", "ports", "PORT_RANGE ACCEPTED"),
    _fault("any-port", "ports", "ports", "PORT_RANGE ACCEPTED"),
    _fault("traceback-on-port", "ports", "ports", "TRACEBACK"),
    _fault("address-unchecked", "addresses", "addresses", "ADDRESS_UNCHECKED TRACEBACK"),
    _fault("address-replaced", "addresses", "addresses", "ADDRESS_UNCHECKED ACCEPTED"),
    _fault("any-format", "formats", "formats", "ACCEPTED"),
    _fault("traceback-on-format", "formats", "formats", "TRACEBACK"),
    _fault("zero-time-accepted", "times", "times", "ACCEPTED"),
    _fault("traceback-on-time", "times", "times", "TRACEBACK"),
    _fault("parallel-unlimited", "parallels", "parallels", "PARALLEL_RANGE ACCEPTED"),
    _fault("parallel-clamped", "parallels", "parallels", "PARALLEL_RANGE ACCEPTED"),
    _fault("parallel-assert", "parallels", "parallels", "TRACEBACK"),
    _fault("bad-num-accepted", "amounts", "amounts", "ACCEPTED"),
    _fault("traceback-on-num", "amounts", "amounts", "TRACEBACK"),
    _fault("any-interval", "interval text", "interval-text", "ACCEPTED"),
    _fault("traceback-on-interval", "interval text", "interval-text", "TRACEBACK"),
    _fault("no-server-traceback", "no server", "no-server", "TRACEBACK", _blocking_client),
    _fault("no-server-status-zero", "no server", "no-server", "STATUS_ZERO", _blocking_client),
    _fault("status-zero", "fail", "modes ports addresses times parallels no-server", "STATUS_ZERO"),
    _fault("no-message", "fail", "modes ports addresses times parallels no-server", "NO_MESSAGE"),
    _fault("unnamed", "fail", "ports addresses times parallels amounts", "UNNAMED NO_MESSAGE", _always, True),
    _fault("no-help", "help", "help", "NO_HELP"),
)

BY_NAME: Final = {fault.name: fault for fault in FAULTS}

_ALONE: Final = frozenset({"socket", "answer", "row", "end", "status"})
"""Parts that nothing else works without: who breaks one of them has to mend that first."""
_LEAVES: Final = frozenset({"leaves-at-once", "leaves-soon"})
_CLASHES: Final = frozenset(
    frozenset(places.split("+"))
    for places in (
        "rate+clock", "rate+server clock", "rate+num clock", "clock+num clock", "num+num clock", "amount+count",
        "amount+received", "count+received", "amount+format", "parallel+many", "parallel+received", "many+abrupt",
        "many+reuse", "abrupt+reuse", "fail+no server", "interval+interval text",
    )
)  # fmt: skip
"""Parts of which one hides what is wrong with the other."""


def go_together(one: Fault, other: Fault) -> bool:
    """Return True if a program can make both mistakes, and each still shows."""
    if one.place == other.place or {one.place, other.place} & _ALONE or {one.name, other.name} & _LEAVES:
        return False
    return not (one.hint_only or other.hint_only) and frozenset({one.place, other.place}) not in _CLASHES
