"""Calibration: how sure a student was of predicted numbers, next to how many of them were right.

Each prediction says how sure its student is, and the check of the measurement keeps both (`Surprise`). Students who
judge themselves well are right in 9 of 10 predictions of which they say 90 %. Each lab ends with a call::

    lab05.calibration()     # the predictions of this lab, and of the labs before it

`linklab report` shows the same for all labs. It is worth no points.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import fsum
from pathlib import Path
from typing import Any, Final

from linklab.grade.check import Surprise, surprises_in
from linklab.grade.notebook_cells import notebook_of, read
from linklab.grade.predictions import compared_here
from linklab.record import PAGE_MIME
from linklab.show import Table, table

_BANDS: Final = ((0, 50), (50, 70), (70, 90), (90, 101))
"""Ranges of "how sure", in percent: from the first number up to, and without, the second."""
_BY_CHANCE: Final = 0.05
"""What is less likely than this, by what was said, is not taken for chance."""
_NONE: Final = (
    "How sure you were: nothing to compare yet. A prediction that says how sure you are counts as soon as you have "
    "measured it."
)


@dataclass(frozen=True)
class Calibration:
    """What a student predicted in ``labs`` (their names, in order), with how sure the student was of each."""

    surprises: Sequence[Surprise]
    labs: Sequence[str]

    headings = ("how sure (%)", "predictions", "right", "right (%)")
    note = "Right means: within 5 % of theory, without a known mistake. None of these numbers gives or costs points."

    @property
    def title(self) -> str:
        """Return what the table shows, and of which labs."""
        first, last = self.labs[0], self.labs[-1]
        return f"How sure, and how often right: {first if first == last else f'{first} to {last}'}"

    @property
    def rows(self) -> list[tuple[str, int, int, int]]:
        """Return a row for each range of "how sure" in which something was predicted."""
        found = []
        for low, end in _BANDS:
            right = [one.is_right for one in self.surprises if low <= one.sure_percent < end]
            if right:
                found.append((f"{low} to {end - 1}", len(right), sum(right), round(100 * sum(right) / len(right))))
        return found

    @property
    def summary(self) -> str:
        """Return in three sentences what was said, how many predictions are right, and what that means."""
        right = sum(one.is_right for one in self.surprises)
        said = [one.sure_percent / 100 for one in self.surprises]
        expected = fsum(said)  # sum() rounds from Python 3.12 on otherwise than before
        numbers = "1 number was" if len(said) == 1 else f"{len(said)} numbers were"
        return (
            f"{numbers} predicted, {100 * expected / len(said):.0f} % sure on average. So about "
            f"{expected:.3g} should be right; {right} {'is' if right == 1 else 'are'}. {_meaning(said, right)}"
        )

    def __str__(self) -> str:
        return f"{self._table()}\n{self.summary} {self.note}" if self.surprises else _NONE

    def _repr_html_(self) -> str:
        """Return what a notebook shows for it."""
        if not self.surprises:
            return f"<p>{escape(_NONE)}</p>"
        return f"{self._table()._repr_html_()}<p>{escape(self.summary)}<br><small>{escape(self.note)}</small></p>"

    def _table(self) -> Table:
        return table(self.headings, self.rows, self.title)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Say that it is for the page: a report has one of all labs."""
        return {"text/html": self._repr_html_(), "text/plain": str(self), PAGE_MIME: {"version": 1}}


def _meaning(said: Sequence[float], right: int) -> str:
    """Return what the number of right predictions means, next to the probabilities that were said."""
    chance = [1.0]  # of 0, 1, 2 ... right ones
    for one in said:
        chance = [no * (1 - one) + yes * one for no, yes in zip([*chance, 0.0], [0.0, *chance], strict=True)]
    if sum(chance[: right + 1]) < _BY_CHANCE:
        return "That is fewer than chance explains. Next time be less sure, or look for a cause that was forgotten."
    if sum(chance[right:]) < _BY_CHANCE:
        return "That is more than chance explains. Next time be more sure: the reasons were good."
    return "The difference is no larger than chance can make it."


def calibration(lab: str) -> Calibration:
    """Return how sure a student was in a lab, and in the labs before it; ``lab`` is its package's name.

    This lab counts by the checks that this kernel has run. Labs before it (a lower number) count by the results that
    their notebooks keep, if they lie in the folder of this one and are saved.
    """
    file = notebook_of(lab)
    found = _kept_before(lab[-2:], file.parent if file is not None else Path.cwd())
    found[f"Lab {lab[-2:]}"] = compared_here(f"Lab {lab[-2:]}")
    with_some = {name: rows for name, rows in found.items() if rows}
    return of_labs(with_some)


def of_labs(surprises: Mapping[str, Sequence[Surprise]]) -> Calibration:
    """Return the calibration over several labs, by their names."""
    return Calibration([one for rows in surprises.values() for one in rows], tuple(surprises))


def _kept_before(number: str, folder: Path) -> dict[str, Sequence[Surprise]]:
    """Return what the notebooks of labs with a lower number keep, by the lab's name; copies are left out."""
    found: dict[str, Sequence[Surprise]] = {}
    for file in sorted(folder.glob("[0-9][0-9]-*.ipynb"), key=lambda it: (it.name[:2], len(it.name))):
        if file.name[:2] < number:
            kept: Iterable[Surprise] = (one for cell in read(file) for one in surprises_in(cell.stored))
            found.setdefault(f"Lab {file.name[:2]}", tuple(kept))
    return found
