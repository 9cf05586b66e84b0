"""Videos: what is refused, the cut into RTP packets, and an encoding that is made once and always the same."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from linklab.errors import MeasurementError
from linklab.measure import Clip, encoded, video_file
from linklab.measure.video_file import (
    RTP_PACKET_BYTES,
    coded_kbps,
    filled_up,
    graph,
    packet_times,
    rtp_packets_of,
    scenes,
)
from tests.support.caches import own_cache
from tests.support.streams import payload

SMALL = Clip(duration_s=2, width=160, height=120, frames_per_s=20, bitrate_kbps=200)


def test_scenes_last_as_long_as_the_clip_and_no_round_is_like_another() -> None:
    for duration_s in (0.5, 10, 33, 50):
        assert sum(lasts for _, lasts in scenes(Clip(duration_s=duration_s))) == pytest.approx(duration_s)
    sources = [source for source, _ in scenes(Clip(duration_s=20)) if "testsrc" not in source]
    assert len(set(sources)) == len(sources)
    assert graph(SMALL, scenes(SMALL)).count("trim=") == len(scenes(SMALL))


def test_without_ffmpeg_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LINKLAB_IMAGE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    video_file.version.cache_clear()
    with pytest.raises(MeasurementError, match="ffmpeg is not installed here: sudo apt-get install ffmpeg"):
        encoded(SMALL)
    video_file.version.cache_clear()


def test_a_file_that_is_no_video_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "notes.ts").write_text("this is no video " * 1000)
    with pytest.raises(MeasurementError, match=r"notes\.ts") as raised:
        coded_kbps(tmp_path, "notes.ts", 1)
    assert "\n" not in str(raised.value)


def test_an_input_opens_no_address(tmp_path: Path) -> None:
    (tmp_path / "list.m3u8").write_text("#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/a.ts\n#EXT-X-ENDLIST\n")
    with pytest.raises(MeasurementError, match=r"ffmpeg failed at reading"):
        video_file.ffmpeg(tmp_path, "-i", "list.m3u8", "-f", "null", "-", doing="reading")


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    own_cache(monkeypatch, tmp_path)
    return tmp_path / "linklab" / "video"


def test_a_video_is_made_once_and_always_the_same(cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said: list[str] = []
    first = encoded(SMALL, tell=said.append)
    assert abs(first.bitrate_kbps / 200 - 1) <= 0.03
    assert first.packets * RTP_PACKET_BYTES == first.packets_path.stat().st_size
    assert payload(first.packets_path.read_bytes()) == first.stream_path.read_bytes()
    assert coded_kbps(first.folder, "video.ts", 2) == pytest.approx(first.bitrate_kbps)
    assert len(said) == 1
    assert sorted(it.name for it in cache.iterdir()) == sorted([first.folder.name, "lock"])
    with monkeypatch.context() as without_ffmpeg:
        without_ffmpeg.setattr(video_file, "ffmpeg", None)
        again = encoded(SMALL, tell=said.append)
    assert (again.digest, again.bitrate_kbps, len(said)) == (first.digest, first.bitrate_kbps, 1)
    own_cache(monkeypatch, tmp_path / "other")
    assert encoded(SMALL).digest == first.digest


def test_what_was_interrupted_leaves_no_half_video(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(video_file, "rtp_packets_of", interrupted)
        with pytest.raises(KeyboardInterrupt):
            encoded(SMALL)
    assert [it.name for it in cache.iterdir()] == ["lock"]
    assert encoded(SMALL).packets > 10


def ts_packet(clock: int | None = None, mark: int = 0) -> bytes:
    if clock is None:
        return bytes([0x47, 0x01, 0x00, 0x10, mark]).ljust(188, b"\0")
    field = struct.pack("!IH", clock >> 1, ((clock & 1) << 15) | 0x7E00)
    return (bytes([0x47, 0x01, 0x00, 0x30, 183, 0x10]) + field).ljust(188, b"\0")


def test_packets_between_two_marks_of_the_clock_are_spread_evenly() -> None:
    stream = b"".join([ts_packet(), ts_packet(1000), ts_packet(), ts_packet(1200), ts_packet()])
    assert packet_times(stream) == [900, 1000, 1100, 1200, 1300]


def test_rtp_packets_carry_number_time_and_payload() -> None:
    marks = [ts_packet(9000), *(ts_packet(mark=it) for it in range(13)), ts_packet(9000 + 1400)]
    stream = filled_up(b"".join(marks))
    packets = rtp_packets_of(stream)
    assert len(packets) == 3 * RTP_PACKET_BYTES
    heads = [struct.unpack_from("!BBHI", packets, number * RTP_PACKET_BYTES) for number in range(3)]
    assert heads == [(0x80, 33, 0, 0), (0x80, 33, 1, 700), (0x80, 33, 2, 1400)]
    assert payload(packets) == stream


@pytest.mark.parametrize(
    ("stream", "says"),
    [
        (b"", "no transport stream"),
        (b"x" * 188 * 7, "no transport stream"),
        (ts_packet() * 7, r"does not tell the time \(PCR\) twice"),
        (filled_up(ts_packet(500) + ts_packet(400)), "goes back"),
    ],
)
def test_what_is_no_stream_is_refused(stream: bytes, says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        rtp_packets_of(stream)
