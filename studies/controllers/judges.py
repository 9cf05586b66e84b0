"""Judges of what we expect of a flow's first packet behind a controller: the claims are ours, and no paper's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from linklab.errors import MeasurementError
from linklab.published import Claim
from linklab.study.claims import Claims, Finding, MeanDifference, Tables, difference, every, outcome, share
from linklab.study.declare import Level
from linklab.study.table import StudyTable, Values
from studies.controllers.study import ADDRESSES, EXACT

DISTANCE_MS: Final = 5
MORE_MS: Final = 0.5
"""What a question may take besides the way there and back: beats of the lab's clock until all programs have run."""
_LEARNING: Final = (EXACT, ADDRESSES)


def waits(table: StudyTable, controller: Level, switches: Level) -> Values:
    """Return how much longer than the pings after it the first one took, in ms."""
    return table.lookup("wait_ms", controller=controller, switches=switches, distance_ms=DISTANCE_MS)


def _longer(found: Mapping[str, MeanDifference]) -> Finding:
    """Judge differences of waits in ms: each has to be above half of what a question takes."""
    each = [outcome(it.low, it.high, DISTANCE_MS) for it in found.values()]
    return Finding(every(each), "; ".join(f"{name}: {it} ms more" for name, it in found.items()))


def _grows(tables: Tables) -> Finding:
    table = tables["controllers"]
    there, rows = table.levels("controller"), table.levels("switches")
    least, most = min(rows, key=float), max(rows, key=float)
    if least == most:
        raise MeasurementError(f"every row has {least} switches: measure a longer one (--set switches=1,3)")
    learning = [it for it in _LEARNING if it in there] or there
    return _longer({str(it): difference(waits(table, it, most), waits(table, it, least)) for it in learning})


def _matches(tables: Tables) -> Finding:
    table = tables["controllers"]
    rows = table.select(controller=_LEARNING).levels("switches")
    return _longer({f"{it} in a row": difference(*(waits(table, who, it) for who in _LEARNING)) for it in rows})


def beyond_ms(table: StudyTable) -> list[float]:
    """Return for each run that asked anything what a question took besides the way there and back.

    Raises MeasurementError where none asked.
    """
    runs = table.wide("controller", "switches", "distance_ms")
    asked = runs[runs["questions"] > 0]
    if asked.empty:
        raise MeasurementError("no switch of the table asked anything: measure a controller that is asked")
    return list(asked["wait_ms"] / asked["questions"] - 2 * asked["distance_ms"].astype(float))


def _question(tables: Tables) -> Finding:
    each = beyond_ms(tables["controllers"])
    found = share([0 <= more < MORE_MS for more in each], each, what="runs")
    return Finding(found.holds, f"{found}; {min(each):.3f} to {max(each):.3f} ms more than the way there and back")


CLAIMS: Final = Claims(
    (
        Claim(
            "controllers-row",
            "Behind a learning controller a flow's first packet waits longer the more switches stand in the row.",
            "ours", "either",
            f"wait_ms with the most switches less that with the fewest is above {DISTANCE_MS} ms, half of what one "
            "question takes, for each learning controller",
        ),
        Claim(
            "controllers-match",
            "Where rules match every field the first ping waits longer than where they match addresses.",
            "ours", "either",
            f"the difference of both controllers' wait_ms is above {DISTANCE_MS} ms, with each number of switches",
        ),
        Claim(
            "controllers-question",
            "A question takes the way to the controller and back, and nothing else to speak of.",
            "ours", "Mininet",
            f"wait_ms / questions is less than {MORE_MS} ms above twice distance_ms, in more than half of the runs in "
            "which a switch asked",
            "a controller computes in no time on virtual time, and in a row the next switch asks when the one before "
            "has its answer; a controller that needs milliseconds comes out otherwise",
        ),
    ),
    {"controllers-row": _grows, "controllers-match": _matches, "controllers-question": _question},
)  # fmt: skip
"""Our claims, with their judges."""
