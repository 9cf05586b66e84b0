"""What is checked and what is not: the one list from which checks take their words and points, and the public page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from linklab.programs.simpleperf import tolerances

STEPS: Final[dict[str, str]] = {
    "transfer": "sockets and one transfer",
    "clock": "the clock and the units",
    "intervals": "-i, a row for each interval",
    "amount": "-n, an amount instead of a time",
    "parallel": "-P, several connections",
    "many": "many clients, restarts and abrupt peers",
    "arguments": "arguments, errors and help",
}
"""Name and subject of each step, in the order in which a student comes to them."""


@dataclass(frozen=True)
class Item:
    """A check: its stable key, what it looks at, what it is worth, and how it looks."""

    key: str
    step: str
    description: str
    points: float
    how: str


_ITEMS = (
    Item(
        "listens",
        "transfer",
        "the server listens where -b and -p say",
        2,
        "The kernel is asked which sockets listen: the address of -b alone, and the port of -p.",
    ),
    Item(
        "connects",
        "transfer",
        "the client connects where -I and -p say",
        1,
        "A relay waits there, on a host of its own.",
    ),
    Item(
        "ends",
        "transfer",
        "data, end message, acknowledgement; then the client ends",
        2,
        "The relay must see data, then an answer to the last of it; the client must end by itself with status 0.",
    ),
    Item(
        "client-row",
        "transfer",
        "the client's row can be read",
        1,
        "An interval, an amount with its unit, a rate with its unit, in any layout.",
    ),
    Item("server-row", "transfer", "the server's row can be read", 1, "As the client's."),
    Item(
        "bytes",
        "transfer",
        "both report the bytes that were carried",
        2,
        "Against what the relay counted, within the digits printed and 0.5%: the step clock is exact.",
    ),
    Item(
        "time",
        "clock",
        "-t sets how long the client sends",
        1,
        f"Of -t 2, seen from the relay: {tolerances.SENDING_S[0]:g} to {tolerances.SENDING_S[1]:g} s.",
    ),
    Item(
        "ack",
        "clock",
        "the client's clock waits for the acknowledgement",
        3,
        f"The relay reads nothing from {tolerances.HOLD_S[0]:g} s to {tolerances.HOLD_S[1]:g} s of the data, while "
        f"-t 2 runs out, and holds the acknowledgement back for {tolerances.ANSWER_DELAY_S:g} s. The printed rate must "
        "be that of the "
        f"whole time, within {tolerances.RATE:.1%}.",
    ),
    Item(
        "client-rate",
        "clock",
        "the client's rate is in Mbit/s",
        2,
        "Against bytes * 8 / 1000000 / seconds from the relay's notes; factors of 8 and 1.024 are named.",
    ),
    Item("server-rate", "clock", "the server's rate is in Mbit/s, by its own clock", 2, "As the client's."),
    Item(
        "link",
        "clock",
        "neither side reports more than a shaped link carries",
        2,
        "A link of 8 Mbit/s and 10 ms each way, without the relay, for 4 s: at most "
        f"{tolerances.MOST_SHARE:.0%} of the ceiling of TCP's goodput, at least {tolerances.LEAST_SHARE:.0%} (slow "
        "start and the wait for the acknowledgement take the rest).",
    ),
    Item(
        "format",
        "clock",
        "-f sets the unit of amounts: B, KB, MB",
        2,
        "Amounts in each unit against bytes carried; 1 KB is 1000 B.",
    ),
    Item(
        "conserved",
        "clock",
        "client and server report the same bytes, with -f B",
        2,
        "To the last digit. If the server counts its end message as well, that is a hint.",
    ),
    Item("interval-rows", "intervals", "-i prints a row for each interval", 2, "-t 6 -i 2: three rows and a total."),
    Item(
        "interval-join",
        "intervals",
        "each interval begins where the one before ended",
        1,
        f"To the last digit printed, and {tolerances.JOIN_S:g} s.",
    ),
    Item(
        "interval-sum",
        "intervals",
        "amounts of intervals add up to the total",
        2,
        f"Within the digits printed and {tolerances.SUM:.0%}.",
    ),
    Item(
        "interval-rates",
        "intervals",
        "each rate fits its own row",
        1,
        f"Within the digits printed and {tolerances.ROW:.0%}.",
    ),
    Item(
        "interval-total",
        "intervals",
        "a row gives the total",
        1,
        "From 0 to the end, with the bytes carried and the rate of both. It may stand anywhere.",
    ),
    Item(
        "interval-remainder",
        "intervals",
        "the rows reach to the end where -t is no multiple of -i",
        1,
        "-t 5 -i 2: the last row is short, and no bytes are missing.",
    ),
    Item(
        "interval-stall",
        "intervals",
        "the rows reach to the end where the network stalls",
        1,
        "-t 6 -i 1, and for 3 s nothing gets through. One long row, or rows of 0 B, are both right.",
    ),
    Item(
        "num-understood",
        "amount",
        "-n is understood",
        1,
        "1500KB, or 1500 KB, or 1500 with -f KB (1500K, 1500kb and 1500000 will do); -t is left out.",
    ),
    Item(
        "num-exact", "amount", "-n sends what it says, in MB, KB and B", 2, "2MB, 1500KB and 5000B; the relay counts."
    ),
    Item(
        "num-time",
        "amount",
        "-t does not end a transfer of -n",
        1,
        "Four seconds' worth (4MB in the lab) with -t 1. To refuse -t beside -n is a hint.",
    ),
    Item(
        "num-rows",
        "amount",
        "both rows give what was sent",
        1,
        "Also where it is no multiple of 1000 bytes (1500B). To send a whole last chunk then is a hint.",
    ),
    Item(
        "num-rate",
        "amount",
        "the rates of -n are over the time it took",
        1,
        "1500KB at 8 Mbit/s, both sides, within " + f"{tolerances.RATE:.1%}.",
    ),
    Item(
        "parallel-together",
        "parallel",
        "-P opens its connections at once",
        3,
        "-P 3 -t 2: all open, and sending, at one time, as the relay sees it.",
    ),
    Item(
        "parallel-client",
        "parallel",
        "the client prints a row for each connection",
        2,
        "Three rows for -P 3; the sum is none.",
    ),
    Item("parallel-server", "parallel", "the server prints a row for each connection", 1, "Three rows for -P 3."),
    Item(
        "parallel-bytes",
        "parallel",
        "rows give the bytes of their connections",
        2,
        "Sorted by size, against the relay's notes.",
    ),
    Item(
        "concurrent",
        "many",
        "a second client is served while the first one runs",
        3,
        "Client 1 sends for 8 s; client 2 comes after 2 s and sends for 1 s. The relay must see it acknowledged while "
        "client 1 still sends.",
    ),
    Item(
        "restart",
        "many",
        "the server can be started again at once on the same port",
        2,
        "It is ended while a client is connected, so that the port waits (TIME-WAIT), and started anew.",
    ),
    Item(
        "abrupt",
        "many",
        "the server outlives clients that misbehave",
        3,
        "One leaves at once, one resets the connection, one ends without the end message, one sends random bytes, one "
        "stays silent; an ordinary client comes after them.",
    ),
    Item(
        "quiet",
        "many",
        "no traceback because of them",
        1,
        "On either output of the server. One because random bytes are no text is a hint.",
    ),
    Item("glued", "many", "the end message may come glued to data", 2, "Data and end message in one write."),
    Item(
        "pieces",
        "many",
        "the end message may come in pieces",
        2,
        "Byte by byte. (An end message within the data that ends the transfer is a hint: the program's own client "
        "never sends one.)",
    ),
    Item("modes", "arguments", "exactly one of -s and -c", 2, "Neither; both."),
    Item("ports", "arguments", "-p from 1024 to 65535", 2, "Server: 80, 70000. Client: text."),
    Item("addresses", "arguments", "-I and -b are IPv4 addresses", 2, "-I 300.1.1.1, -b with text."),
    Item("formats", "arguments", "-f is B, KB or MB", 1, "GB."),
    Item("times", "arguments", "-t is a number above 0", 1, "0, and text."),
    Item("parallels", "arguments", "-P is 1 to 5", 2, "0 and 6."),
    Item("amounts", "arguments", "-n is an amount", 1, "10XB."),
    Item("interval-text", "arguments", "-i is a number", 1, "Text."),
    Item(
        "no-server",
        "arguments",
        "no server there: one line and a status that is not 0",
        2,
        "A port where nothing listens.",
    ),
    Item("help", "arguments", "-h explains the arguments", 1, "Status 0, and every flag is named."),
)

ITEMS: Final[dict[str, Item]] = {item.key: item for item in _ITEMS}
"""All checks, by key, in order."""


def keys_of(step: str) -> tuple[str, ...]:
    """Return the keys of a step's checks, in order."""
    return tuple(item.key for item in _ITEMS if item.step == step)


NOT_CHECKED: Final = (
    "The default of -t (25 s) and of the other flags.",
    "The words of messages and headings, column order and width, colours, blank lines, what an id looks like.",
    "The end message and the acknowledgement, as long as the program's own two sides agree on them.",
    "Whether the client sends a start message before its data, and how many chunks it hands over in one call.",
    "Whether rows of -i are printed while the transfer runs, or only at its end.",
    "Whether -n counts for each of the -P connections or for all of them together.",
    "How Ctrl-C ends the program, and what a server does whose port is taken.",
    "Speed: how much the program could carry on an unshaped link.",
    "Style, types, comments, tests.",
)
"""What no check looks at."""

REFERENCE: Final = (
    "The client hands over 128 chunks of 1000 bytes in each call, where the program of the course report hands over "
    "one. TCP is a stream, so nobody can tell on the other side. In the course network the rates are the same within "
    "0.3 %, and the lab computes for less than half as long (`make bench` tells).",
    "The client sends no start message, where the program of the course report begins with the time of its start: each "
    "side times the transfer by its own clock, so neither needs the other's.",
)
"""Where Linklab's own simpleperf (`solutions/simpleperf.py`) differs from the course report's program:
labs measure with it where there is no student's program."""
