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
    for variable in ("LINKLAB_HINTS", "LINKLAB_IMAGE"):
        monkeypatch.delenv(variable, raising=False)
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
        file = _written(folder, f'image = "of {folder.name}"')
        told = setting("image")
        assert told is not None
        assert (told.source, told.folder) == (str(file), folder)
        found.append(told.value)
    assert found == ["of linklab", "of kit", "of labs"]
    for text in ("one", ""):
        monkeypatch.setenv("LINKLAB_IMAGE", text)
        told = setting("image")
        assert told is not None
        assert (told.value, told.source) == (text, "LINKLAB_IMAGE")


@pytest.mark.parametrize("value", ["0", "-1", "true", '"two"', "[2]", "1.5"])
def test_what_is_no_number_is_one_line(value: str, alone: Path) -> None:
    _written(alone, f"hints = {value}")
    with pytest.raises(LinklabError, match="write a whole number above 0"):
        number("hints")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_stranger_s_file_does_not_count(alone: Path) -> None:
    for folder in (alone.parent, alone):
        os.chown(_written(folder, 'image = "/tmp/evil"'), 64000, 64000)
    os.chown(alone, 64000, 64000)
    assert setting("image") is None


def test_a_present_folder_that_is_gone_has_no_file(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _written(alone.parent, "hints = 2")
    alone.rmdir()
    assert number("hints") is None
    monkeypatch.setenv("LINKLAB_HINTS", "3")
    assert number("hints") == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hints = [", "is no TOML"),
        ("hint = 2", "sets hint, which is no setting: the settings are hints, image"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(text: str, says: str, alone: Path) -> None:
    file = _written(alone, text)
    with pytest.raises(LinklabError, match=says) as refused:
        setting("hints")
    assert str(file) in str(refused.value)
    assert "\n" not in str(refused.value)
