"""Video streams: what two captures say of one, the result's JSON form, and streams through labs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import linklab
from linklab.analysis.video_statistics import delays
from linklab.errors import MeasurementError
from linklab.measure import Clip, Video, VideoFlow, VideoResult, bucket_of_one_frame, encoded, quality, run
from linklab.measure.tools.video import RtpPacket, passage
from linklab.network.catalogue import video_network
from linklab.runtime.backends import Kind
from tests.support.caches import own_cache
from tests.support.streams import made_stream

SMALL = Clip(duration_s=3, width=320, height=240, frames_per_s=25, bitrate_kbps=1026)


def packet(number: int, at_ms: float, sequence: int | None = None, timestamp: int = 0) -> RtpPacket:
    sequence = number if sequence is None else sequence
    return RtpPacket(round(at_ms * 1e6), sequence & 0xFFFF, timestamp & 0xFFFFFFFF, 1356, bytes([number]))


def test_what_left_and_what_arrived_are_put_side_by_side() -> None:
    left = [packet(number, 10 * number, timestamp=900 * number) for number in range(5)]
    arrived = [packet(0, 3), packet(2, 24), packet(1, 25), packet(2, 26), packet(4, 43)]
    seen = passage(left, arrived)
    assert seen["departure_s"] == (0, 0.01, 0.02, 0.03, 0.04)
    assert seen["media_s"] == (0, 0.01, 0.02, 0.03, 0.04)
    assert seen["arrival_s"] == (0.003, 0.025, 0.024, None, 0.043)
    assert (seen["duplicates"], seen["reordered"], seen["received"]) == (1, 1, bytes([0, 1, 2, 4]))


def test_numbers_and_timestamps_that_start_again_are_followed() -> None:
    first = 0xFFFE
    left = [packet(it, it, first + it, 0xFFFFFF00 + 100 * it) for it in range(4)]
    seen = passage(left, [left[0], left[3]])
    assert seen["media_s"] == pytest.approx((0, 100 / 90000, 200 / 90000, 300 / 90000))
    assert seen["arrival_s"] == (0, None, None, 0.003)


def test_captures_that_do_not_fit_are_refused() -> None:
    left = [packet(number, number) for number in range(4)]
    with pytest.raises(MeasurementError, match="no RTP packet left"):
        passage([], [])
    with pytest.raises(MeasurementError, match="not numbered one after the other"):
        passage([left[0], left[2]], [])
    with pytest.raises(MeasurementError, match="never left"):
        passage(left, [packet(9, 9)])


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Video:
    with pytest.MonkeyPatch.context() as patched:
        own_cache(patched, tmp_path_factory.mktemp("cache"))
        return encoded(SMALL)


def sent(video: Video, folder: Path, sender: str, link_mbps: float = 0.9, *, one_frame: bool = False) -> VideoResult:
    with linklab.start(video_network(3, link_mbps), folder=folder) as lab:
        if one_frame:
            bucket_of_one_frame(lab, "r1", "r1-eth1", link_mbps, 1370)
        result = run(lab, VideoFlow("h1", "h2", video, sender))  # type: ignore[arg-type]
        assert lab["h1"].cmd("ss -Huan").strip() == lab["h2"].cmd("ss -Huan").strip() == ""
        running = lab["h1"].cmd("ps -e -o comm 2>/dev/null")
    assert not any(name in running for name in ("tcpdump", "ffmpeg"))
    return result


@pytest.mark.lab
@pytest.mark.parametrize("sender", ["paced", pytest.param("ffmpeg", marks=pytest.mark.large)])
def test_two_fresh_labs_give_the_same_digits(virtual: Kind, video: Video, tmp_path: Path, sender: str) -> None:
    one, two = (sent(video, tmp_path, sender) for _ in range(2))
    # the machine's load and the wall's time differ
    assert one == replace(two, origin=one.origin)
    assert one.received == two.received
    assert one.lost_packets == 0
    assert set(one.ip_bytes[:-1]) == {1356}
    # in real pace: the last packet leaves when the video ends
    assert one.departure_s[-1] == pytest.approx(SMALL.duration_s, abs=0.15)


@pytest.mark.lab
def test_paced_packets_leave_as_their_timestamps_say_and_show_the_whole_video(
    virtual: Kind, video: Video, tmp_path: Path
) -> None:
    result = sent(video, tmp_path, "paced", 100)
    assert result.sent_packets == video.packets
    assert result.received == video.stream_path.read_bytes()
    assert max(abs(left - due) for left, due in zip(result.departure_s, result.media_s, strict=True)) < 2e-5
    assert quality(video, result).damaged_percent == 0


@pytest.mark.large
@pytest.mark.lab
def test_a_bucket_of_one_frame_lets_no_packets_come_closer(virtual: Kind, video: Video, tmp_path: Path) -> None:
    frame_ms = 1370 * 8 / 900
    with_burst, without = (min(delays(sent(video, tmp_path, "paced", one_frame=it))) for it in (False, True))
    assert with_burst < 0.9 * frame_ms
    assert without == pytest.approx(frame_ms, rel=0.002)


@pytest.mark.lab
def test_what_cannot_be_streamed_is_one_line(virtual: Kind, video: Video, tmp_path: Path) -> None:
    with linklab.start(video_network(3, 8, loss_percent=100), folder=tmp_path) as lab:
        with pytest.raises(MeasurementError, match=r"nothing of the video arrived at h2, of \d+ packets"):
            run(lab, VideoFlow("h1", "h2", video))
        with pytest.raises(MeasurementError, match="h2 has not the address"):
            run(lab, VideoFlow("h1", "h2", video, address="10.0.0.2"))
        blocking = lab["h2"].popen("exec python3 -c \"import socket, time\ns = socket.socket(2, 2)\n"
                                   "s.bind(('', 5004))\nprint('up', flush=True)\ntime.sleep(1000)\"")  # fmt: skip
        blocking.read(10)
        with pytest.raises(MeasurementError, match=r"server of video h1-h2 on h2 ended: .*in use"):
            run(lab, VideoFlow("h1", "h2", video))
        with pytest.raises(MeasurementError, match="could not be set"):
            bucket_of_one_frame(lab, "r1", "r1-eth9", 2, 1370)


def test_a_result_of_another_video_has_no_quality(video: Video) -> None:
    result = made_stream([10] * 5, video=video.digest)
    with pytest.raises(MeasurementError, match="another video"):
        quality(video, made_stream([10] * 5))
    with pytest.raises(MeasurementError, match="has no payload"):
        quality(video, result)
    with pytest.raises(MeasurementError, match="packs the video anew"):
        quality(video, replace(result, flow=VideoFlow("h1", "h2", sender="ffmpeg")))
