"""What is noted beside a lab's work must not stop that work."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab import record


def test_statistics_that_cannot_be_written_fail_no_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = tmp_path / "removed" / "tally"
    monkeypatch.setenv(record.TALLY_VARIABLE, str(lost))
    record.tally(1.5)
    assert record.tallied_s(lost) == 0.0
