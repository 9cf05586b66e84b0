"""``linklab image`` on the command line, and its build in the background, with a script in the place of Python."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.runtime.image import build, cli, find
from linklab.runtime.image.running import StatusFile, build_lock
from tests.runtime.test_image_find import made

LIMIT_S = 300.0


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    cli.add_parser(parser.add_subparsers())
    return parser.parse_args(["image", *words])


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LINKLAB_IMAGE", raising=False)
    find.cache_folder().mkdir(parents=True)
    return find.cache_folder()


def test_status_and_path_without_an_image(own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(parsed("status")) == 1
    assert "run linklab image build" in capsys.readouterr().out
    with pytest.raises(LabError):
        cli.run(parsed("path"))


def test_status_and_path_of_an_image(own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = made(own_cache / "abc")
    assert cli.run(parsed("status")) == 0
    assert f"labs boot: {folder}\n" in capsys.readouterr().out
    assert cli.run(parsed("path")) == 0
    assert capsys.readouterr().out == f"{folder}\n"


def test_status_during_a_build(own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    StatusFile(own_cache).write("unpacking packages", 0.5)
    with build_lock(own_cache):
        assert cli.run(parsed("status")) == 1
    said = capsys.readouterr().out
    assert "a build runs: 50%, unpacking packages" in said
    assert "the lab image is being built (50% done): wait for it with linklab image build" in said


def test_clean_removes_images_and_refuses_during_a_build(own_cache: Path) -> None:
    with build_lock(own_cache), pytest.raises(LabError, match="a build of the lab image runs"):
        cli.run(parsed("clean"))
    assert cli.run(parsed("clean")) == 0
    assert not own_cache.exists()


def test_a_build_in_the_background_leaves_at_once_when_one_runs(
    own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with build_lock(own_cache):
        assert cli.run(parsed("build", "--background")) == 0
    assert "runs already" in capsys.readouterr().out


def test_plain_progress_is_one_line_per_five_percent(capsys: pytest.CaptureFixture[str]) -> None:
    with cli.PlainReporter() as reporter:
        for percent in range(20, 31):
            reporter.progress("compiling", percent / 100)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["20%", "25%", "30%"]


# In the background


def test_a_build_in_the_background_leaves_at_once_where_an_image_is(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A machine may have got an image without kernels and packages."""
    folder = made(own_cache / "abc")
    monkeypatch.setattr(cli, "build_image", None)  # a call would fail
    assert cli.run(parsed("build", "--background")) == 0
    assert capsys.readouterr().out == f"{folder}\n"


@pytest.fixture
def started(own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the script says how it was started: its session, its parent, and its words."""
    file = tmp_path / "started"
    python = tmp_path / "python"
    tell = f"ps -o sid= -p $$ > {file}.new; echo $* >> {file}.new; mv {file}.new {file}"
    python.write_text(f"#!/bin/sh\necho talk\n{tell}\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    return file


def test_it_starts_apart_from_this_process_with_its_log_in_the_cache(started: Path) -> None:
    assert build.start_background_build()
    deadline = time.monotonic() + LIMIT_S
    while not started.exists():
        assert time.monotonic() < deadline, "the build never started"
        time.sleep(0.02)
    session, words = started.read_text().splitlines()
    assert words == "-m linklab image build --background"
    assert int(session) != os.getsid(0)
    assert build.background_log().read_text() == "talk\n"


def test_nothing_is_started_while_a_build_runs(started: Path, own_cache: Path) -> None:
    with build_lock(own_cache):
        assert not build.start_background_build()
    assert not started.exists()
    assert not build.background_log().exists()


def test_nothing_is_started_where_an_image_is(started: Path, own_cache: Path) -> None:
    made(own_cache / "abc")
    assert not build.start_background_build()
    assert not build.background_log().exists()
