"""What judges of several steps say of a scene, a row or an amount."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from linklab.measure.simpleperf_rows import Row, amount_bytes, unit_bytes
from linklab.programs.checks import Failed, Observed, WaitsFor
from linklab.programs.simpleperf import mistakes
from linklab.programs.simpleperf.evidence import PlayedScene, ProgramRun
from linklab.programs.simpleperf.mistakes import Mistake, fails
from linklab.programs.simpleperf.quantities import amount_mistake, total
from linklab.programs.simpleperf.session import SimpleperfScenes
from linklab.programs.simpleperf.trouble import Trouble, breach, trouble

_NO_ROW: Final = Mistake(
    "no row that can be read", "print a row such as: 10.0.0.2:33540   0.0 - 25.0   85 MB   27.20 Mbps"
)
_NO_HEADING: Final = Mistake(
    "a row that its heading does not explain",
    "keep the starter's heading above the rows: ID   Interval   Transfer   Bandwidth (the server's has Received and "
    "Rate); each row has a name, a begin and an end, an amount and a rate, with their units",
)


def of_trouble(found: Trouble, context: str = "", expected: str = "") -> Observed:
    """Return the verdict on a scene that ended in trouble."""
    return fails(found.mistake, f"{context}{found.reason}", expected, found.quotes)


def in_limits(scene: PlayedScene, context: str = "", expected: str = "") -> PlayedScene:
    """Return a scene in which all programs kept to their limits. Raises Failed for any other."""
    if found := breach(scene):
        raise Failed(of_trouble(found, context, expected))
    return scene


def no_row(program: ProgramRun, expected: str, context: str = "") -> Observed:
    """Return the verdict on a program that prints no row, or one without a heading."""
    if program.reading.complaint:
        return fails(_NO_HEADING, f"{context}the {program.side}: {program.reading.complaint}", expected)
    reason = f"{context}the {program.side} prints no row; its last line: {program.last_words()}"
    return fails(_NO_ROW, reason, expected)


def not_played(scene: PlayedScene, context: str) -> Observed:
    """Say what came in between, where a transfer that worked does not work with other arguments."""
    if found := trouble(scene):
        return of_trouble(found, context)
    if scene.clients and scene.listening:
        if scene.connections and not scene.client.ended:
            return fails(mistakes.NO_END, f"{context}the client had to be stopped")
        for _, program in scene.sides:
            if not program.rows:
                return no_row(program, "", context)
    return fails(mistakes.CRASH, f"{context}no data reached the server")


def with_format(scene: PlayedScene) -> PlayedScene:
    """Return a scene with -f of which both sides printed a row. Raises WaitsFor the check of -f for any other."""
    if not scene.has_rows or (scene.tried and not scene.has_carried):
        raise WaitsFor("format")
    return scene


def refused(session: SimpleperfScenes, mistake: Mistake, reason: str, expected: str, quotes: Sequence[str]) -> Observed:
    """Return the verdict on a program that does not take a flag. Raises WaitsFor if it is -f that it does not take."""
    if not session.held().tried:
        raise WaitsFor("format")
    return fails(mistake, reason, expected, quotes)


def wrong_amount(session: SimpleperfScenes, row: Row, true: float, side: str) -> Mistake:
    """Return why an amount is wrong. In B nothing is divided: a client that is off there too counts chunks wrongly."""
    mistake = amount_mistake(row, true, side)
    if mistake is mistakes.BINARY_UNITS and side == "client" and abs(true / amount_bytes(row) - 1.024) < 0.01:
        link = session.link()
        if link.has_rows and all(unit_bytes(total(program.rows).amount.unit) == 1 for _, program in link.sides):
            sent, received = (amount_bytes(total(program.rows)) for _, program in link.sides)
            return mistakes.CHUNK_SIZE if abs(received / max(sent, 1) - 1.024) < 0.002 else mistake
    return mistake
