"""Programs on which the check was once wrong, each an edit of the student's: what must fail, and as what."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from linklab.programs.simpleperf.mistakes import Mistake

from ...simpleperf.programs.edits import Edit, apply
from ...simpleperf.programs.make import Program

STUDENT = (Path(__file__).parents[2] / "simpleperf" / "programs" / "student.py.txt").read_text()
PARSED = "    args = parser.parse_args()\n"


@dataclass(frozen=True)
class Case:
    """A program, made by edits of the student's; the steps tried; what must fail, as what; and what must be a hint."""

    name: str
    edits: tuple[Edit, ...]
    steps: tuple[str, ...]
    fails: dict[str, Mistake]
    hints: dict[str, Mistake]

    @property
    def program(self) -> Program:
        """The program, by a name that a file may have."""
        name = "finding-" + re.sub("[^a-z]+", "-", self.name.lower()).strip("-")
        return Program(name, "wrong", self.name, "", apply(STUDENT, self.edits))


CASES = (
    Case(
        "-n and -t are not taken together",
        (Edit(PARSED, f'{PARSED}    if args.num and "-t" in sys.argv:\n        parser.error("-n excludes -t")\n'),),
        ("amount",),
        {},
        {"num-time": Mistake.NUM_ALONE},
    ),
    Case(
        "a start message with -n alone",
        (
            Edit(
                "    try:\n        while True:\n            now",
                '    try:\n        if args.num:\n            sock.sendall(b"NUM %d\\n" % args.num)\n'
                "        while True:\n            now",
            ),
            Edit(
                "            received += len(data)\n",
                '            if not received and data.startswith(b"NUM "):\n'
                '                data = data.partition(b"\\n")[2]\n'
                "            received += len(data)\n",
            ),
        ),
        ("amount",),
        {},
        {},
    ),
    Case(
        "a server without -f",
        (
            Edit(
                PARSED, f'{PARSED}    if args.server and "-f" in sys.argv:\n        parser.error("-f is for clients")\n'
            ),
        ),
        ("clock", "intervals", "parallel"),
        {"format": Mistake.FORMAT_REFUSED},
        {},
    ),
    Case(
        "status 1 after all went well",
        (Edit("    if len(totals) < args.parallel:\n        sys.exit(1)\n", "    sys.exit(1)\n"),),
        ("many",),
        {},
        {},
    ),
    Case(
        "a client that leaves before the answer",
        (Edit('        while answer != b"ACK: BYE":\n', "        while False:\n"),),
        ("clock",),
        {"ack": Mistake.NO_WAIT},
        {},
    ),
    Case(
        "one connection for all of -P",
        (Edit("args=(sock, args, totals)) for sock in socks]", "args=(socks[0], args, totals)) for sock in socks]"),),
        ("parallel",),
        {"parallel-together": Mistake.PARALLEL_SHARED},
        {},
    ),
    Case(
        "the remainder of -t lost",
        (
            Edit(
                "    if args.interval and sent > row_sent:\n",
                "    if args.interval and end - row_start >= args.interval:\n",
            ),
        ),
        ("intervals",),
        {"interval-remainder": Mistake.LAST_MISSING},
        {},
    ),
    Case(
        "times of rows assumed",
        (Edit("say(row(who, row_start, now, sent", "say(row(who, row_start, row_start + args.interval, sent"),),
        ("intervals",),
        {"interval-stall": Mistake.INTERVAL_CLOCK},
        {},
    ),
    Case(
        "the rate of -n over the default of -t",
        (
            Edit(
                "totals.append(row(who, 0, end, sent,",
                "totals.append(row(who, 0, args.time if args.num else end, sent,",
            ),
        ),
        ("amount",),
        {"num-rate": Mistake.ASKED_TIME},
        {},
    ),
    Case(
        "rates in kB/s, labelled Mbit/s",
        (Edit("(count * 8 / 1000000 / max", "(count / 1000 / max"),),
        ("clock",),
        dict.fromkeys(("client-rate", "server-rate"), Mistake.RATE_UNIT),
        {},
    ),
    Case(
        "a server that spins on a client that left",
        (Edit("            if not data:\n                break\n            received", "            received"),),
        ("many",),
        {"abrupt": Mistake.SPINS},
        {},
    ),
)
BY_NAME = {case.program.name: case for case in CASES}
