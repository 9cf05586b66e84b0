"""What a cell shows, as a page can show it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from linklab.record import LAB_MIME, PROGRESS_MIME, REPLAY_MIME, RESULT_MIME
from linklab.report import pictures, widgets
from linklab.report.model import Gone, Item, Markup, Played, Printed, Written
from linklab.show.player.page import recording_in

LINES_AT_MOST: Final = 40
_CHARACTERS_AT_MOST: Final = 200 * LINES_AT_MOST
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_OURS: Final = frozenset((RESULT_MIME, LAB_MIME))
_WIDGET: Final = "application/vnd.jupyter.widget-view+json"


def items(outputs: Iterable[Any], states: Mapping[str, Any], where: str, *, graded: bool = False) -> Iterator[Item]:
    """What a cell's outputs show, in order. ``states`` are the notebook's widgets, ``where`` names the place.

    Of a ``graded`` cell, what its checks say is left out: it stands elsewhere.
    """
    said = ""
    for output in outputs:
        if output.output_type == "stream":
            said += "".join(output.text)
            continue
        if said:
            yield from _spoken(said)
            said = ""
        if output.output_type == "error":
            if not graded:
                yield printed(f"{output.ename}: {output.evalue}", is_error=True)
        elif not (graded and RESULT_MIME in output.data) and PROGRESS_MIME not in output.data:
            yield from bundle(output.data, states, where)
    yield from _spoken(said)


def bundle(data: Mapping[str, Any], states: Mapping[str, Any], where: str) -> Iterator[Item]:
    """The best form of one output that a page can show without a script of a notebook's."""
    image = pictures.from_bundle(data, where)
    if image is not None:
        yield image
    elif REPLAY_MIME in data:
        yield _played(data)
    elif _WIDGET in data:
        found = widgets.last_state(data[_WIDGET], states, where)
        for part in found:
            yield from bundle(part, states, where)
        if not found:
            yield Gone("A part that one could click here: its last state was not saved with the notebook.")
    elif "text/html" in data:
        yield Markup("".join(data["text/html"]))
    elif "text/markdown" in data:
        yield Written("".join(data["text/markdown"]))
    elif "text/latex" in data or "text/plain" in data:
        yield from _spoken("".join(data.get("text/latex", data.get("text/plain"))))
    elif "application/json" in data:
        yield printed(json.dumps(data["application/json"], indent=1))
    elif set(data) - _OURS:
        yield Gone(f"An output of a type that no page shows: {', '.join(sorted(data))[:200]}.")


def _played(data: Mapping[str, Any]) -> Item:
    """A replay's data, and nothing of the page that the notebook has for it: the player in a report is our own."""
    recording = recording_in("".join(data.get("text/html", "")))
    if recording is None:
        return Gone("A replay whose data was not saved with the notebook.")
    return Played(recording, plain("".join(data.get("text/plain", ""))))


def _spoken(text: str) -> Iterator[Printed]:
    if text.strip():
        yield printed(text)


def printed(text: str, *, is_error: bool = False) -> Printed:
    """Text as a terminal would have left it: what was written over is gone, and so are colours."""
    rows = [_overwritten(row) for row in plain(text).rstrip().split("\n")]
    kept = "\n".join(rows[:LINES_AT_MOST])
    cut = len(kept) > _CHARACTERS_AT_MOST
    return Printed(kept[:_CHARACTERS_AT_MOST], max(0, len(rows) - LINES_AT_MOST) + cut, is_error)


def plain(text: str) -> str:
    """Text without a terminal's escapes; of control characters, line ends, carriage returns and tabs remain."""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    return _CONTROLS.sub(lambda found: "\r" if found[0] == "\r" else "", text)


def _overwritten(row: str) -> str:
    return row.rstrip("\r").rpartition("\r")[2]
