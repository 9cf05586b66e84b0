"""Options of the command line: how many jobs this machine bears."""

from __future__ import annotations

import pytest

from linklab import options
from linklab.errors import LabError


def test_as_many_jobs_as_cores_and_memory_bear(monkeypatch: pytest.MonkeyPatch) -> None:
    def at_once(asked: int | None, there: int) -> int:
        return options.how_many(asked, there, "labs", 400)

    monkeypatch.setattr(options, "cores", lambda: 4)
    monkeypatch.setattr(options, "free_memory_mb", lambda: 10_000.0)
    assert [at_once(*it) for it in ((None, 10), (None, 3), (16, 3), (None, 0))] == [4, 3, 3, 1]
    monkeypatch.setattr(options, "free_memory_mb", lambda: 1000.0)
    assert [at_once(*it) for it in ((None, 10), (2, 10))] == [2, 2]
    with pytest.raises(LabError, match=r"^3 labs at once need 1200 MB and 1000 MB are free: say --jobs 2"):
        at_once(3, 10)
    monkeypatch.setattr(options, "free_memory_mb", lambda: 10.0)
    assert at_once(None, 10) == 1
    for wrong in (0, True, 2.5):
        with pytest.raises(LabError, match="choose a whole number above 0"):
            at_once(wrong, 10)  # type: ignore[arg-type]
