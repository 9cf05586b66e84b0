"""Making a video once: encoded outside any lab, cut into RTP packets, and kept in the user's cache folder."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from platformdirs import user_cache_dir

from linklab.errors import MeasurementError
from linklab.measure.clip import CODECS, Clip, Video
from linklab.measure.ffmpeg import ffmpeg, ffprobe, version
from linklab.measure.scenes import graph
from linklab.measure.transport import filled_up, rtp_packets_of

_FORM: Final = 1
"""To be raised when what is made of the same settings changes."""
_TOLERANCE: Final = 0.03
_TRIES: Final = 4
_THREADS: Final = "4"
"""A fixed number: x264 gives other bits with another one."""
_PCR_MS: Final = "70"
"""The stream tells the time every 70 ms, and packets in between are spread evenly, as by VLC, the study's tool."""
TRANSPORT_STREAM: Final = (
    *("-fflags", "+bitexact", "-f", "mpegts", "-pcr_period", _PCR_MS, "-muxdelay", "0", "-muxpreload", "0"),
)
"""How ffmpeg is to write one: no fixed rate and no head start, so that a second with little to show sends little."""


def encoded(clip: Clip, *, tell: Callable[[str], None] | None = None) -> Video:
    """The video of a clip: from the cache, or encoded now, which takes about as long as it lasts; `tell` says so.

    Raises MeasurementError where ffmpeg is missing, cannot encode it, or misses the rate by more than 3 %; and where
    the cache cannot be written.
    """
    place = _cache_folder()
    name = _name_of(clip)
    if (found := _kept(clip, place / name)) is not None:
        return found
    with _locked(place):
        if (found := _kept(clip, place / name)) is not None:  # somebody else made it meanwhile
            return found
        if tell is not None:
            tell(f"encoding {clip.duration_s:g} s of video, once; this takes about as long as it lasts")
        fresh = place / f"{name}.new"
        for left in (place / name, *place.glob("*.new")):  # nobody else is at work: of one that was killed
            shutil.rmtree(left, ignore_errors=True)
        fresh.mkdir()
        try:
            rate_kbps = _encode(clip, fresh)
            _cut(fresh)
            about = {"form": _FORM, "clip": asdict(clip), "bitrate_kbps": rate_kbps, "ffmpeg": version()}
            (fresh / "video.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")
            for rest in fresh.glob("pass*"):
                rest.unlink()
            fresh.rename(place / name)  # whoever looks sees all of it or none
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
    return Video(clip, place / name, rate_kbps, version())


def coded_kbps(folder: Path, name: str, duration_s: float) -> float:
    """The mean rate of the coded video in a file, without what the container adds.

    Raises MeasurementError for a file that is no video.
    """
    said = ffprobe(
        folder,
        *("-select_streams", "v", "-show_entries", "packet=size", "-of", "default=nokey=1:noprint_wrappers=1"),
        name,
        doing=f"reading {name}",
    )
    sizes = [int(word) for word in said.split() if word.isdigit()]
    if not sizes:
        raise MeasurementError(f"{name} holds no video: name a file that a player shows")
    return sum(sizes) * 8 / 1000 / duration_s


def _encode(clip: Clip, folder: Path) -> float:
    """Two passes; the second once more with a corrected aim where it missed the rate."""
    encoder, *options = CODECS[clip.codec]
    source = ["-filter_complex", graph(clip), "-map", "[v]", "-c:v", encoder, *options, "-threads", _THREADS]
    source += ["-g", str(2 * clip.frames_per_s), "-passlogfile", "pass", "-flags:v", "+bitexact"]
    doing = f"encoding {clip.width}x{clip.height} with {encoder}"
    aim_kbps = clip.bitrate_kbps
    ffmpeg(folder, *source, "-b:v", f"{aim_kbps:g}k", "-pass", "1", "-f", "null", "-", doing=doing)
    for _ in range(_TRIES):
        ffmpeg(folder, *source, "-b:v", f"{aim_kbps:.3f}k", "-pass", "2", *TRANSPORT_STREAM, "video.ts", doing=doing)
        rate_kbps = coded_kbps(folder, "video.ts", clip.duration_s)
        if abs(rate_kbps / clip.bitrate_kbps - 1) <= _TOLERANCE:
            return rate_kbps
        aim_kbps *= clip.bitrate_kbps / rate_kbps
    raise MeasurementError(
        f"the encoder gives {rate_kbps:.0f} kbit/s where {clip.bitrate_kbps:g} were asked for: choose another "
        "bitrate_kbps, or a longer clip"
    )


def _cut(folder: Path) -> None:
    """Makes RTP packets of the transport stream; what does not fill the last one is filled up."""
    stream = filled_up((folder / "video.ts").read_bytes())
    (folder / "video.ts").write_bytes(stream)
    (folder / "video.rtp").write_bytes(rtp_packets_of(stream))


def _name_of(clip: Clip) -> str:
    """What the result depends on, as the name of a folder."""
    settings = [_FORM, asdict(replace(clip, duration_s=float(clip.duration_s), bitrate_kbps=float(clip.bitrate_kbps)))]
    text = json.dumps([*settings, CODECS[clip.codec], graph(clip), _PCR_MS, version()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _kept(clip: Clip, folder: Path) -> Video | None:
    """The finished video in a folder, or None where there is none that this version knows."""
    try:
        about = json.loads((folder / "video.json").read_text("utf-8"))
        if about["form"] != _FORM:
            return None
        video = Video(clip, folder, float(about["bitrate_kbps"]), str(about["ffmpeg"]))
        whole = video.stream_path.is_file() and video.packets_path.stat().st_size > 0
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return video if whole else None


def _cache_folder() -> Path:
    folder = Path(user_cache_dir("linklab")) / "video"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MeasurementError(
            f"cannot make the folder {folder} ({error.strerror}): set XDG_CACHE_HOME to a folder you may write to"
        ) from None
    return folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One encodes, the others wait for it: they want the same."""
    try:
        lock = (folder / "lock").open("w", encoding="utf-8")
    except OSError as error:
        raise MeasurementError(
            f"cannot write to {folder} ({error.strerror}): set XDG_CACHE_HOME to a folder you may write to"
        ) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
