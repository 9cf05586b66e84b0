"""The table of checks of a simpleperf: each with its points, its judge, and what must pass first."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from linklab.errors import LabError, LinklabError
from linklab.grade.result import Result
from linklab.programs import submission
from linklab.programs.checks import CheckRow, Judging, Observed, Report
from linklab.programs.place import LabPlace, LoopbackPlace, SteadyPlace
from linklab.programs.simpleperf import STEPS, arguments, clients, intervals, judges
from linklab.programs.simpleperf.session import NETWORK, SimpleperfScenes
from linklab.programs.submission import SubmittedProgram


@dataclass(frozen=True)
class Item(CheckRow[SimpleperfScenes]):
    """A check of one step. The docstring of its judge describes how the check is made."""

    step: str = ""

    @property
    def method(self) -> str:
        """How the check is made: the docstring of its judge as one line."""
        return " ".join((inspect.getdoc(self.judge) or "").split())


_Row = tuple[str, float, Callable[[SimpleperfScenes], Observed], str, str]
_TABLE: Final[dict[str, tuple[_Row, ...]]] = {
    "transfer": (
        ("listens", 1, judges.listens, "the server listens on the port of -p", ""),
        ("binds", 1, judges.binds, "the server listens only on the address of -b", "listens"),
        ("connects", 1, judges.connects, "the client connects to the address of -I and the port of -p", "listens"),
        ("ends", 1, judges.ends, "the server acknowledges the end message, then the client ends", "connects"),
        (
            "leaves-well",
            1,
            judges.leaves_well,
            "the client waits for the acknowledgement, and exits with status 0",
            "ends",
        ),
        ("client-row", 1, judges.client_row, "the client prints a row below a heading", "ends"),
        ("server-row", 1, judges.server_row, "the server prints a row below a heading", "ends"),
        (
            "bytes",
            2,
            judges.both_bytes,
            "client and server report the number of bytes that were transferred",
            "ends client-row server-row",
        ),
    ),
    "clock": (
        ("time", 1, judges.sends_for, "-t sets how long the client sends", "ends"),
        (
            "ack",
            3,
            judges.waits_for_answer,
            "the client measures time until the acknowledgement arrives",
            "ends client-row server-row",
        ),
        ("client-rate", 2, judges.client_rate, "the client's rate is in Mbit/s", "ends client-row server-row"),
        (
            "server-rate",
            2,
            judges.server_rate,
            "the server's rate is in Mbit/s, by its own clock",
            "ends client-row server-row",
        ),
        (
            "link",
            2,
            judges.link,
            "neither side reports more than a shaped link carries",
            "ack client-rate server-rate conserved",
        ),
        ("format", 2, judges.format_sets_unit, "-f sets the unit of amounts: B, KB, MB", "ends client-row server-row"),
        (
            "conserved",
            2,
            judges.conserved,
            "client and server report the same bytes, with -f B",
            "ends client-row server-row",
        ),
    ),
    "intervals": (
        ("interval-rows", 2, intervals.counts_rows, "-i prints a row for each interval", "ends client-row"),
        (
            "interval-join",
            1,
            intervals.joins,
            "each interval begins where the one before ended",
            "interval-rows",
        ),
        ("interval-sum", 2, intervals.adds_up, "amounts of intervals add up to the total", "interval-remainder"),
        (
            "interval-rates",
            1,
            intervals.own_rates,
            "the rate in each row is its amount divided by its time",
            "ends client-rate",
        ),
        ("interval-total", 1, intervals.gives_total, "a row gives the total", "ends client-rate"),
        (
            "interval-remainder",
            1,
            intervals.reaches_end,
            "the last row ends at the end of the transfer, also if -t is not a multiple of -i",
            "interval-rows",
        ),
        (
            "interval-stall",
            1,
            intervals.bears_stall,
            "the rows leave no gap in time if the network stalls",
            "interval-join interval-rates interval-remainder",
        ),
    ),
    "amount": (
        ("num-understood", 1, judges.num_understood, "the client accepts -n", "ends"),
        (
            "num-exact",
            2,
            judges.num_exact,
            "the client sends exactly the amount of -n, in MB, KB and B",
            "num-understood",
        ),
        ("num-time", 1, judges.num_time, "-t does not end a transfer of -n", "num-exact"),
        (
            "num-rows",
            1,
            judges.num_rows,
            "with -n client and server report the amount that was sent",
            "num-understood bytes",
        ),
        (
            "num-rate",
            1,
            judges.num_rate,
            "with -n each rate is the amount divided by the time that it took",
            "num-understood ack client-rate server-rate",
        ),
    ),
    "parallel": (
        ("parallel-together", 3, clients.together, "-P has all its connections at the same time", "ends"),
        (
            "parallel-client",
            2,
            clients.client_rows,
            "the client prints a row for each connection",
            "parallel-together client-row",
        ),
        (
            "parallel-server",
            1,
            clients.server_rows,
            "the server prints a row for each connection",
            "parallel-together server-row",
        ),
        (
            "parallel-bytes",
            2,
            clients.rows_bytes,
            "each row gives the bytes of its own connection",
            "parallel-client parallel-server bytes",
        ),
    ),
    "many": (
        ("concurrent", 3, clients.concurrent, "a second client is served while the first one runs", "ends"),
        ("restart", 2, clients.restart, "the server can be started again at once on the same port", "ends"),
        ("glued", 2, clients.glued, "the server recognises an end message that arrives together with data", "ends"),
        ("pieces", 2, clients.pieces, "the server recognises an end message that arrives in several parts", "glued"),
        (
            "abrupt",
            3,
            clients.abrupt,
            "the server keeps serving after clients that break off, send nonsense or stay silent",
            "ends",
        ),
        ("quiet", 1, clients.quiet, "the server prints no traceback when such a client connects", "abrupt"),
    ),
    "arguments": (
        ("modes", 2, arguments.judge_of(arguments.MODES), "exactly one of -s and -c is required", ""),
        ("ports", 2, arguments.judge_of(arguments.PORTS), "-p takes only ports from 1024 to 65535", ""),
        ("addresses", 2, arguments.judge_of(arguments.ADDRESSES), "-I and -b take only IPv4 addresses", ""),
        ("formats", 1, arguments.judge_of(arguments.FORMATS), "-f takes only B, KB or MB", ""),
        ("times", 1, arguments.judge_of(arguments.TIMES), "-t takes only a number above 0", ""),
        ("parallels", 2, arguments.judge_of(arguments.PARALLELS), "-P takes only 1 to 5", ""),
        ("amounts", 1, arguments.judge_of(arguments.AMOUNTS), "-n takes only an amount", ""),
        ("interval-text", 1, arguments.judge_of(arguments.INTERVALS), "-i takes only a number", ""),
        (
            "no-server",
            2,
            arguments.no_server,
            "if no server listens, the client prints one line and exits with a status other than 0",
            "",
        ),
        ("help", 1, arguments.helps, "-h explains the arguments", ""),
    ),
}
"""By step: key, points, judge, description, and the keys of the checks that must pass first."""
ITEMS: Final[dict[str, Item]] = {
    key: Item(key, description, judge, needs=tuple(needs.split()), points=points, step=step)
    for step, rows in _TABLE.items()
    for key, points, judge, description, needs in rows
}
"""All checks, by key, in order."""
_LOOPBACK_STEP: Final = "arguments"
"""The step whose checks need no network."""


def run(file: Path, steps: Iterable[str] | None, tell: Callable[[str], None] | None) -> Report:
    """Judge the program in a file by some steps, or by all if ``steps`` is None. ``tell`` gets a line on each scene.

    Raises LinklabError for a step that does not exist, otherwise as :func:`linklab.programs.simpleperf.check`.
    """
    wanted = list(STEPS) if steps is None else list(steps)
    for step in wanted:
        if step not in STEPS:
            raise LinklabError(f"no step is called {step!r}: choose one of {', '.join(STEPS)}")
    program = submission.read(file)
    return judged(program, [step for step in STEPS if step in wanted], tell or (lambda _: None))


def judged(program: SubmittedProgram, wanted: Iterable[str], tell: Callable[[str], None]) -> Report:
    """Return the report on a program, of the steps that are wanted. Raises LabError if nothing can be tried.

    Checks of arguments need no network and no clock. They run on loopback at the same time, in a tenth of the time that
    they would take in the lab; where loopback cannot be offered, they run in the lab.
    """
    steps = list(wanted)
    with contextlib.ExitStack() as places:
        lab = SteadyPlace(lambda: LabPlace(program, NETWORK))
        places.callback(lab.close)
        loopback = _loopback(program) if _LOOPBACK_STEP in steps else None
        if loopback is None:
            by_step = results(SimpleperfScenes(program, lab, tell), steps)
            return Report("simpleperf", program.name, lab.title, by_step)
        places.callback(loopback.close)
        pool = places.enter_context(ThreadPoolExecutor(1))
        argument_results = pool.submit(results, SimpleperfScenes(program, loopback, tell), [_LOOPBACK_STEP])
        by_step = results(SimpleperfScenes(program, lab, tell), [step for step in steps if step != _LOOPBACK_STEP])
        by_step[_LOOPBACK_STEP] = argument_results.result()[_LOOPBACK_STEP]
        titles = [lab.title] if len(steps) > 1 else []
        where = "; ".join([*titles, f"arguments {loopback.title}"])
        return Report("simpleperf", program.name, where, {step: by_step[step] for step in steps})


def _loopback(program: SubmittedProgram) -> SteadyPlace | None:
    """Return loopback as a place to run the program, or None if this machine cannot offer it."""
    try:
        return SteadyPlace(lambda: LoopbackPlace(program))
    except LabError:
        return None


def results(session: SimpleperfScenes, wanted: Iterable[str]) -> dict[str, Result]:
    """Return the checks of the steps that are wanted, judged by the scenes of a session. Raises as `judged`."""
    judging = Judging(ITEMS.values(), session)
    return {
        step: judging.result(STEPS[step], [key for key, item in ITEMS.items() if item.step == step]) for step in wanted
    }
