"""What a published study found, as claims that a measurement can judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Platform = Literal["real", "virtual"]
"""``real``: hardware, in the study. ``virtual``: the study's Mininet. Neither is ours."""


@dataclass(frozen=True)
class Claim:
    """One finding: ``says`` in one sentence of ours, ``where`` in the study, ``test``: what would show it.

    ``about`` is what shows it: ``hardware``, the study's ``Mininet``, or ``either`` of hardware and an emulation,
    whichever the study had; tables of ours judge the last, and a researcher's of hardware beside them.
    ``by_construction`` says why an emulation, or arithmetic, cannot come out otherwise, and ``not_testable`` why
    nothing here or beside it can judge the claim; both are empty where that is not so. A verdict is no part of a claim:
    measurement gives one (`linklab.study.claims`).
    """

    id: str
    says: str
    where: str
    about: Literal["hardware", "Mininet", "either"]
    test: str
    by_construction: str = ""
    not_testable: str = ""


@dataclass(frozen=True)
class Inconsistency:
    """Two places of a study that do not agree, or one that does not agree with arithmetic."""

    where: str
    what: str
