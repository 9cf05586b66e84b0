"""Captures in the player: what is drawn, listed and said, with the keyboard alone too, and as a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains

from linklab import show
from linklab.errors import MeasurementError
from linklab.measure import seen
from linklab.show.player.captures import PlayedCaptures, ladder
from tests.measure.test_sightings import LOST, TALK, two_files, written

from .conftest import Ask, pressed
from .recorded import recorded

__all__ = ["two_files"]


def test_words_for_those_who_do_not_see_it(two_files: tuple[str, str]) -> None:
    lines = show.replay([*two_files]).words.splitlines()
    assert lines[:5] == [
        "Captures at h1, h2: 0.056 s, 14 packets.",
        "TCP 10.0.1.1:4000 to 10.0.0.2:80: packets there 8, back 6.",
        "Duplicate acknowledgements: 3.",
        "Retransmissions: 1.",
        "Packets that another place did not see: 1.",
    ]
    assert lines[-1].startswith(
        "A capture shows what passed where it was taken. It cannot know how long a packet waited"
    )


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("nosuch.pcap",), r"nosuch.pcap cannot be read \(No such file or directory\)"),
        ((["nosuch.pcap", recorded()],), "cannot replay a list: .*captures alone"),
        (("nosuch.pcap", recorded()), "cannot replay a str: .*captures alone"),
    ],
)
def test_what_cannot_be_replayed_is_refused(given: tuple[Any, ...], says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        show.replay(*given)


def test_a_picture_says_what_it_shows(two_files: tuple[str, str]) -> None:
    one, two = (ladder(PlayedCaptures(seen(*files))) for files in (two_files[:1], two_files))
    assert one.get_figheight() < two.get_figheight()
    assert two.alt_text.startswith("All packets over time. Captures at h1, h2")
    html = show.replay(two_files[0])._repr_mimebundle_()["text/html"]
    assert 'alt="All packets over time.' in html
    assert "<iframe" not in html, "nobody watches"


def test_texts_of_a_file_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "<img src=x onerror=alert(1)>.pcap"
    html = show.replay(written(path, TALK))._repr_mimebundle_()["text/html"]
    assert "<img src=x" not in html


def test_the_keyboard_alone_finds_what_tells_of_a_loss(
    browser: Chrome, opened: Callable[..., Ask], two_files: tuple[str, str]
) -> None:
    ask = opened([*two_files])
    said = []
    for _ in range(5):
        pressed(browser, "n")
        said.append(ask("p.said.textContent"))
    assert [it.partition(":")[0] for it in said] == [
        f"Sign {number} of 5, packet {packet}" for number, packet in enumerate((LOST + 1, 10, 11, 12, 13), 1)
    ]
    assert "Seen at h1, and not at h2." in said[0]
    assert "Duplicate acknowledgement 3: byte 101 is missing. The third one" in said[3]
    assert f"A retransmission: packet {LOST + 1} had its bytes already." in said[4]
    panel = ask("p.panels[0].textContent")
    assert "Packet 13 of 14" in panel
    assert "Acknowledged by packet 14." in panel, "of repeated bytes no round trip is known"
    assert ask("p.runs[0].rtt[4]") == []
    pressed(browser, "n")
    assert ask("p.said.textContent") == "No packet of these flows tells of a loss after this."
    pressed(browser, ",", ",", ".")
    assert "Packet 12 of 14" in ask("p.panels[0].textContent")
    pressed(browser, "+")
    assert ask("p.view[1] - p.view[0]") == ask("p.length") / 2
    pressed(browser, "0")
    assert ask("p.view[1] - p.view[0]") == ask("p.length")


def test_a_packet_is_a_line_between_places_or_a_stub(opened: Callable[..., Ask], two_files: tuple[str, str]) -> None:
    ask = opened([*two_files], labels=["client", "server"])
    lines = ask("p.stages[0].drawn.map((it) => it.line.map(([x, y]) => Math.round(y)))")
    top, bottom = ask("[p.stages[0].y(0), p.stages[0].y(1)]")
    assert lines[0] == [top, bottom]
    assert lines[1] == [bottom, top]
    assert lines[LOST][0] == top
    assert top < lines[LOST][1] < bottom
    assert ask("p.runs[0].places.map((it) => it.name)") == ["client", "server"]
    assert ask("p.runs[0].rtt[3]") == [[0, 20_000_000], [1, 0]]


def test_a_click_on_a_packet_shows_where_it_was_seen_and_the_list_has_it_in_words(
    browser: Chrome, opened: Callable[..., Ask], two_files: tuple[str, str]
) -> None:
    ask = opened([*two_files])
    (x0, y0), (x1, y1) = ask("p.stages[0].drawn[0].line")
    canvas = browser.find_element("css selector", ".stage canvas")
    across, down = (x0 + x1) / 2 - canvas.size["width"] / 2, (y0 + y1) / 2 - canvas.size["height"] / 2
    ActionChains(browser).move_to_element_with_offset(canvas, round(across), round(down)).click().perform()
    panel = ask("p.panels[0].textContent")
    assert "Packet 1 of 14" in panel
    assert "window scale 7" in panel
    assert "Acknowledged by packet 2, after 20.000 ms at h1, after 0.000 ms at h2." in panel
    words = ask("p.lists[0].textContent")
    assert "SYN, sequence 0, window 100, 0 bytes of data" in words
    browser.find_element("css selector", ".wide button").click()
    assert "Packet 1 of 14" in ask("p.panels[0].textContent")


def test_a_single_capture_has_arrows_across_its_line(opened: Callable[..., Ask], two_files: tuple[str, str]) -> None:
    ask = opened(two_files[0])
    there, back = ask("p.stages[0].drawn.slice(0, 2).map((it) => it.line.map(([, y]) => y))")
    assert there[0] < ask("p.stages[0].y(0)") < there[1]
    assert back == there[::-1]


def test_of_many_packets_the_first_are_seen_at_first(opened: Callable[..., Ask], tmp_path: Path) -> None:
    talk = [(number + at_ms / 100, packet) for number in range(10) for at_ms, packet in TALK]
    ask = opened(written(tmp_path / "h1.pcap", talk))
    assert ask("p.stages[0].drawn.length") == 41
    assert ask("p.look(0, p.length), p.stages[0].drawn.length") == len(talk)


def test_it_may_be_hidden_and_shown_again(opened: Callable[..., Ask], two_files: tuple[str, str]) -> None:
    ask = opened([*two_files])
    hidden = (
        "p.stages[0].element.style.display = 'none', p.stages[0].resize(), p.look(0, p.length / 2), p.go(5), p.time"
    )
    assert ask(hidden) == 5
    assert ask("p.stages[0].element.style.display = '', p.stages[0].resize(), p.stages[0].width > 0")
