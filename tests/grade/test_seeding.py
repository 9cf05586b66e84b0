"""What a check draws: other numbers each time at home, and always the same of one submission or one run."""

from __future__ import annotations

from types import SimpleNamespace

import IPython
import pytest

from linklab.grade.seeding import of_submission, seeds
from linklab.labs.lab03 import unknown


def test_nobody_knows_what_is_drawn_at_home() -> None:
    drawn = {seeds("a network", 4, 10**6) for _ in range(3)}
    assert len(drawn) == 3
    assert all(0 <= seed < 10**6 for them in drawn for seed in them)


def test_the_same_cells_draw_the_same_and_a_cell_that_is_run_again_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(*cells: str) -> tuple[int, ...]:
        kernel = SimpleNamespace(kernel=True, user_ns={"In": ["", *cells]})
        monkeypatch.setattr(IPython, "get_ipython", lambda: kernel)
        return seeds("a network", 4, 10**6)

    assert drawn("x = 1", "check()") == drawn("x = 1", "check()")
    assert len({drawn("x = 1", "check()"), drawn("x = 2", "check()"), drawn("x = 1", "check()", "check()")}) == 3
    assert drawn() == drawn(), "nbval keeps no history"


def test_a_submission_draws_the_same_each_time_and_another_draws_others() -> None:
    def drawn(digest: bytes, what: str = "a network") -> tuple[int, ...]:
        with of_submission(digest):
            return seeds(what, 4, 10**6)

    assert drawn(b"mine") == drawn(b"mine")
    assert len({drawn(b"mine"), drawn(b"mine "), drawn(b"mine", "another check")}) == 3
    assert seeds("a network", 4, 10**6) != drawn(b"mine")


def test_a_submission_keeps_its_draws_from_version_to_version() -> None:
    """A change here would change grades of work that is judged again."""
    with of_submission(b"a submission"):
        assert seeds("an unknown network", unknown.NETWORKS, 10**6) == (179375, 984232, 579703, 644177)
