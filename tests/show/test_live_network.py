"""The network that runs, in a notebook: commands and measurements are followed, and looking moves no digit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import linklab
from linklab import show
from linklab.measure import PingFlow, TcpFlow, run
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind
from linklab.show.figure import Drawing
from linklab.show.live_network import LiveNetwork

pytestmark = pytest.mark.lab


class Page:
    """IPython in the kernel of a page."""

    def __init__(self) -> None:
        self.kernel, self.events, self.display_pub = object(), self, Mock()
        self.callbacks: dict[str, list[Callable[[], object]]] = {}

    def register(self, event: str, call: Callable[[], object]) -> None:
        self.callbacks.setdefault(event, []).append(call)

    def unregister(self, event: str, call: Callable[[], object]) -> None:
        self.callbacks[event].remove(call)

    def end_cell(self) -> None:
        for call in [*self.callbacks.get("post_run_cell", ())]:
            call()


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Page]:
    shown = Page()
    monkeypatch.setattr("IPython.get_ipython", lambda: shown)
    monkeypatch.setattr("linklab.show.live_network.get_ipython", lambda: shown)
    monkeypatch.setattr("IPython.display.display", lambda *_, **__: Mock())
    monkeypatch.setenv("JPY_SESSION_NAME", "/labs/00.ipynb")
    monkeypatch.chdir(tmp_path)
    yield shown
    shown.end_cell()


@pytest.fixture
def lab(virtual: Kind, tmp_path: Path) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=tmp_path) as started:
        yield started


def _live(lab: linklab.Lab) -> LiveNetwork:
    network = show.live(lab)
    assert isinstance(network, LiveNetwork)
    return network


def _sent(network: LiveNetwork) -> float:
    return float(sum(frame["loads"]["h1-eth0"][3] for frame in network.frames[1:]))


def test_nobody_watches_and_it_is_the_drawing(lab: linklab.Lab) -> None:
    drawn = show.live(lab)
    assert isinstance(drawn, Drawing)
    assert drawn.alt_text == show.draw(lab).alt_text
    assert lab.watcher is None


def test_its_picture_is_one_that_a_report_takes(lab: linklab.Lab, page: Page) -> None:
    network = _live(lab)
    network._ipython_display_()  # as when its cell is run
    picture = network.still()
    assert set(picture) == {"text/html", "image/png", "text/plain"}
    assert picture["text/plain"].startswith("Network: 2 hosts")


def test_a_command_is_followed_from_line_to_line(lab: linklab.Lab, page: Page) -> None:
    network = _live(lab)
    assert show.live(lab) is network
    lab["h1"].cmd(f"ping -c 3 {lab['h2'].address}")
    page.end_cell()
    assert {frame["title"] for frame in network.frames[1:]} == {f"h1: ping -c 3 {lab['h2'].address}"}
    assert len(network.frames) > 3
    assert _sent(network) == 3
    lab["h1"].cmd("ip address")
    page.end_cell()
    assert _sent(network) == 3  # what sends nothing leaves what was seen


def test_a_measurement_is_followed_by_the_second_with_its_sockets(lab: linklab.Lab, page: Page) -> None:
    network = _live(lab)
    run(lab, TcpFlow("h1", "h2", 3))
    page.end_cell()
    second = network.frames[2]
    rate_mbps, queued, _, packets = second["loads"]["h1-eth0"]
    assert second["at_s"] == pytest.approx(2, abs=0.01)
    assert (rate_mbps > 5, queued > 0, packets > 100) == (True, True, True)
    assert any(row[1] == "established" and row[4] for row in second["sockets"]["h1"])


def test_what_is_set_by_a_command_is_in_the_tables(lab: linklab.Lab, page: Page) -> None:
    network = _live(lab)
    lab["h1"].cmd("ip route add 10.9.0.0/16 dev h1-eth0")
    lab["h2"].cmd("ip link set h2-eth0 mtu 1400")
    page.end_cell()
    _, routes, _ = network.tables["h1"]
    assert ["10.9.0.0/16", "connected", "h1-eth0"] in routes["rows"]
    assert network.tables["h2"][0]["rows"][0][3] == "1400 bytes"
    assert "MTU" in network.scene["words"]


def test_the_next_run_records_a_link_once_and_the_file_is_for_wireshark(lab: linklab.Lab, page: Page) -> None:
    network = _live(lab)
    (link,) = network.scene["links"]
    network.record = link["name"]
    run(lab, PingFlow("h1", "h2", 2, 1.0))
    assert [row[1:4] for row in network.recorded["rows"]] == [
        ["h1", "h2", "ICMP h1 to h2"],
        ["h2", "h1", "ICMP h2 to h1"],
    ] * 2
    assert network.record == ""
    (file,) = Path().glob("*.pcapng")
    assert file.read_bytes()[:4] == b"\n\r\r\n"
    file.unlink()
    run(lab, PingFlow("h1", "h2", 2, 1.0))
    assert not [*Path().glob("*.pcapng")]


def _digits(kind: Kind, folder: Path, watch: Callable[[linklab.Lab], Callable[[], object]]) -> list[Any]:
    with linklab.start(TWO_HOSTS, folder=folder) as lab:
        look = watch(lab)
        found: list[Any] = []
        for _ in range(2):
            server = lab["h2"].popen("iperf3 -s -1 --forceflush")
            lab["h2"].wait_listening(5201)
            client = lab["h1"].popen(f"iperf3 -c {lab['h2'].address} -t 4")
            found.append(lab["h1"].cmd(f"ping -c 3 {lab['h2'].address}"))
            found += [client.wait(), client.output, server.wait(), server.output]
            look()
            result = run(lab, TcpFlow("h1", "h2", 3))
            found += [result.samples, result.retransmitted_segments, result.origin.queues]
            look()
        return found


@pytest.mark.large
@pytest.mark.parametrize("recorded", [False, True])
def test_looking_moves_no_digit(virtual: Kind, tmp_path: Path, page: Page, recorded: bool) -> None:
    def watch(lab: linklab.Lab) -> Callable[[], object]:
        network = _live(lab)

        def look() -> None:
            page.end_cell()
            network.record = network.scene["links"][0]["name"] if recorded else ""

        return look

    seen = _digits(virtual, tmp_path, watch)
    assert seen == _digits(virtual, tmp_path, lambda lab: lambda: None)
