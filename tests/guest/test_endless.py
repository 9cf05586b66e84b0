"""What prints without an end is ended soon, and what has an end is left alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import linklab
from linklab.errors import LabError
from linklab.guest import endless
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind


@pytest.mark.parametrize(
    "text",
    [
        "ping 10.0.0.2",
        "ping -i 0.1 10.0.0.2 2>&1",
        "sleep 1; sudo ping 10.0.0.2",
        "top",
        "yes",
        "tail -f /tmp/log",
        "while true; do date; sleep 1; done",
        "for n in 1 2; do ping 10.0.0.2; done",
    ],
)
def test_a_command_without_an_end_is_known_by_its_text(text: str) -> None:
    assert endless.mend(text)


@pytest.mark.parametrize(
    "text",
    [
        "ping -c 3 10.0.0.2",
        "ping -nc3 10.0.0.2",
        "timeout 3 ping 10.0.0.2",
        "ping 10.0.0.2 &",
        "yes | head -n 9",
        "echo 'ping 10.0.0.2'",
        "while true; do date; break; done",
        "while true; do date; done | head -n 9",
        "echo 'a quote without its end",
    ],
)
def test_a_command_with_an_end_is_none(text: str) -> None:
    assert endless.mend(text) == ""


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=tmp_path_factory.mktemp("endless")) as lab:
        yield lab


@pytest.mark.lab
def test_it_is_ended_with_its_first_and_last_lines_and_the_lab_lives_on(lab: linklab.Lab) -> None:
    with pytest.raises(LabError, match=r"(?s)ping -c 3.*icmp_seq=1 .*packets transmitted"):
        lab["h1"].cmd(f"ping {lab['h2'].address}")
    assert lab["h1"].cmd("echo alive") == "alive\n"


@pytest.mark.lab
def test_at_mininets_command_line_too(lab: linklab.Lab) -> None:
    with pytest.raises(LabError, match="ping -c 3"):
        lab.cli("h1 ping h2")
    assert "0% packet loss" in lab.cli("h1 ping -c 1 h2")


@pytest.mark.lab
def test_long_output_with_an_end_comes_whole(lab: linklab.Lab) -> None:
    assert len(lab["h1"].cmd("yes 0123456 | head -n 9000").splitlines()) == 9000
    assert lab["h1"].cmd("ping -c 700 127.0.0.1").count("time=") == 700
