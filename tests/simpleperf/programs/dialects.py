"""Right programs in other styles: edits of the student's program that keep its messages, heading and arguments."""

from __future__ import annotations

from typing import Final

from .edits import Edit

_TITLE: Final = 'return "%-24s%-18s%-16s%s" % names'
_INTERVAL: Final = '"%.1f - %.1f" % (start, end)'
_AMOUNT: Final = 'return "%d %s" % (count / UNITS[unit], unit)'
_RATE: Final = 'return "%.2f Mbps" % (count'


DIALECTS: Final[dict[str, tuple[str, tuple[Edit, ...]]]] = {
    "as-the-sheet": ("the words of the facts sheet, padded columns", ()),
    "tabs": (
        "columns by tabs, intervals as 0.0-25.0",
        (
            Edit(_TITLE, 'return "\\t".join(names)'),
            Edit(_INTERVAL, '"%.1f-%.1f" % (start, end)'),
        ),
    ),
    "brackets": (
        "intervals as [0.0 - 25.27]",
        (Edit(_INTERVAL, '"[0.0 - %.2f]" % end if start == 0 else "[%.2f - %.2f]" % (start, end)'),),
    ),
    "seconds": (
        "intervals as 0.00s - 25.03s, decimal amounts",
        (
            Edit(_INTERVAL, 'f"{start:.2f}s - {end:.2f}s"'),
            Edit(_AMOUNT, 'return f"{count / UNITS[unit]:.2f} {unit}"'),
        ),
    ),
    "mbps-label": (
        "MBps as the label of Mbit/s, amounts glued to their unit",
        (
            Edit(_RATE, 'return "%.2f MBps" % (count'),
            Edit(_AMOUNT, 'return "%.1f%s" % (count / UNITS[unit], unit)'),
        ),
    ),
    "bars": (
        "a table with bars, rates in Mbit/s with three decimals",
        (
            Edit(_TITLE, 'return "| %-21s | %-15s | %-14s | %-16s |" % names'),
            Edit(_RATE, 'return "%.3f Mbit/s" % (count'),
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
