"""The mistakes that checks name, with what to do about each; and how a judge says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from linklab.programs.checks import Observed

_LONGEST_QUOTE: Final = 160


@dataclass(frozen=True)
class _Text:
    name: str
    hint: str


class Mistake(Enum):
    """A probable mistake: its name, and a hint."""

    CRASH = _Text(
        "it ends with an error", "run it by hand with the same arguments, and read the last line that it prints"
    )
    TO_DO = _Text("a TODO of this step is still open", "write what the TODO of this name asks for, and save the file")
    TRACEBACK = _Text(
        "traceback shown",
        "correct the line that the traceback names last; only where the cause is a wrong argument or the other side, "
        "catch the exception there and print one line instead",
    )
    NO_LISTENING = _Text(
        "the server does not listen", "bind the socket to the address of -b and the port of -p, then call listen()"
    )
    BIND_IGNORED = _Text(
        "-b is ignored", "bind to (args.bind, args.port): an empty address, or 0.0.0.0, means all interfaces"
    )
    PORT_IGNORED = _Text("-p is ignored", "use args.port on both sides, not the default")
    ADDRESS_IGNORED = _Text("-I is ignored", "connect to (args.serverip, args.port), not to a fixed address")
    NO_CONNECTION = _Text("the client does not connect", "call connect() with the address of -I and the port of -p")
    NO_ACKNOWLEDGEMENT = _Text(
        "the server never acknowledges", "when the end message has come, send the acknowledgement before you close"
    )
    NO_END = _Text(
        "it does not come to an end",
        "find what it still waits for: after the acknowledgement the client closes its socket, prints its row and "
        "exits",
    )
    END_IGNORED = _Text(
        "the server does not look for the end message",
        "leave the loop when the end message has come: the client keeps the connection open until it is answered",
    )
    NO_END_MESSAGE = _Text(
        "the client sends no end message",
        "after the data send an end message such as BYE, then wait for the acknowledgement",
    )
    NO_DATA = _Text("the client sends no data", "after connect() send chunks of 1000 bytes until the time is over")
    NO_WAIT = _Text(
        "the client does not wait for the acknowledgement",
        "after the end message call recv() until the acknowledgement has come, and only then close",
    )
    REFUSES = _Text(
        "the server refuses a connection", "keep one socket that listens, and go back to accept() after each client"
    )
    NO_ROW = _Text(
        "no row that can be read",
        "print a row such as: 10.0.0.2:33540   0.0 - 25.0   85 MB   27.20 Mbps",
    )
    BYTES_LOST = _Text(
        "bytes are missing", "send with sendall(); on the server count len(data) of every read until the end message"
    )
    READS_COUNTED = _Text(
        "each read counted as a full buffer", "recv(1000) may return less: count len(data), not the size asked for"
    )
    SENDS_COUNTED = _Text(
        "bytes counted are not the bytes sent",
        "add len(chunk) after each sendall(chunk), and count nothing else, neither the end message nor what was "
        "only planned",
    )
    CHUNK_SIZE = _Text("chunks of 1024 bytes sent, 1000 counted", "make the chunk 1000 bytes, and count len(chunk)")
    END_COUNTED = _Text(
        "client and server differ by the length of the end message",
        "on both sides count the bytes before BYE: the client counts chunks only, and the server takes 3 off once",
    )
    CLOCK_BEFORE_ACK = _Text(
        "clock stopped before the acknowledgement",
        "stop the client's clock after the acknowledgement has been read: before that some data has not arrived yet",
    )
    ASKED_TIME = _Text(
        "rate from the asked time, not the measured",
        "divide by the time that really passed, from the first byte to the acknowledgement, not by args.time",
    )
    WHOLE_SECONDS = _Text(
        "time cut to whole seconds", "keep the seconds with their decimals, and round only when you print"
    )
    COMMAND = _Text(
        "a command is missing that it runs",
        "a program that measures needs no other: ask the socket for its address, with getsockname()",
    )
    PACKAGE = _Text("a package is missing", "install it where Linklab runs, or do without: python -m pip install NAME")
    SERVER_CLOCK = _Text(
        "the server's clock is wrong",
        "start it when the client is accepted, stop it when the end message has been read",
    )
    CLOCK = _Text(
        "the clock is wrong",
        "read time.time() before the first byte and after the acknowledgement, and divide by the difference",
    )
    TIME_IGNORED = _Text("-t is ignored", "send until args.time seconds have passed since the start")
    BYTES_AS_BITS = _Text(
        "bits and bytes: the factor 8 is missing", "multiply by 8: a rate in Mbit/s is bytes * 8 / 1000000 / seconds"
    )
    BITS_TWICE = _Text(
        "bits and bytes: multiplied by 8 twice",
        "multiply by 8 only once: a rate in Mbit/s is bytes * 8 / 1000000 / seconds",
    )
    BINARY_UNITS = _Text(
        "1000 and 1024 mixed",
        "look for 1024 where this number is computed: 1 KB = 1000 B, 1 MB = 1000 KB, 1 Mbit = 1000000 bit",
    )
    INTEGER_DIVISION = _Text(
        "integer division", "divide with /, not with // or int(), and round only when you print, with :.2f"
    )
    RATE_UNIT = _Text(
        "the rate is in another unit than its label",
        "a rate in Mbit/s is bytes * 8 / 1000000 / seconds; a number 1000 times as large is kbit/s, 125 times kB/s",
    )
    WRONG_RATE = _Text(
        "the rate does not fit amount and time",
        "compute it by hand from the amount and the time of the same row: bytes * 8 / 1000000 / seconds",
    )
    WRONG_AMOUNT = _Text(
        "the amount is not what was carried",
        "count each byte of the data once, without the end message, and divide by 1, 1000 or 1000000 for B, KB or MB",
    )
    FORMAT_IGNORED = _Text("-f is ignored", "print amounts in the unit of -f: B, KB or MB")
    RATE_BY_FORMAT = _Text(
        "-f changes the rate, and not its label",
        "-f is the unit of amounts alone: compute the rate from the bytes, as bytes * 8 / 1000000 / seconds",
    )
    FORMAT_REFUSED = _Text("-f is not understood", "accept -f B, -f KB and -f MB, on the server and on the client")
    BYTES_LABEL = _Text("MBps as the label of Mbit/s", "MBps means megabytes per second to most readers: write Mbps")
    OVER_CAPACITY = _Text(
        "more than the link carries",
        "a clock stops too early, or bytes are counted twice: the client's clock stops at the acknowledgement, the "
        "server's when it has read the end message",
    )
    INTERVAL_IGNORED = _Text("-i is ignored", "print a row whenever args.interval seconds have passed")
    FIRST_TWICE = _Text("first interval twice", "print each interval once: remember where the last row ended")
    LAST_MISSING = _Text(
        "last interval missing", "when the transfer is over, print the row of what was sent since the last one"
    )
    CUMULATIVE = _Text(
        "intervals count from the start", "in each row show only what was sent since the row before, and its own times"
    )
    NO_TOTAL = _Text(
        "no row for the total", "after the rows of the intervals print a line, then the row from 0 to the end"
    )
    INTERVAL_REFUSED = _Text("-i is not understood", "accept -i with a number of seconds, beside -t")
    INTERVAL_RATE = _Text(
        "the rate of a row is not its own",
        "divide the bytes of the interval by the time of the interval, from the clock, in each row",
    )
    INTERVAL_EXTRA = _Text(
        "a row too many among the intervals", "print each interval once, and after the last one nothing but the total"
    )
    INTERVAL_CLOCK = _Text(
        "times of intervals assumed, not measured",
        "take the begin and the end of each row from the clock: when the network stalls, a row lasts longer",
    )
    RATE_FROM_START = _Text(
        "the rate of a row is over the time since the start",
        "divide the bytes of the interval by the time since the row before, not since the start",
    )
    TOTAL_RATE = _Text(
        "the total's rate is not its own", "divide all bytes by all the time, from the first byte to the end"
    )
    INTERVAL_SUM = _Text("rows do not sum to the total", "count the bytes of each interval once, and none twice")
    INTERVAL_GAPS = _Text(
        "intervals do not join", "after each row set the next begin to the end of that row, without adding anything"
    )
    NUM_IGNORED = _Text("-n is ignored", "with -n send until so many bytes are sent, whatever -t says")
    NO_HEADING = _Text(
        "a table without a heading",
        "print the heading above the rows, as the starter does: ID   Interval   Transfer   Bandwidth; each row has a "
        "begin and an end, an amount and a rate below it, with their units there or in the heading",
    )
    SLEEPS = _Text(
        "it sleeps while its clock runs", "take out sleep(): between the first byte and the end send at once"
    )
    TIME_FLOOR = _Text(
        "a short time is taken for a longer one",
        "divide by the time that really passed, however short it is; where it is 0, print a rate of infinity",
    )
    LOST_CLIENT = _Text(
        "the server is stuck when a client has gone",
        "treat recv() that returns b'' as the client's end, catch OSError around each client, and go back to accept()",
    )
    FLAG_REFUSED = _Text(
        "a right argument is refused", "take every flag with the values that it may have, as -h lists them"
    )
    NUM_ROUNDED = _Text("-n rounded", "send exactly as many bytes as -n says: 1500KB are 1500000")
    NUM_SUFFIX = _Text(
        "-n in B loses its last digit",
        "KB and MB have two letters, B has one: cut off the unit, and not a digit with it",
    )
    NUM_ONE_MORE = _Text("-n sends a chunk too many", "stop when sent >= amount: with > or <= one more chunk goes out")
    NUM_TIME = _Text("-t ends a transfer of -n", "with -n the time does not count: send all of it")
    NUM_ALONE = _Text("-n and -t refuse each other", "let both stand together: with -n the time does not count")
    NUM_REFUSED = _Text("-n is not understood", "accept amounts such as 10MB, 1000KB or 500B")
    PARALLEL_REFUSED = _Text("-P is not understood", "accept -P 1 to -P 5, and open so many connections")
    PARALLEL_IGNORED = _Text("-P is ignored", "open args.parallel connections, each in a thread of its own")
    PARALLEL_IN_TURN = _Text(
        "connections opened one after the other",
        "start all threads in one loop, and join them in a second one; write target=f, args=(...), not target=f(...)",
    )
    PARALLEL_SHARED = _Text(
        "the connections of -P share one socket",
        "keep the socket in a local variable of each thread's function, not in one that all threads share",
    )
    PARALLEL_SUMMED = _Text(
        "the connections of -P are counted together", "count the bytes of each connection apart, in its own thread"
    )
    PARALLEL_ROWS = _Text("a row is missing for some connections", "print a row for each of the connections")
    ONE_AT_A_TIME = _Text(
        "one client at a time",
        "serve each client in a thread of its own, and go back to accept() at once, without join(); write target=f, "
        "args=(...), not target=f(...)",
    )
    CLIENTS_MIXED = _Text(
        "clients are mixed up",
        "keep the socket, the count and the clock of each client in its own thread, not in globals",
    )
    ONE_CLIENT_ONLY = _Text(
        "the server ends after its first client",
        "put accept() into a loop that never ends, and let nothing that a client does leave that loop",
    )
    NO_REUSEADDR = _Text("no SO_REUSEADDR", "before bind(): sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)")
    END_GLUED = _Text(
        "an end message behind data is not found",
        "TCP is a stream: the end message may come in one read with data before it, so look whether what has come ends "
        "with it, and count the data before it",
    )
    END_IN_PIECES = _Text(
        "an end message in pieces is not found",
        "TCP is a stream: keep the end of the last read, for BYE may come as B and YE",
    )
    ABRUPT_CLIENT = _Text(
        "server dies with an abrupt client", "catch OSError around each client, and treat an empty read as its end"
    )
    SPINS = _Text(
        "the server spins when a client has gone",
        "recv() that returns b'' means that the client is gone: leave the loop",
    )
    SILENT_CLIENT = _Text(
        "a silent client blocks the server", "serve each client in a thread of its own, so that none waits for another"
    )
    STATUS_ZERO = _Text("exit status 0 on errors", "when something is wrong, end with sys.exit(1)")
    STATUS_NOT_ZERO = _Text("exit status not 0 on success", "end with status 0 when everything went well")
    NO_MESSAGE = _Text("no message for a wrong argument", "print one line that names the argument, and exit")
    UNNAMED = _Text("the message does not name the argument", "say in the message which argument is wrong, and why")
    ACCEPTED = _Text(
        "a wrong argument is accepted",
        "check its value before you open a socket; if it is wrong, print one line that names the argument, and "
        "exit with a status that is not 0",
    )
    PORT_RANGE = _Text(
        "ports out of range are accepted",
        "before you open a socket, refuse ports below 1024 and above 65535 in one line that names -p",
    )
    ADDRESS_UNCHECKED = _Text(
        "addresses are not checked",
        "ipaddress.IPv4Address(text) raises ValueError for a bad one: catch it, and print one line that names the "
        "argument",
    )
    PARALLEL_RANGE = _Text(
        "-P out of range is accepted",
        "refuse what is below 1 or above 5 in one line that names -P: in argparse choices=range(1, 6) does so",
    )
    MODES = _Text(
        "the mode is not checked",
        "exactly one of -s and -c must be given: otherwise print one line that says so, and exit with a status "
        "that is not 0",
    )
    NO_HELP = _Text("no help", "argparse prints help for -h if each argument has help=...")
    ENDLESS = _Text(
        "it computes without end",
        "look for a loop that never ends, or that asks again and again without sleeping: recv() and accept() wait "
        "by themselves",
    )
    MEMORY = _Text("it fills memory", "add up len(data), and do not keep the data in a list or a string")
    PROCESSES = _Text("it starts processes or threads without end", "one thread for each connection is enough")
    FILES = _Text("it opens sockets or files without end", "open one socket for each connection, and close it")
    OUTPUT = _Text("it prints without end", "print rows, not every chunk")
    DISK = _Text("it fills the disk", "a program that measures writes no files: print to the terminal instead")
    DELETES = _Text(
        "it deletes or changes files",
        "a program that measures leaves files alone: take out what removes or writes files",
    )
    OUTSIDE = _Text(
        "it writes outside its folder", "a program that measures writes no files: print to the terminal instead"
    )

    @property
    def title(self) -> str:
        """The mistake's name."""
        return self.value.name

    @property
    def hint(self) -> str:
        """What to do about it."""
        return self.value.hint


def passes(expected: str, found: str = "as expected", advice: Mistake | None = None) -> Observed:
    """Return that all is as it should be. ``advice`` costs nothing."""
    return Observed(hint=f"{advice.title}: {advice.hint}" if advice else "", expected=expected, found=found)


def fails(mistake: Mistake, reason: str, expected: str = "", quotes: Sequence[str] = ()) -> Observed:
    """Return what is wrong: the one mistake that the evidence shows, the evidence in words, and lines of the program's
    own that show it.
    """
    told = [" ".join(quote.split())[:_LONGEST_QUOTE] for quote in quotes]
    shown = "; ".join(quote for quote in told if quote and quote not in reason)
    return Observed(f"{mistake.title}: {reason}", mistake.hint, expected, shown or "as expected")
