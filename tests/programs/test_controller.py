"""A student's controller in a lab: it works, it fails in one line, and it is confined."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mininet.topo import SingleSwitchTopo

import linklab
from linklab.errors import LabError
from linklab.labs.lab14.rules import HEAD
from linklab.network.flow_tables import questions
from linklab.programs.controller import rules, start_controller
from linklab.runtime.backends import Kind
from tests.guest.test_switches_controllers import LEARNING

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    folder = tmp_path_factory.mktemp("controller")
    with linklab.start(SingleSwitchTopo(2), switch="ovs", controller="remote", folder=folder) as lab:
        yield lab


def answers(lab: linklab.Lab) -> bool:
    return " 0% packet loss" in lab["h1"].cmd("ping -c 2 -i 0.2 -W 1 10.0.0.2")


@pytest.mark.large
def test_switches_wait_for_a_controller_and_keep_its_rules_when_it_ends(lab: linklab.Lab, tmp_path: Path) -> None:
    assert not answers(lab)
    file = tmp_path / "learning.py"
    file.write_text(LEARNING)
    controller = start_controller(lab, file)
    assert answers(lab)
    assert controller.problem == ""
    assert "00:00:00:00:00:01 is behind port 1 of s1" in controller.output
    table = rules(lab, "s1")
    assert questions(table) >= 2
    assert table[0].outputs in {("1",), ("2",)}
    with pytest.raises(LabError, match=r"a controller runs already: end it with stop\(\)"):
        start_controller(lab, LEARNING)
    controller.stop()
    assert not controller.running
    assert answers(lab)


@pytest.mark.large
def test_an_exception_in_a_handler_is_one_line_and_the_controller_goes_on(lab: linklab.Lab) -> None:
    lab["s1"].cmd("ovs-ofctl -O OpenFlow13 del-flows s1")
    controller = start_controller(lab, LEARNING.replace("self.port_of = {}", "self.port_of = []"), "mine.py")
    assert not answers(lab)
    assert controller.problem == "line 34 of mine.py: TypeError: list indices must be integers or slices, not tuple"
    assert controller.running
    controller.stop()


@pytest.mark.large
@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import nothing_there\n", "line 1 of c.py: ModuleNotFoundError: No module named 'nothing_there'"),
        ("x = 1\ndef f(:\n", "line 2 of c.py: SyntaxError"),
        ("open('/run/openvswitch/conf.db')\n", "line 1 of c.py: FileNotFoundError"),
        ("print('x' * 10**6)\n", "x" * 200),
        ("open('/etc/new', 'w')\n", "line 1 of c.py: OSError"),
    ],
)
def test_a_controller_that_cannot_run_ends_with_its_line(lab: linklab.Lab, source: str, says: str) -> None:
    with pytest.raises(LabError) as failed:
        start_controller(lab, source, "c.py")
    assert f"c.py ended at once: {says}" in str(failed.value)


HANDLER = """
    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def asked(self, event):
"""


@pytest.mark.large
@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("        import os\n        while True: os.fork()", "BlockingIOError: [Errno 11]"),
        ("        x = []\n        while True: x.append(bytearray(10**7))", "MemoryError"),
        ("        for _ in range(1000): print('x' * 10**5)", ""),
        ("        import os\n        os._exit(3)", ""),
    ],
)
def test_what_a_controller_takes_is_bounded_and_the_lab_goes_on(lab: linklab.Lab, body: str, says: str) -> None:
    lab["s1"].cmd("ovs-ofctl -O OpenFlow13 del-flows s1")
    controller = start_controller(lab, HEAD + HANDLER + body, "mine.py")
    try:
        assert not answers(lab)
        assert says in controller.problem
        assert len(controller.output) <= 1_000_000
    finally:
        controller.stop()
    assert lab["h1"].cmd("echo on") == "on\n"


def test_a_lab_of_bridges_looks_for_no_controller(virtual: Kind, lab_folder: Path) -> None:
    with linklab.start(SingleSwitchTopo(2), folder=lab_folder) as plain:
        with pytest.raises(LabError, match='start the lab with switch="ovs", controller="remote"'):
            start_controller(plain, LEARNING)
        with pytest.raises(LabError, match="s1 has no flow table to read"):
            rules(plain, "s1")
