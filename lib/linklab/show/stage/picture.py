"""One picture of a network: a plan, a running lab or a recorded run, in a notebook, in a report and as a file."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import pairwise
from pathlib import Path as FilePath
from typing import Any, Final

from linklab.errors import MeasurementError, NetworkError
from linklab.measure import Recording, Run, VaryingResult
from linklab.measure.events.table import Event
from linklab.measure.flow_names import without_ports
from linklab.measure.recordings import write
from linklab.network import Path
from linklab.record import RUNS_MIME, somebody_watches
from linklab.show.chart import style_numbers
from linklab.show.stage.columns import PlayedRun, about_run, words_of_flow
from linklab.show.stage.facts import about_network
from linklab.show.stage.layout import place, positions
from linklab.show.stage.scene import Drawable, NetworkScene, description, scene_of
from linklab.show.stage.svg import Picture, picture_of
from linklab.show.widgets.page import inline_of, packed, page_of

WIDGET: Final = "network"
"""Its module of the widgets' script."""
MOST_RUNS: Final = 2
MOST_COLOURS: Final = 10
"""Flows that the widgets' script colours; more are grey."""
_CLASS: Final = "linklab-drawing"
_LARGEST: Final = 1.6
"""How much larger than it is drawn a network may be shown, where a page has room."""
_HIGH_PIXELS: Final = 640
"""A network is not made higher than this."""
_STYLE: Final = "<style>{}</style>".format(
    "".join(
        f'body[data-jp-theme-light="{light}"] img.{_CLASS}{{color-scheme:{scheme}}}'
        for light, scheme in (("true", "light"), ("false", "dark"))
    )
)
_HOW_TO_PLAY: Final = "This is a picture of a recorded run. To play it, run its cell in a notebook."


@dataclass(frozen=True)
class Shown:
    """A network with its drawing, and what happened in it where it was recorded."""

    scene: NetworkScene
    picture: Picture
    words: str
    run: PlayedRun | None = None

    @property
    def about(self) -> dict[str, Any]:
        """All of it as data for the widget."""
        about = {
            "svg": self.picture.svg,
            "size": [self.picture.width, self.picture.network_height],
            "words": self.words,
            **about_network(self.scene, self.run.recording.tables if self.run else {}),
        }
        return about | (about_run(self.run, self.picture.lines) if self.run else {})


class NetworkPicture:
    """A network, or two recorded runs side by side, that shows itself in a notebook and can be saved as a file."""

    def __init__(self, shown: Sequence[Shown], title: str, event: Event | None = None) -> None:
        self._shown, self._title, self._event = shown, title, event
        self._runs = [it.run for it in shown if it.run]

    @cached_property
    def words(self) -> str:
        """What is to be seen, in words, for those who do not see it."""
        networks = [] if self._runs else [it.words for it in self._shown]
        return "\n".join([*networks, *(line for run in self._runs for line in _words(run))])

    @property
    def svg(self) -> str:
        """The drawing of the network, of the first of two, as SVG."""
        return self._shown[0].picture.svg

    @cached_property
    def data(self) -> str:
        """All that the widget shows, packed."""
        names = list(dict.fromkeys(without_ports(flow.name) for run in self._runs for flow in run.flows))
        # as a figure of throughput names them
        keys = [re.sub(r"^TCP (\S+) to (\S+)$", r"\1-\2", name) for name in names[:MOST_COLOURS]]
        colours = dict(zip(names, style_numbers(keys, MOST_COLOURS), strict=False))
        opens = [(n, run.events.index(self._event)) for n, run in enumerate(self._runs) if self._event in run.events]
        about = [it.about for it in self._shown]
        return packed({"title": self._title, "runs": about, "colours": colours, "opens": opens})

    def save(self, path: str | FilePath) -> FilePath:
        """Write the page as a file that any browser opens, without a network. Returns its path.

        Raises MeasurementError where it cannot be written.
        """
        return write(path, page_of(WIDGET, self.data, self._title).encode())

    def html(self) -> str:
        """Return the picture as HTML with its script, for a page of a site."""
        return inline_of(WIDGET, self.data)

    def still(self) -> dict[str, Any]:
        """Return what shows the network where no script runs: an image, and of recorded runs words below it.

        For recorded runs it has a digest of what became of all packets: two runs with the same one are alike to the
        last digit.
        """
        pictures = dict.fromkeys(_image(it) for it in self._shown)
        html = _STYLE + "".join(pictures)
        if not self._runs:
            svg = self._shown[0].picture.svg
            return {"text/html": html, "image/svg+xml": svg, "text/plain": self.words}
        event = self._event
        begins = [f"It begins at {event.at_s:.6f} s, {event.where}: {event.what} {event.why}"] if event else []
        words = "".join(f"<p>{escape(line)}</p>" for line in (_HOW_TO_PLAY, *begins, *self.words.splitlines()))
        told = (repr((run.recording.hops, run.recording.tcp)) for run in self._runs)
        facts = {"packets": [hashlib.sha256(it.encode()).hexdigest() for it in told]}
        return {RUNS_MIME: facts, "text/html": html + words, "text/plain": self.words}

    def _ipython_display_(self) -> None:
        """Show the widget where somebody watches, and the picture that the notebook keeps."""
        from IPython.display import display

        if somebody_watches():
            from linklab.show.stage.widget import NetworkWidget

            NetworkWidget(self)._ipython_display_()
        else:
            display(self.still(), raw=True)  # type: ignore[no-untyped-call]


def network(
    *things: Drawable | Run | Recording,
    highlight: Path | Sequence[str] | None = None,
    title: str | None = None,
    labels: Sequence[str] = (),
    event: Event | None = None,
) -> NetworkPicture:
    """Return the picture of a plan, a Mininet Topo, a state, a running lab as it is now, or a recorded run.

    Nodes, cables, addresses, rates, delays and queues are those read back, in both directions where they differ; only
    names of links and subnets are those of the network that a lab was started with. What does not fit is marked in
    words and signs, not by colour alone. ``highlight`` is a path, or node names along one, drawn strongly; switches may
    be left out.

    It plays a recorded run (``run = measure.run_together(lab, flows, record=True)``) as it happened, packet by
    packet. Two runs stand side by side; ``labels`` name them (``["queue of 100", "queue of 20"]``). It opens at
    ``event``, one of the run's (``run.events.first("loss")``), with its packet chosen; without one at the beginning.

    Raises NetworkError for what cannot be drawn, or if ``highlight`` is where no cable is; MeasurementError for a run
    that was not recorded, for none or more than two, for labels that do not fit, and an event of another run.
    """
    runs = [it for it in things if isinstance(it, Run | Recording)]
    if len(things) == 1 and not runs:
        scene = scene_of(things[0])
        return NetworkPicture([_shown(scene, highlight, title or "")], title or f"Network {scene.name}".strip())
    if len(runs) != len(things) or not 1 <= len(runs) <= MOST_RUNS:
        raise MeasurementError(f"{len(things)} things cannot be shown side by side: give a network, or one or two runs")
    names = list(labels) or [f"run {number}" for number in range(1, len(runs) + 1)]
    if len(names) != len(runs) or len(set(names)) != len(names):
        raise MeasurementError(f"labels are {', '.join(names)}: give each of the {len(runs)} runs one of its own")
    played = [_played(run, name) for run, name in zip(runs, names, strict=True)]
    if event and not any(event in run.events for run in played):
        raise MeasurementError('this event is of another run: choose it of this one, as run.events.first("loss")')
    shown = [_shown(run.scene, highlight, title or "", run) for run in played]
    return NetworkPicture(shown, title or "A recorded run", event)


def _played(run: Run | Recording, name: str) -> PlayedRun:
    recording = run if isinstance(run, Recording) else run.recording
    if recording is None:
        raise MeasurementError("this run was not recorded: give record=True to measure.run_together")
    if not recording.hops:
        raise MeasurementError("this recording is empty: show it after its block has ended, with some traffic")
    if isinstance(run, Recording):
        return PlayedRun(recording, name, events=run.events)
    return PlayedRun(recording, name, run.congestion, run.events, run.of(VaryingResult))


def _shown(
    scene: NetworkScene, highlight: Path | Sequence[str] | None, title: str, run: PlayedRun | None = None
) -> Shown:
    if not scene.nodes:
        raise NetworkError("this network has no nodes, so there is nothing to draw")
    names = highlight.node_names if isinstance(highlight, Path) else tuple(highlight or ())
    chosen = _cables_of(scene, names)
    picture = picture_of(place(scene, positions(scene)), chosen, title, run.loads if run else None)
    return Shown(scene, picture, _alt_text(scene, names, chosen, run), run)


def _alt_text(scene: NetworkScene, names: Sequence[str], chosen: Sequence[int], run: PlayedRun | None) -> str:
    words = description(scene)
    if run:
        loads = (f"{name} {100 * share:.3g} %" for name, share in run.loads.items())
        words += (
            f"\nCarried in the mean, of the rate, or without one of twice what the busiest carried: {', '.join(loads)}."
        )
        if not all(cable.recorded for cable in scene.cables):
            words += f"\nRecorded: {', '.join(port.interface for port in run.recording.ports)}."
    if not chosen:
        return words
    passed = [names[0]]
    for position in chosen:
        one, two = (end.node for end in scene.cables[position].ends)
        passed.append(two if one == passed[-1] else one)
    return f"{words}\nHighlighted: {' - '.join(passed)}."


def _cables_of(scene: NetworkScene, names: Sequence[str]) -> list[int]:
    """Return the positions of the cables along a path; between two of its nodes there may be switches."""
    import networkx

    graph = networkx.Graph()
    for position, cable in reversed(list(enumerate(scene.cables))):  # of two cables side by side the first
        graph.add_edge(*(end.node for end in cable.ends), position=position)
    kinds = scene.kinds
    switches = {name for name, kind in kinds.items() if kind == "switch"}
    chosen: list[int] = []
    for name in names:
        if name not in kinds:
            raise NetworkError(f"there is no node {name!r} here: choose one of {', '.join(kinds)}")
    for one, two in pairwise(names):
        try:
            path = networkx.shortest_path(graph.subgraph(switches | {one, two}), one, two)
        except (networkx.NetworkXNoPath, networkx.NodeNotFound):
            raise NetworkError(
                f"no cable joins {one} and {two}, so the path cannot be highlighted: name all routers on it"
            ) from None
        chosen += [graph.edges[pair]["position"] for pair in pairwise(path)]
    return chosen


def _image(shown: Shown) -> str:
    drawn = shown.picture
    data, largest = b64encode(drawn.svg.encode()).decode(), max(1.0, min(_LARGEST, _HIGH_PIXELS / drawn.height))
    return (
        f'<img class="{_CLASS}" src="data:image/svg+xml;base64,{data}" alt="{escape(shown.words)}" '
        f'style="width:100%;max-width:{largest * drawn.width:.0f}px">'
    )


def _words(run: PlayedRun) -> list[str]:
    recording = run.recording
    lost = [hop for hop in recording.hops if hop.lost]
    lines = [
        f"Recording of {run.label}: {recording.end_s - recording.begin_s:.3f} s, {len(run.traffic.first):,} packets at "
        f"{len(recording.ports)} interfaces, {len(lost):,} lost.",
        *map(words_of_flow, run.flows),
    ]
    for port in recording.ports:
        gone = [hop for hop in lost if hop.interface == port.interface]
        if gone:
            at_s = (gone[0].queued_ns - run.begin_ns) / 1e9
            lines.append(f"{port.interface} lost {len(gone):,}, the first after {at_s:.3f} s: {recording.why(gone[0])}")
    return lines
