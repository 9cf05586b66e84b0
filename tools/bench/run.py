"""Carrying out a benchmark, one part after the other, and its report as Markdown and as JSON."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linklab import __version__
from linklab.errors import LinklabError
from linklab.record import processor
from linklab.runtime.image.find import find_image
from tools.bench.part import Claim, Findings, Part, Record, Say, Settings, Table, Verdict


def about_machine() -> dict[str, str]:
    """Processor, load, kernels, versions, date and (in a git tree) the commit, by name."""
    image = find_image()
    load_1, load_5, load_15 = os.getloadavg()
    about = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.1f} GB",
        "load at start": f"{load_1:.2f} {load_5:.2f} {load_15:.2f} (over 1, 5, 15 minutes)",
        "kernel of the machine": platform.release(),
        "kernel of the lab": f"Linux {image.about.kernel_version}",
        "linklab": __version__,
    }
    commit = _commit(Path(__file__).parent)
    return about | ({"commit": commit} if commit else {}) | image.tools()


def _commit(folder: Path) -> str:
    """The commit of a git tree, marked where files are changed; empty outside of one."""
    words = ["git", "-C", str(folder)]
    try:
        head = subprocess.run([*words, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
        status = [*words, "status", "--porcelain", "--untracked-files=no"]
        changed = subprocess.run(status, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head.stdout.strip() + (" with changes" if changed.stdout.strip() else "")


@dataclass
class Outcome:
    """How one part went. `failure` is one line; the records are those measured before it."""

    part: Part
    records: list[Record] = field(default_factory=list)
    failure: str = ""
    wall_s: float = 0.0

    def findings(self, settings: Settings) -> Findings:
        """Tables and verdicts of the records that there are; none, and the failure, where they cannot be made."""
        try:
            return self.part.report(self.records, settings)
        except Exception as error:
            # a mistake of ours in a report must not cost what was measured
            failure = " ".join(f"its findings: {type(error).__name__}: {error}".split())
            self.failure = self.failure or failure
            return Findings()


@dataclass
class Outcomes:
    """How all parts went. `interrupted`: Ctrl-C came, and what was not measured until then is missing."""

    parts: list[Outcome] = field(default_factory=list)
    interrupted: bool = False

    @property
    def failed(self) -> bool:
        """Whether a part could not be measured to its end."""
        return any(outcome.failure for outcome in self.parts)


def run_parts(parts: Sequence[Part], settings: Settings, say: Say) -> Outcomes:
    """Measures the parts in turn. At KeyboardInterrupt all labs of the running part are ended, and no other begins."""
    outcomes = Outcomes()
    for part in parts:
        outcome = Outcome(part)
        outcomes.parts.append(outcome)
        began_s = time.monotonic()

        def tell(line: str, name: str = part.name, began_s: float = began_s) -> None:
            say(f"{name} {time.monotonic() - began_s:5.0f} s: {line}")

        try:
            part.measure(settings, tell, outcome.records.append)
        except KeyboardInterrupt:
            outcome.failure = "interrupted"
            outcomes.interrupted = True
        except LinklabError as error:
            outcome.failure = " ".join(str(error).split())
        except Exception as error:
            # a mistake of ours in one part must not cost the others' results
            outcome.failure = " ".join(f"{type(error).__name__}: {error}".split())
        outcome.wall_s = time.monotonic() - began_s
        if outcome.failure:
            say(f"{part.name}: FAILED: {outcome.failure}")
        if outcomes.interrupted:
            break
    return outcomes


VERSION = 2
"""Of the JSON form."""


def as_json(outcomes: Outcomes, settings: Settings, machine: Mapping[str, str]) -> dict[str, Any]:
    """Everything: the machine, the settings, and for each part its records, tables and claims."""
    parts = {}
    for outcome in outcomes.parts:
        findings = outcome.findings(settings)
        parts[outcome.part.name] = {
            "title": outcome.part.title,
            "wall_s": round(outcome.wall_s, 1),
            "failure": outcome.failure or None,
            "claims": [
                {"claim": claim.text, "verdict": claim.verdict.value, "numbers": claim.numbers}
                for claim in findings.claims
            ],
            "tables": [
                {"title": table.title, "headings": table.headings, "rows": table.rows, "notes": table.notes}
                for table in findings.tables
            ],
            "records": outcome.records,
        }
    return {
        "benchmark": "linklab",
        "version": VERSION,
        "machine": dict(machine),
        "settings": {"quick": settings.quick, "repeats": settings.repeats, "cores": settings.cores},
        "interrupted": outcomes.interrupted,
        "parts": parts,
    }


def as_markdown(outcomes: Outcomes, settings: Settings, machine: Mapping[str, str]) -> str:
    """The page: verdicts first, then the machine, then the tables part by part."""
    how = f"{'--quick, ' if settings.quick else ''}{settings.repeats} repeats"
    minutes = sum(outcome.wall_s for outcome in outcomes.parts) / 60
    lines = ["# Benchmark", "", f"Made by `make bench` ({how}) in {minutes:.1f} minutes, all of it in one run."]
    if outcomes.interrupted:
        lines += ["", "**Interrupted:** what was not measured until then is missing."]
    lines += ["", "## Verdicts", ""]
    claims = [claim for outcome in outcomes.parts for claim in outcome.findings(settings).claims]
    lines += _table(("verdict", "claim", "numbers"), [(_mark(claim), claim.text, claim.numbers) for claim in claims])
    lines += ["", "## Machine", ""]
    lines += _table(("", ""), list(machine.items()))
    for outcome in outcomes.parts:
        lines += ["", f"## {outcome.part.title}", "", f"{outcome.wall_s:.0f} s."]
        if outcome.failure:
            lines += ["", f"**Not measured to its end:** {_cell(outcome.failure)}"]
        for table in outcome.findings(settings).tables:
            lines += _section(table)
    return "\n".join(lines) + "\n"


def fidelity_records(text: str, name: str) -> list[Record]:
    """The records of the fidelity part in a report's JSON. Raises `LinklabError` where there are none."""
    try:
        data = json.loads(text)
        if (data["benchmark"], data["version"]) != ("linklab", VERSION):
            raise LinklabError(f"{name} is of version {data['version']}, and this Linklab reads {VERSION}")
        records: list[Record] = data["parts"]["fidelity"]["records"]
    except (ValueError, KeyError, TypeError):
        raise LinklabError(f"{name} is no bench.json with the part fidelity: name one that make bench wrote") from None
    return records


def verdict_lines(outcomes: Outcomes, settings: Settings) -> list[str]:
    """The claims, one a line, for the terminal."""
    return [
        f"{claim.verdict.value:12} {claim.text}: {claim.numbers}"
        for outcome in outcomes.parts
        for claim in outcome.findings(settings).claims
    ]


def _mark(claim: Claim) -> str:
    return f"**{claim.verdict.value}**" if claim.verdict is Verdict.NOT_MET else claim.verdict.value


def _section(table: Table) -> list[str]:
    lines = ["", f"### {table.title}", "", *_table(table.headings, table.rows)]
    for note in table.notes:
        lines += ["", note]
    return lines


def _table(headings: tuple[str, ...], rows: Any) -> list[str]:
    """A Markdown table; columns in which every cell is a number or empty stand to the right."""
    cells = [[_cell(text) for text in row] for row in rows]
    numbers = [
        bool(cells) and any(row[column] for row in cells) and all(_is_number(row[column]) for row in cells)
        for column in range(len(headings))
    ]
    lines = ["| " + " | ".join(map(_cell, headings)) + " |"]
    lines.append("| " + " | ".join("---:" if right else "---" for right in numbers) + " |")
    return lines + ["| " + " | ".join(row) + " |" for row in cells]


def _is_number(text: str) -> bool:
    return all(letter in "0123456789.,-+%/ e" for letter in text)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
