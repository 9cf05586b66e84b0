"""``linklab contest SUBMISSIONS``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from linklab import options

_DESCRIPTION = """\
Runs congestion controllers (Lab 19's controller.py) on traces of links that change, each confined in a lab of its own
on virtual time, and ranks them: by throughput over the 95th percentile of delay, relative to a sender that knows the
trace. A student names the own file, and gets the digits of the public traces; an instructor names what a learning
platform exported, hidden traces with --traces, and a folder for contest.csv and index.html with --output. The same
command once more goes on where it ended. Exit status: 0 if everything was judged, 1 if not."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``contest`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser("contest", help="rank a class's congestion controllers", description=_DESCRIPTION)
    parser.add_argument(
        "submissions", type=Path, nargs="+", metavar="SUBMISSIONS", help="controller.py, or a folder or a zip file"
    )
    parser.add_argument(
        "--traces",
        type=Path,
        metavar="DIR",
        help="a file for each trace, as mahimahi has them (default: the public ones)",
    )
    parser.add_argument("--output", type=Path, metavar="DIR", help="where the leaderboard is written")
    parser.add_argument("--students", type=Path, metavar="FILE", help="one id a line: these are judged, and no others")
    parser.add_argument(
        "--pattern",
        default="",
        metavar="REGEX",
        help="regular expression of a download's paths, with a group named student",
    )
    parser.add_argument("--jobs", type=options.count, metavar="N", help="controllers at once (default: one a core)")
    parser.add_argument(
        "--dask", metavar="ADDRESS", help="judge on the workers of this Dask scheduler: tcp://host:8786"
    )


def run(arguments: argparse.Namespace) -> int:
    """Judges, and shows the table; gives the exit status. Raises LinklabError before anything is judged."""
    from linklab.classroom.roster import read_students
    from linklab.dask_run import Cluster
    from linklab.errors import LinklabError
    from linklab.grading import contest
    from linklab.programs.congestion import PUBLIC
    from linklab.runtime.backends import choose, guest_memory_mb, need_system

    need_system(linux=True)
    if arguments.dask is None:
        choose()  # raises with the fix where labs cannot run here
    traces = list(PUBLIC) if arguments.traces is None else contest.read_traces(arguments.traces)
    (first, *others) = arguments.submissions
    unmatched: tuple[str, ...] = ()
    if not others and first.is_file() and first.suffix == ".py":
        entries = [contest.entry_of(first.name, first)]
    elif arguments.output is None:
        raise LinklabError("say with --output where the leaderboard is to be written")
    else:
        students = read_students(arguments.students) if arguments.students is not None else None
        entries, unmatched = contest.entries(arguments.submissions, students, arguments.pattern)
    for line in unmatched:
        print(f"not judged, {line}", file=sys.stderr)
    jobs = options.how_many(arguments.jobs, len(entries), "controllers", guest_memory_mb())
    with (
        tempfile.TemporaryDirectory() as temporary,
        Cluster(arguments.dask) if arguments.dask is not None else nullcontext() as cluster,
    ):
        output = arguments.output or Path(temporary)
        standings = contest.judge_all(entries, traces, output / "judged", jobs, cluster, _tell)
        rows = contest.ranked(standings)
        contest.write_results(rows, traces, output)
    for row in rows:
        _say(row)
    if arguments.output is not None:
        print(f"{output / 'index.html'}: the leaderboard; {output / 'contest.csv'}: the same, with students' ids")
    return int(bool(unmatched) or any(one.trouble.startswith(contest.NOT_JUDGED) for one in standings))


def _tell(line: str) -> None:
    print(line, flush=True)


def _say(row: object) -> None:
    from linklab.grading.contest import RankedStanding

    assert isinstance(row, RankedStanding)
    one = row.standing
    for each in one.scores:
        print(
            f"    {each.trace}: {each.score:.3f} ({each.throughput_mbps:.3f} Mbit/s, "
            f"95 % within {each.delay_p95_ms:.3f} ms)"
        )
    print(f"{row.rank:>4} {one.name} ({one.student}): {one.trouble or f'{one.score:.3f}'}")
