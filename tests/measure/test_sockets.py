"""What ss says of TCP's connections, sample by sample."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import linklab
from linklab.measure import SocketsFlow, SocketsResult, TcpFlow, repeated, run_together
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=tmp_path_factory.mktemp("sockets")) as lab:
        yield lab


@pytest.mark.lab
def test_the_window_of_a_transfer_that_starts_with_it(lab: linklab.Lab) -> None:
    (seen,) = run_together(lab, [TcpFlow("h1", "h2", 3), SocketsFlow("h1", "h2", 2.5)]).of(SocketsResult)
    windows = [sample.cwnd_segments for sample in seen.busiest]
    assert len(windows) >= 20
    assert windows[0] < max(windows)
    assert min(sample.rtt_ms for sample in seen.samples) > 19


@pytest.mark.lab
def test_it_is_repeated_as_all_others(lab: linklab.Lab) -> None:
    spread = repeated(lab, [TcpFlow("h1", "h2", 1), SocketsFlow("h1", "h2", 0.5)], 2).spreads[1]
    assert (spread.quantity, len(spread.values)) == ("rtt_mean_ms", 2)
