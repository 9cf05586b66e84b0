"""Compare the pictures that arrived with those that were sent: ffmpeg decodes both, as a player would.

A picture is compared with the one that is due at the same instant: frames are paired by their time in the stream
(PTS), and if none arrived for an instant, the one before it stays on the screen. So a lost picture spoils its own
instant and shifts no other. The reference is the video *as sent*: what the encoder lost is not the network's fault. We
assume a receiver that waits for every packet, so delay costs no quality here.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from linklab.errors import MeasurementError
from linklab.files import temporary_folder
from linklab.measure.tools.video import VideoResult
from linklab.measure.video_file import CLOCK_HZ, Clip, Video, ffmpeg

_SENT: Final = "sent.ts"
_RECEIVED: Final = "received.ts"
# copyts: else ffmpeg would move a stream that lost its first pictures to the begin. One thread: hiding of damage
# must not depend on which picture of several was decoded first.
_DECODING: Final = ("-copyts", "-threads", "1")
_COMPARING: Final = (
    "[0:v]settb=1/90000[sent];[1:v]settb=1/90000,split[one][two];"
    "[sent][one]psnr[noisy];[noisy][two]ssim,metadata=mode=print:file=-"
)
_FRAME: Final = re.compile(r"^frame:\d+\s+pts:(-?\d+)", re.MULTILINE)
_VALUE: Final = re.compile(r"^lavfi\.(psnr\.mse_avg|ssim\.All)=(\S+)$", re.MULTILINE)
_PEAK: Final = 255


@dataclass(frozen=True)
class FrameQuality:
    """Quality of one picture at the receiver, ``time_s`` after the video's begin.

    ``mse``: the mean squared error of its 8-bit samples, 0 for an intact picture. ``ssim``: structural similarity
    (Wang et al. 2004), 1 for an intact one. Both are None before the first picture is shown.
    """

    time_s: float
    mse: float | None
    ssim: float | None

    @property
    def whole(self) -> bool:
        """Return True if it is, bit for bit, the picture that was sent."""
        return self.mse == 0


@dataclass(frozen=True)
class Quality:
    """The quality of all pictures of a video, in the order in which they are shown."""

    frames: tuple[FrameQuality, ...]

    @property
    def damaged_percent(self) -> float:
        """The share of pictures that are damaged or missing."""
        return 100 * sum(not frame.whole for frame in self.frames) / len(self.frames)

    @property
    def mean_ssim(self) -> float:
        """The mean SSIM of all pictures; one that was never shown counts as 0."""
        return fmean(frame.ssim or 0.0 for frame in self.frames)

    @property
    def least_ssim(self) -> float:
        """The lowest SSIM of a picture; 0 if one was never shown."""
        return min(frame.ssim or 0.0 for frame in self.frames)

    @property
    def damaged_mean_psnr_db(self) -> float | None:
        """The PSNR of the mean squared error of all damaged pictures that were shown; None if there is none."""
        errors = [frame.mse for frame in self.frames if frame.mse]
        return 10 * math.log10(_PEAK**2 / fmean(errors)) if errors else None

    def worst(self) -> FrameQuality:
        """Return the picture with the lowest SSIM of those that were shown. Raises MeasurementError if none was."""
        shown = [frame for frame in self.frames if frame.ssim is not None]
        if not shown:
            raise MeasurementError("not one picture was shown: nothing can be compared")
        return min(shown, key=lambda frame: (frame.ssim, frame.time_s))


def quality(video: Video, result: VideoResult) -> Quality:
    """Return PSNR and SSIM of each picture of the video, by ffmpeg's filters of these names.

    Raises MeasurementError if the result is of another video or has no payload (it came from a file, or from another
    sender than ``paced``), or if no picture can be decoded.
    """
    _refuse(video, result)
    with temporary_folder() as place:
        folder = _laid_out(place, video, result.received)
        words = (*_DECODING, "-i", _SENT, *_DECODING, "-i", _RECEIVED, "-filter_complex", _COMPARING, "-f", "null", "-")
        said = ffmpeg(folder, *words, doing="comparing the pictures").decode("utf-8", "replace")
    return parsed(said, video.clip)


def picture_at(video: Video, result: VideoResult, time_s: float) -> tuple[bytes, bytes]:
    """Return the picture at an instant as it was sent, and as the receiver showed it (black before the first one
    arrived); both as PNG.

    Raises MeasurementError as `quality` does, and for an instant outside the video.
    """
    _refuse(video, result)
    if not 0 <= time_s < video.clip.duration_s:
        raise MeasurementError(f"{time_s:g} s is outside the video: choose 0 to less than {video.clip.duration_s:g}")
    number = math.floor(time_s * video.clip.frames_per_s + 1e-6)
    one = f"trim=start_pts={_ticks(video.clip, number - 0.5)}:end_pts={_ticks(video.clip, number + 0.5)}"
    graph = (
        f"[0:v]settb=1/{CLOCK_HZ},split[a][b];[1:v]settb=1/{CLOCK_HZ}[c];[a]{one}[sent];"
        f"[b]drawbox=color=black:t=fill[dark];[dark][c]overlay,{one}[shown]"
    )
    with temporary_folder() as place:
        folder = _laid_out(place, video, result.received)
        inputs = (*_DECODING, "-i", _SENT, *_DECODING, "-i", _RECEIVED, "-filter_complex", graph)
        outputs = [
            word
            for name in ("sent", "shown")
            for word in ("-map", f"[{name}]", "-frames:v", "1", "-update", "1", f"{name}.png")
        ]
        ffmpeg(folder, *inputs, *outputs, doing=f"decoding the picture at {time_s:g} s")
        return (folder / "sent.png").read_bytes(), (folder / "shown.png").read_bytes()


def _ticks(clip: Clip, number: float) -> int:
    """Return when picture `number` is due, by the stream's clock."""
    return round(number * CLOCK_HZ / clip.frames_per_s)


def parsed(said: str, clip: Clip) -> Quality:
    """Read what ffmpeg's filters printed (``metadata=mode=print``), frame by frame. Pure.

    Raises MeasurementError for output without the pictures of the clip.
    """
    heads = list(_FRAME.finditer(said))
    ends = [*(head.start() for head in heads[1:]), len(said)]
    found: dict[int, FrameQuality] = {}
    for head, end in zip(heads, ends, strict=False):
        number = round(int(head.group(1)) * clip.frames_per_s / CLOCK_HZ)
        values = {name: float(value) for name, value in _VALUE.findall(said, head.end(), end)}
        found[number] = FrameQuality(number / clip.frames_per_s, values.get("psnr.mse_avg"), values.get("ssim.All"))
    # before the first picture that arrived ffmpeg compares nothing; from there on none may be missing
    if not found or sorted(found) != list(range(min(found), clip.frames)):
        raise MeasurementError(
            f"ffmpeg compared {len(found)} pictures of {clip.frames}, and not the last ones in a row"
        )
    dark = [FrameQuality(number / clip.frames_per_s, None, None) for number in range(min(found))]
    return Quality((*dark, *(found[number] for number in sorted(found))))


def _refuse(video: Video, result: VideoResult) -> None:
    if result.video != video.digest:
        raise MeasurementError("this stream carried another video: give the one that was sent")
    if result.flow.sender != "paced":
        raise MeasurementError(f"the sender {result.flow.sender!r} packs the video anew: measure with sender='paced'")
    if not result.received:
        raise MeasurementError("this result has no payload, it was read from a file: measure again to see pictures")


def _laid_out(folder: Path, video: Video, received: bytes) -> Path:
    """Put the two streams into a folder of their own, where ffmpeg sees nothing else. Return it."""
    (folder / _SENT).write_bytes(video.stream_path.read_bytes())
    (folder / _RECEIVED).write_bytes(received)
    return folder
