"""``linklab bench``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from linklab import options

if TYPE_CHECKING:
    from argparse import _SubParsersAction

INTERRUPTED = 130  # the shell's status for a program ended by SIGINT
OUTPUT = Path("bench-results")
_DESCRIPTION = """\
Measures what Linklab promises, side by side in one run, and writes bench.md and bench.json. The full benchmark takes
about 20 minutes on two cores, --quick about 4. Exit status: 0 if all parts were measured and no claim was found wrong,
1 if a part failed, 3 if a claim is not met, 130 after Ctrl-C, which writes what there is until then."""
_FAILED, _NOT_MET = 1, 3


def add_parser(subparsers: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``bench`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser(
        "bench", help="measure fidelity, starts and speed, side by side, with verdicts", description=_DESCRIPTION
    )
    parser.add_argument("--quick", action="store_true", help="a look in a few minutes: fewer repeats, smaller networks")
    parser.add_argument(
        "--only", action="append", default=[], metavar="PART",
        help="fidelity, starts, switches, speed, simpleperf, search, labs or overhead; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--repeats", type=options.count, metavar="N", help="of fidelity; others repeat less (default: 10, quick 2)"
    )
    parser.add_argument(
        "--against", type=Path, metavar="JSON", help="an earlier bench.json: fidelity must have the same three digits"
    )
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="DIR", help="default: %(default)s")


def run(arguments: argparse.Namespace) -> int:
    """Runs the benchmark; gives the exit status. Raises `LinklabError` for the caller to print, before it begins."""
    # what takes long to load is not needed for --help
    from linklab.bench.findings import Verdict
    from linklab.bench.machine import about_machine
    from linklab.bench.parts import chosen
    from linklab.bench.report import as_json, as_markdown, verdict_lines
    from linklab.bench.run import run_parts
    from linklab.bench.settings import settings
    from linklab.runtime.backends import choose
    from linklab.signals import dropped, interrupted_once

    parts = chosen(arguments.only)
    output: Path = arguments.output
    earlier = _records(arguments.against) if arguments.against else []
    _need_writable(output)
    choose("virtual", "guest")
    began_s = time.monotonic()

    def say(line: str) -> None:
        print(f"[{time.monotonic() - began_s:5.0f} s] {line}", flush=True)

    machine = about_machine()
    with TemporaryDirectory(prefix="linklab-bench-") as folder:
        wish = settings(arguments.quick, arguments.repeats, Path(folder), earlier)
        with interrupted_once():
            outcomes = run_parts(parts, wish, say)
        with dropped():
            (output / "bench.json").write_text(json.dumps(as_json(outcomes, wish, machine), indent=1) + "\n", "utf-8")
            (output / "bench.md").write_text(as_markdown(outcomes, wish, machine), "utf-8")
    print("\n".join(verdict_lines(outcomes, wish)))
    print(f"tables: {output / 'bench.md'}, all records: {output / 'bench.json'}")
    if outcomes.interrupted:
        return INTERRUPTED
    for outcome in outcomes.parts:
        if outcome.failure:
            print(f"linklab: {outcome.part.name} was not measured to its end: {outcome.failure}", file=sys.stderr)
    if outcomes.failed:
        return _FAILED
    verdicts = [claim.verdict for outcome in outcomes.parts for claim in outcome.findings(wish).claims]
    return _NOT_MET if Verdict.NOT_MET in verdicts else 0


def _need_writable(output: Path) -> None:
    """Raises `LinklabError` now and not after 20 minutes."""
    from linklab.errors import LinklabError

    probe = output / ".linklab-bench"
    try:
        output.mkdir(parents=True, exist_ok=True)
        probe.write_text("")
        probe.unlink()
    except OSError as error:
        raise LinklabError(f"{output} cannot be written to: {error.strerror}; say another with --output") from None


def _records(path: Path) -> list[dict[str, Any]]:
    """Fidelity's records in an earlier report. Raises `LinklabError` where there are none to read."""
    from linklab.bench.report import fidelity_records
    from linklab.errors import LinklabError

    try:
        text = path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise LinklabError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}") from None
    return fidelity_records(text, str(path))
