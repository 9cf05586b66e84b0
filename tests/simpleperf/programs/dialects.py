"""Right programs in other styles: edits of the student's program that keep its messages, heading and arguments."""

from __future__ import annotations

from typing import Final

from .edits import Edit

_TITLE: Final = 'return "%-24s%-18s%-16s%s" % names'
_INTERVAL: Final = '"%.1f - %.1f" % (start, end)'
_AMOUNT: Final = 'return "%d %s" % (count / UNITS[unit], unit)'
_RATE: Final = 'return "%.2f Mbps" % (count'

TABLES: Final = ("tabs", "brackets", "seconds", "mbps-label", "bars", "prettytable", "tabulate")
"""Those that only print another table: restarts and arguments are the student's."""
DIALECTS: Final[dict[str, tuple[Edit, ...]]] = {
    "as-the-sheet": (),
    "tabs": ((_TITLE, 'return "\\t".join(names)'), (_INTERVAL, '"%.1f-%.1f" % (start, end)')),
    "brackets": ((_INTERVAL, '"[0.0 - %.2f]" % end if start == 0 else "[%.2f - %.2f]" % (start, end)'),),
    "seconds": ((_INTERVAL, 'f"{start:.2f}s - {end:.2f}s"'), (_AMOUNT, 'return f"{count / UNITS[unit]:.2f} {unit}"')),
    "mbps-label": ((_RATE, 'return "%.2f MBps" % (count'), (_AMOUNT, 'return "%.1f%s" % (count / UNITS[unit], unit)')),
    "bars": ((_TITLE, 'return "| %-21s | %-15s | %-14s | %-16s |" % names'), (_RATE, 'return "%.3f Mbit/s" % (count')),
    "prettytable": (
        ("import time\n", "import time\n\nfrom prettytable import PrettyTable\n"),
        (_TITLE, "return _box(names)"),
        (
            "def title(*names):",
            "def _box(names):\n    box = PrettyTable(header=False)\n    box.add_row(names)\n"
            "    return box.get_string()\n\n\ndef title(*names):",
        ),
    ),
    "tabulate": (
        ("import time\n", "import time\n\nfrom tabulate import tabulate\n"),
        (_TITLE, 'return tabulate([names], tablefmt="presto")'),
    ),
    "quiet-table": (
        ('        say("Client connected with %s port %d" % (args.serverip, args.port))\n', "        say()\n"),
        ('print("Error:", message, file=sys.stderr)', 'print("Error:", message)'),
        ("sys.exit(2)", "sys.exit(1)"),
        ('say(title("ID", "Interval", "Received", "Rate")', 'say("", title("ID", "Interval", "Received", "Rate")'),
    ),
    "gives-up-after-1-s": (
        (
            "            sock.connect((args.serverip, args.port))\n",
            "            sock.settimeout(1)\n            sock.connect((args.serverip, args.port))\n"
            "            sock.settimeout(None)\n",
        ),
    ),
    "small-reads": (
        ("data = conn.recv(65536)", "data = conn.recv(1000)"),
        ("import time\n", "import time\n\ntime.time = time.monotonic\n"),
    ),
}
