"""Make a video: ffmpeg encodes it once, outside any lab, and the user's cache folder keeps it, cut into RTP packets.

Some packets of the transport stream carry its clock (PCR, ISO/IEC 13818-1, section 2.4.3.5). The times of the packets
between two of these are spread evenly, as the standard says. Seven packets make one RTP packet (RFC 2250).
"""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, Literal

from linklab import schema
from linklab.errors import LabError, MeasurementError
from linklab.files import cache_folder, draft_folder, locked
from linklab.runtime.image.tree import ensure_whole, move_into_place
from linklab.schema import Range
from linklab.units import IPV4_HEADER_BYTES, UDP_HEADER_BYTES

TS_PACKET_BYTES: Final = 188
"""ISO/IEC 13818-1 (MPEG-2 transport stream), section 2.4.3.2."""
RTP_HEADER_BYTES: Final = 12
"""RFC 3550, section 5.1, without contributing sources."""
RTP_PACKET_BYTES: Final = RTP_HEADER_BYTES + 7 * TS_PACKET_BYTES
"""1328: seven packets of the transport stream are what fits into 1500 bytes with all headers (RFC 2250, section 2)."""
IP_PACKET_BYTES: Final = RTP_PACKET_BYTES + UDP_HEADER_BYTES + IPV4_HEADER_BYTES
"""1356, with the headers of UDP and IPv4."""
CLOCK_HZ: Final = 90_000
"""Frequency of the clock of RTP's timestamps for a transport stream (RFC 3551, table 5)."""
CODECS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        # without an info message: it would carry x264's version; frames that refer to later ones would arrive out of
        # order of their display, and a lost header then moves a frame in time
        "h264": ("libx264", "-preset", "superfast", "-bf", "0", "-qcomp", "0.8"),
        "mpeg2": ("mpeg2video", "-bf", "0"),
    }
)
"""Codecs by name, each with ffmpeg's encoder and its options."""


@dataclass(frozen=True)
class Clip:
    """The settings of a video. Defaults are those of the multimedia study (section 3.3).

    ``bitrate_kbps`` is the coded video's alone, in 1000 bit/s. Raises MeasurementError for an unknown codec, a value
    out of range, or a size that is odd: colours are stored for two by two pixels.
    """

    duration_s: Annotated[float, Range(ge=0.5, le=120)] = 50
    width: Annotated[int, Range(ge=64, le=1920)] = 800
    height: Annotated[int, Range(ge=64, le=1080)] = 600
    frames_per_s: Annotated[int, Range(ge=1, le=60)] = 60
    bitrate_kbps: Annotated[float, Range(ge=50, le=20_000)] = 1026
    codec: Literal["h264", "mpeg2"] = "h264"

    def __post_init__(self) -> None:
        schema.check_fields(self)
        if self.width % 2 or self.height % 2:
            raise MeasurementError(f"a video of {self.width}x{self.height} pixels has an odd side: choose even ones")

    @property
    def frames(self) -> int:
        """How many pictures it has."""
        return round(self.duration_s * self.frames_per_s)


@dataclass(frozen=True)
class Video:
    """A clip that has been encoded: ``folder`` has its transport stream, and the same stream cut into RTP packets.

    ``bitrate_kbps`` is the measured rate of the coded video; ``ffmpeg`` is the version that encoded it.
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


_BUSY_S: Final = 8.8
"""How long the scenes of a round in `_round` last together, apart from the first, which fills up ten seconds."""
_POINTS: Final = ((-0.743643887, -0.131825904), (-1.25066, 0.02012), (-0.16, 1.0405), (0.2925755, -0.0149977))
"""Points of the Mandelbrot set with much detail."""
_COLOURS: Final = ("red", "blue", "green", "yellow", "purple")


Scenes = Sequence[tuple[str, float]]
"""Scenes of a film, one after the other: ffmpeg's filters of each, and its duration in seconds."""


def scenes(clip: Clip) -> tuple[tuple[str, float], ...]:
    """Return the scenes that Linklab draws for a clip.

    Every ten seconds: a test card that hardly moves, one full of motion, a colour gradient, a zoom into the Mandelbrot
    set, Conway's game of life. Each round starts elsewhere, so no two seconds are alike, and the codec needs another
    rate for each second, as in a film.
    """
    found: list[tuple[str, float]] = []
    left_s, turn = clip.duration_s, 0
    while left_s > 1e-9:
        for source, lasts_s in _round(clip, turn):
            if left_s > 1e-9:
                found.append((source, min(lasts_s, left_s)))
                left_s -= lasts_s
        turn += 1
    return tuple(found)


def graph(clip: Clip, parts: Scenes) -> str:
    """Return the scenes one after the other, as one graph of filters whose output is called ``v``."""
    chains = [
        f"{source},trim=duration={lasts_s:.6f},setpts=PTS-STARTPTS,format=yuv420p,setsar=1[s{number}]"
        for number, (source, lasts_s) in enumerate(parts)
    ]
    joined = "".join(f"[s{number}]" for number in range(len(parts)))
    return ";".join([*chains, f"{joined}concat=n={len(parts)}:v=1,fps={clip.frames_per_s}[v]"])


def _round(clip: Clip, turn: int) -> tuple[tuple[str, float], ...]:
    size = f"size={clip.width}x{clip.height}:rate={clip.frames_per_s}"
    x, y = _POINTS[turn % len(_POINTS)]
    # cells of four pixels, that change 20 times a second
    cells = f"size={max(clip.width // 4, 16)}x{max(clip.height // 4, 16)}:rate={min(20, clip.frames_per_s)}"
    # ffmpeg 5.1 draws what is left open anew each time, whatever its seed
    colours = ":".join(f"c{number}={_COLOURS[(turn + number) % len(_COLOURS)]}" for number in range(4))
    ends = f"x0={clip.width // 8}:y0={clip.height // 12}:x1={clip.width * 7 // 8}:y1={clip.height * 11 // 12}"
    return (
        (f"testsrc={size}", 10 - _BUSY_S),
        (f"testsrc2={size}", 3.2),
        (f"gradients={size}:speed=0.01:nb_colors=4:{colours}:{ends}", 1.0),
        (f"mandelbrot={size}:maxiter=200:start_x={x}:start_y={y}:start_scale=3:end_scale=0.02:end_pts=3000", 2.6),
        (
            f"life={cells}:seed={1 + turn}:mold=10:ratio=0.3,"
            f"scale={clip.width}:{clip.height}:flags=neighbor,fps={clip.frames_per_s}",
            2.0,
        ),
    )


_PYTHON: Final = "/usr/bin/python3"
_IMAGE_IN_CAGE: Final = "/opt/image"
_CONFINED: Final = ("-protocol_whitelist", "file,pipe")
"""Limits what an input can make ffmpeg open: a playlist under another name lists files or addresses."""


@functools.cache
def version() -> str:
    """Return what ffmpeg calls itself, as ``"ffmpeg version 5.1.9-0+deb12u1"``. Raises MeasurementError without it."""
    words, _ = _program("ffmpeg", caged=False)
    said = subprocess.run([*words, "-version"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return said.stdout.partition(" Copyright")[0].strip() or "ffmpeg of an unknown version"


def ffmpeg(folder: Path, *words: str, doing: str) -> bytes:
    """Run ffmpeg in a folder, the only one that it may write to, and return what it wrote to its standard output.

    The words ``-i NAME`` stand for an input that may open files only. Raises MeasurementError where ffmpeg is missing
    or fails, with what it was `doing` and its own last line; LabError where bubblewrap is missing, which confines it
    (but in a container that is one student's own, `linklab.runtime.container`).
    """
    confined = [piece for word in words for piece in ((*_CONFINED, word) if word == "-i" else (word,))]
    return _run(folder, ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y", *confined], doing)


def ffprobe(folder: Path, *words: str, doing: str) -> bytes:
    """Run ffprobe as `ffmpeg` runs ffmpeg."""
    return _run(folder, ["ffprobe", "-hide_banner", "-loglevel", "error", *_CONFINED, *words], doing)


def _run(folder: Path, words: list[str], doing: str) -> bytes:
    from linklab.runtime import bwrap, container

    walls = container.chosen()
    program, seen = _program(words[0], caged=not walls)
    # no /proc: a kernel refuses a new one where the present one is partly covered, as in many containers
    cage = [] if walls else bwrap.for_program(folder, _PYTHON, proc=False, more=seen)
    done = subprocess.run(
        [*cage, *program, *words[1:]],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env=bwrap.program_environment(),
        cwd=folder if walls else None,
    )
    if done.returncode:
        lines = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        if lines and lines[-1].startswith("bwrap:"):
            raise LabError(f"{words[0]} could not be confined here: {lines[-1]}")
        said = lines[0] if lines else f"exit status {done.returncode}"
        raise MeasurementError(f"{words[0]} failed at {doing}: {said}")
    return done.stdout


def _program(name: str, *, caged: bool) -> tuple[list[str], list[str]]:
    """Return the words that start ffmpeg or ffprobe, and bubblewrap's options for the files it needs, if it is caged.

    The program is the lab image's if this machine runs that, so that a video is the same everywhere, else the
    machine's own. Raises MeasurementError if there is neither.
    """
    from linklab.runtime.image.find import find_image, run_inside
    from linklab.runtime.kernel import runs_user_mode_linux

    try:
        root = find_image().root if runs_user_mode_linux() else None
    except LabError:
        root = None
    if root is not None:
        place = Path(_IMAGE_IN_CAGE) if caged else root
        return run_inside(place, f"/usr/bin/{name}"), ["--ro-bind", str(root), str(place)] if caged else []
    if shutil.which(name) is None:
        raise MeasurementError(f"{name} is not installed here: sudo apt-get install ffmpeg")
    return [name], []


MP2T: Final = 33
"""RTP's payload type for a transport stream (RFC 3551, table 5)."""
_SYNC: Final = 0x47
_PER_PACKET: Final = 7
_NULL: Final = b"\x47\x1f\xff\x10" + b"\xff" * (TS_PACKET_BYTES - 4)
"""A null packet of a transport stream, which receivers ignore."""
_SOURCE: Final = 1


def filled_up(stream: bytes) -> bytes:
    """Return the stream with null packets at its end, so that it fills whole RTP packets."""
    return stream + _NULL * (-(len(stream) // TS_PACKET_BYTES) % _PER_PACKET)


def rtp_packets_of(stream: bytes) -> bytes:
    """Cut a stream that fills whole RTP packets into these, `RTP_PACKET_BYTES` each, and return them joined.

    Sequence numbers and timestamps begin at 0. Raises MeasurementError for what is no transport stream, or for one
    that carries its clock less than twice.
    """
    from scapy.layers.rtp import RTP

    begins = range(0, len(stream), TS_PACKET_BYTES)
    if not stream or len(stream) % (_PER_PACKET * TS_PACKET_BYTES) or any(stream[at] != _SYNC for at in begins):
        raise MeasurementError("this is no transport stream that fills whole RTP packets")
    ticks = packet_times(stream)[::_PER_PACKET]
    size = _PER_PACKET * TS_PACKET_BYTES
    found = []
    for number, tick in enumerate(ticks):
        header = RTP(payload_type=MP2T, sequence=number & 0xFFFF, timestamp=round(tick - ticks[0]), sourcesync=_SOURCE)
        found.append(bytes(header) + stream[number * size : (number + 1) * size])
    return b"".join(found)


def packet_times(stream: bytes) -> list[float]:
    """Return when each packet of a transport stream has to leave, in ticks of RTP's clock (1/90000 s).

    Packets before the first clock value and behind the last one keep the pace next to it. Raises MeasurementError for
    fewer than two clock values, or for one that is not later than the one before.
    """
    known = [
        (number, tick)
        for number, at in enumerate(range(0, len(stream), TS_PACKET_BYTES))
        if (tick := _clock(stream[at : at + TS_PACKET_BYTES])) is not None
    ]
    if len(known) < 2 or any(late[1] <= early[1] for early, late in pairwise(known)):
        raise MeasurementError("the transport stream does not tell the time (PCR) twice, or it goes back: encode again")
    times: list[float] = []
    for (first, begin), (second, end) in pairwise(known):
        pace = (end - begin) / (second - first)
        times += [begin + (number - first) * pace for number in range(len(times), second)]
    count = len(stream) // TS_PACKET_BYTES
    return times + [known[-1][1] + (number - known[-1][0]) * pace for number in range(len(times), count)]


def _clock(packet: bytes) -> float | None:
    """Return a packet's clock value in 1/90000 s; None if it has none."""
    has_field = packet[3] & 0x20 and packet[4] >= 7 and packet[5] & 0x10
    if not has_field:
        return None
    # 33 bits of 90 kHz, six of padding, nine of 27 MHz
    value = int.from_bytes(packet[6:12], "big")
    return (value >> 15) + (value & 0x1FF) * CLOCK_HZ / 27_000_000


@dataclass(frozen=True)
class _Made:
    """What a file next to a video says of it: its measured rate, and the version that encoded it."""

    bitrate_kbps: float
    ffmpeg: str


_ABOUT: Final = "video.json"
_FORM: Final = 1
"""Raise this number when a change gives another video for the same settings."""
_TOLERANCE: Final = 0.03
_TRIES: Final = 4
_THREADS: Final = "4"
"""A fixed number: with another number of threads x264 gives other bits."""
_PCR_MS: Final = "70"
"""How often the stream carries its clock."""
TRANSPORT_STREAM: Final = (
    *("-fflags", "+bitexact", "-f", "mpegts", "-pcr_period", _PCR_MS, "-muxdelay", "0", "-muxpreload", "0"),
)
"""ffmpeg's options for a transport stream without fixed rate and head start: a still second needs few packets."""


def encoded(clip: Clip, film: Scenes | None = None, *, tell: Callable[[str], None] | None = None) -> Video:
    """Return the video of a clip from the cache, or encode it. That takes about as long as it lasts: `tell` says so.
    Its scenes are those of a `film`, or Linklab's.

    Raises MeasurementError if ffmpeg is missing, cannot encode it, or misses the rate by more than 3 %, and LabError
    if the cache cannot be written.
    """
    drawing = graph(clip, scenes(clip) if film is None else film)
    folder = cache_folder() / "video" / _name_of(clip, drawing)
    ensure_whole(folder, locked(folder.parent / "lock"), lambda: _make(clip, drawing, folder, tell))
    made = schema.parse(_Made, (folder / _ABOUT).read_bytes(), f"the video in {folder}")
    return Video(clip, folder, made.bitrate_kbps, made.ffmpeg)


def _make(clip: Clip, drawing: str, folder: Path, tell: Callable[[str], None] | None) -> None:
    """Encode a video and cut it into RTP packets, in a folder that appears complete or not at all."""
    if tell is not None:
        tell(f"encoding {clip.duration_s:g} s of video, once; this takes about as long as it lasts")
    with draft_folder(folder) as fresh:
        rate_kbps = _encode(clip, drawing, fresh)
        stream = filled_up((fresh / "video.ts").read_bytes())
        (fresh / "video.ts").write_bytes(stream)
        (fresh / "video.rtp").write_bytes(rtp_packets_of(stream))
        (fresh / _ABOUT).write_text(json.dumps(schema.dump(_Made(rate_kbps, version()))), "utf-8")
        for rest in fresh.glob("pass*"):
            rest.unlink()
        move_into_place(fresh, folder)


def coded_kbps(folder: Path, name: str, duration_s: float) -> float:
    """Return the mean rate of the coded video in a file, without the container's headers.

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


def _encode(clip: Clip, drawing: str, folder: Path) -> float:
    """Encode in two passes, and repeat the second with a corrected aim if it missed the rate. Return the rate."""
    encoder, *options = CODECS[clip.codec]
    source = ["-filter_complex", drawing, "-map", "[v]", "-c:v", encoder, *options, "-threads", _THREADS]
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


def _name_of(clip: Clip, drawing: str) -> str:
    """Return the name of the video's folder: a digest of all that its bytes depend on."""
    settings = [_FORM, asdict(replace(clip, duration_s=float(clip.duration_s), bitrate_kbps=float(clip.bitrate_kbps)))]
    text = json.dumps([*settings, CODECS[clip.codec], drawing, _PCR_MS, version()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
