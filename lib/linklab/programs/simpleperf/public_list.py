"""docs/simpleperf-checks.md, made from the checks' own data: ``python -m linklab.programs.simpleperf.public_list``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Final

from linklab.guest.limits import ProgramLimits
from linklab.programs.engine.program import MOST_OUTPUT_BYTES
from linklab.programs.simpleperf import STEPS
from linklab.programs.simpleperf.checks import TABLE
from linklab.programs.simpleperf.mistakes import Mistake

_BEGINNING: Final = """\
# What the simpleperf checks look at

`linklab check simpleperf.py` runs a program as its users do, and looks at nothing but what it prints, what it sends
and how it ends. This page is made from the checks' own data by `python -m linklab.programs.simpleperf.public_list`.

## How it is done

- The program runs on the hosts of a small lab network on virtual time: client, server and a relay between them on a
  fast network, and a second link of 8 Mbit/s and 10 ms between client and server. Arguments, of which no time is
  judged, are tried on loopback. The report names the Python that ran the program in each place.
- The program's client is tried with the program's own server.
- The relay notes when each byte passes. That is what times, rates and amounts are compared with.
- Rows are read by the heading above them, as the starter prints it. A table without a heading is told so.
- Each check names those that must pass first. One that waits costs nothing yet, and the report names the check that is
  in its way.
- A check that failed says what was seen, and what to do: one mistake, which its own evidence shows.
- A check that passed may carry a hint; it costs nothing.

## Exit status

| status | meaning |
| --- | --- |
| 0 | all checks passed |
| 1 | a check failed |
| 2 | there is nothing to check: no such file, no Python, no lab |
| 3 | none failed, but some are inconclusive |
| 4 | none failed, but the check itself broke: a fault of Linklab's |

A check that breaks stays inconclusive, and no other with it. Beside a failed check the status is 1, for that failed by
itself: the program is wrong, whatever else might be found.

## What is checked
"""
_NOT_CHECKED: Final = """
## What is not checked

- The default of -t (25 s) and of the other flags.
- The words of messages and of the id, column order and width, bars, decimals, colours, blank lines.
- The end message and the acknowledgement, as long as the program's own two sides agree on them.
- Whether the client sends a start message before its data, and how many chunks it hands over in one call.
- Whether an end message within the data ends the transfer, or the last chunk of -n is a whole one.
- Whether rows of -i are printed while the transfer runs, or only at its end.
- Whether -n counts for each of the -P connections or for all of them together.
- How Ctrl-C ends the program, and what a server does whose port is taken.
- Speed: how much the program could carry on an unshaped link.
- Style, types, comments, tests.

## What Linklab's own simpleperf does otherwise than the course report's

- The client hands over 128 chunks of 1000 bytes in each call, where the program of the course report hands over one. TCP is a stream, so nobody can tell on the other side. In the course network the rates are the same within 0.3 %, and the lab computes for less than half as long (`make bench` tells).
- The client sends no start message, where the program of the course report begins with the time of its start: each side times the transfer by its own clock, so neither needs the other's.

A program that sends one chunk a call, or a start message, or both, passes all checks as well.

## Mistakes that are named

| mistake | what to do |
| --- | --- |
"""  # noqa: E501 - a page's paragraphs are not broken


def lines() -> Iterator[str]:
    """Yield the page, line by line."""
    yield from _BEGINNING.splitlines()
    for step, subject in STEPS.items():
        rows = TABLE[step]
        yield from ("", f"### `{step}`: {subject} ({sum(row.points for row in rows):g} points)", "")
        yield "| check | what | points | how | needs |"
        yield "| --- | --- | --- | --- | --- |"
        for row in rows:
            needs = ", ".join(f"`{key}`" for key in row.needs)
            method = " ".join((inspect.getdoc(row.judge) or "").split())
            yield f"| `{row.key}` | {row.description} | {row.points:g} | {method} | {needs} |"
    yield from _NOT_CHECKED.splitlines()
    yield from (f"| {mistake.title} | {mistake.hint.replace('|', '/')} |" for mistake in Mistake)
    yield from ("", "## What a program may use", "")
    limits = ProgramLimits()
    yield "It works on a copy of its file and of the Python files of its folder that it imports, directly or by others;"
    yield "links are not followed. It sees the system's Python, the installed packages if one of these files imports"
    yield "any, and no other files; its folder alone is writable. It reaches the lab's"
    yield f"network and no other. It gets {limits.memory_mb} MB of memory, {limits.processes} processes and threads,"
    yield f"{limits.open_files} open files and sockets, {limits.file_mb} MB for a file, {MOST_OUTPUT_BYTES >> 20} MB of"
    yield "output. What goes beyond is stopped and reported."


def page() -> str:
    """Return the whole page."""
    return "\n".join(lines()) + "\n"


if __name__ == "__main__":
    print(page(), end="")
