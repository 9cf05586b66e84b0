"""The three studies' numbers: all there, found by name, in agreement with the arithmetic that binds them."""

from __future__ import annotations

import math
import re

import pytest

from linklab.errors import MeasurementError
from linklab.published import mtu, switches, video
from linklab.published.claims import Inconsistency

STUDIES = {"mtu": mtu, "video": video, "switch": switches}


def test_the_mtu_study_has_nine_runs_twice_with_two_quantities() -> None:
    rows = mtu.ROWS
    assert len(rows) == 9 * 2 * 2
    assert len({(row.figure, row.platform) for row in rows}) == 36
    assert [row.figure for row in rows] == sorted(row.figure for row in rows)
    for row in rows:
        assert row.minimum <= row.mean <= row.maximum, row
    # check sums over the text's paragraphs, section by section: real, then virtual means; largest values
    for rates, real, virtual, largest in (
        ((10, 10), 28.5 + 1.263, 30 + 0.004, 104.9 + 40.177),
        ((100, 10), 29.8 + 0.055, 30 + 0.010, 60.3 + 11.215),
        ((100, 100), 293.470 + 0.044, 300 + 0.001, 634.427 + 5.318),
    ):
        section = [row for row in rows if (row.link_mbps, row.traffic_mbps) == rates]
        assert sum(row.mean for row in section if row.platform == "real") == pytest.approx(real)
        assert sum(row.mean for row in section if row.platform == "virtual") == pytest.approx(virtual)
        assert sum(row.maximum for row in section) == pytest.approx(largest)


def test_rows_of_the_mtu_study_are_found_by_run() -> None:
    row = mtu.find(4370, 10, 10, "bandwidth_mbps", "virtual")
    assert (row.maximum, row.unit, row.figure) == (31.5, "Mbit/s", 7)
    row = mtu.find(7999, 100, 100, "jitter_ms", "real")
    assert (row.mean, row.unit, row.figure) == (0.016, "ms", 22)
    with pytest.raises(MeasurementError, match=r"no real jitter_ms of 1500 bytes at 10/10 .* it has 1518, 4370, 7999"):
        mtu.find(1500, 10, 10, "jitter_ms", "real")


def test_at_10_mbit_a_real_cable_carries_what_preamble_and_gap_leave() -> None:
    for size in mtu.FRAME_BYTES:
        most = 10 * size / (size + 20)
        assert mtu.find(size, 10, 10, "bandwidth_mbps", "real").maximum <= round(most, 1)


def test_the_multimedia_study_has_six_runs_twice_with_three_quantities() -> None:
    rows = video.ROWS
    assert len(rows) == 6 * 2 * 3
    assert [row.figure for row in rows[::2]] == list(range(10, 28))
    for row in rows:
        assert row.minimum.value <= row.mean.value <= row.maximum.value, row
        assert not row.normal


def test_each_bandwidth_at_its_limits_is_a_whole_number_of_packets_a_second() -> None:
    step = video.BANDWIDTH_STEP_KBPS
    for row in video.ROWS:
        if row.quantity == "bandwidth_kbps":
            for limit in (row.minimum, row.maximum):
                assert limit.value == pytest.approx(round(limit.value / step) * step, abs=0.006), row


def test_deviations_are_roots_of_variances_but_where_an_inconsistency_says_so() -> None:
    odd = set()
    for row in video.ROWS:
        if row.variance.below:
            wrong = row.deviation.value > math.sqrt(row.variance.value) + 0.01
        else:
            wrong = not math.isclose(math.sqrt(row.variance.value), row.deviation.value, rel_tol=0.005, abs_tol=0.006)
        odd |= {row.figure} if wrong else set()
    named = {
        int(number)
        for each in video.INCONSISTENCIES
        for number in re.findall(r"figure (\d+)", each.where)
        if "variance" in each.what
    }
    assert odd == named == {21, 24, 25, 26}


def test_mean_gaps_and_the_packets_size_give_the_videos_rate() -> None:
    for row in video.ROWS:
        if row.quantity == "delay_ms":
            mean_kbps = video.PACKET_BYTES * 8 / row.mean.value
            assert 1026 < mean_kbps < 1026 * 1.15


def test_rows_of_the_multimedia_study_are_found_by_rate() -> None:
    row = video.find(2, "delay_ms", "real")
    assert (str(row.minimum), row.figure) == ("5.41", 19)
    assert str(video.find(1000, "jitter_ms", "virtual").mean) == "<0.004"
    assert video.find(8, "bandwidth_kbps", "virtual").unit == "kbit/s"
    with pytest.raises(MeasurementError, match="at 6 Mbit/s: its links have 1000, 10, 100, 2, 4, 8"):
        video.find(6, "delay_ms", "real")


def test_the_switches_paper_has_sixteen_figures_and_their_settings() -> None:
    assert [each.number for each in switches.FIGURES] == list(range(13, 29))
    assert switches.figure(26).offered_mbps == ((70, 70), (40, 80), (30, 90), (70, 90), (50, 80))
    assert switches.figure(27).offered_mbps == ((4, 4, 4), (4, 4, 8), (8, 8, 8))
    for each in switches.FIGURES:
        assert all(sum(offered) > each.rate_mbps for offered in each.offered_mbps)
    with pytest.raises(MeasurementError, match="figure 12: choose 13 to 28"):
        switches.figure(12)


def test_what_the_background_leaves_of_a_cable_is_reckoned_right() -> None:
    texts = " ".join(each.what for each in switches.INCONSISTENCIES)
    frame = 500 + 8 + 20 + 14 + 4 + 8 + 12
    assert f"{7.5 * frame / 500:.2f} on a cable" in texts
    assert f"{10 - 7.5 * frame / 500:.2f} of 10 Mbit/s are left" in texts
    assert f"{8 * (frame + 4) / 500:.2f} on the cable" in texts
    assert f"{10 - 8 * (frame + 4) / 500:.2f} are left" in texts


def test_a_bottleneck_without_favour_shares_in_proportion() -> None:
    assert switches.proportional_shares((4, 8), 10) == pytest.approx((10 / 3, 20 / 3))
    assert switches.proportional_shares((1, 2), 10) == (1, 2)


@pytest.mark.parametrize("prefix", STUDIES)
def test_claims_have_ids_one_sentence_a_place_and_a_test(prefix: str) -> None:
    claims = STUDIES[prefix].CLAIMS
    assert len({claim.id for claim in claims}) == len(claims) >= 8
    for claim in claims:
        assert claim.id.startswith(prefix + "-")
        assert claim.says.endswith(".")
        assert not re.search(r"[.?!] [A-Z]", claim.says)
        assert claim.where
        assert claim.test


@pytest.mark.parametrize("prefix", STUDIES)
def test_inconsistencies_name_two_places_or_arithmetic(prefix: str) -> None:
    for each in STUDIES[prefix].INCONSISTENCIES:
        assert isinstance(each, Inconsistency)
        assert len(each.what) > 30
        assert not each.what.endswith(".")
