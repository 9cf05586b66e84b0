"""The report, as Markdown and as JSON. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from linklab.errors import LinklabError
from tools.bench.findings import Claim, Record, Table, Verdict
from tools.bench.run import Outcomes
from tools.bench.settings import Settings

VERSION = 1
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
