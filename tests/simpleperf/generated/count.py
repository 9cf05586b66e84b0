"""Run the check over the generated programs and count what it gets wrong.

    python -m tests.simpleperf.generated.count --json results.jsonl --jobs 2

Each result is written to the file of --json as it comes, one a line; programs that stand there, and have not changed
since, are not run again.
``--library FOLDER`` checks with the linklab in that folder: another version on the same programs.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, Final

from linklab.programs.simpleperf.mistakes import Mistake

from . import Generated, right, wrong

_PATIENCE_S: Final = 900.0

Result = dict[str, Any]
"""Of one program: name, digest, status, wall_s, and either checks and causes of the report, or the error."""


def check(program: Generated, library: Path | None) -> Result:
    """Run ``linklab check`` on the program in a process of its own and return what is to be kept of its report."""
    environment = {**os.environ, **({"PYTHONPATH": str(library.resolve())} if library else {})}
    with tempfile.TemporaryDirectory(prefix="generated-") as name:
        # the program has a folder of its own: the check takes what lies beside it
        folder, report = Path(name, "program"), Path(name, "report.json")
        folder.mkdir()
        words = [sys.executable, "-m", "linklab", "check", str(program.write(folder)), "--json", str(report)]
        began_s = time.monotonic()
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        )
        try:
            _, errors = process.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            _, errors = process.communicate()
            errors += f"\nended after {_PATIENCE_S:g} s"
        result: Result = {
            "name": program.name,
            "digest": program.digest,
            "status": process.returncode,
            "wall_s": round(time.monotonic() - began_s, 1),
        }
        try:
            told = json.loads(report.read_text())
        except (OSError, ValueError):
            return {**result, "error": errors.strip()[-2000:]}
    kept = ("key", "outcome", "reason", "mistake")
    checks = [{key: one.get(key, "") for key in kept} for step in told["steps"].values() for one in step["checks"]]
    return {**result, "checks": checks, "causes": told.get("causes", []), "mistakes": told.get("mistakes", [])}


def false_fails(result: Result) -> list[str]:
    """Return what a right program's report says against it, a line each."""
    if "error" in result:
        return [f"{result['name']}: no report: {result['error'].splitlines()[-1:] or result['status']}"]
    return [
        f"{result['name']}: {one['key']} {one['outcome']}: {one['reason']}"
        for one in result["checks"]
        if one["outcome"] != "passed"
    ]


def failed_keys(result: Result) -> set[str]:
    """Return the keys of the checks that failed."""
    return {one["key"] for one in result.get("checks", ()) if one["outcome"] == "failed"}


def is_found(program: Generated, result: Result) -> bool:
    """Return True if, for each mistake, one of its checks failed, or, where it costs nothing, is named as a hint."""
    keys = failed_keys(result)
    return all(
        bool(fault.keys & keys) or (fault.hint_only and names_one(result, fault.causes)) for fault in program.mistakes
    )


def names_one(result: Result, causes: Iterable[str]) -> bool:
    """Return True if the report names one of the causes, given by their names in `Mistake`."""
    titles = {Mistake[cause].title for cause in causes if cause in Mistake.__members__}
    named = {one["mistake"] for one in result.get("checks", ())} | set(result.get("mistakes", ()))
    return bool(titles & named) or any(_names(cause, titles, set(causes)) for cause in result.get("causes", ()))


def _names(cause: object, titles: set[str], names: set[str]) -> bool:
    """Return True if a cause of the report, a text or a dictionary of texts, is one of these."""
    words = cause.values() if isinstance(cause, dict) else (cause,)
    return any(isinstance(word, str) and (word in titles or word in names) for word in words)


def first_cause_is_right(program: Generated, result: Result) -> bool:
    """Return True if the first cause that the report tells is one of the program's mistakes."""
    told = result.get("causes") or result.get("mistakes") or []
    causes = {cause for fault in program.mistakes for cause in fault.causes}
    titles = {Mistake[cause].title for cause in causes if cause in Mistake.__members__}
    return bool(told) and _names(told[0], titles, causes)


def summary(results: dict[str, Result]) -> Iterator[str]:
    """Yield the counts, line by line."""
    rights = [results[program.name] for program in right() if program.name in results]
    wrongs = [(program, results[program.name]) for program in wrong() if program.name in results]
    bad = [(result["name"], lines) for result in rights if (lines := false_fails(result))]
    yield "== right programs: what is held against them"
    for _, lines in bad:
        yield from lines
    keys = Counter(one["key"] for result in rights for one in result.get("checks", ()) if one["outcome"] != "passed")
    yield "== right programs: by check"
    yield from (f"{count:4d} {key}" for key, count in keys.most_common())
    missed = [(program, result) for program, result in wrongs if not is_found(program, result)]
    yield "== wrong programs: not failed for their mistake"
    for program, result in missed:
        why = result.get("error", "").splitlines()[-1:] or sorted(failed_keys(result)) or "nothing failed"
        yield f"{program.name}: {why}"
    unnamed = [
        (program, result)
        for program, result in wrongs
        if not all(names_one(result, fault.causes) for fault in program.mistakes)
    ]
    yield "== wrong programs: cause not named"
    for program, result in unnamed:
        yield f"{program.name}: {result.get('causes') or result.get('mistakes')}"
    later = [
        program for program, result in wrongs if not first_cause_is_right(program, result) and not program.hint_only
    ]
    yield "== wrong programs: their mistake does not come first"
    yield from (f"{program.name}: {results[program.name].get('mistakes', [])[:3]}" for program in later)
    yield "== counts"
    yield f"right programs: {len(rights)}, with a failed or open check: {len(bad)}, checks: {sum(keys.values())}"
    yield f"without a report: {sum('error' in result for result in results.values())}"
    yield (
        f"wrong programs: {len(wrongs)}, not failed for each mistake: {len(missed)}, "
        f"a cause not named: {len(unnamed)}, another cause first: {len(later)}"
    )
    walls = [result["wall_s"] for result in results.values()]
    if walls:
        yield f"wall time of a check: median {statistics.median(walls):.1f} s, worst {max(walls):.1f} s"


def read(path: Path | None) -> dict[str, Result]:
    """Return the results that stand in the file, by program."""
    if path is None or not path.exists():
        return {}
    return {result["name"]: result for result in map(json.loads, path.read_text().splitlines())}


def main(arguments: Sequence[str] | None = None) -> None:
    """Check what is not yet checked, then print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, help="checks side by side")
    parser.add_argument("--every", type=int, default=1, help="only each so many-th program")
    parser.add_argument("--kind", choices=["right", "wrong", "both"], default="both")
    parser.add_argument("--name", action="append", help="only programs whose name holds this (may be repeated)")
    parser.add_argument("--json", type=Path, help="the file of the results, one a line; what stands there is kept")
    parser.add_argument("--library", type=Path, help="the lib folder of the linklab that checks")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write the programs there, and check nothing")
    options = parser.parse_args(arguments)
    programs = [*(right() if options.kind != "wrong" else ()), *(wrong() if options.kind != "right" else ())]
    programs = [one for one in programs if not options.name or any(name in one.name for name in options.name)]
    programs = programs[:: options.every]
    if options.write:
        for program in programs:
            (options.write / program.name).mkdir(parents=True, exist_ok=True)
            print(program.write(options.write / program.name))
        return
    known = read(options.json)
    results = {
        program.name: known[program.name]
        for program in programs
        if known.get(program.name, {}).get("digest") == program.digest
    }
    with ThreadPoolExecutor(options.jobs) as pool:
        waiting = [pool.submit(check, program, options.library) for program in programs if program.name not in results]
        for done in as_completed(waiting):
            result = done.result()
            results[result["name"]] = result
            print(f"{len(results)} of {len(programs)}: {result['name']} {result['wall_s']} s", file=sys.stderr)
            if options.json:
                with options.json.open("a") as file:
                    file.write(json.dumps(result) + "\n")
    print("\n".join(summary(results)))


if __name__ == "__main__":
    main()
