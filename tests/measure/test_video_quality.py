"""The picture under loss: each one is held beside the one of its own instant, and what ffmpeg prints is read."""

from __future__ import annotations

import pytest

from linklab.errors import MeasurementError
from linklab.measure import Clip, Quality, Video, VideoResult, encoded, picture_at, quality
from linklab.measure.video_quality import FrameQuality, parsed
from tests.support.caches import own_cache
from tests.support.streams import made_stream, without

CLIP = Clip(duration_s=4, width=320, height=240, frames_per_s=20, bitrate_kbps=600)
CAPTURED = """\
frame:0    pts:0       pts_time:0
lavfi.psnr.mse.y=0.00
lavfi.psnr.psnr.y=inf
lavfi.psnr.mse_avg=0.00
lavfi.psnr.psnr_avg=inf
lavfi.ssim.Y=1.00
lavfi.ssim.All=1.000000
lavfi.ssim.dB=inf
frame:1    pts:45000   pts_time:0.5
lavfi.psnr.mse.y=200.50
lavfi.psnr.mse_avg=451.960541
lavfi.psnr.psnr_avg=21.58
lavfi.ssim.Y=0.90
lavfi.ssim.All=0.882721
"""
"""Printed by ffmpeg 5.1."""
TWO = Clip(duration_s=1, width=64, height=64, frames_per_s=2)


def test_what_ffmpeg_prints_is_read() -> None:
    seen = parsed(CAPTURED, TWO)
    assert seen.frames == (FrameQuality(0, 0, 1), FrameQuality(0.5, 451.960541, 0.882721))
    assert (seen.damaged_percent, seen.worst()) == (50, seen.frames[1])
    assert seen.damaged_mean_psnr_db == pytest.approx(21.58, abs=0.01)


def test_pictures_before_the_first_that_came_are_not_shown() -> None:
    late = CAPTURED.partition("frame:1 ")[2]
    seen = parsed("frame:0 " + late, TWO)
    assert seen.frames[0] == FrameQuality(0, None, None)
    assert (seen.least_ssim, seen.damaged_percent) == (0, 100)
    with pytest.raises(MeasurementError, match="not one picture"):
        Quality((seen.frames[0],)).worst()


@pytest.mark.parametrize("said", ["", CAPTURED.partition("frame:1")[0]])
def test_output_without_the_pictures_is_refused(said: str) -> None:
    with pytest.raises(MeasurementError, match="pictures of 2"):
        parsed(said, TWO)


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Video:
    with pytest.MonkeyPatch.context() as patched:
        own_cache(patched, tmp_path_factory.mktemp("cache"))
        return encoded(CLIP)


def without_packets(video: Video, lost: list[int]) -> VideoResult:
    return made_stream([1] * 3, video=video.digest, received=without(video.stream_path.read_bytes(), lost))


def test_nothing_lost_is_the_same_bit_for_bit(video: Video) -> None:
    seen = quality(video, without_packets(video, []))
    assert len(seen.frames) == CLIP.frames
    assert (seen.damaged_percent, seen.mean_ssim, seen.damaged_mean_psnr_db) == (0, 1, None)
    assert [frame.time_s for frame in seen.frames] == pytest.approx([it / 20 for it in range(CLIP.frames)])


def test_a_loss_shifts_no_other_picture(video: Video) -> None:
    """A key picture comes with each new scene, and two seconds later at most: from there on all is whole again."""
    for lost in ([3], [3, 4, 5, 6], list(range(5, 25))):
        seen = quality(video, without_packets(video, lost))
        whole = [frame.whole for frame in seen.frames]
        assert not all(whole)
        assert all(whole[-10:]), f"pictures behind the loss of {lost} are held beside others than their own"


def test_a_lost_begin_is_dark_and_shifts_nothing(video: Video) -> None:
    result = without_packets(video, [0, 1, 2])
    seen = quality(video, result)
    dark = [frame.time_s for frame in seen.frames if frame.ssim is None]
    assert dark
    assert max(dark) < 1.3
    assert all(frame.whole for frame in seen.frames[-10:])
    sent, shown = picture_at(video, result, 0.0)
    assert sent[:8] == shown[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(shown) < len(sent) / 5, "a black picture"


def test_a_picture_at_an_instant(video: Video) -> None:
    whole = without_packets(video, [])
    for time_s in (0.0, 1.23, 3.99):
        sent, shown = picture_at(video, whole, time_s)
        assert sent == shown
    damaged = without_packets(video, [3, 4, 5, 6])
    worst = quality(video, damaged).worst()
    sent, shown = picture_at(video, damaged, worst.time_s)
    assert sent != shown
    for outside in (-0.1, 4.0):
        with pytest.raises(MeasurementError, match="outside the video"):
            picture_at(video, whole, outside)
