"""Running parts and writing the report, with parts that need no lab."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from linklab.errors import LabError, LinklabError
from linklab.record import cpu_model
from tools.bench import run as report
from tools.bench.__main__ import parser
from tools.bench.part import Claim, Findings, Keep, OwnPart, Record, Say, Settings, Table, settings
from tools.bench.parts import PARTS, chosen
from tools.bench.run import Outcome, Outcomes, run_parts

from .made import FEW, fidelity_records

MACHINE = {"processor": "a | b", "cores": "2"}


def _good(settings: Settings, say: Say, keep: Keep) -> None:
    say("working")
    keep({"value": 1.5})


def _failing(settings: Settings, say: Say, keep: Keep) -> None:
    keep({"value": 0.5})
    raise LabError("no lab here:\n build a kernel")


def _broken(settings: Settings, say: Say, keep: Keep) -> None:
    raise ZeroDivisionError("by zero")


def _interrupted(settings: Settings, say: Say, keep: Keep) -> None:
    keep({"value": 2.5})
    raise KeyboardInterrupt


def _findings(records: Sequence[Record], settings: Settings) -> Findings:
    values = [record["value"] for record in records]
    table = Table("Values", ("what", "value"), tuple(("it", str(value)) for value in values), ("In metres.",))
    return Findings((table,), (Claim.judged("it is above 1", values[0] > 1 if values else None, f"{values}"),))


def parts(**measures: object) -> list[OwnPart]:
    return [OwnPart(name, f"Part {name}", measure, _findings) for name, measure in measures.items()]  # type: ignore[arg-type]


def run(**measures: object) -> tuple[Outcomes, list[str]]:
    said: list[str] = []
    return run_parts(parts(**measures), FEW, said.append), said


def test_a_failing_part_is_one_line_and_the_others_go_on() -> None:
    outcomes, said = run(one=_failing, two=_broken, three=_good)
    assert [outcome.failure for outcome in outcomes.parts] == [
        "no lab here: build a kernel", "ZeroDivisionError: by zero", "",
    ]  # fmt: skip
    assert outcomes.failed
    assert not outcomes.interrupted
    assert [line for line in said if "FAILED" in line] == [
        "one: FAILED: no lab here: build a kernel", "two: FAILED: ZeroDivisionError: by zero",
    ]  # fmt: skip
    assert any(line.startswith("three") and line.endswith("working") for line in said)


def test_after_an_interrupt_no_part_begins_and_what_there_is_is_kept() -> None:
    outcomes, _ = run(one=_good, two=_interrupted, three=_good)
    assert [outcome.part.name for outcome in outcomes.parts] == ["one", "two"]
    assert outcomes.interrupted
    assert outcomes.parts[1].records == [{"value": 2.5}]
    page = report.as_markdown(outcomes, FEW, MACHINE)
    assert "**Interrupted:**" in page
    assert "2.5" in page


def test_findings_that_fail_do_not_cost_what_was_measured() -> None:
    def bad(records: Sequence[Record], settings: Settings) -> Findings:
        raise KeyError("link_s")

    outcomes = run_parts([OwnPart("bad", "Bad", _good, bad), *parts(good=_good)], FEW, lambda line: None)
    data = report.as_json(outcomes, FEW, MACHINE)
    assert data["parts"]["bad"]["records"] == [{"value": 1.5}]
    assert data["parts"]["bad"]["failure"] == "its findings: KeyError: 'link_s'"
    assert "**Not measured to its end:** its findings: KeyError: 'link_s'" in report.as_markdown(outcomes, FEW, MACHINE)
    assert len(report.verdict_lines(outcomes, FEW)) == 1
    assert outcomes.failed


def test_the_page_has_verdicts_first_and_every_table() -> None:
    outcomes, _ = run(good=_good, failing=_failing, broken=_broken)
    page = report.as_markdown(outcomes, FEW, MACHINE)
    assert page.index("## Verdicts") < page.index("## Machine") < page.index("## Part good")
    assert "| met | it is above 1 | [1.5] |" in page
    assert "| **NOT MET** | it is above 1 | [0.5] |" in page
    assert "| not measured | it is above 1 | [] |" in page
    assert "| processor | a \\| b |" in page
    assert "| what | value |\n| --- | ---: |\n| it | 1.5 |\n\nIn metres." in page
    assert "**Not measured to its end:** no lab here: build a kernel" in page
    tables = [line for line in page.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in tables)


def test_the_json_has_records_tables_and_claims_and_reads_back() -> None:
    outcomes, _ = run(good=_good, failing=_failing)
    data = json.loads(json.dumps(report.as_json(outcomes, FEW, MACHINE)))
    assert (data["benchmark"], data["version"], data["machine"]) == ("linklab", 2, MACHINE)
    assert data["parts"]["good"]["records"] == [{"value": 1.5}]
    assert data["parts"]["good"]["claims"] == [{"claim": "it is above 1", "verdict": "met", "numbers": "[1.5]"}]
    assert data["parts"]["good"]["failure"] is None
    assert data["parts"]["failing"]["failure"] == "no lab here: build a kernel"
    assert data["settings"] == {"quick": False, "repeats": 2, "cores": 2}


def test_an_earlier_reports_records_are_found_or_refused() -> None:
    (fidelity,) = chosen(["fidelity"])
    outcomes = Outcomes([Outcome(fidelity, fidelity_records())])
    text = json.dumps(report.as_json(outcomes, FEW, MACHINE))
    assert report.fidelity_records(text, "bench.json") == fidelity_records()
    for wrong in ("", "[]", "{}", text.replace('"fidelity":', '"other":')):
        with pytest.raises(LinklabError, match=r"bench\.json is no bench\.json with the part fidelity"):
            report.fidelity_records(wrong, "bench.json")
    with pytest.raises(LinklabError, match="version 99"):
        report.fidelity_records(text.replace('"version": 2', '"version": 99'), "bench.json")


def test_every_real_part_reports_on_nothing_at_all() -> None:
    outcomes = Outcomes()
    for part in PARTS:
        found = part.report([], FEW)
        assert found.tables == ()
        assert all(claim.verdict == "not measured" for claim in found.claims)
    assert report.verdict_lines(outcomes, FEW) == []


def test_parts_are_chosen_by_name_in_their_order() -> None:
    assert chosen([]) == PARTS
    assert [part.name for part in chosen(["speed", "fidelity"])] == ["fidelity", "speed"]
    with pytest.raises(LinklabError, match="no part 'sped': it has fidelity, starts, switches, speed, search"):
        chosen(["sped"])


def test_quick_is_less_of_everything() -> None:
    quick, full = settings(True, None, FEW.folder), settings(False, None, FEW.folder)
    assert (quick.repeats, full.repeats) == (2, 10)
    for name in ("case_s", "speed_s", "course_repeats"):
        assert getattr(quick, name) < getattr(full, name), name
    assert set(quick.sizes) < set(full.sizes)
    assert settings(False, 1, FEW.folder).course_repeats == 1


def test_the_processors_name() -> None:
    assert cpu_model("processor : 0\nmodel name\t: Some CPU @ 2 GHz\nmodel name : Other") == "Some CPU @ 2 GHz"
    assert cpu_model("CPU implementer : 0x41\n") == ""


def test_the_help_names_every_part() -> None:
    said = " ".join(parser().format_help().split())
    assert [part.name for part in PARTS if part.name not in said.partition("--only")[2]] == []
