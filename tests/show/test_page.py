"""The player's page: it is complete, shows what was recorded, and a reader finds it, with the keyboard alone too."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from linklab import show
from linklab.errors import MeasurementError
from linklab.measure import PingFlow, Recording, Run
from linklab.measure.headers import kept_head
from linklab.network import TWO_HOSTS, expected_state
from linklab.record import REPLAY_MIME
from linklab.report.page import environment
from linklab.show.widgets.page import packed_in, script_hash

from .conftest import Ask, pressed, screen
from .gallery import transfer
from .recorded import MS, recorded


def test_words_for_those_who_do_not_see_it() -> None:
    words = show.replay(recorded()).words
    assert words.splitlines() == [
        "Replay of run 1: 0.100 s, 21 packets at 2 interfaces, 1 lost.",
        "TCP h1:40000 to h2:5201: packets there 10, back 9.",
        "ICMP h1 to h2: packets there 1, back 1.",
        "h1-eth0 lost 1, the first after 0.007 s: The queue of h1-eth0 was full: 50 packets in it, and its limit is 50 "
        "(the kernel says GENERIC, htb).",
    ]


@pytest.mark.parametrize(
    ("runs", "labels", "says"),
    [
        ([Run((), 0.0)], [], r"was not recorded: .*record=True"),
        ([], [], "0 runs cannot be replayed"),
        ([Recording(expected_state(TWO_HOSTS))], [], "this recording is empty"),
        ([recorded()] * 2, ["a", "a"], "give each of the 2 runs one of its own"),
        ([PingFlow("h1", "h4")], [], r"cannot replay a PingFlow: .*record=True"),
    ],
)
def test_what_cannot_be_replayed_is_refused(runs: list[Any], labels: list[str], says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        show.replay(*runs, labels=labels)


def test_a_replay_that_cannot_be_saved_names_its_file() -> None:
    with pytest.raises(MeasurementError, match=r"^/nosuch/x\.html cannot be written \(No such file or directory\)"):
        show.replay(recorded()).save("/nosuch/x.html")


def test_the_page_loads_nothing_and_lets_its_own_script_run_alone(tmp_path: Path) -> None:
    page = show.replay(recorded()).save(tmp_path / "replay.html").read_text("utf-8")
    assert f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '{script_hash()}'" in page
    assert page.count("<script") == 1
    for word in ("http://", "https://", "<img src=", "@import", "fetch(", "XMLHttpRequest", "import("):
        assert word not in page, word


def test_a_report_finds_the_data_and_nothing_else() -> None:
    data = packed_in(show.replay(recorded()).frame())
    assert data is not None
    assert base64.b64decode(data, validate=True)
    assert packed_in("<p>no replay</p>") is None
    assert packed_in('<main data-packed=&quot;"><script>x</script>&quot;') is None
    assert environment().globals["script_hash"] == script_hash()


def test_where_nobody_watches_a_notebook_stores_a_picture_and_what_tells_runs_apart() -> None:
    one, same, other = (show.replay(run)._repr_mimebundle_() for run in (recorded(), recorded(), recorded(lost=(4, 7))))
    assert one == same
    assert one[REPLAY_MIME] != other[REPLAY_MIME]
    assert packed_in(one["text/html"]) is None
    assert one["text/html"].count("<img ") == 1
    assert "21 packets at 2 interfaces, 1 lost" in one["text/html"]


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
    colours = ask("p.curves[0].parts.flatMap((part) => part.series.map((it) => [it.label, it.colour]))")
    assert [it for it in colours if "eth0" not in it[0]] == [
        ["cwnd, TCP h1 to h2", 0],
        ["ssthresh, TCP h1 to h2", 0],
        ["smoothed, TCP h1 to h2", 0],
        ["ping h1 to h2", 1],
    ]


def test_the_keyboard_alone_finds_a_loss_and_why(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(recorded())
    pressed(browser, "n")
    assert ask("p.time") == 7 * MS
    said = ask("p.said.textContent")
    assert said.startswith("Loss 1 of 1, at 0.007000 s: The queue of h1-eth0 was full: 50 packets in it")
    panel = ask("p.panels[0].textContent")
    assert "Packet 8 of 21" in panel
    assert "Why was it dropped? The queue of h1-eth0 was full" in panel
    assert "port 40000 to 5201, 0 bytes of data" in panel
    assert "10.0.0.1 to 10.0.0.2" in panel
    pressed(browser, "n")
    assert ask("p.said.textContent") == "No packet of these flows is lost after this."
    pressed(browser, ",")
    assert ask("p.time") == 6 * MS
    pressed(browser, ".", ".")
    assert ask("p.time") == 8 * MS, "the next event but one: the loss is one"
    pressed(browser, Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert ask("p.time") == 2 * MS
    pressed(browser, " ")
    assert ask("p.playing") is True
    WebDriverWait(browser, 60).until(lambda _: ask("p.time") > 2 * MS)
    pressed(browser, " ")
    assert ask("p.playing") is False
    pressed(browser, "+", "+")
    assert ask("Math.round(p.view[1] - p.view[0])") == 25 * MS
    pressed(browser, "0")
    assert ask("p.view") == [0, 100 * MS]


def test_the_keyboard_alone_finds_a_ping_behind_a_transfer(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(recorded())
    pressed(browser, Keys.HOME)
    assert "Packet 1 of 21" in ask("p.panels[0].textContent")
    (box, _) = browser.find_elements("css selector", ".flows input")
    box.send_keys(Keys.SPACE)
    pressed(browser, ".")
    assert ask("p.time") == 40 * MS, "the transfer's events are passed over"
    assert "echo request, identifier 5, number 1" in ask("p.panels[0].textContent")
    assert ask("p.said.textContent") == "Packet 20, ICMP h1 to h2: comes to h1-eth0."
    ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.ARROW_LEFT).key_up(Keys.SHIFT).perform()
    assert ask("p.time") == 20 * MS


# the texts in the drawing as it is drawn anew
WRITTEN = """
const { pen } = p.stages[0], written = [];
pen.fillText = (words) => written.push(words);
p.stages[0].draw();
delete pen.fillText;
written;
"""


def test_the_slider_the_filter_and_the_words_of_a_moment(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(recorded())
    slider = browser.find_element("css selector", "input[type=range]")
    slider.click()  # in its middle
    assert abs(ask("p.time") - 50 * MS) < 2 * MS
    browser.execute_script("document.querySelectorAll('details').forEach((it) => it.open = true)")
    ask(f"p.go({12 * MS})")
    words = ask("p.lists[0].textContent")
    assert "9 packets of the flows shown are in queues and on links" in words
    rows = ask("[...p.lists[0].querySelectorAll('tr')].map((row) => [...row.cells].map((it) => it.textContent))")
    assert ["h1-eth0", "to h2", "9 of 50", "6", "3", "TCP h1 to h2: 9"] in rows
    assert "9 of 50" in ask(WRITTEN), "the drawing counts as the words do"
    assert "22 packets" in words, "cwnd"
    (box, _) = browser.find_elements("css selector", ".flows input")
    box.click()
    ask(f"p.go({12 * MS})")
    assert "0 packets of the flows shown" in ask("p.lists[0].textContent")
    ask("p.loss(1), 0")
    assert ask("p.said.textContent") == "No packet of these flows is lost after this."


def test_a_click_on_a_packet_shows_its_headers(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(recorded())
    ask(f"p.go({45 * MS})")
    (drawn,) = ask("p.stages[0].drawn.map((it) => it.at)")
    canvas = browser.find_element("css selector", ".stage canvas")
    across, down = (drawn[0] - canvas.size["width"] / 2, drawn[1] - canvas.size["height"] / 2)
    ActionChains(browser).move_to_element_with_offset(canvas, round(across), round(down)).click().perform()
    assert "echo request, identifier 5, number 1" in ask("p.panels[0].textContent")


def test_two_runs_stand_side_by_side(opened: Callable[..., Ask]) -> None:
    ask = opened(recorded(), recorded(lost=(4, 7)))
    assert ask("p.runs.map((run) => run.losses.length)") == [1, 2]
    assert ask("p.panels.length") == 2


def preferring(browser: Chrome, scheme: str) -> None:
    """The reader's system prefers these colours; "" for what it does by itself."""
    features = [{"name": "prefers-color-scheme", "value": scheme}] if scheme else []
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


# how light the page's ground and the picture's are; and text, a flow's colour and a curve: from 0 to 255
LIGHTNESS = """
const done = arguments[0];
const grey = ([red, green, blue]) => Math.round(0.213 * red + 0.715 * green + 0.072 * blue);
const bytes = (colour) => colour.match(/\\d+/g).map(Number);
window.linklabWidget.then(async (p) => {
  await new Promise((next) => setTimeout(next, 200));
  const { picture } = p.stages[0], style = getComputedStyle(document.querySelector('main'));
  await picture.decode();
  const pen = new OffscreenCanvas(picture.naturalWidth, picture.naturalHeight).getContext("2d");
  pen.drawImage(picture, 0, 0);
  const ground = grey(pen.getImageData(1, 1, 1, 1).data);
  const swatch = grey(bytes(getComputedStyle(document.querySelector(".swatch")).backgroundColor));
  const [curve] = p.curves[0].parts, line = curve.plot.series[1].stroke(curve.plot, 1);
  const drawn = grey([1, 3, 5].map((at) => parseInt(line.slice(at, at + 2), 16)));
  done([grey(bytes(style.backgroundColor)), ground, grey(bytes(style.color)), swatch, drawn]);
});
"""


def test_in_a_notebook_it_plays_apart_with_the_theme_s_colours_whatever_the_system_s_are(
    browser: Chrome, tmp_path: Path
) -> None:
    page = tmp_path / "notebook.html"
    html = show.replay(recorded()).frame()
    page.write_text(f'<body data-jp-theme-light="true">{html}</body>', encoding="utf-8")
    preferring(browser, "dark")
    browser.get(page.as_uri())
    browser.switch_to.frame(browser.find_element("css selector", "iframe.linklab-frame"))
    *grounds, text, flow, curve = browser.execute_async_script(LIGHTNESS)
    assert grounds == [255, 255]
    assert max(text, flow, curve) < 110
    assert browser.execute_script("return performance.getEntriesByType('resource').map((it) => it.name)") == []
    assert browser.execute_script("try { return parent.document.title } catch { return 'apart' }") == "apart"
    browser.switch_to.default_content()
    preferring(browser, "light")
    browser.execute_script("document.body.dataset.jpThemeLight = false")  # while it is open
    browser.switch_to.frame(browser.find_element("css selector", "iframe.linklab-frame"))
    *grounds, text, flow, curve = browser.execute_async_script(LIGHTNESS)
    assert grounds == [0, 0]
    assert min(text, flow, curve) > 145
    browser.switch_to.default_content()
    preferring(browser, "")
    said: list[dict[str, Any]] = browser.get_log("browser")  # type: ignore[no-untyped-call]
    assert [it for it in said if it["level"] == "SEVERE"] == []


def test_it_fits_a_phone(browser: Chrome, opened: Callable[..., Ask]) -> None:
    with screen(browser, 390, 844):
        assert opened(recorded())("document.documentElement.scrollWidth") <= 390


def test_a_notebook_s_window_of_a_small_laptop_shows_controls_and_drawing(browser: Chrome, tmp_path: Path) -> None:
    page = tmp_path / "notebook.html"
    page.write_text(show.replay(recorded()).frame(), encoding="utf-8")
    with screen(browser, 1366, 717):
        browser.get(page.as_uri())
        frame = browser.find_element("css selector", "iframe.linklab-frame")
        high = frame.size["height"]
        browser.switch_to.frame(frame)
        ends = browser.execute_async_script(
            "const done = arguments[0], end = (it) => document.querySelector(it).getBoundingClientRect().bottom;"
            "window.linklabWidget.then(() => done([end('.bar'), end('.stage')]))"
        )
        browser.switch_to.default_content()
    assert ends[0] < ends[1] <= high <= 596, "JupyterLab leaves 596 pixels for the notebook"


def test_losses_of_one_overflow_are_one_group(browser: Chrome, opened: Callable[..., Ask]) -> None:
    ask = opened(recorded())
    ask("p.runs[0].losses = [10, 20, 40, 41].map((at) => ({ ...p.runs[0].losses[0], time: at * 1e6 })), 0")
    assert ask("p.group(1), p.time") == 10 * MS
    ask("p.group(1), 0")
    assert ask("p.said.textContent") == "There is no later group of losses."
    ask("p.runs[0].losses.forEach((it, n) => { it.time += n > 1 ? 60e6 : 0; }), 0")
    assert ask("p.group(1), p.time") == 100 * MS
    assert ask("p.said.textContent").startswith("Loss 3 of 4")
    assert ask("p.group(-1), p.time") == 10 * MS


def test_how_to_read_it_is_folded_and_a_group_leaves_no_panel_behind(
    browser: Chrome, opened: Callable[..., Ask]
) -> None:
    ask = opened(recorded())
    assert ask(
        "[...document.querySelectorAll('.bar details')].map((it) => [it.open, it.querySelectorAll('li').length])"
    ) == [[False, 3]]
    ask("p.runs[0].losses = [10, 100].map((at) => ({ ...p.runs[0].losses[0], time: at * 1e6 })), 0")
    ask("p.choose(p.runs[0], 3), p.group(1), p.hidden.add('TCP h1 to h2'), p.group(-1), 0")
    assert "Packet 8 of 21" in ask("p.panels[0].textContent")


def test_a_flow_has_its_run_s_congestion_control_in_its_name() -> None:
    measured = transfer("h2", "h1", (1.0,))
    results = [replace(measured, flow=replace(measured.flow, congestion=name)) for name in ("cubic", "reno")]
    words = show.replay(*(Run((it,), 0.0, recording=recorded()) for it in results)).words
    assert [line.partition(" h")[0] for line in words.splitlines() if "TCP" in line] == ["TCP cubic", "TCP reno"]
