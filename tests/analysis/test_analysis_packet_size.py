"""Header arithmetic and a bucket's first packets, by hand."""

from __future__ import annotations

import pytest

from linklab.analysis.packets import after_first_s, bandwidth_mbps, first_bandwidth_mbps, real_mbps, virtual_mbps
from linklab.errors import MeasurementError
from linklab.published import publication
from linklab.units import GRE_OVERHEAD_BYTES


def test_a_frame_on_a_virtual_and_on_a_real_cable() -> None:
    assert virtual_mbps(1518, 10) == pytest.approx(10.0264, abs=1e-4)
    assert virtual_mbps(1518, 10, 38) == pytest.approx(9.7809, abs=1e-4)
    assert real_mbps(1518, 100) == pytest.approx(98.70, abs=0.005)
    assert publication("mtu")["gre_overhead_bytes"] == GRE_OVERHEAD_BYTES


@pytest.mark.parametrize("size", [1518, 4370, 7999])
def test_the_real_network_carried_no_more_than_a_cable_with_gre(size: int) -> None:
    run = {"frame_bytes": size, "link_mbps": 100, "traffic_mbps": 100}
    mean = publication("mtu").row("figures", **run, quantity="bandwidth_mbps", platform="real")["mean"]
    assert real_mbps(size, 100, GRE_OVERHEAD_BYTES) - 0.5 < mean < real_mbps(size, 100, GRE_OVERHEAD_BYTES)


def test_a_bucket_lets_the_first_packets_through() -> None:
    assert after_first_s(2, 1518, 10, 1600) == 0
    assert after_first_s(3, 1518, 10, 1600) == pytest.approx((2 * 1514 - 1600) * 8e-7)
    assert first_bandwidth_mbps(2, 4370, 10, 1600) == pytest.approx(15.799, abs=1e-3)
    assert first_bandwidth_mbps(2, 4370, 10, 0) == pytest.approx(virtual_mbps(4370, 10))
    with pytest.raises(MeasurementError, match="packet 2 of 1518 bytes comes with the first one"):
        first_bandwidth_mbps(2, 1518, 10, 1600)


def test_counting_the_first_packet_doubles_the_second_ones_bandwidth() -> None:
    even = [0.0, 0.001, 0.002]
    assert bandwidth_mbps(even, 1250) == pytest.approx((10, 10))
    assert bandwidth_mbps(even, 1250, count_first=True) == pytest.approx((20, 15))
