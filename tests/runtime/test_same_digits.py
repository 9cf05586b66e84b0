"""On virtual time the same requests find the same clock, and the same experiments give the same digits in another lab,
however long the notebook takes between and during the requests. One that is repeated in one lab begins elsewhere.
"""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mininet.node import Host
from mininet.topo import Topo

import linklab
from linklab.guest import lab_api
from linklab.guest.boot import DATE_S
from linklab.guest.request_loop import BEAT_NS
from linklab.measure import PingFlow, QueueFlow, TcpFlow, run
from linklab.network import COURSE, TWO_HOSTS
from linklab.network.catalogue import mtu_direct
from linklab.runtime.backends import Kind
from linklab.runtime.client import LabProcess
from linklab.show import network
from linklab.units import SwitchName

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]
TCP_S = 3


def _monotonic_ns(context: Any) -> int:
    import time

    return time.monotonic_ns()


def _clocks_ns(kind: Kind, folder: Path, wait_s: float, seed: int = 0) -> list[int]:
    """The lab's clock in some requests one after the other."""
    with LabProcess.spawn(kind, folder, seed=seed) as lab:
        for _ in range(3):
            lab.call(_monotonic_ns)  # imports what it takes to read a request, and imports read the clock
        found_ns = []
        for _ in range(6):
            time.sleep(wait_s)
            found_ns.append(lab.call(_monotonic_ns))
    return found_ns


def test_each_request_begins_at_a_moment_drawn_for_it_that_is_the_same_in_another_lab(
    virtual: Kind, lab_folder: Path
) -> None:
    """However long the notebook takes in between; another seed draws others."""
    found_ns = _clocks_ns(virtual, lab_folder, 0.0)
    assert _clocks_ns(virtual, lab_folder, 0.1) == found_ns
    assert _clocks_ns(virtual, lab_folder, 0.0, seed=1) != found_ns
    assert len({clock_ns % BEAT_NS for clock_ns in found_ns}) == len(found_ns)


@pytest.mark.large
def test_a_notebook_that_comes_late_shows_in_no_digit(virtual: Kind, lab_folder: Path) -> None:
    """The lab looks for the request some ten thousand times meanwhile."""

    def sent(late_s: float) -> list[float]:
        with linklab.start(COURSE, folder=lab_folder) as lab:
            transport = lab.process.transport
            resume = transport.resume

            def resume_early() -> None:
                resume()
                time.sleep(late_s)

            transport.resume = resume_early  # type: ignore[method-assign]
            result = run(lab, TcpFlow("h1", "h4", 2))
            return [result.throughput_mbps, lab.now()]

    assert sent(0.0) == sent(0.5)


def test_a_program_comes_as_far_however_long_the_notebook_takes(virtual: Kind, lab_folder: Path) -> None:
    """Started by one request, it is ready when the next one comes: it does not run on while the lab waits for that."""

    def looks(wait_s: float) -> list[str]:
        with linklab.start(TWO_HOSTS, folder=lab_folder) as lab:
            program = lab["h1"].popen("python3 -c 'import json, time; print(time.monotonic_ns()); time.sleep(0.5)'")
            time.sleep(wait_s)
            lab["h2"].cmd("true")
            program.wait()
            return [program.output, str(lab.now())]

    assert looks(0.0) == looks(0.2)


def _clock_ns(net: Any) -> int:
    import time

    return time.monotonic_ns()


def _received(folder: Path, repeats: int, *, traced: bool = False) -> list[tuple[int, int]]:
    """Bytes received by TCP and over how many seconds, as the receiver says."""
    found = []
    with linklab.start(TWO_HOSTS, folder=folder, traced=traced) as lab:
        for _ in range(repeats):
            server = lab["h2"].popen("iperf3 -s -1")
            lab["h2"].wait_listening(5201)
            report = json.loads(lab["h1"].cmd(f"iperf3 --json -c {TWO_HOSTS.address_of('h2')} -t {TCP_S}"))
            assert "error" not in report, report["error"]
            server.wait(30)
            end = report["end"]["sum_received"]
            found.append((end["bytes"], lab.call(_clock_ns)))
            time.sleep(0.1)
    return found


@pytest.mark.large
def test_what_was_asked_and_run_before_moves_no_digit_of_a_run_and_repeating_it_does(
    virtual: Kind, lab_folder: Path
) -> None:
    """A run's random numbers come from the lab's seed, from what is run, and from how often it was."""

    def digits(prepare: Callable[[linklab.Lab], object]) -> list[Any]:
        with linklab.start(COURSE, folder=lab_folder) as lab:
            prepare(lab)
            runs = [run(lab, TcpFlow("h1", "h4", TCP_S)) for _ in range(2)]
            pings = run(lab, PingFlow("h7", "h9", 3))
            sampled_s = [each.at_s for each in run(lab, QueueFlow("r1", "h4", 1)).samples]
        counted = ((each.received_bytes, each.samples, each.retransmitted_segments) for each in runs)
        return [*counted, pings.rtt_ms, sampled_s]

    def work(lab: linklab.Lab) -> None:
        lab.write_file("/tmp/some", "text")
        lab["h5"].cmd("uname")
        lab.sleep(0.03)
        run(lab, PingFlow("h2", "h5", 3))
        run(lab, TcpFlow("h1", "h4", 1, congestion="reno"))

    plain = digits(lambda lab: None)
    assert digits(work) == plain
    assert plain[0] != plain[1]


def test_tcp_receives_the_same_bytes_in_another_lab(virtual: Kind, lab_folder: Path) -> None:
    found = _received(lab_folder, 3)
    assert found[0][0] > 0
    assert _received(lab_folder, 2) == found[:2], "the same work gave other bytes, or ended at another time"


def test_a_guest_that_traces_its_programs_gives_the_same_digits(virtual: Kind, lab_folder: Path) -> None:
    assert _received(lab_folder, 2, traced=True) == _received(lab_folder, 2)


class Loading(Host):  # type: ignore[misc]
    """A host whose configuration loads modules."""

    def config(self, modules: tuple[str, ...] = (), **params: Any) -> Any:
        for module in modules:
            importlib.import_module(module)
        return super().config(**params)


class Pair(Topo):  # type: ignore[misc]
    """Two hosts. Building them takes the lab's Python so many modules more."""

    def build(self, modules: tuple[str, ...]) -> None:
        self.addLink(self.addHost("h1", cls=Loading, modules=modules), self.addHost("h2"))


def test_how_many_modules_python_loads_to_build_makes_no_difference(virtual: Kind, lab_folder: Path) -> None:
    """Each takes a guest a little of its time, and another version of Python, or of Linklab, loads others."""

    def clocks_s(*modules: str) -> list[float]:
        with linklab.start(Pair(modules), folder=lab_folder) as lab:
            found_s = [lab.process.clock_s]
            for _ in range(2):
                lab.process.call(lab_api.begin_run, ["h1"], "a run", None)
                lab["h1"].cmd("true")
                assert lab["h1"].popen("true").wait() == 0
                found_s.append(lab.process.clock_s)
        return found_s

    assert clocks_s("unittest.mock") == clocks_s()


def test_the_time_of_day_is_a_fixed_date_and_the_clock_since_boot(virtual: Kind, lab_folder: Path) -> None:
    """ping prints microseconds of differences of the time of day, and programs seed themselves with its seconds."""

    def apart_ns(context: Any) -> int:
        import time

        return time.time_ns() - time.monotonic_ns()

    with LabProcess.spawn(virtual, lab_folder) as lab:
        found_ns = lab.call(apart_ns)
    assert 0 <= DATE_S * 10**9 - found_ns < 100_000  # the looks at the clock between the two readings


def _look(lab: linklab.Lab) -> None:
    """All that a notebook can look at without changing anything."""
    assert len(lab.nodes) == len(lab.state().nodes) == len(list(lab))
    assert lab["h1"].address
    assert lab.read_file("/etc/hostname")
    lab.now()
    assert network(lab).svg


@pytest.mark.parametrize("switch", ["bridge", pytest.param("ovs", marks=pytest.mark.large)])
def test_looking_at_a_lab_changes_no_digit(virtual: Kind, lab_folder: Path, switch: SwitchName) -> None:
    """Nor does time pass for a program that runs in it, and a transfer that is under way."""
    ticking = "import time\nwhile True: time.sleep(0.00037); print(time.monotonic_ns(), time.time_ns())"

    def digits(looks: int) -> tuple[Any, ...]:
        with linklab.start(mtu_direct(1518, 10), switch=switch, folder=lab_folder) as lab:
            programs = [lab["h2"].popen("iperf3 -s -1"), lab["h1"].popen(["python3", "-uc", ticking])]
            lab["h2"].wait_listening(5201)
            programs.append(lab["h1"].popen(f"iperf3 -J -i 0.1 -t 1 -c {lab['h2'].address}"))
            found: list[Any] = []
            for _ in range(4):
                before_s = lab.now()
                for _ in range(looks):
                    _look(lab)
                assert lab.now() == before_s
                found += [lab["h1"].cmd("cat /proc/sys/kernel/random/uuid"), programs[1].read(0.013)]
            programs[2].wait()
            return (*found, programs[1].read(0), lab.now(), run(lab, PingFlow("h1", "h2", 3)).rtt_ms)

    assert digits(20) == digits(0)
