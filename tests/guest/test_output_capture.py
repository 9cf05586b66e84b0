"""What a lab prints comes to the notebook: in order, with the answer, and cut where it is a flood."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import linklab
from linklab.guest.output_capture import KEPT_BYTES
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]


@pytest.fixture
def lab(virtual: Kind, lab_folder: Path) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=lab_folder) as running:
        yield running


def _speak(net: Any) -> None:
    import subprocess
    import sys

    from mininet.log import info, output, setLogLevel, warn

    print("print")
    subprocess.run("echo child; echo its error >&2", shell=True, check=True)
    sys.stderr.write("stderr\n")
    output("output\n")
    warn("warn\n")
    info("info is below Mininet's level\n")
    setLogLevel("info")
    info("info\n")
    net["h1"].cmdPrint("echo cmdPrint")
    setLogLevel()
    subprocess.run("echo last > /dev/stderr", shell=True, check=True)


SPOKEN = "print\nchild\nits error\nstderr\noutput\nwarn\ninfo\n*** h1 : ('echo cmdPrint',)\ncmdPrint\nlast\n"


def test_all_that_is_printed_comes_back_in_order_and_what_a_child_prints_later_with_a_later_answer(
    lab: linklab.Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(net: Any) -> None:
        import subprocess

        subprocess.Popen("sleep 5; echo late", shell=True)

    capsys.readouterr()
    lab.call(_speak)
    assert capsys.readouterr().out == SPOKEN
    assert lab.cli("sh echo hi; echo to stderr >&2") == "hi\nto stderr\n"
    assert lab.cli("nonsense") == "*** Unknown command: nonsense\n"
    assert "0% dropped (2/2 received)" in lab.cli("pingall")
    lab.call(start)
    lab.sleep(1)
    assert capsys.readouterr().out == ""
    lab.sleep(10)
    assert capsys.readouterr().out == "late\n"


def test_a_flood_is_cut_with_a_word(lab: linklab.Lab, capsys: pytest.CaptureFixture[str]) -> None:
    def flood(net: Any) -> None:
        import subprocess

        subprocess.run("yes | head -c 30000000", shell=True, check=True)
        print("not kept")

    capsys.readouterr()
    lab.call(flood)
    out = capsys.readouterr().out
    assert KEPT_BYTES < len(out) < KEPT_BYTES + 300
    assert f"{30_000_000 + len('not kept') + 1 - KEPT_BYTES} bytes more were printed" in out
    assert lab.cli("sh echo afterwards") == "afterwards\n"
