"""Which labs there are: Linklab's own, those of an instructor, and what is refused in one line."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import linklab
from linklab import doctor
from linklab.classroom.contents import Contents
from linklab.discovery import VARIABLE, added_labs, lab_names, linklab_digest
from linklab.errors import LinklabError
from linklab.grade.choices import choices
from linklab.notebooks.build import build_all
from linklab.settings import FILE
from tests.notebooks.run_notebook import ROOT


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the path names, with lab50 in it."""
    folder = tmp_path / "my-labs"
    (folder / "lab50").mkdir(parents=True)
    (folder / "lab50" / "__init__.py").write_text("MINE = 50\n")
    (folder / "lab50" / "50-loss.py").write_text('# %% id="a"\n')
    monkeypatch.setenv(VARIABLE, str(folder))
    return folder


def _python(code: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    package = str(Path(linklab.__file__).parents[1])
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment | {"PYTHONPATH": package} | variables,
        capture_output=True, text=True,
    )  # fmt: skip


OWN: Final = sorted(path.name for path in (Path(linklab.__file__).parent / "labs").glob("lab[0-9][0-9]"))


def test_without_a_path_there_are_linklab_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    assert added_labs() == ()
    assert lab_names() == set(OWN)
    assert {f"lab{number:02}" for number in range(11)} <= set(OWN)


def test_an_added_lab_is_found_with_its_source_and_what_its_notebook_imports(mine: Path) -> None:
    for name in ("rules.py", "data/loss.csv", ".notes", "__pycache__/rules.pyc", "50-loss.ipynb"):
        (mine / "lab50" / name).parent.mkdir(exist_ok=True)
        (mine / "lab50" / name).write_text(name)
    (lab,) = added_labs()
    assert (lab.name, lab.number, lab.source) == ("lab50", "50", mine / "lab50" / "50-loss.py")
    assert set(lab.files()) == {"lab50/__init__.py", "lab50/rules.py", "lab50/data/loss.csv"}
    assert "lab50" in lab_names()


def test_a_notebook_imports_it_as_one_of_linklab_s_own(tmp_path: Path, mine: Path) -> None:
    code = "from linklab.labs import lab00, lab50; print(lab50.MINE, callable(lab00.check_network))"
    by_variable = _python(code, tmp_path, **{VARIABLE: "my-labs"})
    assert (by_variable.stdout, by_variable.stderr) == ("50 True\n", "")
    assert "cannot import name 'lab50'" in _python(code, tmp_path).stderr
    (mine / FILE).write_text('labs_path = ["."]\n')
    by_file = _python(code, mine)
    assert (by_file.stdout, by_file.stderr) == ("50 True\n", "")


def test_what_a_command_starts_finds_the_same_labs_in_any_folder(tmp_path: Path, mine: Path) -> None:
    code = """
import os, linklab.cli
linklab.cli.main(["run", "none.ipynb"])
print(os.environ.get("LINKLAB_LABS_PATH"))
"""
    assert _python(code, tmp_path, **{VARIABLE: "my-labs"}).stdout == f"{mine}\n"
    (tmp_path / FILE).write_text('labs_path = ["my-labs"]\n')
    assert _python(code, tmp_path).stdout == f"{mine}\n"


@pytest.mark.parametrize(
    ("spoil", "path", "says"),
    [
        ("", "{}-none", "my-labs-none, which is no folder"),
        ("", "{}/lab50", "names the lab .*lab50 itself: name the folder that it lies in"),
        ("", "~nobody-of-that-name", "one of them is in nobody's home"),
        ("mv lab50 lab5", "{}", "give it a number of two digits"),
        ("mv lab50 lab05", "{}", "has the number of a lab of Linklab's own: choose one above {last}"),
        ("cp -r . ../more", "{0}:{0}/../more", "lab50 and .*lab50 have one number"),
        ("rm lab50/__init__.py", "{}", "lab50 has no rules.py"),
        ("touch lab50/50-more.py", "{}", "holds the sources of 2 notebooks"),
        ("mv lab50/50-loss.py lab50/51-loss.py", "{}", "has another number than its folder"),
    ],
)
def test_what_cannot_be_is_one_line(
    spoil: str, path: str, says: str, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(spoil, shell=True, cwd=mine, check=True)
    monkeypatch.setenv(VARIABLE, path.format(mine))
    with pytest.raises(LinklabError, match=says.replace("{last}", OWN[-1])) as refused:
        added_labs()
    assert "\n" not in str(refused.value)


def test_folders_that_are_no_labs_are_let_alone(mine: Path) -> None:
    for name in ("lab3", "lab03", "lab12"):
        (mine / name).mkdir()
        (mine / name / "notes.txt").touch()
    assert [lab.name for lab in added_labs()] == ["lab50"]
    shutil.rmtree(mine / "lab50")
    assert added_labs() == ()


def test_with_a_kit_s_root_the_present_folder_names_no_labs(mine: Path, tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    (mine / FILE).write_text('labs_path = ["."]\nhints = "many"\n')
    code = """
import os, linklab.cli
for root in ("../kit", "."):
    os.environ.pop("LINKLAB_LABS_PATH", None)
    linklab.cli.main(["notebooks", "build", "--check", "--root", root])
    print(os.environ["LINKLAB_LABS_PATH"])
"""
    assert [row for row in _python(code, mine).stdout.splitlines() if not row or row == str(mine)] == ["", str(mine)]


def test_a_list_in_the_file_must_be_one_of_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    (tmp_path / FILE).write_text("labs_path = 11\n")
    with pytest.raises(LinklabError, match=r'write a list of folders, as \["../my-labs"\]'):
        added_labs()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 / 0", "lab50 cannot be imported (ZeroDivisionError: division by zero): mend its files"),
        ("def f(", "lab50 cannot be imported (SyntaxError: '(' was never closed"),
        ("pass", "50-loss, check-a: lab50 has no check_a: name it in __all__ of the lab's rules.py"),
    ],
)
def test_a_broken_lab_is_the_instructor_s_to_mend_before_anything_is_graded(
    text: str, says: str, mine: Path, tmp_path: Path
) -> None:
    (mine / "lab50" / "__init__.py").write_text(text + "\n")
    (mine / "lab50" / "50-loss.py").write_text('# %% check="a" points=1\nlab50.check_a(1).require()\n')
    code = "import sys, linklab.cli; sys.exit(linklab.cli.main(['grade', '.', '--output', 'graded']))"
    done = _python(code, tmp_path, **{VARIABLE: str(mine)})
    assert done.returncode == 1
    assert done.stderr.startswith("linklab: ")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.lab
@pytest.mark.usefixtures("virtual")
def test_a_function_of_its_files_runs_inside_a_lab(mine: Path, tmp_path: Path) -> None:
    (mine / "lab50" / "__init__.py").write_text("from .inside import hosts as hosts\n")
    (mine / "lab50" / "inside.py").write_text("from .more import names\n\n\ndef hosts(net):\n    return names(net)\n")
    (mine / "lab50" / "more.py").write_text("def names(net):\n    return [host.name for host in net.hosts]\n")
    code = """
import linklab
from linklab.labs import lab50
from linklab.network import TWO_HOSTS
with linklab.start(TWO_HOSTS) as lab:
    print(lab.call(lab50.hosts))
"""
    done = _python(code, tmp_path, **{VARIABLE: "my-labs"})
    assert done.stdout == "['h1', 'h2']\n", done.stderr


def test_students_get_sealed_questions_as_the_instructor_s_file_has_them(mine: Path, tmp_path: Path) -> None:
    (mine / "lab50" / "50-choices.toml").write_text("""\
[why]
question = "Why?"
right = "a"
hints = ["think"]
options = {a = "because", b = "by chance"}
remarks = {b = "once perhaps"}
""")
    before = Contents.of(tmp_path)
    assert "lab50/50-choices.toml" not in before.given
    built = [file.path for file in build_all(tmp_path) if file.stale]
    assert Path("my-labs/lab50/choices.json") in built
    assert (mine / "lab50" / "choices.json").read_bytes() == before.given["lab50/choices.json"]
    assert b'"right"' not in before.given["lab50/choices.json"]
    assert [question.right for question in choices(mine / "lab50")] == ["a"]
    assert not any(file.stale for file in build_all(tmp_path, check=True))
    (mine / "lab50" / "50-choices.toml").write_text("[why]\n")
    with pytest.raises(LinklabError, match=r"50-choices\.toml: question why is damaged: question: field required"):
        build_all(tmp_path)


@pytest.mark.slow
def test_how_many_hints_there_are_goes_out_with_the_labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    assert FILE not in Contents.of(ROOT).given
    monkeypatch.setenv("LINKLAB_HINTS", "2")
    assert Contents.of(ROOT).given[FILE] == b"hints = 2\n"


def test_a_wrong_setting_is_one_line_of_every_command(tmp_path: Path) -> None:
    commands = ["notebooks build", "release out", "validate", "run none.ipynb"]
    code = f"import linklab.cli; print([linklab.cli.main(command.split()) for command in {commands!r}])"
    done = _python(code, tmp_path, **{VARIABLE: "none"})
    assert done.stdout == f"{[1] * len(commands)}\n"
    line = f"linklab: {VARIABLE} names {tmp_path / 'none'}, which is no folder: make it, or mend the name\n"
    assert done.stderr == line * len(commands)


def test_the_doctor_reports_a_wrong_setting_and_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "none")
    monkeypatch.setattr("linklab.lab.start", lambda *_, **__: pytest.fail("tried after the settings"))
    rows = {row.what: row for row in itertools.islice(doctor.examine(), 3)}
    found = rows["settings"]
    assert (found.works, found.needed, found.fix) == (False, True, "make it, or mend the name")


def test_a_changed_rule_makes_another_linklab_whose_verdicts_do_not_count(mine: Path) -> None:
    digests = []
    for text in ("LIMIT = 1\n", "LIMIT = 1\n", "LIMIT = 2\n"):
        (mine / "lab50" / "rules.py").write_text(text)
        linklab_digest.cache_clear()
        digests.append(linklab_digest())
    linklab_digest.cache_clear()
    assert digests[0] == digests[1] != digests[2]


def test_linklab_s_other_files_are_a_part_of_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setattr(linklab, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "__pycache__").mkdir()
    digests = []
    for compiled, choice in (("a", "a"), ("b", "a"), ("b", "b")):
        (tmp_path / "__pycache__" / "a.pyc").write_text(compiled)
        (tmp_path / "choices.json").write_text(choice)
        digests.append(linklab_digest.__wrapped__())
    assert digests[0] == digests[1] != digests[2]
