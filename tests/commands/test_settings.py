"""Settings: from the environment, from files near and far, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linklab.errors import LinklabError
from linklab.settings import FILE, number, setting


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A present folder below another one, an empty configuration folder, and no variable."""
    here = tmp_path / "kit" / "labs"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("LINKLAB_LABS_PATH", raising=False)
    return here


def _written(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(text)
    return folder / FILE


def test_the_environment_wins_over_the_nearest_file_and_that_over_farther_ones(
    alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for folder in (tmp_path / "config" / "linklab", alone.parent, alone):
        file = _written(folder, f'labs_path = ["of {folder.name}"]')
        told = setting("labs_path")
        assert told is not None
        assert (told.source, told.folder) == (str(file), folder)
        found.append(told.value)
    assert found == [["of linklab"], ["of kit"], ["of labs"]]
    for text in ("one:two", ""):
        monkeypatch.setenv("LINKLAB_LABS_PATH", text)
        told = setting("labs_path")
        assert told is not None
        assert (told.value, told.source) == (text, "LINKLAB_LABS_PATH")


@pytest.mark.parametrize("value", ["0", "-1", "true", '"two"', "[2]", "1.5"])
def test_what_is_no_number_is_one_line(value: str, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LINKLAB_HINTS", raising=False)
    _written(alone, f"hints = {value}")
    with pytest.raises(LinklabError, match="write a whole number above 0"):
        number("hints")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_stranger_s_file_does_not_count(alone: Path) -> None:
    for folder in (alone.parent, alone):
        os.chown(_written(folder, 'labs_path = ["/tmp/evil"]'), 64000, 64000)
    os.chown(alone, 64000, 64000)
    assert setting("labs_path") is None


def test_a_present_folder_that_is_gone_has_no_file(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _written(alone.parent, "hints = 2")
    alone.rmdir()
    assert number("hints") is None
    monkeypatch.setenv("LINKLAB_LABS_PATH", "/labs")
    told = setting("labs_path")
    assert told is not None
    assert told.value == "/labs"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("labs_path = [", "is no TOML"),
        ("lab_path = []", "sets lab_path, which is no setting: the settings are labs_path, hints"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(text: str, says: str, alone: Path) -> None:
    file = _written(alone, text)
    with pytest.raises(LinklabError, match=says) as refused:
        setting("labs_path")
    assert str(file) in str(refused.value)
    assert "\n" not in str(refused.value)
