"""Labs that wait for ever: the notebook is told which program waits for what, and the lab lives on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import linklab
from linklab.errors import LabError
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]


@pytest.fixture
def lab(virtual: Kind, lab_folder: Path) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=lab_folder) as running:
        yield running


def _pipe(net: Any) -> None:
    import os

    os.read(os.pipe()[0], 1)


def _each_other(net: Any) -> None:
    import os
    import subprocess

    (one_in, one_out), (two_in, two_out) = os.pipe(), os.pipe()
    first = subprocess.Popen(["cat"], stdin=one_in, stdout=two_out)
    subprocess.Popen(["tee"], stdin=two_in, stdout=one_out)
    first.wait()


def _server(net: Any) -> None:
    net["h2"].cmd("python3 -c 'import socket; socket.create_server((\"\", 5001)).accept()'")


@pytest.mark.large
@pytest.mark.parametrize(
    ("function", "says"),
    [
        (_pipe, r"the function is in _pipe \(test_hang_report.py:\d+\)"),
        (
            _each_other,
            r"'tee' \(pid \d+\) waits for a pipe; 'cat' \(pid \d+\) waits for a pipe",
        ),
        (_server, r"is in _server \(.*\(pid \d+ on h2\) waits for a socket"),
    ],
)
def test_who_waits_for_ever_is_named_and_the_lab_lives_on(
    lab: linklab.Lab, function: Callable[[Any], None], says: str
) -> None:
    with pytest.raises(LabError, match=f"(?s)no answer in 300,000 s of the lab's time.*{says}") as caught:
        lab.call(function)
    assert ("on h2 did not end" in str(caught.value)) == (function is _server)
    assert "busy loop" not in str(caught.value)
    assert lab["h2"].cmd("echo well").strip() == "well"


def test_a_command_that_waits_for_ever_is_ended_and_named(lab: linklab.Lab) -> None:
    with pytest.raises(LabError, match=r"'iperf3 -s' \(pid \d+ on h1\) waits"):
        lab["h1"].cmd("iperf3 -s")
    assert lab["h1"].cmd("echo well").strip() == "well"


@pytest.mark.large
def test_long_waits_that_name_their_end_are_let_be(lab: linklab.Lab) -> None:
    before = lab.now()
    lab.sleep(1_000_000)
    assert lab["h1"].cmd("sleep 200000; echo slept").strip() == "slept"
    assert lab.now() - before >= 1_200_000


def _busy(net: Any) -> None:
    while True:
        pass


def test_a_busy_loop_is_called_one_and_the_lab_lives_on(virtual: Kind, lab_folder: Path) -> None:
    with linklab.start(TWO_HOSTS, folder=lab_folder, wall_limit_s=3) as lab:
        with pytest.raises(LabError, match=r"silent for 3 s of real time.* computed for .* busy loop.* is in _busy"):
            lab.call(_busy)
        assert lab["h1"].cmd("echo well").strip() == "well"
