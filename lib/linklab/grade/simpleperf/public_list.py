"""docs/simpleperf-checks.md, made from the checks' own data: ``python -m linklab.grade.simpleperf.public_list``."""

from __future__ import annotations

from collections.abc import Iterator

from linklab.grade.simpleperf.catalogue import ITEMS, NOT_CHECKED, REFERENCE
from linklab.grade.simpleperf.mistakes import Mistake
from linklab.grade.simpleperf.steps import STEPS
from linklab.runtime.limits import Limits
from linklab.trial.program import OUTPUT_BYTES

_BEGINNING = """\
# What the simpleperf checks look at

`linklab check simpleperf.py` runs a program as its users do, and looks at nothing but what it prints, what it sends
and how it ends. This page is made from the checks' own data by `python -m linklab.grade.simpleperf.public_list`.

## How it is done

- The program runs on the hosts of a small lab network on virtual time: client, server and a relay between them on a
  fast network, and a second link of 8 Mbit/s and 10 ms between client and server. Without a lab it runs on loopback,
  in real time; what a busy machine spoils is then inconclusive, never failed. Wrong arguments are tried on loopback.
- The program's client is tried with the program's own server. The end message, the acknowledgement, the columns, the
  units and the form of `-n` are learnt from what it does.
- The relay notes when each byte passes. That is what times, rates and amounts are compared with.
- A check that needs something which does not work is inconclusive, not failed again.
- A check that passed may carry a hint; it costs nothing.
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
    yield from (f"| {mistake.title} | {mistake.hint.replace('|', '/')} |" for mistake in Mistake)
    yield from ("", "## What a program may use", "")
    limits = Limits()
    yield "It works on a copy of its file and of the small Python files beside it. It sees the system's Python, the"
    yield "installed packages if it imports any, and no other files; its folder alone is writable. It reaches the lab's"
    yield f"network and no other. It gets {limits.memory_mb} MB of memory, {limits.processes} processes and threads,"
    yield f"{limits.open_files} open files and sockets, {limits.file_mb} MB for a file, {OUTPUT_BYTES // 1024} KiB of"
    yield "output. What goes beyond is stopped and reported."


def page() -> str:
    """The whole page."""
    return "\n".join(lines()) + "\n"


if __name__ == "__main__":
    print(page(), end="")
