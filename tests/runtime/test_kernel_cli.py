"""``linklab kernel`` on the command line, and a build that waits for another."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from linklab.errors import LabError, LinklabError
from linklab.runtime.kernel import build, cli, find


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    cli.add_parser(parser.add_subparsers())
    return parser.parse_args(["kernel", *words])


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("LINKLAB_KERNEL", raising=False)
    find.cache_folder().mkdir(parents=True)
    return find.cache_folder()


def test_status_and_path_without_a_kernel(own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(parsed("status")) == 1
    assert "run linklab kernel build" in capsys.readouterr().out
    with pytest.raises(LabError):
        cli.run(parsed("path"))


def test_status_during_a_build(own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build.StatusFile(own_cache).write("compiling linux-source-7.3", 0.5)
    with build.build_lock(own_cache):
        assert cli.run(parsed("status")) == 1
    said = capsys.readouterr().out
    assert "a build runs: 50%, compiling linux-source-7.3" in said
    assert str(own_cache / "build.log") in said


def test_clean_removes_all_and_refuses_during_a_build(own_cache: Path) -> None:
    with build.build_lock(own_cache), pytest.raises(LabError, match="a build of the kernel runs"):
        cli.run(parsed("clean"))
    assert cli.run(parsed("clean")) == 0
    assert not own_cache.exists()


def test_a_build_in_the_background_leaves_at_once_when_one_runs(
    own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with build.build_lock(own_cache):
        assert cli.run(parsed("build", "--background")) == 0
    assert "runs already" in capsys.readouterr().out


def test_jobs_must_be_a_number_above_zero() -> None:
    assert parsed("build", "--jobs", "3").jobs == 3
    for wrong in ("0", "-1", "x"):
        with pytest.raises(SystemExit):
            parsed("build", "--jobs", wrong)


def test_more_jobs_than_the_cores_bear_are_refused(own_cache: Path) -> None:
    with pytest.raises(LinklabError, match=r"^10000 compilers at once are too many: .*; say --jobs \d+ or less$"):
        cli.run(parsed("build", "--jobs", "10000"))
    assert not any(own_cache.iterdir()), "nothing was begun"


def test_plain_progress_is_one_line_per_five_percent(capsys: pytest.CaptureFixture[str]) -> None:
    with cli.PlainReporter() as reporter:
        for percent in range(20, 31):
            reporter.progress("compiling", percent / 100)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["20%", "25%", "30%"]


def test_a_second_build_waits_for_the_first_and_uses_its_kernel(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = own_cache / "abc/linux"
    said: list[str] = []
    with build.build_lock(own_cache) as first:
        assert first is not None
        held = os.dup(first)

    def finish(seconds: float) -> None:
        """In the place of waiting: the first build publishes its kernel and ends."""
        kernel.parent.mkdir()
        kernel.touch()
        os.close(held)

    def finished(folder: Path, options: build.Options) -> Path | None:
        return kernel if kernel.exists() else None

    monkeypatch.setattr("time.sleep", finish)
    monkeypatch.setattr(build, "_finished", finished)
    assert build.build_kernel(lambda *_: None, say=said.append) == kernel
    assert said == ["another process is building the kernel: waiting for it"]
