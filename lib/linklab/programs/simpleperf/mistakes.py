"""The mistakes that several checks name, with what to do about each; and how a judge says so.

A mistake that one judge alone can see stands there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from linklab.programs.checks import Observed

_LONGEST_QUOTE: Final = 160


class Mistake(NamedTuple):
    """A probable mistake: its name, and what to do about it."""

    title: str
    hint: str


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


# --- How it ends

CRASH: Final = Mistake(
    "it ends with an error", "run it by hand with the same arguments, and read the last line that it prints"
)
TO_DO: Final = Mistake(
    "a TODO of this step is still open", "write what the TODO of this name asks for, and save the file"
)
TRACEBACK: Final = Mistake(
    "traceback shown",
    "correct the line that the traceback names last; only where the cause is a wrong argument or the other side, "
    "catch the exception there and print one line instead",
)
NO_END: Final = Mistake(
    "it does not come to an end",
    "find what it still waits for: after the acknowledgement the client closes its socket, prints its row and exits",
)
STATUS_ZERO: Final = Mistake("exit status 0 on errors", "when something is wrong, end with sys.exit(1)")
NO_MESSAGE: Final = Mistake("no message for a wrong argument", "print one line that names the argument, and exit")

# --- Connections and messages

PORT_IGNORED: Final = Mistake("-p is ignored", "use args.port on both sides, not the default")
NO_CONNECTION: Final = Mistake(
    "the client does not connect", "call connect() with the address of -I and the port of -p"
)
REFUSES: Final = Mistake(
    "the server refuses a connection", "keep one socket that listens, and go back to accept() after each client"
)
NO_DATA: Final = Mistake("the client sends no data", "after connect() send chunks of 1000 bytes until the time is over")
NO_WAIT: Final = Mistake(
    "the client does not wait for the acknowledgement",
    "after BYE call recv() until the acknowledgement has come, and only then close",
)
NO_ACKNOWLEDGEMENT: Final = Mistake(
    "the server never acknowledges", "when BYE has come, send the acknowledgement before you close"
)
END_GLUED: Final = Mistake(
    "BYE behind data is not found",
    "TCP is a stream: BYE may come in one read with data before it, so look whether what has come ends with it, and "
    "count the data before it",
)
ONE_AT_A_TIME: Final = Mistake(
    "one client at a time",
    "serve each client in a thread of its own, and go back to accept() at once, without join(); write target=f, "
    "args=(...), not target=f(...)",
)
CLIENTS_MIXED: Final = Mistake(
    "clients are mixed up", "keep the socket, the count and the clock of each client in its own thread, not in globals"
)
ONE_CLIENT_ONLY: Final = Mistake(
    "the server ends after its first client",
    "put accept() into a loop that never ends, and let nothing that a client does leave that loop",
)
SPINS: Final = Mistake(
    "the server spins when a client has gone", "recv() that returns b'' means that the client is gone: leave the loop"
)
SLEEPS: Final = Mistake(
    "it sleeps while its clock runs", "take out sleep(): between the first byte and the end send at once"
)
SLEEPS_BEFORE_BYE: Final = Mistake(
    "it sleeps before BYE", "take out sleep(): send BYE right after the last data, for the clock runs until the end"
)
TIME_IGNORED: Final = Mistake("-t is ignored", "send until args.time seconds have passed since the start")

# --- Amounts, rates and times

SENDS_COUNTED: Final = Mistake(
    "bytes counted are not the bytes sent",
    "add len(chunk) after each sendall(chunk), and count nothing else, neither BYE nor what was only planned",
)
BYTES_LOST: Final = Mistake(
    "the server counts too few bytes",
    "all of them reached it: add len(data) of every read, and of the one that ends with BYE what stands before BYE",
)
READS_COUNTED: Final = Mistake(
    "each read counted as a full buffer", "recv(1000) may return less: count len(data), not the size asked for"
)
CHUNK_SIZE: Final = Mistake(
    "chunks of 1024 bytes sent, 1000 counted", "make the chunk 1000 bytes, and count len(chunk)"
)
WRONG_AMOUNT: Final = Mistake(
    "the amount is not what was carried",
    "count each byte of the data once, without BYE, and divide by 1, 1000 or 1000000 for B, KB or MB",
)
BINARY_UNITS: Final = Mistake(
    "1000 and 1024 mixed",
    "look for 1024 where this number is computed: 1 KB = 1000 B, 1 MB = 1000 KB, 1 Mbit = 1000000 bit",
)
BYTES_AS_BITS: Final = Mistake(
    "bits and bytes: the factor 8 is missing", "multiply by 8: a rate in Mbit/s is bytes * 8 / 1000000 / seconds"
)
BITS_TWICE: Final = Mistake(
    "bits and bytes: multiplied by 8 twice",
    "multiply by 8 only once: a rate in Mbit/s is bytes * 8 / 1000000 / seconds",
)
RATE_UNIT: Final = Mistake(
    "the rate is in another unit than its label",
    "a rate in Mbit/s is bytes * 8 / 1000000 / seconds; a number 1000 times as large is kbit/s, 125 times kB/s",
)
INTEGER_DIVISION: Final = Mistake(
    "integer division", "divide with /, not with // or int(), and round only when you print, with :.2f"
)
WRONG_RATE: Final = Mistake(
    "the rate does not fit amount and time",
    "compute it by hand from the amount and the time of the same row: bytes * 8 / 1000000 / seconds",
)
RATE_BY_FORMAT: Final = Mistake(
    "-f changes the rate, and not its label",
    "-f is the unit of amounts alone: compute the rate from the bytes, as bytes * 8 / 1000000 / seconds",
)
ASKED_TIME: Final = Mistake(
    "rate from the asked time, not the measured",
    "divide by the time that really passed, from the first byte to the acknowledgement, not by args.time",
)
CLOCK: Final = Mistake(
    "the clock is wrong",
    "read time.time() before the first byte and after the acknowledgement, and divide by the difference",
)
SERVER_CLOCK: Final = Mistake(
    "the server's clock is wrong", "start it when the client is accepted, stop it when BYE has been read"
)
