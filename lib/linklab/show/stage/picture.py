"""The player of recorded runs in a notebook and as a file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, Final

from linklab.errors import MeasurementError
from linklab.measure import Recording, Run
from linklab.measure.recordings import write
from linklab.record import REPLAY_MIME, somebody_watches
from linklab.show.stage.svg import drawn
from linklab.show.stage.columns import PlayedRun, about_run, words_of_flow
from linklab.show.widgets.page import html_of, packed, page_of

WIDGET: Final = "player"
"""Its module of the widgets' script."""
TITLE: Final = "Replay of a measurement"
MOST_RUNS: Final = 2
_STILL: Final = "linklab-unplayed"
_UNLESS_PLAYED: Final = f"<style>.{_STILL}:has(~ iframe){{display:none}}</style>"
_HOW_TO_PLAY: Final = "This is a picture of a replay. To play it, run its cell in a notebook."


class Replay:
    """One recorded run, or two side by side, that shows itself in a notebook and can be saved as a file."""

    def __init__(self, runs: Sequence[PlayedRun]) -> None:
        self._runs = runs
        self._data = packed({"runs": [about_run(run) for run in runs]})

    @cached_property
    def words(self) -> str:
        """What is to be seen, in words, for those who do not see it."""
        return "\n".join(line for run in self._runs for line in _words(run))

    def save(self, path: str | Path) -> Path:
        """Write the page as a file that any browser opens, without a network. Returns its path.

        Raises MeasurementError where it cannot be written.
        """
        return write(path, page_of(WIDGET, self._data, TITLE).encode())

    def frame(self) -> str:
        """Return the player as HTML, in a frame that has no access to the page around it."""
        return html_of(WIDGET, self._data, TITLE)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return what a notebook shows: the player where somebody watches, else a picture of the network and words.

        The player has the widgets' script and all packets in it. So what nbval and a grade from scratch see, and what
        the solutions store, is the picture, with a digest of the packets. The picture is in a watched notebook too: a
        page that does not trust the notebook shows no player.
        """
        digests = self._digests()
        html, facts = self._still(), dict[str, Any](runs=len(digests))
        if somebody_watches():
            html += self.frame()
        else:
            facts["packets"] = digests
        return {REPLAY_MIME: facts, "text/html": html, "text/plain": self.words}

    def _still(self) -> str:
        drawings = [drawn(run.scene)[0] for run in self._runs]
        pictures = dict.fromkeys(it._repr_mimebundle_()["text/html"] for it in drawings)
        words = "".join(f"<p>{escape(line)}</p>" for line in (_HOW_TO_PLAY, *self.words.splitlines()))
        return f'{_UNLESS_PLAYED}<div class="{_STILL}">{"".join(pictures)}{words}</div>'

    def _digests(self) -> list[str]:
        """Return a digest of what became of all packets: two runs with the same one are alike to the last digit."""
        return [_digest((run.recording.hops, run.recording.tcp)) for run in self._runs]


def replay(*runs: Run | Recording, labels: Sequence[str] = ()) -> Replay:
    """Return a recorded run as a player: time can be stopped, and gone through again, packet by packet.

    ``run = measure.run_together(lab, flows, record=True)``, then ``show.replay(run)``. Two runs
    stand side by side; ``labels`` name them (``["queue of 100", "queue of 20"]``).

    Raises MeasurementError for what is no run, a run that was not recorded, for none or more than two,
    and for labels that do not fit.
    """
    if not 1 <= len(runs) <= MOST_RUNS:
        raise MeasurementError(f"{len(runs)} runs cannot be replayed side by side: give one or two")
    names = list(labels) or [f"run {number}" for number in range(1, len(runs) + 1)]
    if len(names) != len(runs) or len(set(names)) != len(names):
        raise MeasurementError(f"labels are {', '.join(names)}: give each of the {len(runs)} runs one of its own")
    found = []
    for name, run in zip(names, runs, strict=True):
        if not isinstance(run, Run | Recording):
            raise MeasurementError(
                f"cannot replay a {type(run).__name__}: give a run of run_together(lab, flows, record=True), or two"
            )
        recording = run if isinstance(run, Recording) else run.recording
        if recording is None:
            raise MeasurementError("this run was not recorded: give record=True to measure.run_together")
        if not recording.hops:
            raise MeasurementError("this recording is empty: replay it after its block has ended, with some traffic")
        found.append(PlayedRun(recording, name, run.congestion if isinstance(run, Run) else {}))
    return Replay(found)


def _words(run: PlayedRun) -> list[str]:
    recording = run.recording
    lost = [hop for hop in recording.hops if hop.lost]
    lines = [
        f"Replay of {run.label}: {recording.end_s - recording.begin_s:.3f} s, {len(run.first):,} packets at "
        f"{len(recording.ports)} interfaces, {len(lost):,} lost.",
        *map(words_of_flow, run.flows),
    ]
    for port in recording.ports:
        gone = [hop for hop in lost if hop.interface == port.interface]
        if gone:
            at_s = (gone[0].queued_ns - run.begin_ns) / 1e9
            lines.append(f"{port.interface} lost {len(gone):,}, the first after {at_s:.3f} s: {recording.why(gone[0])}")
    return lines


def _digest(data: Any) -> str:
    return hashlib.sha256(repr(data).encode()).hexdigest()
