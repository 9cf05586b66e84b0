"""``python -m tools.bench``: the command line."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from linklab import options
from linklab.cli import INTERRUPTED, Parser, answered

OUTPUT = Path("bench-results")
_DESCRIPTION = """\
Measures what Linklab promises, side by side in one run, and writes bench.md and bench.json. The full benchmark takes
about 20 minutes on two cores, --quick about 4. Exit status: 0 if all parts were measured and no claim was found wrong,
1 if a part failed, 3 if a claim is not met, 130 after Ctrl-C, which writes what there is until then."""
_FAILED, _NOT_MET = 1, 3


def main(words: list[str] | None = None) -> int:
    """Run the benchmark that the words ask for; return the exit status."""
    arguments = parser().parse_args(words)
    return answered(lambda: run(arguments))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = Parser(prog="python -m tools.bench", description=_DESCRIPTION)
    parser.add_argument("--quick", action="store_true", help="a look in a few minutes: fewer repeats, smaller networks")
    parser.add_argument(
        "--only", action="append", default=[], metavar="PART",
        help="fidelity, starts, switches, speed, search, labs or overhead; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--repeats", type=options.count, metavar="N", help="of fidelity; others repeat less (default: 10, quick 2)"
    )
    parser.add_argument(
        "--against", type=Path, metavar="JSON", help="an earlier bench.json: fidelity must have the same three digits"
    )
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="DIR", help="default: %(default)s")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Run the benchmark; return the exit status. Raise LinklabError before it begins where it cannot run."""
    # what takes long to load is not needed for --help
    from linklab.runtime.backends import choose
    from linklab.signals import dropped, interrupted_once
    from tools.bench.part import Verdict, settings
    from tools.bench.parts import chosen, refuse_other
    from tools.bench.run import about_machine, as_json, as_markdown, run_parts, verdict_lines

    parts = chosen(arguments.only)
    output: Path = arguments.output
    earlier = _records(arguments.against) if arguments.against else []
    _need_writable(output)
    choose("guest")
    began_s = time.monotonic()

    def say(line: str) -> None:
        print(f"[{time.monotonic() - began_s:5.0f} s] {line}", flush=True)

    machine = about_machine()
    with TemporaryDirectory(prefix="linklab-bench-") as folder:
        wish = settings(arguments.quick, arguments.repeats, Path(folder), earlier)
        if arguments.against:
            refuse_other(earlier, wish, str(arguments.against))
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
    from linklab.errors import LinklabError
    from tools.bench.run import fidelity_records

    try:
        text = path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise LinklabError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}") from None
    return fidelity_records(text, str(path))


if __name__ == "__main__":
    sys.exit(main())
