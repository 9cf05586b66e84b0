"""The picture of a network: what a notebook keeps of it, and that a reader finds what happened, by the keyboard too."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP, TCP
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6ND_NS, IPv6
from scapy.layers.l2 import Ether
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

import linklab
from linklab import show
from linklab.errors import MeasurementError, NetworkError
from linklab.labs.lab14.networks import the_network as lab14_network
from linklab.labs.lab15.networks import ring as lab15_ring
from linklab.measure import Cut, CutResult, PingFlow, Recording, Run, Varying, VaryingResult
from linklab.measure.headers import kept_head
from linklab.measure.recordings import Port
from linklab.network import COURSE, TWO_HOSTS, NetworkState, expected_state
from linklab.network.traces import Trace
from linklab.record import RUNS_MIME
from linklab.show.stage.scene import description, scene_of
from linklab.show.widgets.page import script_hash

from ..measure.test_forwarding import recording as passed_on
from .conftest import Ask, pressed, screen
from .drawn import THINGS, ring
from .gallery import ORIGIN, transfer
from .recorded import MS, hop, recorded


def test_words_for_those_who_do_not_see_it() -> None:
    words = show.network(recorded()).words
    assert words.splitlines() == [
        "Recording of run 1: 0.100 s, 21 packets at 2 interfaces, 1 lost.",
        "TCP h1:40000 to h2:5201: packets there 10, back 9.",
        "ICMP h1 to h2: packets there 1, back 1.",
        f"h1-eth0 lost 1, the first after 0.007 s: {recorded().why(recorded().hops[7])}",
    ]


def test_a_notebook_keeps_an_image_with_a_description() -> None:
    kept = show.network(COURSE, title="The course network").still()
    words = description(scene_of(COURSE))
    assert unescape(kept["text/html"]).count(words) == 1
    assert kept["text/plain"] == words
    data = kept["text/html"].partition("data:image/svg+xml;base64,")[2].partition('"')[0]
    assert base64.b64decode(data).decode() == kept["image/svg+xml"]


def test_what_a_notebook_keeps_of_runs_tells_them_apart() -> None:
    one, same, other = (show.network(run).still() for run in (recorded(), recorded(), recorded(lost=(4, 7))))
    assert one == same
    assert one[RUNS_MIME] != other[RUNS_MIME]
    assert one["text/html"].count("<img ") == 1
    assert "21 packets at 2 interfaces, 1 lost" in one["text/html"]


@pytest.mark.parametrize(
    ("things", "labels", "says"),
    [
        ([Run((), 0.0)], [], r"was not recorded: .*record=True"),
        ([], [], "give a network, or one or two runs"),
        ([Recording(expected_state(TWO_HOSTS))], [], "this recording is empty"),
        ([recorded()] * 2, ["a", "a"], "give each of the 2 runs one of its own"),
        ([COURSE, recorded()], [], "give a network, or one or two runs"),
    ],
)
def test_what_cannot_be_played_is_refused(things: list[Any], labels: list[str], says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        show.network(*things, labels=labels)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(NetworkError, match="cannot draw a PingFlow"):
        show.network(PingFlow("h1", "h4"))
    with pytest.raises(NetworkError, match="no cable joins r1 and r3"):
        show.network(COURSE, highlight=("r1", "r3"))
    with pytest.raises(NetworkError, match="no node 'r9'"):
        show.network(COURSE, highlight=("r1", "r9"))
    with pytest.raises(NetworkError, match="no nodes"):
        show.network(NetworkState(()))


def test_a_picture_that_cannot_be_saved_names_its_file() -> None:
    with pytest.raises(MeasurementError, match=r"^/nosuch/x\.html cannot be written \(No such file or directory\)"):
        show.network(recorded()).save("/nosuch/x.html")


def test_the_page_loads_nothing_and_lets_its_own_script_run_alone(tmp_path: Path) -> None:
    page = show.network(recorded()).save(tmp_path / "network.html").read_text("utf-8")
    assert f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '{script_hash()}'" in page
    assert page.count("<script") == 1
    for word in ("https://", "<img src=", "@import", "fetch(", "XMLHttpRequest", "import("):
        assert word not in page, word


def test_pyplot_is_never_touched() -> None:
    code = (
        "import sys; from linklab import show; assert 'matplotlib' not in sys.modules;"
        "from linklab.network import COURSE; show.network(COURSE).still();"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    env: dict[str, Any] = {**os.environ, "PYTHONPATH": str(Path(linklab.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_flow_has_its_run_s_congestion_control_in_its_name() -> None:
    measured = transfer("h2", "h1", (1.0,))
    results = [replace(measured, flow=replace(measured.flow, congestion=name)) for name in ("cubic", "reno")]
    words = show.network(*(Run((it,), 0.0, recording=recorded()) for it in results)).words
    assert [line.partition(" h")[0] for line in words.splitlines() if "TCP" in line] == ["TCP cubic", "TCP reno"]


# In a browser


def test_what_was_recorded_is_what_the_page_has(opened: Callable[..., Ask]) -> None:
    recording = recorded()
    ask = opened(recording)
    for number, port in enumerate(recording.ports):
        hops = recording.of(port.interface)
        begin = 10**9
        assert ask(f"[...p.runs[0].ports[{number}].queued]") == [it.queued_ns - begin for it in hops]
        assert ask(f"[...p.runs[0].ports[{number}].left]") == [(it.left_ns or 0) - begin for it in hops]
        assert ask(f"[...p.runs[0].ports[{number}].packet]") == [it.packet for it in hops]
    first = {it.packet: it for it in reversed(recording.hops)}
    for number, it in first.items():
        assert ask(f"[...p.runs[0].headOf[{number}]]") == list(kept_head(it.head))
        assert ask(f"p.runs[0].lengthOf[{number}]") == it.length_bytes
    assert ask("[...p.runs[0].tcp[0].cwnd]") == list(range(10, 30))
    assert ask("[...p.runs[0].tcp[0].ssthresh]") == [0] * 6 + [7] * 14
    assert ask("p.runs[0].pings.map((it) => [it.name, [...it.times], [...it.rtt]])") == [
        ["ping h1 to h2", [60 * MS], [20000]]
    ]
    assert ask("p.runs[0].losses.map((it) => [it.port.name, it.time, it.packet])") == [["h1-eth0", 7 * MS, 7]]


def test_at_any_moment_a_packet_waits_or_is_on_its_way(opened: Callable[..., Ask]) -> None:
    """A packet in a queue of 20 ms on a link of 10 ms waits for 10 ms, and then travels."""
    ask = opened(recorded())
    inside = "p.runs[0].inside(p.runs[0].ports[0], {}).map(([i, moves]) => [p.runs[0].ports[0].packet[i], moves])"
    assert ask(inside.format(5.5 * MS)) == [[number, False] for number in range(6)]
    assert ask(inside.format(12 * MS)) == [[number, number < 3] for number in (0, 1, 2, 3, 4, 5, 6, 8, 9)]
    assert ask(inside.format(20 * MS))[0] == [1, True]
    assert ask(inside.format(45 * MS)) == [[19, True]]
    assert ask(f"p.runs[0].held(p.runs[0].ports[0], {12 * MS})") == 9
    assert ask("p.runs[0].held(p.runs[0].ports[0], p.length)") == 0


def test_a_curve_has_the_colour_of_its_flow_on_the_network(opened: Callable[..., Ask]) -> None:
    """The flows are listed by their bytes, which need not be the order of connections and pings."""
    ask = opened(recorded())
    assert ask("p.flowNames") == ["TCP h1 to h2", "ICMP h1 to h2"]
    tcp, icmp = (ask(f"p.colours.get('{name}')") for name in ("TCP h1 to h2", "ICMP h1 to h2"))
    assert tcp != icmp
    colours = ask("p.curves[0].parts.flatMap((part) => part.series.map((it) => [it.label, it.colour]))")
    assert [it for it in colours if "eth0" not in it[0]] == [
        ["cwnd, TCP h1 to h2", tcp],
        ["ssthresh, TCP h1 to h2", tcp],
        ["smoothed, TCP h1 to h2", tcp],
        ["ping h1 to h2", icmp],
        ["TCP h1 to h2", tcp],
    ]


def test_a_curve_s_sign_has_its_own_stroke(opened: Callable[..., Ask]) -> None:
    ask = opened(recorded())
    drawn, signs = ask(
        """(() => {
          const plots = p.curves[0].parts.map(({ plot }) => plot);
          const sign = (it) => ["stroke", "stroke-width", "stroke-dasharray"].map((name) => it.getAttribute(name));
          return [
            plots.flatMap(({ series }) => series.slice(1).map((it) => [it.stroke(), `${it.width}`, it.dash.join(" ")])),
            plots.flatMap(({ root }) => [...root.querySelectorAll(".u-marker line")].map(sign))];
        })()"""
    )
    assert signs == drawn
    assert len({tuple(it) for it in signs}) > 3


def test_a_queue_has_no_flow_s_colour_and_its_two_directions_differ(opened: Callable[..., Ask]) -> None:
    ask = opened(recorded())
    strokes = dict(
        ask("p.curves[0].parts.flatMap(({ plot }) => plot.series.slice(1).map((it) => [it.label, it.stroke()]))")
    )
    queues = {strokes.pop("h1-eth0"), strokes.pop("h2-eth0")}
    assert len(queues) == 2
    assert queues.isdisjoint(strokes.values())


def test_a_link_that_follows_a_trace_has_its_capacity_beside_what_it_took(opened: Callable[..., Ask]) -> None:
    """Nine of ten segments of 1500 bytes went onto the link, at 10 to 19 ms."""
    trace = Trace("two a millisecond", (1, 1))
    link = VaryingResult(Varying("h1", "h2", trace, 0.03), ORIGIN, 1.0, 1.03, "h1-eth0", 13_500, 9, 1)
    ask = opened(Run((link,), 0.0, recording=recorded()))
    of = "p.curves[0].parts.find((it) => it.title.includes('trace')).series.map((it) => {})"
    assert ask(of.format("it.label")) == ["capacity, h1-eth0", "taken, h1-eth0"]
    capacity_mbps, taken_mbps = ask(of.format(f"it.value({15 * MS})"))
    assert capacity_mbps == pytest.approx(2 * 12, rel=0.06)
    assert taken_mbps == pytest.approx(9 * 1500 * 8 / 20_000, rel=0.15)
    assert ask(of.format(f"it.value({60 * MS})")) == [None, None], "it follows the trace no more"


def test_a_link_is_as_wide_as_the_share_of_its_rate_that_it_carries(opened: Callable[..., Ask]) -> None:
    recording = recorded()
    (load,) = re.findall(r'data-load="h1-eth0".*? stroke-width="([\d.]+)"', show.network(recording).svg)
    rate_mbps = TWO_HOSTS.links[0].shape.rate_mbps or 0
    sent_bytes = sum(it.length_bytes for it in recording.hops if it.interface == "h1-eth0" and it.sent)
    carried_mbps = 8 * sent_bytes / (recording.end_s - 1) / 1e6
    assert float(load) == pytest.approx(max(1.5, 12 * carried_mbps / rate_mbps), abs=0.1)
    assert "data-load" not in show.network(TWO_HOSTS).svg
    ask = opened(recording)
    wide = "p.stages[0].resize(), p.go({} * 1e6), p.stages[0].loads.get('h1-eth0').getAttribute('stroke-width')"
    assert ask("p.runs[0].mbps(p.runs[0].ports[0], 21.5e6)") == pytest.approx(
        8 * 1514 * 7 / 10_000
    )  # 7 packets in 10 ms
    assert float(ask(wide.format(21.5))) > float(ask(wide.format(58))) == 0


ALONE = """
[...document.querySelectorAll(".view text")].filter((it) => !it.closest(".node, [aria-hidden]"))
  .map((it) => it.textContent)
"""


def test_those_who_listen_hear_whose_an_address_is_what_is_chosen_and_the_time_once_a_second(
    browser: Chrome, opened: Callable[..., Ask]
) -> None:
    ask = opened(recorded())
    assert ask(ALONE) == [], "no label without its owner"
    called = "document.querySelector('{}').getAttribute('aria-label')"
    assert ask(called.format("[data-node=h1]")) == "h1, host, h1-eth0 10.0.0.1/24"
    assert ask(called.format("[data-cable]")) == "Link h1-eth0 to h2-eth0: 10 Mbit/s, 10 ms, 50 packets, no loss"
    names = ask("[...document.querySelectorAll('select')].map((it) => it.getAttribute('aria-label'))")
    assert names == ["Speed", "Kind of events", "Place of events"]
    browser.execute_script("document.querySelector('[data-node=h2]').focus()")
    pressed(browser, Keys.ENTER)
    assert ask("document.activeElement.getAttribute('aria-pressed')") == "true"
    watch = (
        "new MutationObserver((them) => window.told += them.length).observe(p.slider, {{ attributeFilter: ['{}'] }})"
    )
    ask(f"window.told = 0, {watch.format('aria-valuetext')}, p.speed = 1e-3, p.play()")
    WebDriverWait(browser, 60).until(lambda _: ask("p.time") > 1.5 * MS)
    assert 1 <= ask("window.told") <= 3
    assert ask("[...p.root.querySelectorAll('output, [aria-live]')].length") == 0


def test_an_arrow_on_the_slider_is_a_millisecond(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(recorded())
    browser.execute_script("document.querySelector('input[type=range]').focus()")
    pressed(browser, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert ask("p.time") == 2 * MS


def test_it_opens_at_an_event(opened: Callable[..., Ask]) -> None:
    recording = recorded(lost=(4, 7))
    loss = recording.events.last("loss")
    assert "0.007000 s, h1-eth0: The queue of h1-eth0 drops" in show.network(recording, event=loss).still()["text/html"]
    ask = opened(recorded(), recording, event=loss)
    assert ask("p.time") == 7 * MS
    assert ask("p.chosen.get(p.runs[1]).packet") == 7
    assert "Why was it dropped?" in ask("p.inspectors[1].textContent")
    assert "n next event" in ask("p.root.querySelector('.bar').innerText")
    with pytest.raises(MeasurementError, match="this event is of another run"):
        show.network(recorded(lost=()), event=loss)


def test_numbers_of_a_link_are_shown_where_it_has_the_focus(opened: Callable[..., Ask]) -> None:
    ask = opened(recorded())
    ask("p.go(5e6)")
    numbers = "p.stages[0].numbers.map(([port, words]) => `${port.name}: ${words}`)"
    assert ask(numbers) == []
    ask("p.stages[0].cables[0].focus()")
    there, back = ask(numbers)
    assert re.fullmatch(r"h1-eth0: \d+\.\d Mbit/s", there)
    assert back == "h2-eth0: 0.0 Mbit/s"
    ask("document.activeElement.blur()")
    assert ask(numbers) == []


def inspected(ask: Ask) -> str:
    return str(ask("p.inspectors[0].textContent"))


def test_the_keyboard_alone_finds_a_loss_and_why(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(recorded())
    pressed(browser, "l")
    assert ask("p.time") == 7 * MS
    assert ask("p.said.textContent").startswith("0.007000 s, h1-eth0: ")
    assert "The queue of h1-eth0 was full" in ask("p.said.textContent")
    panel = inspected(ask)
    assert "Packet 7 of 0 to 20" in panel, "as run.events has it"
    assert "Why was it dropped? The queue of h1-eth0 was full" in panel
    assert "port 40000 to 5201, 0 bytes of data" in panel
    pressed(browser, "l")
    assert ask("p.said.textContent") == "There is no loss after this."
    pressed(browser, ",")
    assert ask("p.time") == 6 * MS
    pressed(browser, ".", ".")
    assert ask("p.time") == 8 * MS, "the next moment but one: the loss is one"
    pressed(browser, Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert ask("p.time") == 2 * MS
    pressed(browser, " ")
    assert ask("p.playing") is True
    WebDriverWait(browser, 60).until(lambda _: ask("p.time") > 2 * MS)
    pressed(browser, " ")
    assert ask("p.playing") is False


def test_the_keyboard_finds_the_longest_wait_and_a_full_queue(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(recorded(late_ms=6.0))
    pressed(browser, "w")
    assert ask("p.time") == 8 * MS
    assert "waits 16.000 ms" in ask("p.said.textContent")
    assert "h1-eth0h216.000 ms10.000 ms" in inspected(ask), "the travel is no part of the wait"
    pressed(browser, "Q")
    assert ask("p.time") == 0
    assert ask("p.stages[0].numbers.length") == 0, "50 packets were there before this recording, and are not drawn"


def test_what_kept_a_packet_within_a_node_has_a_row(opened: Callable[..., Ask]) -> None:
    ask = opened(passed_on("switch", [(0, 5, "x1-eth1"), (10, 0, "x1-eth1")]))
    ask("p.choose(p.runs[0], { packet: 0 })")
    assert "x1's controller5.000 ms" in inspected(ask)
    ask("p.choose(p.runs[0], { packet: 1 })")
    assert "controller" not in inspected(ask)


def test_a_question_to_the_controller_is_on_its_line_until_the_answer(opened: Callable[..., Ask]) -> None:
    ask = opened(passed_on("switch", [(0, 5, "x1-eth1"), (10, 0, "x1-eth1")]))
    (line,) = ask("[...p.stages[0].svg.querySelectorAll('[data-asks=x1] line')].map((it) => it.outerHTML)")
    start, end = ([float(re.findall(rf'{axis}{n}="([^"]+)"', line)[0]) for axis in "xy"] for n in (1, 2))
    at = "p.go({} * 1e6), p.stages[0].drawn.filter((it) => it.packet === {}).map((it) => it.at)"
    assert pytest.approx(start, abs=1) in ask(at.format(0, 0))
    assert pytest.approx(end, abs=1) in ask(at.format(2.5, 0)), "halfway to the answer it is there"
    assert pytest.approx(start, abs=1) in ask(at.format(5, 0))
    assert pytest.approx(start, abs=1) not in ask(at.format(10, 1)), "of this one nobody was asked"


SIGNS = "[...p.stages[0].element.querySelectorAll('.signs span')].map((it) => it.textContent)"


def test_what_signs_mean_opens_for_both_runs(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(recorded(), recorded(lost=(4, 7)))
    browser.find_element("css selector", ".signs summary").click()
    WebDriverWait(browser, 10).until(lambda _: ask("p.stages.every((it) => it.element.querySelector('.signs').open)"))


def test_all_pictures_say_what_their_signs_mean(opened: Callable[..., Ask]) -> None:
    moving = {"cross beside a cable: a packet is lost", "two strokes across a dotted cable: it is cut"}
    assert {"router", "switch", "host", "shaped link (delay: each way)"} <= (plan := set(ask_all(opened(COURSE))))
    assert not plan & moving
    assert {"host", *moving} <= set(ask_all(opened(recorded())))


def ask_all(ask: Ask) -> list[str]:
    assert ask("p.stages[0].element.querySelector('.signs summary').textContent") == "What the signs mean"
    found: list[str] = ask(SIGNS)
    return found


def test_links_that_were_not_recorded_look_so_and_say_so(opened: Callable[..., Ask]) -> None:
    ports = tuple(Port(node, f"{node}-eth0", None) for node in ("h1", "h2"))
    partly = replace(recorded(), network=expected_state(COURSE), ports=ports)
    drawn = re.findall(r'data-cable="\d+"><line class="[^"]*unseen', show.network(partly).svg)
    assert len(drawn) == len(scene_of(COURSE).cables) - 2
    for whole in (recorded(), COURSE):
        assert "not recorded" not in show.network(whole).svg
    assert "Recorded: h1-eth0, h2-eth0." in show.network(partly).still()["text/html"]
    ask = opened(partly)
    assert "not recorded" in ask(SIGNS)
    said = "p.choose(p.runs[0], {{ cable: p.runs[0].cableOf('{}') }}), p.inspectors[0].textContent"
    assert "It was not recorded." in ask(said.format("r1-eth1"))
    assert "It was not recorded." not in ask(said.format("h1-eth0"))


def test_what_a_cable_lost_is_lost_on_the_link(opened: Callable[..., Ask]) -> None:
    recording = recorded(lost=())
    recording.hops = (recording.hops[0]._replace(discarded="TC_INGRESS", received_ns=None), *recording.hops[1:])
    ask = opened(recording)
    ask("p.choose(p.runs[0], { packet: 0 })")
    assert "h1-eth0h210.000 mslost" in inspected(ask)


def test_an_event_chosen_by_key_keeps_the_focus(browser: Chrome, opened: Callable[..., Ask]) -> None:
    opened(recorded())
    loss = browser.find_element("css selector", ".events tr.loss button")
    browser.execute_script("arguments[0].focus()", loss)
    pressed(browser, Keys.ENTER)
    chosen = browser.find_element("css selector", ".events tr[aria-current] button")
    assert browser.switch_to.active_element == chosen
    pressed(browser, "p")
    assert browser.switch_to.active_element != chosen, "the next one by key, from there"
    assert browser.switch_to.active_element.tag_name == "button"


def test_flows_that_are_not_shown_are_passed_over(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(recorded())
    browser.find_element("css selector", ".flows summary").click()
    (box, _) = browser.find_elements("css selector", ".flows input")
    box.send_keys(Keys.SPACE)
    browser.execute_script("document.activeElement.blur()")
    pressed(browser, ".")
    assert ask("p.time") == 40 * MS, "the transfer's moments are passed over"
    assert "echo request, identifier 5, number 1" in inspected(ask)
    assert ask("p.said.textContent") == "Packet 19, ICMP h1 to h2: comes to h1-eth0."
    pressed(browser, "L")
    assert ask("p.said.textContent") == "There is no loss before this."


def test_nodes_and_links_are_reached_by_tab_and_say_what_is_known(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(COURSE)
    node = browser.find_element("css selector", '[data-node="r2"]')
    browser.execute_script("arguments[0].focus()", node)
    pressed(browser, Keys.ENTER)
    assert "r2, router" in inspected(ask)
    assert "10.0.5.0/2410.0.3.2r2-eth2" in inspected(ask), "a row of its routes"
    browser.find_element("css selector", "g.label[data-cable] text").click()
    assert inspected(ask).startswith("Link L1, r1-eth1 to r2-eth0")
    assert "40 Mbit/s10 ms67 packets" in inspected(ask)
    assert ask("p.length") == 0
    assert not browser.find_elements("css selector", "input[type=range], .events")


def test_arrows_go_from_node_to_link_and_tab_leaves_the_network(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(COURSE)
    focused = "document.activeElement.getAttribute('aria-label')"
    browser.execute_script("document.querySelector('[data-node=\"r2\"]').focus()")
    pressed(browser, Keys.ARROW_RIGHT)
    assert ask(focused).startswith("Link L2")
    pressed(browser, Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert ask(focused) == "s2, switch"
    assert ask("document.querySelectorAll('.view [tabindex=\"0\"]').length") == 1
    pressed(browser, Keys.TAB)
    assert not ask("p.stages[0].holder.contains(document.activeElement)")


def test_an_interface_that_is_named_has_its_name_however_small_the_network(
    browser: Chrome, opened: Callable[..., Ask]
) -> None:
    with screen(browser, 200, 800):
        ask = opened(recorded())
        numbers = "p.stages[0].numbers.map(([port]) => port.name)"
        assert ask(numbers) == []
        pressed(browser, "l")
        assert ask(numbers) == ["h1-eth0"]


def test_a_picture_that_is_hidden_while_colours_change_is_there_afterwards(opened: Callable[..., Ask]) -> None:
    ask = opened(recorded())
    seen = "p.stages[0].svg.getAttribute('viewBox')"
    before = ask(seen)
    ask("p.root.style.display = 'none', p.recolour(), p.root.style.display = ''")
    assert ask(seen) == before


def test_equal_routes_are_said_to_be_such(opened: Callable[..., Ask]) -> None:
    ask = opened(COURSE)
    ask("((routes) => routes.push(routes[0]))(p.runs[0].nodes.r2.routes), p.choose(p.runs[0], { node: 'r2' })")
    assert inspected(ask).count("one of 2 ways") == 2


def test_what_a_node_s_daemons_know_stands_in_tables(opened: Callable[..., Ask]) -> None:
    asks = "n_packets=7, priority=0,actions=CONTROLLER:65535"
    ask = opened(replace(recorded(), tables={"h2": {"flows": asks}}))
    ask("p.choose(p.runs[0], { node: 'h2' })")
    assert "Flow table, as the recording ended" in inspected(ask)
    cells = ask(
        "[...p.inspectors[0].querySelectorAll('table:last-of-type tbody tr:last-child td')].map((it) => it.innerText)"
    )
    assert cells == ["0", "all", "CONTROLLER:65535", "7"]


def test_the_words_of_a_moment_say_what_is_in_queues(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(recorded())
    slider = browser.find_element("css selector", "input[type=range]")
    slider.click()  # in its middle
    assert abs(ask("p.time") - 50 * MS) < 2 * MS
    browser.execute_script("document.querySelectorAll('details').forEach((it) => it.open = true)")
    ask(f"p.go({12 * MS})")
    assert "22 packets" in ask("p.lists[0].textContent"), "cwnd"
    rows = ask("[...p.lists[0].querySelectorAll('tr')].map((row) => [...row.cells].map((it) => it.textContent))")
    assert ["h1-eth0", "to h2", "9 of 50", "6", "3", "TCP h1 to h2: 9"] in rows


def test_a_click_on_a_packet_shows_its_headers_where_the_network_is_zoomed(
    browser: Chrome, opened: Callable[..., Ask]
) -> None:
    ask = opened(recorded())
    ask(f"p.go({45 * MS}), p.zoom(2)")
    ((x, y),) = ask("p.stages.map((it) => it.drawn[0].at.map((at, axis) => (at - it.corner[axis]) * it.scale))")
    view = browser.find_element("css selector", ".view")
    across, down = x - view.size["width"] / 2, y - view.size["height"] / 2
    ActionChains(browser).move_to_element_with_offset(view, round(across), round(down)).click().perform()
    assert "echo request, identifier 5, number 1" in inspected(ask)


def test_a_cut_cable_is_cut_for_that_time_in_picture_inspector_and_events(opened: Callable[..., Ask]) -> None:
    measured = transfer("h2", "h1", (1.0,))
    cut = CutResult(Cut("h1", "h2"), measured.origin, 1.02, 1.04, ("h1-eth0", "h2-eth0"))
    ask = opened(Run((cut,), 0.0, recording=recorded()))
    ask("p.choose(p.runs[0], { cable: 0 })")
    for at_ms, is_cut in ((10, False), (30, True), (50, False)):
        ask(f"p.go({at_ms * MS})")
        assert ask("p.stages[0].cables[0].classList.contains('cut')") is is_cut
        assert ("It is cut at this moment" in inspected(ask)) is is_cut
    kinds = ask("p.eventsOf(p.runs[0]).map((it) => it.kind)")
    assert [it for it in kinds if it in ("cut", "healed")] == ["cut", "healed"]
    ask(f"p.go({30 * MS}), p.choose(p.runs[0], {{ node: 'h2' }})")
    assert "cable cut" in inspected(ask), "its interface is not simply up"
    assert "The cable between h1 and h2 is cut" in inspected(ask), "both ends are told"
    assert ask("['h1', 'h1-h2', 'h1-eth0', 'h1-a-eth0'].map((it) => p.runs[0].isAt(it, 'h1'))") == [True] * 3 + [False]


def test_what_was_lost_on_its_way_does_not_arrive(opened: Callable[..., Ask]) -> None:
    recording = recorded(lost=())
    recording.hops = tuple(it._replace(discarded="IP_INNOROUTES") if it.packet == 7 else it for it in recording.hops)
    ask = opened(recording)
    assert ask("p.runs[0].arrivals().map((it) => [it.name, it.times.length])") == [["TCP h1 to h2", 9]]
    ask(f"p.go({30 * MS})")
    assert [it for it in ask("p.curves[0].values()") if it[1].endswith(" Mbit/s")]


def test_a_steady_rate_is_as_high_at_a_recording_s_ends(opened: Callable[..., Ask]) -> None:
    """A thousand bits each millisecond, from the first to the last of 100."""
    ask = opened(recorded())
    ask("window.times = Array.from({ length: 101 }, (_, n) => n * 1e6)")
    rates = ask("[0, 5e7, 1e8].map((at) => p.runs[0].rate({ times, bits: times.map((_, n) => 1000 * n) }, at, 1e7))")
    assert rates == pytest.approx([1, 1, 1])


def test_losses_of_two_causes_are_two_rows(opened: Callable[..., Ask]) -> None:
    recording = recorded(lost=(5, 6, 7))
    recording.hops = tuple(it._replace(dropped="GENERIC, noop") if it.packet == 7 else it for it in recording.hops)
    ask = opened(recording)
    rows = "p.events[0].lines.filter(([it]) => it.kind === 'loss').map((line) => line.map((it) => it.packet))"
    assert ask(rows) == [[5, 6], [7]]


def test_an_icmp_message_has_no_number_that_it_lacks(opened: Callable[..., Ask]) -> None:
    too_large = Ether(type=0x800) / IP(src="10.0.0.2", dst="10.0.0.1") / ICMP(type=3, code=4, nexthopmtu=1400)
    recording = recorded()
    recording.hops = (hop(0, 0, 1, too_large),)
    ask = opened(recording)
    ask("p.choose(p.runs[0], { packet: 0 })")
    assert "the next link's MTU is 1400" in inspected(ask)
    assert "identifier" not in inspected(ask)


def test_messages_of_ipv6_have_names(opened: Callable[..., Ask]) -> None:
    recording = recorded()
    ends = Ether(type=0x86DD) / IPv6(src="2001:db8::1", dst="2001:db8::2")
    asking, echo = ends / ICMPv6ND_NS(tgt="2001:db8::2"), ends / ICMPv6EchoRequest(seq=3)
    recording.hops = (hop(0, 0, 1, asking), hop(1, 2, 3, echo))
    ask = opened(recording)
    ask("p.choose(p.runs[0], { packet: 0 })")
    assert "neighbour solicitation, for 2001:db8::2" in inspected(ask)
    ask("p.choose(p.runs[0], { packet: 1 })")
    assert "echo request, identifier 0, number 3" in inspected(ask)


def test_a_message_of_ospf_has_its_type(opened: Callable[..., Ask]) -> None:
    recording = recorded()
    hello = bytes([2, 1, 0, 44, 10, 0, 0, 1]) + bytes(24) + (3).to_bytes(4, "big") + bytes(8)
    recording.hops = (hop(0, 0, 1, Ether(type=0x800) / IP(src="10.0.0.1", dst="224.0.0.5", proto=89) / hello),)
    ask = opened(recording)
    ask("p.choose(p.runs[0], { packet: 0 })")
    assert "Hello of router 10.0.0.1, the dead interval is 3 s" in inspected(ask)


def test_losses_in_a_row_are_one_row_of_the_story(opened: Callable[..., Ask]) -> None:
    ask = opened(recorded(lost=(4, 5)))
    rows = ask("[...document.querySelectorAll('.rows tbody tr')].map((it) => it.textContent)")
    assert ["1 more until 0.005000 s" in it for it in rows if "drops a packet" in it] == [True]
    assert ask("p.eventsOf(p.runs[0]).filter((it) => it.kind === 'loss').length") == 2


def test_losses_of_two_flows_are_rows_of_their_own_that_lead_to_the_last_one(
    browser: Chrome, opened: Callable[..., Ask]
) -> None:
    recording = recorded(lost=(3, 4, 5, 6, 7))
    other = Ether(type=0x800) / IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=40001, dport=5202, flags="A")
    recording.hops = tuple(it._replace(head=bytes(other)) if it.packet in (5, 6) else it for it in recording.hops)
    ask = opened(recording)
    rows = "p.events[0].lines.filter(([it]) => it.kind === 'loss').map((line) => line.map((it) => it.packet))"
    assert ask(rows) == [[3, 4], [5, 6], [7]]
    browser.execute_script("document.querySelectorAll('.events tr.loss')[1].querySelectorAll('button')[1].focus()")
    pressed(browser, Keys.ENTER)
    assert browser.switch_to.active_element.text == "0.006000 s"
    assert ask("p.time") == 6 * MS
    assert "Packet 6 of" in inspected(ask)


def test_all_rows_of_the_events_are_reached(browser: Chrome, opened: Callable[..., Ask]) -> None:
    recording = recorded(lost=tuple(range(10)))
    other = Ether(type=0x800) / IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=40001, dport=5202, flags="A")
    recording.hops = tuple(it._replace(head=bytes(other)) if it.packet % 2 else it for it in recording.hops)
    ask = opened(recording)
    rows = "[...p.events[0].table.querySelectorAll('tbody tr')].map((it) => it.cells[2].innerText)"
    every = ask("p.events[0].lines.map(([it]) => it.what)")
    assert len(every) > 12
    assert ask(rows) == every[:12]
    browser.find_element("xpath", "//button[.='Later rows']").click()
    assert ask(rows) == every[-12:]
    browser.find_element("xpath", "//button[.='Earlier rows']").click()
    assert ask(rows) == every[:12]
    opened(recorded())
    assert not browser.find_element("xpath", "//button[.='Later rows']").is_displayed()


def test_what_an_event_was_about_goes_when_the_time_leaves_it(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(recorded(late_ms=6.0))
    pressed(browser, "l", Keys.ARROW_RIGHT)
    assert ask("p.time") == 8 * MS
    assert "Why was it dropped?" not in inspected(ask)
    pressed(browser, Keys.HOME, "w", Keys.ARROW_RIGHT)
    assert "Packet 8 of" in inspected(ask), "it still waits"
    ask(f"p.go({60 * MS})")
    assert "Packet 8 of" not in inspected(ask)
    ask(f"p.choose(p.runs[0], {{ packet: 3 }}), p.go({70 * MS})")
    assert "Packet 3 of" in inspected(ask), "a reader chose it"


def test_a_click_near_a_mark_of_a_track_goes_to_its_event(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(recorded())

    over = browser.find_element("css selector", ".u-over")

    def click(x: float) -> None:
        across = round(x - over.size["width"] / 2)
        ActionChains(browser).move_to_element_with_offset(over, across, 0).click().perform()

    def pixels(at_ms: float) -> float:
        return float(ask(f"p.curves[0].parts[0].plot.valToPos({at_ms} / 1000, 'x')"))

    click(pixels(25))
    assert ask("p.time") == pytest.approx(25 * MS, abs=MS)
    click(pixels(7) + 3)
    assert ask("p.time") == 7 * MS
    assert "Why was it dropped?" in inspected(ask)


def test_a_track_says_its_values_below_the_pointer(browser: Chrome, opened: Callable[..., Ask]) -> None:
    opened(recorded())
    title, over = (browser.find_element("css selector", f".chart {it}") for it in (".u-title", ".u-over"))
    before = title.text
    ActionChains(browser).move_to_element(over).perform()
    values = title.text.removeprefix(before)
    assert "; 0.05" in values
    assert "; cwnd, TCP h1 to h2: 29; ssthresh, TCP h1 to h2: 7" in values
    ActionChains(browser).move_to_element(browser.find_element("css selector", ".now")).perform()
    assert title.text == before


def test_a_full_queue_s_event_says_from_when_to_when(opened: Callable[..., Ask]) -> None:
    """Ten packets fill a queue of ten from 9 ms until the first one leaves at 20 ms."""
    recording = limited(10)
    recording.hops = tuple(it._replace(waiting=it.packet) if it.packet < 10 else it for it in recording.hops)
    ask = opened(recording)
    (what,) = ask("p.runs[0].events.filter((it) => it.kind === 'queue full').map((it) => it.what)")
    assert "from 0.009000 s to 0.020000 s" in what


def test_a_kind_that_is_not_ahead_is_said_to_be_behind(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(recorded())
    pressed(browser, Keys.END, "l")
    assert ask("p.said.textContent") == "There is no loss after this. The one before is at 0.007000 s (L)."
    pressed(browser, Keys.HOME, "L")
    assert ask("p.said.textContent") == "There is no loss before this. The one after is at 0.007000 s (l)."


def test_two_runs_stand_side_by_side(opened: Callable[..., Ask]) -> None:
    ask = opened(recorded(), recorded(lost=(4, 7)))
    assert ask("p.runs.map((run) => run.losses.length)") == [1, 2]
    assert ask("p.inspectors.length") == 2


def test_on_a_phone_a_finger_beside_a_node_means_it(browser: Chrome, opened: Callable[..., Ask]) -> None:
    with screen(browser, 390, 844):
        ask = opened(COURSE)
        node = browser.find_element("css selector", "[data-node=h7]")
        beside = node.rect["width"] / 2 + 2
        assert beside < 16
        ActionChains(browser).move_to_element_with_offset(node, -round(beside), 0).click().perform()
        assert inspected(ask).startswith("h7, host")


def test_on_a_phone_a_band_along_a_slanted_cable_stays(browser: Chrome, opened: Callable[..., Ask]) -> None:
    with screen(browser, 390, 844):
        ask = opened(COURSE)
        ask("p.stages[0].resize()")
        slanted = ask(
            """[...document.querySelectorAll(".view polygon")]
              .filter(({ points: [a, b] }) => a.x !== b.x && a.y !== b.y).map((it) => it.getClientRects().length)"""
        )
    assert slanted == [1] * 4, "of the outer hosts at both switches"


def test_on_a_phone_the_controller_s_name_fits_its_box(browser: Chrome, opened: Callable[..., Ask]) -> None:
    with screen(browser, 390, 844):
        ask = opened(replace(recorded(), network=expected_state(lab14_network()), controlled=True))
        parts = "p.stages[0].resize(), [...document.querySelector('.view g.node:not([data-node])').children]"
        box, name = ask(f"{parts}.map((it) => it.getBoundingClientRect().width)")
    assert name < box


def test_on_a_phone_an_interface_s_numbers_cover_no_node(browser: Chrome, opened: Callable[..., Ask]) -> None:
    port = Port("r2", "r2-eth2", None)
    with screen(browser, 390, 844):
        ask = opened(replace(recorded(), network=expected_state(COURSE), ports=(*recorded().ports, port)))
        covered = ask(
            """(() => {
              const stage = p.stages[0], found = [];
              stage.resize();
              stage.pen.fillText = (words, x, y) => found.push([x, y, stage.pen.measureText(words).width / 2]);
              stage.write("r2-eth2, 100 of 100", stage.lane(p.runs[0].ports.at(-1)));
              const [[x, y, half]] = found;
              const beside = (it) => x + half <= it.x || x - half >= it.x + it.width;
              return stage.boxes.filter((it) => !beside(it) && y > it.y && y < it.y + it.height).length;
            })()"""
        )
    assert covered == 0


def test_flows_that_are_opened_move_no_button(browser: Chrome, opened: Callable[..., Ask]) -> None:
    opened(recorded())
    button = browser.find_element("xpath", "//button[.='+']")
    before = button.location
    browser.find_element("css selector", ".flows summary").click()
    assert button.location == before


def test_of_two_runs_an_event_names_its_own_and_the_other_shows_the_same_place(
    browser: Chrome, opened: Callable[..., Ask]
) -> None:
    ask = opened(recorded(lost=()), recorded(lost=(4,)), labels=["before", "after"])
    pressed(browser, "l")
    assert ask("p.said.textContent").startswith("0.004000 s, after, h1-eth0: ")
    other, own = ask("p.inspectors.map((it) => it.textContent)")
    assert "At 0.004000 s" in other
    assert "Packet 4 of" in own
    for width in (390, 1000, 1366):
        with screen(browser, width, 768):
            assert ask("p.inspectors.map((it) => it.scrollWidth - it.clientWidth)") == [0, 0]
    one, two = ask("[...document.querySelectorAll('.tracks')].map((it) => it.getBoundingClientRect().top)")
    assert one == two, "curves stand side by side, whatever is known of what was chosen"


def limited(packets: int) -> Recording:
    """The recording on links with a queue of so many packets."""
    one = recorded(lost=())
    nodes = tuple(
        replace(
            node,
            interfaces=tuple(replace(it, shape=replace(it.shape, queue_packets=packets)) for it in node.interfaces),
        )
        for node in one.network.nodes
    )
    return replace(one, network=replace(one.network, nodes=nodes))


def test_a_packet_is_as_large_in_the_queues_of_both_runs(opened: Callable[..., Ask]) -> None:
    ask = opened(limited(100), limited(20), labels=["queue of 100", "queue of 20"])
    ask(f"p.go({8 * MS})")
    one, two = ask("p.stages.map(({ drawn: [a, b] }) => Math.hypot(a.at[0] - b.at[0], a.at[1] - b.at[1]))")
    assert one == pytest.approx(two, rel=0.05)


def test_on_a_phone_a_run_s_name_stays_over_all_of_it(browser: Chrome, opened: Callable[..., Ask]) -> None:
    with screen(browser, 390, 844):
        ask = opened(recorded(), recorded(lost=(4, 7)), labels=["before", "after"])
        for n, name in enumerate(("before", "after")):
            ask(f"p.events[{n}].table.scrollIntoView({{ block: 'start' }})")
            over = (
                f"[...p.root.querySelectorAll('h2')].find((it) => it.textContent === '{name}').getBoundingClientRect()"
            )
            assert 0 <= ask(f"{over}.top") < 40


# how light the page's ground, its text, the network's text and a curve are: from 0 to 255
LIGHTNESS = """
const grey = ([red, green, blue]) => Math.round(0.213 * red + 0.715 * green + 0.072 * blue);
const bytes = (colour) => colour.match(/\\d+/g).map(Number);
const place = document.querySelector(".linklab-network"), style = getComputedStyle(place);
const name = getComputedStyle(place.querySelector(".view text.plain")).fill;
[grey(bytes(style.backgroundColor)), grey(bytes(style.color)), grey(bytes(name))];
"""


def test_it_follows_the_colours_of_the_page_around_it_while_it_is_open(browser: Chrome, tmp_path: Path) -> None:
    page = tmp_path / "site.html"
    page.write_text(f'<html data-theme="light"><body>{show.network(recorded()).html()}</body></html>', "utf-8")
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    browser.get(page.as_uri())
    ask = "const done = arguments[1]; window.linklabWidget.then((p) => done(eval(arguments[0])));"
    ground, *inks = browser.execute_async_script(ask, LIGHTNESS)
    assert ground == 255
    assert max(inks) < 110
    browser.execute_script("document.documentElement.dataset.theme = 'dark'")
    WebDriverWait(browser, 60).until(lambda _: browser.execute_async_script(ask, LIGHTNESS)[0] < 60)
    assert min(browser.execute_async_script(ask, LIGHTNESS)[1:]) > 145
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    said: list[dict[str, Any]] = browser.get_log("browser")  # type: ignore[no-untyped-call]
    assert [it for it in said if it["level"] == "SEVERE"] == []


COVERED = """
const boxes = [...document.querySelectorAll(".view :is(g.label, [data-node] .shape)")]
  .map((it) => [it.textContent || it.parentNode.dataset.node, it.getBoundingClientRect()]);
boxes.flatMap(([one, a], n) => boxes.slice(n + 1)
  .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2)
  .filter(([, b]) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
  .map(([two]) => `${one} on ${two}`))
"""


@pytest.mark.parametrize("name", ["Lab 15", "ring of five", "ring", "course", "dumbbell", "star", "chain", "mtu-gre"])
def test_labels_can_be_read_on_a_laptop_and_cover_nothing(
    browser: Chrome, opened: Callable[..., Ask], name: str
) -> None:
    with screen(browser, 1366, 768):
        ask = opened({"Lab 15": lab15_ring(), "ring of five": ring(5), **THINGS}[name])
        WebDriverWait(browser, 60).until(lambda _: ask("p.stages[0].scale"))
        assert min(ask(TEXT_PIXELS)) >= 10.9
        assert ask("[...document.querySelectorAll('.view .label text')].every((it) => it.getClientRects().length)")
        assert ask(COVERED) == []


SCROLLING = """
[...document.querySelectorAll("*")].filter((it) => it.scrollHeight > it.clientHeight + 1
  && ["auto", "scroll"].includes(getComputedStyle(it).overflowY)).length
"""
TEXT_PIXELS = """
[...document.querySelectorAll(".view text")].filter((it) => it.getClientRects().length)
  .map((it) => parseFloat(getComputedStyle(it).fontSize) * p.stages[0].scale)
"""


@pytest.mark.parametrize("width", [360, 900, 1366])
def test_it_fits_the_page_and_nothing_scrolls_in_itself(
    browser: Chrome, opened: Callable[..., Ask], width: int
) -> None:
    with screen(browser, width, 768):
        ask = opened(recorded(), title="Two hosts and a queue")
        assert ask("document.documentElement.scrollWidth") <= width
        ask("p.step(1)")
        assert ask(SCROLLING) == 0
        assert min(ask(TEXT_PIXELS)) >= 10.9
