"""``linklab run``: what it refuses, and how it reports results."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.terminal import one_line
from tests.support.notebooks import notebook


def test_wrong_files_are_a_line_each(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, good = tmp_path / "text.ipynb", notebook(tmp_path / "good.ipynb", "1")
    text.write_text("not a notebook")
    (tmp_path / "file").write_text("")
    (tmp_path / "other").mkdir()
    for words, said in (
        ([good, "missing.ipynb"], "there is no notebook missing.ipynb"),
        (["mtu"], "mtu is a study and no notebook: linklab study run mtu"),
        ([text], "text.ipynb is not a notebook"),
        ([tmp_path], "Is a directory"),
        ([good, "--output", "."], "would be overwritten by its executed copy"),
        ([good, "--output", "file"], "File exists: file"),
        ([good, "other/good.ipynb"], "two notebooks are called good.ipynb"),
    ):
        assert run(*words) == 1
        captured = capsys.readouterr()
        assert (said in one_line(captured.err), captured.out) == (True, ""), "nothing was begun"


@pytest.mark.parametrize(
    ("jobs", "status", "says"),
    [
        ("0", 2, "'0' is not a whole number above 0"),
        ("x", 2, "'x' is not a whole number above 0"),
        ("10000", 1, "10000 notebooks at once are too many: the 2 cores bear 8 at most; say --jobs 8 or less"),
    ],
)
def test_a_job_count_that_cannot_be(
    run: Callable[..., int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    jobs: str,
    status: int,
    says: str,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    path = notebook(tmp_path / "a.ipynb", "1")
    try:
        ended = run(path, "--jobs", jobs)
    except SystemExit as error:  # argparse
        ended = int(str(error.code))
    assert ended == status
    assert says in one_line(capsys.readouterr().err)
    assert not (tmp_path / "executed").exists(), "nothing was begun"
