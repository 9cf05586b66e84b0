"""The labs that a wheel carries: laid into a student's folder, renewed there, and nothing of the student's lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab import carried_labs, cli, jupyter
from linklab.carried_labs import RECORD, lay
from linklab.cli import main
from linklab.errors import LabError

OLD = {"01-net.ipynb": b"one, old", "02-tool.ipynb": b"two", "tool.py": b"tool, old"}
NEW = {"01-net.ipynb": b"one, new", "02-tool.ipynb": b"two", "tool.py": b"tool, new", "03-udp.ipynb": b"three"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where an older Linklab has laid its labs."""
    assert lay(tmp_path / "labs", OLD).new == list(OLD)
    monkeypatch.setattr(carried_labs, "__version__", "2.0")
    return tmp_path / "labs"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != RECORD}


def test_all_is_laid_down_once(folder: Path) -> None:
    assert contents(folder) == OLD
    assert lay(folder, OLD).lines(folder) == []


def test_what_the_student_has_not_changed_is_renewed(folder: Path) -> None:
    laid = lay(folder, NEW)
    assert contents(folder) == NEW
    assert (laid.new, laid.renewed, laid.beside) == (["03-udp.ipynb"], ["01-net.ipynb", "tool.py"], {})
    assert laid.lines(folder) == [
        f"1 file laid into {folder}",
        f"2 files in {folder} renewed, which you had not changed",
    ]
    assert lay(folder, NEW).lines(folder) == []


def test_what_the_student_has_changed_stays_and_the_newer_one_is_laid_beside_once(folder: Path) -> None:
    (folder / "01-net.ipynb").write_bytes(b"my work")
    (folder / "02-tool.ipynb").write_bytes(b"my work too, and nothing newer of it")
    laid = lay(folder, NEW)
    assert laid.beside == {"01-net.ipynb": "01-net-2.0.ipynb"}
    assert "01-net.ipynb has your changes and stays; that of Linklab 2.0 is 01-net-2.0.ipynb" in laid.lines(folder)
    mine = {"01-net.ipynb": b"my work", "02-tool.ipynb": b"my work too, and nothing newer of it"}
    assert contents(folder) == NEW | mine | {"01-net-2.0.ipynb": b"one, new"}
    (folder / "01-net-2.0.ipynb").unlink()
    assert lay(folder, NEW).lines(folder) == []
    assert not (folder / "01-net-2.0.ipynb").exists(), "it was offered once"
    (folder / "01-net-2.0.ipynb").write_bytes(b"mine as well")
    assert lay(folder, NEW | {"01-net.ipynb": b"one, newest"}).beside == {"01-net.ipynb": "01-net-2.0-2.ipynb"}
    assert (folder / "01-net.ipynb").read_bytes() == b"my work"


@pytest.mark.parametrize("files", [OLD, NEW])
def test_what_the_student_has_removed_is_laid_down_again(folder: Path, files: dict[str, bytes]) -> None:
    (folder / "01-net.ipynb").unlink()
    assert "01-net.ipynb" in lay(folder, files).new
    assert contents(folder) == files


def test_a_link_and_a_folder_by_the_same_name_stay(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"one, old")
    (folder / "01-net.ipynb").unlink()
    (folder / "01-net.ipynb").symlink_to(tmp_path / "elsewhere")
    (folder / "03-udp.ipynb").mkdir()
    assert lay(folder, NEW).beside == {"01-net.ipynb": "01-net-2.0.ipynb", "03-udp.ipynb": "03-udp-2.0.ipynb"}
    assert (tmp_path / "elsewhere").read_bytes() == b"one, old"


def test_a_damaged_record_is_said_and_removing_it_loses_nothing(folder: Path) -> None:
    (folder / "01-net.ipynb").write_bytes(b"my work")
    for damage in (b"{", b"[]", b"{}", b'{"files": 1}', b"\xff"):
        (folder / RECORD).write_bytes(damage)
        with pytest.raises(LabError, match="is damaged: remove it"):
            lay(folder, NEW)
    assert contents(folder) == OLD | {"01-net.ipynb": b"my work"}
    (folder / RECORD).unlink()
    assert lay(folder, NEW).beside == {"01-net.ipynb": "01-net-2.0.ipynb", "tool.py": "tool-2.0.py"}


# Which folder `linklab up` opens


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that are opened; the page itself is not started. The present folder is the test's own."""
    found: list[Path] = []

    def up(folder: Path, port: int, *, browser: bool) -> int:
        found.append(folder)
        return 0

    monkeypatch.setattr(cli, "_fetch_image", lambda: None)
    monkeypatch.setattr(jupyter, "up", up)
    monkeypatch.chdir(tmp_path)
    return found


@pytest.fixture
def carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Linklab that was installed from a wheel."""
    place = tmp_path / "installed"
    (place / "__pycache__").mkdir(parents=True)
    for name, data in NEW.items():
        (place / name).write_bytes(data)
    monkeypatch.setattr(carried_labs, "CARRIED", place)


def test_a_clone_opens_its_own_labs(opened: list[Path], tmp_path: Path) -> None:
    assert not carried_labs.CARRIED.exists()
    assert main(["up"]) == 0
    (tmp_path / "labs").mkdir()
    assert main(["up"]) == 0
    assert opened == [tmp_path, tmp_path / "labs"]
    assert list((tmp_path / "labs").iterdir()) == []


@pytest.mark.usefixtures("carried")
def test_a_wheel_lays_its_labs_into_a_folder_of_their_own(
    opened: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["up"]) == 0
    assert contents(tmp_path / "linklab-labs") == NEW
    assert capsys.readouterr().out == "4 files laid into linklab-labs\n"
    assert main(["up"]) == 0
    monkeypatch.chdir("linklab-labs")
    assert main(["up"]) == 0
    assert opened == [tmp_path / "linklab-labs"] * 3
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("carried")
def test_a_folder_that_is_named_gets_them_where_it_is_new_or_ours(opened: list[Path], tmp_path: Path) -> None:
    for name in ("new", "empty", "another"):
        (tmp_path / name).mkdir()
    (tmp_path / "new").rmdir()
    (tmp_path / "another/notes.txt").write_text("mine")
    for name in ("new", "empty", "another", "new"):
        assert main(["up", "--folder", name]) == 0
    assert contents(tmp_path / "new") == contents(tmp_path / "empty") == NEW
    assert contents(tmp_path / "another") == {"notes.txt": b"mine"}
    assert opened == [tmp_path / name for name in ("new", "empty", "another", "new")]
