"""What a video is to be like, as data, and the video that was made of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Final

from linklab.errors import MeasurementError

TS_PACKET_BYTES: Final = 188
"""ISO/IEC 13818-1 (MPEG-2 transport stream), section 2.4.3.2."""
RTP_HEADER_BYTES: Final = 12
"""RFC 3550, section 5.1, without contributing sources."""
RTP_PACKET_BYTES: Final = RTP_HEADER_BYTES + 7 * TS_PACKET_BYTES
"""1328: seven packets of the transport stream are what fits into 1500 bytes with all headers (RFC 2250, section 2)."""
IP_PACKET_BYTES: Final = RTP_PACKET_BYTES + 8 + 20
"""1356, with the headers of UDP and IPv4."""
CLOCK_HZ: Final = 90_000
"""What RTP's timestamps of a transport stream count (RFC 3551, table 5)."""
CODECS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        # without an info message: it would carry x264's version; frames that refer to later ones would arrive out of
        # order of their display, and a lost header then moves a frame in time
        "h264": ("libx264", "-preset", "superfast", "-bf", "0", "-qcomp", "0.8"),
        "mpeg2": ("mpeg2video", "-bf", "0"),
    }
)
"""Codecs by name, each with ffmpeg's encoder and its options."""
_RANGES: Final = (
    ("duration_s", 0.5, 120),
    ("width", 64, 1920),
    ("height", 64, 1080),
    ("frames_per_s", 1, 60),
    ("bitrate_kbps", 50, 20_000),
)


@dataclass(frozen=True)
class Clip:
    """A video as asked for: the multimedia study's (section 3.3), unless told otherwise.

    ``bitrate_kbps`` is the coded video's alone, in 1000 bit/s. Raises MeasurementError for an unknown codec, a value
    out of range, or a size that is odd: colours are stored for two by two pixels.
    """

    duration_s: float = 50
    width: int = 800
    height: int = 600
    frames_per_s: int = 60
    bitrate_kbps: float = 1026
    codec: str = "h264"

    def __post_init__(self) -> None:
        if self.codec not in CODECS:
            raise MeasurementError(f"codec is {self.codec!r}: choose one of {', '.join(CODECS)}")
        for name, low, high in _RANGES:
            value = getattr(self, name)
            whole = name in ("width", "height", "frames_per_s")
            kind = int if whole else int | float
            if isinstance(value, bool) or not isinstance(value, kind) or not low <= value <= high:
                raise MeasurementError(f"{name} is {value!r}: choose {low:g} to {high:g}{', whole' if whole else ''}")
        if self.width % 2 or self.height % 2:
            raise MeasurementError(f"a video of {self.width}x{self.height} pixels has an odd side: choose even ones")

    @property
    def frames(self) -> int:
        """How many pictures it has."""
        return round(self.duration_s * self.frames_per_s)


@dataclass(frozen=True)
class Video:
    """A clip that has been encoded: a transport stream, and the same cut into RTP packets. ``folder`` is its place.

    ``bitrate_kbps`` is what the coded video measures; ``ffmpeg`` what encoded it.
    """

    clip: Clip
    folder: Path
    bitrate_kbps: float
    ffmpeg: str

    @property
    def stream_path(self) -> Path:
        """The transport stream; any player shows it."""
        return self.folder / "video.ts"

    @property
    def packets_path(self) -> Path:
        """The RTP packets one behind the other, `RTP_PACKET_BYTES` each."""
        return self.folder / "video.rtp"

    @cached_property
    def packets(self) -> int:
        """How many RTP packets it takes."""
        return self.packets_path.stat().st_size // RTP_PACKET_BYTES

    @property
    def stream_bytes(self) -> int:
        """The size of the transport stream: what RTP carries of this video in all."""
        return self.stream_path.stat().st_size

    @cached_property
    def digest(self) -> str:
        """The first 16 digits of SHA-256 of its packets: the same here and there means the same video."""
        return hashlib.sha256(self.packets_path.read_bytes()).hexdigest()[:16]
