"""A program that a signal ends is gone before the sender goes on, although no time passes in which it could end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import linklab
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind

pytestmark = pytest.mark.lab

SENDERS = {
    "a shell's kill": "kill -9 $p",
    "kill": "/bin/kill -9 $p",
    "pkill": "pkill -9 iperf3",
    "a signal that the server catches": "kill $p",
}


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=tmp_path_factory.mktemp("signals")) as lab:
        yield lab


@pytest.mark.parametrize("sender", SENDERS.values(), ids=SENDERS)
def test_a_server_that_was_ended_has_left_its_port(lab: linklab.Lab, sender: str) -> None:
    """As scripts do it: a server is ended and started again in one line."""
    once = f"iperf3 -s -p 99 & p=$!; sleep 1; {sender}; iperf3 -s -p 99 & sleep 1; /bin/kill -9 $!; wait"
    lab.write_file("/tmp/often.sh", f"for n in 1 2 3 4 5; do {once}; done 2>&1")
    said = lab["h2"].cmd("bash /tmp/often.sh")
    assert said.count("Server listening") == 10, said


def test_a_shell_does_not_list_a_job_that_it_has_ended(lab: linklab.Lab) -> None:
    assert "Running" not in lab["h1"].cmd("bash -ic 'sleep 99 & kill %1; jobs' 2>&1")
