"""The table of checks of a simpleperf: each with its points, its judge, and what must pass first."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from linklab.errors import LabError
from linklab.grade.result import Result
from linklab.programs import submission
from linklab.programs.checks import CheckRow, Judging, Observed, Report, steps_named
from linklab.programs.place import LabPlace, LoopbackPlace
from linklab.programs.simpleperf import STEPS, arguments, clients, intervals, judges
from linklab.programs.simpleperf.session import NETWORK, SimpleperfScenes
from linklab.programs.submission import SubmittedProgram

_ROWS: Final = "ends client-row server-row"
"""What must pass before numbers of both sides are read."""


def _row(
    key: str, points: float, judge: Callable[[SimpleperfScenes], Observed], description: str, needs: str = ""
) -> CheckRow[SimpleperfScenes]:
    """Return a check. ``needs`` are the keys of the checks that must pass first."""
    return CheckRow(key, description, judge, needs=tuple(needs.split()), points=points)


TABLE: Final[dict[str, tuple[CheckRow[SimpleperfScenes], ...]]] = {
    "transfer": (
        _row("listens", 1, judges.listens, "the server listens on the port of -p"),
        _row("binds", 1, judges.binds, "the server listens only on the address of -b", "listens"),
        _row("connects", 1, judges.connects, "the client connects to the address of -I and the port of -p", "listens"),
        _row("ends", 1, judges.ends, "the server acknowledges the end message, then the client ends", "connects"),
        _row(
            "leaves-well",
            1,
            judges.leaves_well,
            "the client waits for the acknowledgement, and exits with status 0",
            "ends",
        ),
        _row("client-row", 1, judges.client_row, "the client prints a row below a heading", "ends"),
        _row("server-row", 1, judges.server_row, "the server prints a row below a heading", "ends"),
        _row(
            "bytes", 2, judges.both_bytes, "client and server report the number of bytes that were transferred", _ROWS
        ),
        _row("glued", 2, clients.glued, "the server recognises an end message that arrives together with data", "ends"),
        _row(
            "pieces", 2, clients.pieces, "the server recognises an end message that arrives in several parts", "glued"
        ),
    ),
    "clock": (
        _row("time", 1, judges.sends_for, "-t sets how long the client sends", "ends"),
        _row("ack", 3, judges.waits_for_answer, "the client measures time until the acknowledgement arrives", _ROWS),
        _row("client-rate", 2, judges.client_rate, "the client's rate is in Mbit/s", _ROWS),
        _row("server-rate", 2, judges.server_rate, "the server's rate is in Mbit/s, by its own clock", _ROWS),
        _row(
            "link",
            2,
            judges.link,
            "neither side reports more than a shaped link carries",
            "ack client-rate server-rate conserved",
        ),
        _row("format", 2, judges.format_sets_unit, "-f sets the unit of amounts: B, KB, MB", _ROWS),
        _row("conserved", 2, judges.conserved, "client and server report the same bytes, with -f B", _ROWS),
    ),
    "intervals": (
        _row("interval-rows", 2, intervals.counts_rows, "-i prints a row for each interval", "ends client-row"),
        _row("interval-join", 1, intervals.joins, "each interval begins where the one before ended", "interval-rows"),
        _row("interval-sum", 2, intervals.adds_up, "amounts of intervals add up to the total", "interval-remainder"),
        _row(
            "interval-rates",
            1,
            intervals.own_rates,
            "the rate in each row is its amount divided by its time",
            "ends client-rate",
        ),
        _row("interval-total", 1, intervals.gives_total, "a row gives the total", "ends client-rate"),
        _row(
            "interval-remainder",
            1,
            intervals.reaches_end,
            "the last row ends at the end of the transfer, also if -t is not a multiple of -i",
            "interval-rows",
        ),
        _row(
            "interval-stall",
            1,
            intervals.bears_stall,
            "the rows leave no gap in time if the network stalls",
            "interval-join interval-rates interval-remainder",
        ),
    ),
    "amount": (
        _row("num-understood", 1, judges.num_understood, "the client accepts -n", "ends"),
        _row(
            "num-exact",
            2,
            judges.num_exact,
            "the client sends exactly the amount of -n, in MB, KB and B",
            "num-understood",
        ),
        _row("num-time", 1, judges.num_time, "-t does not end a transfer of -n", "num-exact"),
        _row(
            "num-rows",
            1,
            judges.num_rows,
            "with -n client and server report the amount that was sent",
            "num-understood bytes",
        ),
        _row(
            "num-rate",
            1,
            judges.num_rate,
            "with -n each rate is the amount divided by the time that it took",
            "num-understood ack client-rate server-rate",
        ),
    ),
    "parallel": (
        _row("parallel-together", 3, clients.together, "-P has all its connections at the same time", "ends"),
        _row(
            "parallel-client",
            2,
            clients.client_rows,
            "the client prints a row for each connection",
            "parallel-together client-row",
        ),
        _row(
            "parallel-server",
            1,
            clients.server_rows,
            "the server prints a row for each connection",
            "parallel-together server-row",
        ),
        _row(
            "parallel-bytes",
            2,
            clients.rows_bytes,
            "each row gives the bytes of its own connection",
            "parallel-client parallel-server bytes",
        ),
        _row("concurrent", 3, clients.concurrent, "a second client is served while the first one runs", "ends"),
    ),
    "many": (
        _row("restart", 2, clients.restart, "the server can be started again at once on the same port", "ends"),
        _row(
            "abrupt",
            3,
            clients.abrupt,
            "the server keeps serving after clients that break off, send nonsense or stay silent",
            "ends",
        ),
        _row("quiet", 1, clients.quiet, "the server prints no traceback when such a client connects", "abrupt"),
    ),
    "arguments": (
        _row("modes", 2, arguments.judge_of(arguments.MODES), "exactly one of -s and -c is required"),
        _row("ports", 2, arguments.judge_of(arguments.PORTS), "-p takes only ports from 1024 to 65535"),
        _row("addresses", 2, arguments.judge_of(arguments.ADDRESSES), "-I and -b take only IPv4 addresses"),
        _row("formats", 1, arguments.judge_of(arguments.FORMATS), "-f takes only B, KB or MB"),
        _row("times", 1, arguments.judge_of(arguments.TIMES), "-t takes only a number above 0"),
        _row("parallels", 2, arguments.judge_of(arguments.PARALLELS), "-P takes only 1 to 5"),
        _row("amounts", 1, arguments.judge_of(arguments.AMOUNTS), "-n takes only an amount"),
        _row("interval-text", 1, arguments.judge_of(arguments.INTERVALS), "-i takes only a number"),
        _row(
            "no-server",
            2,
            arguments.no_server,
            "if no server listens, the client prints one line and exits with a status other than 0",
        ),
        _row("help", 1, arguments.helps, "-h explains the arguments"),
    ),
}
"""The checks of each step, in order."""
ITEMS: Final = {row.key: row for rows in TABLE.values() for row in rows}
"""All checks, by key, in order."""
_LOOPBACK_STEP: Final = "arguments"
"""The step whose checks need no network."""


def run(file: Path, steps: Iterable[str] | None, tell: Callable[[str], None]) -> Report:
    """Judge the program in a file. Raises as :func:`linklab.programs.simpleperf.check`."""
    wanted = steps_named(steps, STEPS)
    return judged(submission.read(file), wanted, tell)


def judged(program: SubmittedProgram, steps: Sequence[str], tell: Callable[[str], None]) -> Report:
    """Return the report on a program, of some steps. Raises LabError if nothing can be tried.

    Checks of arguments need no network and no clock. They run on loopback at the same time, in a tenth of the time that
    they would take in the lab; where loopback cannot be offered, they run in the lab.
    """
    with contextlib.ExitStack() as places:
        lab = places.enter_context(contextlib.closing(LabPlace(program, NETWORK)))
        loopback = None
        if _LOOPBACK_STEP in steps:
            with contextlib.suppress(LabError):
                loopback = places.enter_context(contextlib.closing(LoopbackPlace(program)))
        if loopback is None:
            by_step = results(SimpleperfScenes(program, lab, tell), steps)
            return Report("simpleperf", program.name, lab.title, by_step)
        pool = places.enter_context(ThreadPoolExecutor(1))
        argument_results = pool.submit(results, SimpleperfScenes(program, loopback, tell), [_LOOPBACK_STEP])
        by_step = results(SimpleperfScenes(program, lab, tell), [step for step in steps if step != _LOOPBACK_STEP])
        by_step |= argument_results.result()
        titles = [lab.title] if len(steps) > 1 else []
        where = "; ".join([*titles, f"arguments {loopback.title}"])
        return Report("simpleperf", program.name, where, {step: by_step[step] for step in steps})


def results(session: SimpleperfScenes, steps: Iterable[str]) -> dict[str, Result]:
    """Return the checks of some steps, judged by the scenes of a session. Raises as `judged`."""
    judging = Judging(ITEMS.values(), session)
    return {step: judging.result(f"Lab 02, {STEPS[step]}", [check.key for check in TABLE[step]]) for step in steps}
