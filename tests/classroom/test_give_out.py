"""The recipes of docs/instructors.md by which a folder for each student reaches that student."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from pathlib import Path

import pytest

from tests.notebooks.run_notebook import ROOT

RECIPES = re.findall(
    r"```python\n(import csv\n.*?)```", (ROOT / "docs" / "instructors.md").read_text("utf-8"), re.DOTALL
)


@pytest.fixture
def given_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """A released class, in the folder in which this runs, with two of one name; each student's network."""
    monkeypatch.chdir(tmp_path)
    networks = {"ada king": b"a", "kim.lee.1": b"b", "kim.lee.2": b"c"}
    for student, network in networks.items():
        Path("class/each", student).mkdir(parents=True)
        Path("class/each", student, "network").write_bytes(network)
    Path("class/each/linklab-release.json").write_text("{}")
    Path("class/students").write_text("ada king\nkim.lee.1 = 12\nkim.lee.2 = 13\n")
    return networks


def _network(labs: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(labs)) as book:
        return book.read("network")


def test_moodle_gives_each_student_the_own_folder(
    given_out: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ("Identifier,Full name,Grade", "Participant 11,Ada King,", "Participant 13,Kim Lee,",
            "Participant 12,Kim Lee,", "Participant 14,Eve_Ray,")  # fmt: skip
    Path("worksheet.csv").write_text("\n".join(rows), "utf-8-sig")
    exec(RECIPES[0], {})
    with zipfile.ZipFile("class/moodle.zip") as book:
        names = {name.split("_", 4)[1]: name for name in book.namelist()}  # as Moodle's importziplib.php reads them
        found = {number: _network(book.read(name)) for number, name in names.items()}
    assert found == {"11": given_out["ada king"], "12": given_out["kim.lee.1"], "13": given_out["kim.lee.2"]}
    assert "Eve_Ray 14" in capsys.readouterr().out


def test_each_link_leads_to_the_student_s_own_folder(given_out: dict[str, bytes]) -> None:
    exec(RECIPES[1], {})
    with open("class/links.csv", newline="") as table:
        links = dict(csv.reader(table))
    places = {student: Path("class/links", *link.split("/")[-2:]) for student, link in links.items()}
    assert {student: _network(path.read_bytes()) for student, path in places.items()} == given_out
    assert len({path.parent for path in places.values()}) == len(given_out)
