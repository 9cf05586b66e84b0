#!/usr/bin/env python3
"""simpleperf: how much does TCP carry between two hosts? A small iperf.

    python3 simpleperf.py -s -b 10.0.5.2                 the server, on h4
    python3 simpleperf.py -c -I 10.0.5.2 -t 25 -i 5      the client, on h1

On each connection the client sends chunks of 1000 bytes, then BYE. The server answers ACK: BYE and closes. The
server's clock stops when it has read BYE, the client's when the acknowledgement arrives.

The client's clock starts when all its connections are open. Sizes are decimal (1 KB = 1000 bytes). Rates are in
Mbit/s, printed as Mbps.

Exit status: 0 when every connection was acknowledged, and for a server that Ctrl-C ended; 1 when the network said no;
2 for wrong arguments; 130 for a client that Ctrl-C ended.
"""

from __future__ import annotations

import argparse
import math
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

CHUNK: Final = b"x" * 1000  # must not contain BYE
BYE: Final = b"BYE"
ACKNOWLEDGEMENT: Final = b"ACK: BYE"
PATIENCE_S: Final = 20.0  # a peer that is silent for so long is given up
BYTES_PER_UNIT: Final = {"B": 1, "KB": 1000, "MB": 1_000_000}


# --- What is still to do ---------------------------------------------------------------------------------------------
# Each TODO has the number of its step in the notebook. Replace each call of todo by your code. Keep the messages, the
# heading and the parser: all else is yours.


def todo(step: int, what: str) -> NoReturn:
    """End the program, and say what is missing."""
    sys.stderr.write(f"simpleperf: step {step} is still to do: {what}\n")
    os._exit(1)  # sys.exit would end no more than the thread that calls it


# --- Arguments -------------------------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """A parser that answers a mistake with one line."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and exit with status 2."""
        self.exit(2, f"Error: {message}\n")


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """A function that reads a whole number from low to high. It raises ArgumentTypeError for any other text."""

    # TODO 7: return a function of your own. It raises argparse.ArgumentTypeError for 80, 65536, 1.5, -1 and x.
    return int


def ipv4_address(text: str) -> str:
    """The same text. Raises ArgumentTypeError if it is not an IPv4 address."""
    return text  # TODO 7: the module ipaddress knows what an IPv4 address is


def unit_name(text: str) -> str:
    """The same text. Raises ArgumentTypeError if it is not B, KB or MB."""
    # argparse's own choices are worded otherwise in each version of Python.
    if text not in BYTES_PER_UNIT:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of B, KB and MB")
    return text


def amount_bytes(text: str) -> int:
    """How many bytes 10MB, 1000KB or 500B are. Raises ArgumentTypeError for any other text, and for 0."""
    # TODO 4: split the text into number and unit. Which wrong texts may users type?
    todo(4, "amount_bytes: how many bytes are 10MB, 1000KB, 500B?")


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
        return 0.0  # TODO 2: how many Mbit/s were these bytes in these seconds? (Perhaps 0 seconds.)

    def amount(self, unit: str) -> int:
        """How many units were carried, as a whole number."""
        # TODO 3: do the amounts of all intervals add up to the total?
        return round((self.end_bytes - self.start_bytes) / BYTES_PER_UNIT[unit])


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
        # TODO 3: return the span from the end of self._last_lap to the present end of self.total().
        todo(3, "Meter.lap: the span since the last lap")


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
    # TODO 1: read until BYE arrives. Call meter.add with the number of bytes before BYE. One recv returns any piece of
    # the stream: BYE may stand at the end of a piece, alone, or in two pieces.
    # TODO 6: a client may send nothing for ever, and a client's data may contain BYE. (A client waits after BYE, but
    # not after data.)
    todo(1, "receive: read and count until BYE")


def serve_client(connection: socket.socket, client: str, unit: str) -> None:
    """Receive one transfer, acknowledge it and print its row. Whatever the client does, the server goes on."""
    meter = Meter()
    with connection:
        say(f"A simpleperf client with {client} is connected with {name_of(connection.getsockname())}")
        # TODO 1: receive the data, then send ACKNOWLEDGEMENT.
        # TODO 6: a client may vanish or reset the connection. Print one line with complain, and serve the next client.
        todo(1, "serve_client: receive, then acknowledge")
    total = meter.total()
    if total.end_bytes:
        say(columns("ID", "Interval", "Received", "Rate") + "\n" + row(client, total, unit))


def serve(address: tuple[str, int], unit: str) -> NoReturn:
    """Serve all clients that come, each in a thread of its own, until Ctrl-C."""
    # TODO 1: make a TCP socket with socket.socket, bind it to the address, and listen. Print the banner (below). Then
    # accept one client after the other, and call serve_client for each.
    # TODO 5: while the server serves one client, the next client waits. Serve each client in a thread.
    # TODO 6: serve a client, press Ctrl-C, and start the server again: which error do you see? One option of
    # the socket helps.
    # TODO 7: the address may belong to another host, or the port may be taken. Name both flags in one line.
    # say(banner(f"A simpleperf server is listening on port {address[1]}"))
    todo(1, "serve: bind, listen, and accept clients")


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
                self.meter.stop()  # TODO 2: does the clock stop at the right place?
                self._await_acknowledgement()
            except OSError as error:
                self.error = error

    def _send(self) -> None:
        # TODO 1: send CHUNK again and again until self._seconds are over, and call self.meter.add for each chunk. Then
        # set self.all_sent, and send BYE.
        # TODO 4: if self._amount is set, send exactly that many bytes, however long this takes.
        todo(1, "Sender._send: send chunks for the time, then BYE")

    def _await_acknowledgement(self) -> None:
        # TODO 1: read the ACKNOWLEDGEMENT, which may arrive in pieces. Raise ConnectionError for any other answer.
        todo(1, "Sender._await_acknowledgement: read the answer to BYE")


def print_intervals(senders: Sequence[Sender], interval_s: float, limit_s: float, unit: str) -> None:
    """Print a row for each sender and interval, live. The last one ends with the acknowledgement."""
    # TODO 3: wait until an interval is over (Thread.join takes a timeout), then print the row of a lap. The last row
    # ends when the transfer ends, and may be shorter.
    todo(3, "print_intervals: a row for each interval")


def run_client(address: tuple[str, int], options: argparse.Namespace) -> int:
    """Measure, and print the table. Returns the exit status."""
    server = f"{address[0]} port {address[1]}"
    say(banner(f"A simpleperf client connecting to server {address[0]}, port {address[1]}"))
    # TODO 1: connect a TCP socket to the address, and put it into the list.
    # TODO 5: open as many connections as options.parallel says.
    # TODO 7: there may be no server. Name both flags in one line.
    connections: list[socket.socket] = [todo(1, "run_client: connect to the server")]
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
