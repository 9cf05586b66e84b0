"""Right programs in dialects: edits of the student's program that change its words and looks, not what it measures."""

from __future__ import annotations

from typing import Final

from .edits import Edit

_TITLE: Final = 'return "%-24s%-18s%-16s%s" % names'
_INTERVAL: Final = '"%.1f - %.1f" % (start, end)'
_AMOUNT: Final = 'return "%d %s" % (count / UNITS[unit], unit)'
_RATE: Final = 'return "%.2f Mbps" % (count'
_BYE: Final = 'finished = last == b"BYE"'
_SAY_BYE: Final = 'sock.sendall(b"BYE")'
_ACK: Final = 'conn.sendall(b"ACK: BYE")'
_AWAIT: Final = 'while answer != b"ACK: BYE":'
_PARSED: Final = "args = parser.parse_args()"
_WHO: Final = 'who = "%s:%d" % sock.getsockname()'


def _end_message(bye: str) -> tuple[Edit, ...]:
    changed = (Edit(_BYE, f'finished = last == b"{bye}"'), Edit(_SAY_BYE, f'sock.sendall(b"{bye}")'))
    if len(bye) == len("BYE"):
        return changed
    return (
        *changed,
        Edit("last = (last + data)[-3:]", f"last = (last + data)[-{len(bye)}:]"),
        Edit("received -= 3", f"received -= {len(bye)}"),
    )


def _acknowledgement(text: str) -> tuple[Edit, ...]:
    return (Edit(_ACK, f'conn.sendall(b"{text}")'), Edit(_AWAIT, f'while answer != b"{text}":'))


DIALECTS: Final[dict[str, tuple[str, tuple[Edit, ...]]]] = {
    "as-the-sheet": ("the words of the facts sheet, padded columns", ()),
    "tabs": (
        "columns by tabs, intervals as 0.0-25.0, acknowledgement without a space",
        (
            Edit(_TITLE, 'return "\\t".join(names)'),
            Edit(_INTERVAL, '"%.1f-%.1f" % (start, end)'),
            *_acknowledgement("ACK:BYE"),
        ),
    ),
    "brackets": (
        "intervals as [0.0 - 25.27], FINISH and ACK",
        (
            Edit(_INTERVAL, '"[0.0 - %.2f]" % end if start == 0 else "[%.2f - %.2f]" % (start, end)'),
            *_end_message("FINISH"),
            *_acknowledgement("ACK"),
        ),
    ),
    "seconds": (
        "intervals as 0.00s - 25.03s, decimal amounts, lower-case bye and BYE:ACK",
        (
            Edit(_INTERVAL, 'f"{start:.2f}s - {end:.2f}s"'),
            Edit(_AMOUNT, 'return f"{count / UNITS[unit]:.2f} {unit}"'),
            *_end_message("bye"),
            *_acknowledgement("BYE:ACK"),
        ),
    ),
    "mbps-label": (
        "MBps as the label of Mbit/s, amounts glued to their unit",
        (
            Edit(_RATE, 'return "%.2f MBps" % (count'),
            Edit(_AMOUNT, 'return "%.1f%s" % (count / UNITS[unit], unit)'),
        ),
    ),
    "remote-id": (
        "rows are named by the server's address, rates in Mbit/s with three decimals",
        (
            Edit(_WHO, 'who = "%s:%d" % sock.getpeername()'),
            Edit(_RATE, 'return "%.3f Mbit/s" % (count'),
        ),
    ),
    "bare-amount": (
        "-n as a bare integer in the unit of -f",
        (
            Edit("type=check_amount, help", "type=check_seconds, help"),
            Edit('help="how much to send"', 'help="how much to send, in the unit of -f"'),
            Edit(_PARSED, f"{_PARSED}\n    if args.num:\n        args.num *= UNITS[args.format]"),
        ),
    ),
    "spaced-amount": (
        '-n as "1000 KB", a table with bars',
        (
            Edit('number = text.rstrip("KMB")', 'number = text.rstrip("KMB").strip()'),
            Edit(_TITLE, 'return "| %-21s | %-15s | %-14s | %-16s |" % names'),
        ),
    ),
    "prettytable": (
        "each line a box by PrettyTable",
        (
            Edit("import time\n", "import time\n\nfrom prettytable import PrettyTable\n"),
            Edit(_TITLE, "return _box(names)"),
            Edit(
                "def title(*names):",
                "def _box(names):\n    box = PrettyTable(header=False)\n    box.add_row(names)\n"
                "    return box.get_string()\n\n\ndef title(*names):",
            ),
        ),
    ),
    "tabulate": (
        "each line a row by tabulate",
        (
            Edit("import time\n", "import time\n\nfrom tabulate import tabulate\n"),
            Edit(_TITLE, 'return tabulate([names], tablefmt="presto")'),
        ),
    ),
    "quiet-table": (
        "no line about connections, a blank line around tables, errors on the standard output with status 1",
        (
            Edit('        say("Client connected with %s port %d" % (args.serverip, args.port))\n', "        say()\n"),
            Edit('print("Error:", message, file=sys.stderr)', 'print("Error:", message)'),
            Edit("sys.exit(2)", "sys.exit(1)"),
            Edit(
                'say(title("ID", "Interval", "Received", "Rate")', 'say("", title("ID", "Interval", "Received", "Rate")'
            ),
        ),
    ),
    "small-reads": (
        "reads of 1000 bytes, a clock that never goes back",
        (
            Edit("data = conn.recv(65536)", "data = conn.recv(1000)"),
            Edit("import time\n", "import time\n\ntime.time = time.monotonic\n"),
        ),
    ),
}
"""By name: what is special, and the edits of the student's program."""
