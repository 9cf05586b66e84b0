"""docs/simpleperf-checks.md, made from the checks' own data: ``python -m linklab.programs.simpleperf.public_list``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from linklab.guest.limits import ProgramLimits
from linklab.programs.engine.program import OUTPUT_BYTES
from linklab.programs.simpleperf.catalogue import ITEMS, NOT_CHECKED, REFERENCE, STEPS
from linklab.programs.simpleperf.diagnosis import GENERIC
from linklab.programs.simpleperf.mistakes import Mistake

_BEGINNING: Final = """\
# What the simpleperf checks look at

`linklab check simpleperf.py` runs a program as its users do, and looks at nothing but what it prints, what it sends
and how it ends. This page is made from the checks' own data by `python -m linklab.programs.simpleperf.public_list`.

## How it is done

- The program runs on the hosts of a small lab network on virtual time: client, server and a relay between them on a
  fast network, and a second link of 8 Mbit/s and 10 ms between client and server. Wrong arguments, of which no time is
  judged, are tried on loopback.
- The program's client is tried with the program's own server. The end message, the acknowledgement, the columns, the
  units and the form of `-n` are learnt from what it does.
- The relay notes when each byte passes. That is what times, rates and amounts are compared with.
- A check that needs something which does not work is inconclusive, not failed again.
- A check that passed may carry a hint; it costs nothing.

## Causes

A report begins with the most likely causes, that on which most points hang first: each with what was seen, what to
do, and the checks that it explains.
A failed check says what was seen; its judge names all mistakes that would explain it, the likeliest first. When all
steps are judged, the fewest mistakes are looked for that explain most of what failed:

- Each failed check speaks for the mistakes that its judge names, most for the first of them.
- It also speaks for a mistake that brings it about, if a judge has named that one first elsewhere: a server that
  ends after its first client has no rows for the other connections of `-P` either.
- What speaks loudest is a cause, and the checks that it explains are done with; then comes the next. Each failed
  check has one cause. Of equals the first in the last table below is taken, so a program's causes are always the same.
- A mistake that only says what was seen (with a star below) loses against one that says why.
- Checks that quote the same error of the program have one cause.
- A check that waits for something else names its cause, also where that lies in a step that was not asked for.

## Exit status

| status | meaning |
| --- | --- |
| 0 | all checks passed |
| 1 | a check failed |
| 2 | there is nothing to check: no such file, no Python, no lab |
| 3 | none failed, but some are inconclusive |
| 4 | none failed, but the check itself broke: a fault of Linklab's |

A check that breaks costs the rest of its step, which stays inconclusive, and no more. Beside a failed check the status
is 1, for that failed by itself: the program is wrong, whatever else might be found. Without one, nothing can be said
of the program. The report says so first, and its JSON (`--json`) has the traceback, for who mends Linklab.
"""


def lines() -> Iterator[str]:
    """The page, line by line."""
    yield from _BEGINNING.splitlines()
    yield ""
    yield "## What is checked"
    for step, subject in STEPS.items():
        items = [item for item in ITEMS.values() if item.step == step]
        yield from ("", f"### `{step}`: {subject} ({sum(item.points for item in items):g} points)", "")
        yield "| check | what | points | how |"
        yield "| --- | --- | --- | --- |"
        yield from (f"| `{item.key}` | {item.description} | {item.points:g} | {item.how} |" for item in items)
    yield from ("", "## What is not checked", "")
    yield from (f"- {thing}" for thing in NOT_CHECKED)
    yield from ("", "## What Linklab's own simpleperf does otherwise than the course report's", "")
    yield from (f"- {thing}" for thing in REFERENCE)
    yield ""
    yield "A program that sends one chunk a call, or a start message, or both, passes all checks as well."
    yield from ("", "## Mistakes that are named", "", "| mistake | what to do |", "| --- | --- |")
    yield from (
        f"| {mistake.title}{' *' if mistake in GENERIC else ''} | {mistake.hint.replace('|', '/')} |"
        for mistake in Mistake
    )
    yield from ("", "## What a program may use", "")
    limits = ProgramLimits()
    yield "It works on a copy of its file and of the Python files of its folder that it imports, directly or by others;"
    yield "links are not followed. It sees the system's Python, the installed packages if one of these files imports"
    yield "any, and no other files; its folder alone is writable. It reaches the lab's"
    yield f"network and no other. It gets {limits.memory_mb} MB of memory, {limits.processes} processes and threads,"
    yield f"{limits.open_files} open files and sockets, {limits.file_mb} MB for a file, {OUTPUT_BYTES // 1024} KiB of"
    yield "output. What goes beyond is stopped and reported."


def page() -> str:
    """The whole page."""
    return "\n".join(lines()) + "\n"


if __name__ == "__main__":
    print(page(), end="")
