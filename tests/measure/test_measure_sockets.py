"""What ss says of TCP's connections, again and again: the tool that came last has all that the others have."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import pytest

import linklab
from linklab.errors import MeasurementError
from linklab.guest.programs.samples import look
from linklab.measure import (
    Origin,
    SocketsFlow,
    SocketsResult,
    TcpFlow,
    load_result,
    repeated,
    run,
    run_together,
    to_dataframe,
)
from linklab.measure.tools.sockets import SOCKETS, SocketSample
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind

from .captured import job

ORIGIN = Origin("ss utility, iproute2-6.1.0", "7.3.4")
SAID = """\
at 100.000000000
at 100.100000000
ESTAB 0      144800       10.0.0.1:40612       10.0.0.2:5201
\t cubic wscale:7,7 rto:224 rtt:20.5/10.25 mss:1448 cwnd:10 bytes_sent:14480 segs_out:12 send 5.65Mbps rcv_space:14480
at 100.200000000
ESTAB 0      144800       10.0.0.1:40612       10.0.0.2:5201
\t cubic wscale:7,7 rto:300 rtt:41.25/3 mss:1448 cwnd:14 ssthresh:12 bytes_sent:99999 retrans:1/7 lost:2 send 4Mbps
at 100.300000000
ESTAB 0      144800       10.0.0.1:40612       10.0.0.2:5201
\t cubic wscale:7,7 rto:300 rtt:50/3 mss:1448 cw"""


def result(said: str = SAID, **more: Any) -> SocketsResult:
    asked = job(SocketsFlow("h1", "h2"))
    asked.stdout, asked.status, asked.interrupted = said, more.get("status", 0), more.get("interrupted", False)
    return SOCKETS.parse(asked, ORIGIN)


def test_each_look_is_read_and_what_was_cut_is_not() -> None:
    name = "10.0.0.1:40612-10.0.0.2:5201"
    first, second = result().samples
    assert replace(first, at_s=0.1) == SocketSample(name, 0.1, 10, None, 20.5, 0)
    assert replace(second, at_s=0.2) == SocketSample(name, 0.2, 14, 12, 41.25, 7)
    assert [first.at_s, second.at_s] == pytest.approx([0.1, 0.2])
    assert result(SAID.replace("ESTAB", "SYN-SENT").replace("rtt:", "")).samples == ()
    assert result().headline == pytest.approx((20.5 + 41.25) / 2)
    assert result("at 1.0\nat 1.1\n").headline is None


def test_what_is_not_known_and_what_failed_is_said() -> None:
    with pytest.raises(MeasurementError, match="a line that is not known"):
        result(SAID.replace("rtt:20.5", "srtt:20.5"))
    with pytest.raises(MeasurementError, match="sockets h1-h2 failed: sh: ss: not found"):
        result("at 1.0\nsh: ss: not found\n", status=127)


def test_json_and_back() -> None:
    assert load_result(json.loads(json.dumps(result().to_json()))) == result()


@pytest.mark.parametrize("wrong", [{"duration_s": 0}, {"interval_s": 0}, {"interval_s": 11}])
def test_flows_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(MeasurementError, match="choose"):
        SocketsFlow("h1", "h2", **wrong)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=tmp_path_factory.mktemp("sockets")) as lab:
        yield lab


@pytest.mark.lab
def test_the_window_of_a_transfer_that_starts_with_it(lab: linklab.Lab) -> None:
    both = run_together(lab, [TcpFlow("h1", "h2", 3), SocketsFlow("h1", "h2", 2.5)])
    (seen,) = both.of(SocketsResult)
    # iperf3 has a connection for its commands as well: the one with the data is the one that grows
    largest = max(seen.samples, key=lambda sample: sample.cwnd_segments)
    windows = [sample.cwnd_segments for sample in seen.samples if sample.connection == largest.connection]
    assert len(windows) >= 20
    assert windows[0] < max(windows)
    assert min(sample.rtt_ms for sample in seen.samples) > 19
    with mpl.rc_context({"backend": "agg"}):
        frame = to_dataframe(seen)
        axes = frame[frame.connection == largest.connection].plot(x="start_s", y="cwnd_segments")
    assert len(axes.get_lines()) == 1


@pytest.mark.lab
def test_it_is_repeated_shown_and_stopped_as_all_others(lab: linklab.Lab) -> None:
    flows = [TcpFlow("h1", "h2", 1), SocketsFlow("h1", "h2", 0.5)]
    spread = repeated(lab, flows, 2).spreads[1]
    assert (spread.quantity, len(spread.values)) == ("rtt_mean_ms", 2)
    shown: list[str] = []
    found = run(
        lab,
        SocketsFlow("h1", "h2", 100),
        on_progress=lambda progress: shown.append(progress.words),
        stop=lambda: len(shown) > 2,
    )
    assert found.interrupted
    assert found.samples == ()
    assert set(shown) == {"sockets h1-h2"}


@pytest.mark.parametrize(
    "said",
    [
        'at 1.0\nError: an inet prefix is expected rather than "nonsense".\nat 1.1\n',
        "at 1.0\nCannot parse dst/src address.\n",
    ],
)
def test_what_ss_complains_of_is_no_look_without_connections(said: str) -> None:
    with pytest.raises(MeasurementError, match="ss printed a line that is not known"):
        result(said)
    with pytest.raises(MeasurementError, match="sockets h1-h2 failed"):
        result(said, status=1)


def test_looks_come_at_their_instants_and_one_that_fails_ends_all(capfd: pytest.CaptureFixture[str]) -> None:
    begin_ns = time.monotonic_ns() + 1_000_000
    assert look(begin_ns, 3, 2_000_000, ["sh", "-c", "echo $LC_ALL"]) == 0
    assert time.monotonic_ns() >= begin_ns + 4_000_000
    seen = re.findall(r"at \d+\.\d{9}\nC\n", capfd.readouterr().out)
    assert len(seen) == 3
    assert seen == sorted(set(seen))
    assert look(begin_ns, 3, 2_000_000, ["false"]) == 1
    assert capfd.readouterr().out.count("at ") == 1
