#!/usr/bin/env python3
"""simpleperf: how much does TCP carry between two hosts? A small iperf.

    python3 simpleperf.py -s -b 10.0.5.2                 the server, on h4
    python3 simpleperf.py -c -I 10.0.5.2 -t 25 -i 5      the client, on h1

On each connection the client sends chunks of 1000 bytes, then BYE. The server answers ACK: BYE and closes. The
server's clock stops when it has read BYE, the client's when the acknowledgement arrives: until then the last bytes may
still wait in the kernel, and a clock that stops earlier reports more than the link carries.

The client's clock starts when all its connections are open. Sizes are decimal (1 KB = 1000 bytes). Rates are in
Mbit/s, printed as Mbps.

Exit status: 0 when every connection was acknowledged, and for a server that Ctrl-C ended; 1 when the network said no;
2 for wrong arguments; 130 for a client that Ctrl-C ended.
"""

from __future__ import annotations

import argparse
import ipaddress
import math
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, NoReturn

CHUNK: Final = b"x" * 1000  # must not contain BYE
# A call into the kernel costs as much as copying many kB, so with a call per chunk the calls are what is measured. With
# more chunks per call the clock is read less often: 128 kB take 51 ms at 20 Mbit/s. iperf3 chose much the same.
CHUNKS_PER_CALL: Final = 128
READ_BYTES: Final = 256 * 1024  # the server need not read in chunks: TCP is a stream
BYE: Final = b"BYE"
ACKNOWLEDGEMENT: Final = b"ACK: BYE"
QUIET_S: Final = 0.005  # BYE with nothing behind it for so long is the end; otherwise it was data
PATIENCE_S: Final = 20.0  # a peer that is silent for so long is given up
BYTES_PER_UNIT: Final = {"B": 1, "KB": 1000, "MB": 1_000_000}


# --- Arguments -------------------------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """A parser that answers a mistake with one line."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and exit with status 2."""
        self.exit(2, f"Error: {message}\n")


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """A function that reads a whole number from low to high. It raises ArgumentTypeError for any other text."""

    def read(text: str) -> int:
        # int() alone would also take "8_088", " 8088" and digits of other scripts.
        if not re.fullmatch("[0-9]{1,9}", text) or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low} to {high}")
        return int(text)

    return read


def ipv4_address(text: str) -> str:
    """The same text. Raises ArgumentTypeError if it is not an IPv4 address."""
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not an IPv4 address such as 10.0.0.2") from None


def unit_name(text: str) -> str:
    """The same text. Raises ArgumentTypeError if it is not B, KB or MB."""
    # argparse's own choices are worded otherwise in each version of Python.
    if text not in BYTES_PER_UNIT:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of B, KB and MB")
    return text


def amount_bytes(text: str) -> int:
    """How many bytes 10MB, 1000KB or 500B are. Raises ArgumentTypeError for any other text, and for 0."""
    match = re.fullmatch("([0-9]{1,12}) ?(B|KB|MB)", text)
    if not match or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount such as 10MB, 1000KB or 500B")
    return int(match[1]) * BYTES_PER_UNIT[match[2]]


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options. If they are wrong, prints one line and exits with status 2."""
    port, seconds, connections = whole_number(1024, 65535), whole_number(1, 86_400), whole_number(1, 5)
    parser = Parser(prog="simpleperf", description="Measure what TCP carries between two hosts.", allow_abbrev=False)
    parser.add_argument("-s", "--server", action="store_true", help="run as the server")
    parser.add_argument("-c", "--client", action="store_true", help="run as the client")
    parser.add_argument("-p", "--port", type=port, default=8088, help="1024 to 65535 (%(default)s)")
    parser.add_argument("-f", "--format", type=unit_name, default="MB", help="B, KB or MB (%(default)s)")
    server = parser.add_argument_group("server")
    server.add_argument("-b", "--bind", type=ipv4_address, default="127.0.0.1", help="own address (%(default)s)")
    client = parser.add_argument_group("client")
    client.add_argument("-I", "--serverip", type=ipv4_address, default="127.0.0.1", help="the server (%(default)s)")
    client.add_argument("-t", "--time", type=seconds, default=25, help="how many seconds to send (%(default)s)")
    client.add_argument("-i", "--interval", type=seconds, help="also print a row for each so many seconds")
    client.add_argument("-P", "--parallel", type=connections, default=1, help="1 to 5 connections (%(default)s)")
    client.add_argument("-n", "--num", type=amount_bytes, help="send so much per connection, as in 10MB; -t is ignored")
    options = parser.parse_args(arguments)
    if options.server == options.client:
        parser.error("you must run either in server or client mode")
    return options


# --- Counting and printing -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Span:
    """A part of a transfer. Seconds and bytes count from the transfer's start."""

    start_s: float
    end_s: float
    start_bytes: int
    end_bytes: int

    @property
    def rate_mbps(self) -> float:
        """Mbit/s: 8 bits a byte, a million bits a Mbit. Infinite if the clock did not move."""
        duration_s = self.end_s - self.start_s
        return (self.end_bytes - self.start_bytes) * 8 / 1_000_000 / duration_s if duration_s > 0 else math.inf

    def amount(self, unit: str) -> int:
        """How many units were carried, as a whole number."""
        # Rounded at both ends, not in between: so the amounts of the intervals add up to the total's.
        return round(self.end_bytes / BYTES_PER_UNIT[unit]) - round(self.start_bytes / BYTES_PER_UNIT[unit])


class Meter:
    """Counts the bytes of a transfer and times it. The clock gives seconds; its zero does not matter."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._bytes = 0
        self._last_lap = Span(0.0, 0.0, 0, 0)
        self.start()

    def start(self) -> None:
        """Start the clock, or start it again."""
        self._start_s = self._clock()
        self._end_s: float | None = None

    def stop(self) -> None:
        """Stop the clock. The last call counts."""
        self._end_s = self._clock()

    def add(self, count: int) -> None:
        """Count so many bytes."""
        self._bytes += count

    def total(self) -> Span:
        """From the start until the clock was stopped, or until now."""
        end_s = self._clock() if self._end_s is None else self._end_s
        return Span(0.0, end_s - self._start_s, 0, self._bytes)

    def lap(self) -> Span:
        """From the end of the last lap until the clock was stopped, or until now."""
        total, last = self.total(), self._last_lap
        self._last_lap = Span(last.end_s, total.end_s, last.end_bytes, total.end_bytes)
        return self._last_lap


def columns(name: str, interval: str, amount: str, rate: str) -> str:
    """A line of the table."""
    return f"{name:<16} {interval:<12} {amount:<10} {rate}"


def row(name: str, span: Span, unit: str) -> str:
    """The table's line for a span of the connection with that name."""
    interval = f"{span.start_s:.1f} - {span.end_s:.1f}"
    return columns(name, interval, f"{span.amount(unit)} {unit}", f"{span.rate_mbps:.2f} Mbps")


def banner(text: str) -> str:
    """The text between two dashed lines."""
    dashes = "-" * len(text)
    return f"{dashes}\n{text}\n{dashes}"


def say(text: str) -> None:
    """Print at once, into a pipe too, and in one write, so that threads do not mix their lines."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def complain(text: str) -> None:
    """Print a line about trouble, apart from the results."""
    sys.stderr.write(f"{text}\n")


def name_of(address: tuple[str, int]) -> str:
    """As in 10.0.0.2:33540."""
    return f"{address[0]}:{address[1]}"


# --- Server ----------------------------------------------------------------------------------------------------------


def receive(connection: socket.socket, meter: Meter, patience_s: float = PATIENCE_S) -> None:
    """Count what comes before BYE. The meter's clock stands at the last byte.

    Raises ConnectionError if the client goes without BYE, TimeoutError if it falls silent.
    """
    block = memoryview(bytearray(READ_BYTES))
    tail = b""
    connection.settimeout(patience_s)
    while size := connection.recv_into(block):
        meter.stop()
        meter.add(size)
        # BYE may come glued to data or in pieces, so what earlier reads ended with counts too.
        tail = (tail + bytes(block[max(0, size - len(BYE)) : size]))[-len(BYE) :]
        if tail == BYE:
            connection.settimeout(QUIET_S)
            if is_quiet(connection):
                meter.add(-len(BYE))
                return
            connection.settimeout(patience_s)
    raise ConnectionError("it closed the connection without BYE")


def is_quiet(connection: socket.socket) -> bool:
    """Whether no byte follows within the connection's timeout. A client waits after BYE, but not after data."""
    try:
        return not connection.recv(1, socket.MSG_PEEK)
    except TimeoutError:
        return True


def serve_client(connection: socket.socket, client: str, unit: str) -> None:
    """Receive one transfer, acknowledge it and print its row. Whatever the client does, the server goes on."""
    meter = Meter()
    with connection:
        say(f"A simpleperf client with {client} is connected with {name_of(connection.getsockname())}")
        try:
            receive(connection, meter)
            connection.sendall(ACKNOWLEDGEMENT)
        except OSError as error:
            complain(f"{client} ended early: {error}")
    total = meter.total()
    if total.end_bytes:
        say(columns("ID", "Interval", "Received", "Rate") + "\n" + row(client, total, unit))


def serve(address: tuple[str, int], unit: str) -> NoReturn:
    """Serve all clients that come, each in a thread of its own, until Ctrl-C."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        # Without it the port stays taken for a minute after a server has ended.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(128)
        except OSError as error:
            sys.exit(f"Error: cannot listen on {name_of(address)} (-b, -p): {error}")
        say(banner(f"A simpleperf server is listening on port {address[1]}"))
        while True:
            try:
                connection, client = listener.accept()
                threading.Thread(target=serve_client, args=(connection, name_of(client), unit), daemon=True).start()
            except (OSError, RuntimeError) as error:  # out of sockets or threads, until some clients have ended
                complain(f"a client was not served: {error}")
                time.sleep(0.1)


# --- Client ----------------------------------------------------------------------------------------------------------


class Sender(threading.Thread):
    """One connection of the client. All that share a gate start to send together."""

    def __init__(self, connection: socket.socket, gate: threading.Barrier, seconds: float, amount: int | None) -> None:
        super().__init__(name=name_of(connection.getsockname()), daemon=True)
        self.meter = Meter()
        self.error: OSError | None = None
        self.all_sent = False
        self._connection, self._gate, self._seconds, self._amount = connection, gate, seconds, amount

    def run(self) -> None:
        """Send everything, then wait for the acknowledgement. If that fails, the error is kept."""
        self._gate.wait()
        self.meter.start()
        with self._connection:
            try:
                self._send()
                self._await_acknowledgement()
            except OSError as error:
                self.error = error
        self.meter.stop()

    def _send(self) -> None:
        chunks = memoryview(CHUNK * CHUNKS_PER_CALL)
        left, seconds = (sys.maxsize, self._seconds) if self._amount is None else (self._amount, math.inf)
        end_s = time.monotonic() + seconds
        while left and time.monotonic() < end_s:
            data = chunks[:left]
            self._connection.sendall(data)
            self.meter.add(len(data))
            left -= len(data)
        self.all_sent = True
        self._connection.sendall(BYE)

    def _await_acknowledgement(self) -> None:
        answer = b""
        while len(answer) < len(ACKNOWLEDGEMENT) and (part := self._connection.recv(len(ACKNOWLEDGEMENT))):
            answer += part
        if answer != ACKNOWLEDGEMENT:
            raise ConnectionError(f"its answer to BYE was {answer!r}, not {ACKNOWLEDGEMENT!r}")


def print_intervals(senders: Sequence[Sender], interval_s: float, limit_s: float, unit: str) -> None:
    """Print a row for each sender and interval, live. The last one ends with the acknowledgement."""
    start_s = time.monotonic()
    due_s = interval_s
    while due_s < limit_s and any(sender.is_alive() for sender in senders):
        for sender in senders:
            sender.join(max(0.0, start_s + due_s - time.monotonic()))
        for sender in senders:
            if sender.is_alive() and not sender.all_sent:
                say(row(sender.name, sender.meter.lap(), unit))
        due_s += interval_s
    for sender in senders:
        sender.join()
        say(row(sender.name, sender.meter.lap(), unit))


def run_client(address: tuple[str, int], options: argparse.Namespace) -> int:
    """Measure, and print the table. Returns the exit status."""
    server = f"{address[0]} port {address[1]}"
    say(banner(f"A simpleperf client connecting to server {address[0]}, port {address[1]}"))
    try:
        with ThreadPoolExecutor() as pool:
            calls = [pool.submit(socket.create_connection, address, PATIENCE_S) for _ in range(options.parallel)]
            connections = [call.result() for call in calls]
    except OSError as error:
        sys.exit(f"Error: no simpleperf server at {name_of(address)} (-I, -p): {error}")
    gate = threading.Barrier(len(connections) + 1)
    senders = [Sender(connection, gate, options.time, options.num) for connection in connections]
    for sender in senders:
        say(f"Client {sender.name} connected with {server}" if len(senders) > 1 else f"Client connected with {server}")
        sender.start()
    say(columns("ID", "Interval", "Transfer", "Bandwidth"))
    gate.wait()
    if options.interval:
        print_intervals(senders, options.interval, math.inf if options.num else options.time, options.format)
        say("-" * 56)
    for sender in senders:
        sender.join()
        if sender.error:
            complain(f"Error: {sender.name} was not acknowledged by {server}: {sender.error}")
        else:
            say(row(sender.name, sender.meter.total(), options.format))
    return 1 if any(sender.error for sender in senders) else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run simpleperf. Returns the exit status."""
    options = parse(arguments)
    try:
        if options.client:
            return run_client((options.serverip, options.port), options)
        serve((options.bind, options.port), options.format)
    except KeyboardInterrupt:
        return 0 if options.server else 130


if __name__ == "__main__":
    sys.exit(main())
