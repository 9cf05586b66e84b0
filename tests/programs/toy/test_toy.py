"""A new program to judge is one folder: scenes, and checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.runtime.backends import Kind

from . import TABLE, check
from .programs import RIGHT, WRONG

pytestmark = [pytest.mark.lab, pytest.mark.slow]


@pytest.mark.large
@pytest.mark.parametrize(("text", "fails"), [(RIGHT, set[str]()), *WRONG.values()], ids=["right", *WRONG])
def test_a_program_fails_where_it_is_wrong(text: str, fails: set[str], virtual: Kind, tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(text)
    report = check(tmp_path / "echo.py")
    checks = dict(zip([asked.key for asked in TABLE], report.whole.checks, strict=True))
    assert {key for key, it in checks.items() if it.outcome == "failed"} == fails, str(report)
    assert {it.outcome for key, it in checks.items() if key not in fails} <= {"passed", "inconclusive"}
    assert report.status == ("failed" if fails else "passed")
