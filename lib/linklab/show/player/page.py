"""The player as a page: one file that needs no other, no server and no network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final

from linklab.errors import MeasurementError
from linklab.measure import Recording, Run
from linklab.measure.recordings import write
from linklab.record import REPLAY_MIME
from linklab.show.player.columns import about_run, first_hops, first_ns, flows_of
from linklab.show.player.differences import first_packet_apart

_FOLDER: Final = Path(__file__).parent
_CLASS: Final = "linklab-replay"
_HEIGHT: Final = "min(900px,88vh)"
_DATA: Final = re.compile(r"data-replay=&quot;([A-Za-z0-9+/]+=*)&quot;")
MOST_RUNS: Final = 2


class Replay:
    """One recorded run, or two side by side, that shows itself in a notebook and can be saved as a file."""

    def __init__(self, runs: Mapping[str, Recording]) -> None:
        self._runs = dict(runs)
        both = [*self._runs.values()]
        difference = first_packet_apart(*both) if len(both) == MOST_RUNS else None
        packed = [about_run(run, label) for label, run in self._runs.items()]
        text = json.dumps(
            {"runs": packed, "difference": difference and vars(difference)}, ensure_ascii=False, separators=(",", ":")
        )
        self._data = base64.b64encode(zlib.compress(text.encode(), 9)).decode()

    @property
    def words(self) -> str:
        """What is to be seen, in words, for those who do not see it."""
        return "\n".join(line for label, run in self._runs.items() for line in _words(label, run))

    def save(self, path: str | Path) -> Path:
        """Write the page as a file that any browser opens, without a network. Returns its path.

        Raises MeasurementError where it cannot be written.
        """
        return write(path, page_of(self._data).encode())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return what a notebook shows; the report finds the data in it."""
        # a frame's own page prefers the colours that the frame has: JupyterLab's, whatever the reader's system has
        colours = "".join(
            f'body[data-jp-theme-light="{light}"] iframe.{_CLASS}{{color-scheme:{scheme}}}'
            for light, scheme in (("true", "light"), ("false", "dark"))
        )
        html = f"<style>{colours}</style>{frame_of(self._data)}"
        return {REPLAY_MIME: {"runs": len(self._runs)}, "text/html": html, "text/plain": self.words}


def replay(*runs: Run | Recording, labels: Sequence[str] = ()) -> Replay:
    """Return a recorded run as a player: time can be stopped, and gone through again, packet by packet.

    ``run = measure.run_together(lab, flows, record=True)``, then ``show.replay(run)``. Of two runs, side by side, it
    also finds the first packet that differs; ``labels`` name them (``["queue of 100", "queue of 20"]``).

    Raises MeasurementError for what is no run, a run that was not recorded, for none or more than two,
    and for labels that do not fit.
    """
    if not 1 <= len(runs) <= MOST_RUNS:
        raise MeasurementError(f"{len(runs)} runs cannot be replayed side by side: give one or two")
    names = list(labels) or [f"run {number}" for number in range(1, len(runs) + 1)]
    if len(names) != len(runs) or len(set(names)) != len(names):
        raise MeasurementError(f"labels are {', '.join(names)}: give each of the {len(runs)} runs one of its own")
    found = {}
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
        found[name] = recording
    return Replay(found)


def _words(label: str, run: Recording) -> list[str]:
    first = first_hops(run)
    lost = [hop for hop in run.hops if hop.lost]
    lines = [
        f"Replay of {label}: {run.end_s - run.begin_s:.3f} s, {len(first):,} packets at {len(run.ports)} interfaces, "
        f"{len(lost):,} lost."
    ]
    lines += [
        f"{flow.name}: packets there {len(flow.forward):,}, back {len(flow.back):,}." for flow in flows_of(run, first)
    ]
    for port in run.ports:
        gone = [hop for hop in lost if hop.interface == port.interface]
        if gone:
            at_s = (gone[0].queued_ns - first_ns(run)) / 1e9
            lines.append(f"{port.interface} lost {len(gone):,}, the first after {at_s:.3f} s: {run.why(gone[0])}")
    return lines


def recording_in(html: str) -> str | None:
    """Return the data of a replay in what a notebook shows of it; None where there is none. No other text passes."""
    found = _DATA.search(html)
    return found[1] if found else None


def page_of(data: str) -> str:
    """Return the whole page, which is dark where the reader's system is, or the page around it.

    Nothing but its own script runs in it, and it loads nothing.
    """
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '{script_hash()}'"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Linklab: replay of a measurement</title><style>{_text('uPlot.min.css')}{_text('player.css')}</style>"
        f'</head><body><main id="player" data-replay="{data}">'
        "<p>This replay needs a browser that runs scripts.</p></main>"
        f"<script>{_script()}</script></body></html>\n"
    )


def frame_of(data: str) -> str:
    """Return the page in a frame that has no access to the page around it."""
    return (
        f'<iframe class="{_CLASS}" sandbox="allow-scripts" title="Replay of a measurement" '
        f'style="width:100%;height:{_HEIGHT};border:0" '
        f'srcdoc="{escape(page_of(data))}"></iframe>'
    )


def script_hash() -> str:
    """Return what a content security policy calls the player's script by."""
    digest = hashlib.sha256(_script().encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


@cache
def _script() -> str:
    script = f"{_text('uPlot.iife.min.js')}\n{_text('player.js')}"
    assert "</script" not in script
    return script


@cache
def _text(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")
