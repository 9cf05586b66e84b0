"""The network that runs, in a notebook: what links carry, what waits in queues, and what nodes and links know.

Looking moves no digit: it takes requests that only read, and notes that the lab makes when it is awake anyway.
"""

from __future__ import annotations

import base64
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import traitlets
from IPython import get_ipython

from linklab import schema
from linklab.errors import MeasurementError
from linklab.guest import lab_api
from linklab.lab import Lab
from linklab.measure import Progress, Recording, Run
from linklab.measure.headers import ends_of
from linklab.measure.runner import Observer
from linklab.measure.seconds import Second
from linklab.show.network.paint import areas, drawn, spots, ways
from linklab.show.network.scene import NetworkScene
from linklab.show.node_tables import SOCKETS, NetworkLook, link_title, node_title, socket_table, tables_of
from linklab.show.player.columns import Names
from linklab.show.traffic import Traffic
from linklab.show.widgets.widget import Widget

_SENT_EVERY_S: Final = 0.1
_MOST_FRAMES: Final = 240
_MOST_PACKETS: Final = 300
_PACKETS: Final = ["seconds", "from", "to", "protocol", "bytes", "queue and delay", "what happened"]


class LiveNetwork(Widget):
    """The widget; `linklab.show.live` makes it.

    ``scene`` says where nodes and links lie on the picture, ``tables`` what they know, ``sockets`` those of each host
    now. ``frames`` are the moments of the last cell with traffic, ``frame`` is the newest one of a run that goes on.
    ``record`` is the link that the next run records, set in the page, and ``recorded`` what passed there.
    """

    widget = traitlets.Unicode("live").tag(sync=True)
    scene = traitlets.Dict().tag(sync=True)
    tables = traitlets.Dict().tag(sync=True)
    frame = traitlets.Dict().tag(sync=True)
    sockets = traitlets.Dict().tag(sync=True)
    frames: traitlets.List[Any] = traitlets.List().tag(sync=True)
    record = traitlets.Unicode("").tag(sync=True)
    recorded = traitlets.Dict().tag(sync=True)

    def __init__(self, lab: Lab) -> None:
        super().__init__()
        self._lab = weakref.ref(lab)  # a lab ends with its last name
        self._traffic, self._noted, self._sent_at_s = Traffic(), [_still(0)], 0.0
        self._cell = 0
        self._look = self._looked(lab)
        self._redraw(lab)
        self.frames = [*self._noted]
        self._events = get_ipython().events
        self._events.register("post_run_cell", self.cell_ended)

    def still(self) -> Mapping[str, str]:
        """Return the drawing; `linklab report` shows it as the lab's network."""
        return self._drawing._repr_mimebundle_()

    def interfaces(self) -> Sequence[str]:
        """Return the ends of the link that the next run records."""
        links = {link["name"]: link["ends"] for link in self.scene["links"]}
        return [end["interface"] for end in links.get(self.record, ())]

    def show(self, progress: Progress, title: str) -> None:
        """Show another moment of what runs."""
        before_s = self._traffic.end_s
        self._traffic.add(progress)
        if self._traffic.end_s == before_s:
            return
        if len(self._noted) == 1:
            self._cell += 1
        loads = {
            name: [round(it.rate_mbps, 3), it.queue_packets, it.dropped_packets, it.sent_packets]
            for name, it in self._traffic.latest.items()
        }
        sockets = {node: socket_table(it) for node, it in progress.sockets.items()}
        at_s = round(self._traffic.end_s, 3)
        frame = {"cell": self._cell, "title": title, "at_s": at_s, "loads": loads, "sockets": sockets}
        self._noted.append(frame)
        if len(self._noted) > _MOST_FRAMES:
            self._noted[:] = [*self._noted[:-1:2], frame]
        if time.monotonic() - self._sent_at_s >= _SENT_EVERY_S:
            self.frame, self._sent_at_s = frame, time.monotonic()

    def show_command(self, command: str, seconds: Sequence[Second]) -> None:
        """Show what the network did during a command."""
        network, begin_s = self._look.state, seconds[0].at_s
        apart = [
            one for one, after in zip(seconds, [*seconds[1:], None], strict=True) if not after or one.at_s < after.at_s
        ]
        if apart[-1].queues == seconds[0].queues:
            return
        for second in [seconds[0], *apart[1:]] if len(apart) > 1 else seconds[:1]:
            self.show(Progress((), second.at_s - begin_s, 0, second.queues, network, second.sockets), command)

    def show_packets(self, recording: Recording, title: str) -> None:
        """List what was recorded at a link, and write it to a file for Wireshark."""
        link, file = self.record, Path(f"{self.record.partition(':')[0].replace(' ', '-')}.pcapng")
        try:
            recording.save_pcap(file)
            kept = f"{file} beside this notebook has all of them, for Wireshark."
        except MeasurementError as refusal:
            kept = str(refusal)
        names, begin_ns = Names(recording.network), round(recording.begin_s * 1e9)
        ends = {port.interface: (port.node, port.peer) for port in recording.ports}
        peers = {port.interface: port.node for port in recording.ports}
        rows = []
        for hop in recording.hops[:_MOST_PACKETS]:
            node, peer = ends[hop.interface]
            told = ends_of(hop.head)
            between = f"{told.protocol} {names.place(told.source)} to {names.place(told.destination)}"
            rows.append(
                [
                    f"{(hop.queued_ns - begin_ns) / 1e9:.6f}",
                    node,
                    peers.get(peer or "", ""),
                    between if told.source else told.protocol,
                    f"{hop.length_bytes:,}",
                    "" if hop.left_ns is None else f"{(hop.left_ns - hop.queued_ns) / 1e6:.3f} ms",
                    recording.why(hop) or ("sent" if hop.sent else "waits"),
                ]
            )
        words = f"{title}: {len(recording.hops):,} packets at {link}"
        words += f", of which the first {_MOST_PACKETS} are listed" if len(recording.hops) > _MOST_PACKETS else ""
        self.recorded = {"link": link, "words": f"{words}. {kept}", "head": _PACKETS, "rows": rows}
        self.record = ""

    def cell_ended(self, *_: object) -> None:
        """Show the network as it is after a cell: something may have been set."""
        lab = self._lab()
        if lab is None or not lab.process.running:
            self._events.unregister("post_run_cell", self.cell_ended)
            return
        if len(self._noted) > 1:
            self.frames, self._noted, self._traffic = self._noted, [_still(self._cell)], Traffic()
        before, self._look = self._look, self._looked(lab)
        if self._look.state != before.state:
            self._redraw(lab)
        self.tables = tables_of(self._look, self._scene)

    def _looked(self, lab: Lab) -> NetworkLook:
        look = schema.load(NetworkLook, lab.process.call(lab_api.look, reads=True), "what the lab says of itself")
        self.sockets = {node: socket_table(it) for node, it in look.now.sockets.items()}
        return look

    def _redraw(self, lab: Lab) -> None:
        self._drawing, placed = drawn(lab, title=f"{lab.name}, while it runs")
        self._scene, axes = placed.scene, self._drawing.axes[0]
        self.tables = tables_of(self._look, self._scene)
        self.scene = {
            "picture": base64.b64encode(self._drawing.png()).decode(),
            "size": [*self._drawing.get_size_inches()],
            "words": self._drawing.alt_text,
            "sockets": SOCKETS,
            **_places(self._scene, areas(placed, axes), ways(placed, axes), spots(placed, axes)),
        }


def _places(
    scene: NetworkScene,
    boxes: Mapping[str, Sequence[float]],
    lines: Mapping[str, Sequence[float]],
    texts: Mapping[str, Sequence[float]],
) -> dict[str, Any]:
    nodes = [{"name": it.name, "title": node_title(it.name, it.kind), "box": boxes[it.name]} for it in scene.nodes]
    links = [
        {
            "name": link_title(cable),
            "ends": [
                {
                    "interface": near.name,
                    "title": f"{near.node} to {far.node}",
                    "line": lines[near.name],
                    "spot": texts[near.name],
                    "rate_mbps": near.shape.rate_mbps,
                    "limit": near.shape.queue_packets,
                }
                for near, far in (cable.ends, cable.ends[::-1])
            ],
        }
        for cable in scene.cables
    ]
    return {"nodes": nodes, "links": links}


def _still(cell: int) -> dict[str, Any]:
    return {"cell": cell, "title": "", "at_s": 0.0, "loads": {}, "sockets": {}}


class NetworkWatcher(Observer):
    """Hands on what a lab and its measurements tell."""

    def __init__(self, network: LiveNetwork) -> None:
        self.network = network
        self._title = ""

    @property
    def record(self) -> Sequence[str]:  # type: ignore[override]
        return self.network.interfaces()

    def __call__(self, progress: Progress, /) -> None:
        self._title = progress.flow_titles
        self.network.show(progress, self._title)

    def ended(self, run: Run) -> None:
        if run.recording is not None and self.network.record:
            self.network.show_packets(run.recording, self._title)

    def ran(self, command: str, seconds: list[lab_api.NotedSecond]) -> None:
        self.network.show_command(command, schema.load(tuple[Second, ...], seconds, "what the lab noted"))
