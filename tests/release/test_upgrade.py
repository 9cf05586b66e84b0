"""What docs/upgrade.md promises to courses: files, variants and draws of each released version stay valid.

``kept/VERSION/`` was written by that version (`tests.release.keep`). A version without a tag may write its own folder
anew; the others are what courses have on their disks.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

import linklab
from linklab.classroom.release import MANIFEST, refuse_foreign
from linklab.course import FILE, read_variant
from linklab.errors import LinklabError
from linklab.grading import manual_points
from linklab.measure import Run, load_result, load_run
from linklab.measure.tools import TOOLS
from linklab.network.variants import variant

from .keep import ANSWER, KEPT, ROOT, SECRET, cells, drawn, networks

VERSIONS: Final = sorted(path.name for path in KEPT.iterdir())
CHANGED: Final[Mapping[tuple[str, str], str]] = {}
"""What does not stay as a version had it, by the version and the file's name in its folder; the reason is a sentence of
docs/upgrade.md.
"""


def read(version: str, name: str) -> Any:
    return json.loads((KEPT / version / name).read_text("utf-8"))


def must_be_same(version: str, name: str, now: object, what: str) -> None:
    """Fail, saying what to do, where something is not as that version had it."""
    if (version, name) in CHANGED or read(version, name) == now:
        return
    pytest.fail(
        f"{what} of {version} are not the same any more, and courses that began with it have theirs: undo that, or "
        f"write it into docs/upgrade.md and CHANGED (a version without a tag: python -m tests.release.keep)"
    )


def test_this_version_has_its_files_and_upgrade_notes_say_what_changed() -> None:
    assert linklab.__version__ in VERSIONS, "run python -m tests.release.keep"
    notes = " ".join((ROOT / "docs/upgrade.md").read_text("utf-8").split())
    for why in CHANGED.values():
        assert " ".join(why.split()) in notes


@pytest.mark.parametrize("version", VERSIONS)
def test_every_student_keeps_the_network(version: str) -> None:
    must_be_same(version, "networks.json", networks(), "students' networks")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_submission_keeps_what_is_drawn_for_it(version: str) -> None:
    must_be_same(version, "draws.json", drawn(), "what checks draw from a submission")


@pytest.mark.parametrize("version", VERSIONS)
def test_cells_of_students_notebooks_are_found_again(version: str) -> None:
    now = cells()
    for lab, kept in read(version, "cells.json").items():
        kept = {name: told for name, told in kept.items() if (version, f"{lab} {name}") not in CHANGED}
        found = {name: now.get(lab, {}).get(name) for name in kept}
        assert found == kept, (
            f"{lab} lacks cells of {version}, or gives other points: answers in a student's notebook of then would be "
            "lost. Undo that, or write it into docs/upgrade.md and CHANGED (a version without a tag: "
            "python -m tests.release.keep)"
        )


@pytest.mark.parametrize("version", VERSIONS)
def test_stored_results_are_read(version: str) -> None:
    kinds = set()
    for data in read(version, "results.json"):
        kinds.add(data["measurement"])
        result = load_run(data) if data["measurement"] == Run.KIND else load_result(data)
        again = json.loads(json.dumps(result.to_json()))
        if isinstance(result, Run):
            kinds |= {each["measurement"] for each in data["results"]}
            again, data = again["results"][0], data["results"][0]
        if again["version"] == data["version"]:
            assert again == data
        assert {name: again["flow"][name] for name in data["flow"]} == data["flow"]
    if version == linklab.__version__:
        lacks = {Run.KIND, *(tool.result.KIND for tool in TOOLS)} - kinds
        assert lacks == set(), "give tests/release/keep.py a flow of the tool, and run python -m tests.release.keep"


@pytest.mark.parametrize("version", VERSIONS)
def test_points_by_hand_stay_with_their_answer(version: str) -> None:
    given = manual_points.read((KEPT / version / "by-hand.csv").read_bytes())
    assert {key: row.given.points for key, row in given.items()} == {ANSWER.key: ANSWER.given.points}
    assert replace(ANSWER, text=ANSWER.text + " And more.").key not in given


@pytest.mark.parametrize("version", VERSIONS)
def test_a_release_is_known_again_and_its_variant_read(version: str, tmp_path: Path) -> None:
    folder = tmp_path / "released"
    shutil.copytree(KEPT / version / "released", folder)
    refuse_foreign(folder)
    assert read_variant(folder / "ada" / FILE) == variant("ada", SECRET)
    (folder / "ada" / FILE).write_text("{}")
    with pytest.raises(LinklabError, match="was worked in since its release"):
        refuse_foreign(folder)
    assert (folder / MANIFEST).is_file()


def test_what_would_change_a_students_network_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linklab.network.variants._SECOND", range(2, 255))
    with pytest.raises(pytest.fail.Exception, match=r"students' networks of .* write it into docs/upgrade\.md"):
        test_every_student_keeps_the_network(linklab.__version__)
