"""A real video stream through a lab: RTP over UDP in real pace, captured at both ends and read by scapy.

Two senders. ``paced`` sends RTP packets that ffmpeg made, each at the time that its timestamp names, which is how VLC,
the multimedia study's tool, spreads packets. ``ffmpeg`` is ``ffmpeg -re`` itself: it looks at the clock every 10 ms
(version 5; from 6.1 on it sleeps to the instant) and sends all packets of a picture back to back.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from linklab.errors import LabError, MeasurementError
from linklab.lab import Lab
from linklab.measure.addresses import address_of
from linklab.measure.capture import Capture, capture
from linklab.measure.flows import Transport
from linklab.measure.results import Origin
from linklab.measure.surroundings import origin_of
from linklab.measure.thin import ThinProgram, await_ready, last_words
from linklab.measure.video_file import CLOCK_HZ, MP2T, RTP_PACKET_BYTES, Clip, Video
from linklab.program import Program

if TYPE_CHECKING:
    from scapy.packet import Packet


Sender = Literal["paced", "ffmpeg"]
SENDERS: Final[tuple[Sender, ...]] = ("paced", "ffmpeg")
UDP_PORT: Final = 5004
"""RTP's own (RFC 3551, section 8), and the study's."""


@dataclass(frozen=True)
class VideoFlow:
    """A video from `source` to `destination`, RTP over UDP.

    ``sender``: ``"paced"`` sends each packet when the stream's clock says, as VLC does; ``"ffmpeg"`` is ``ffmpeg -re``,
    which sends the packets of a picture one behind the other. Raises MeasurementError for another sender or port.
    """

    transport: ClassVar[Transport] = "udp"

    source: str
    destination: str
    sender: Sender = "paced"
    port: int = UDP_PORT
    address: str | None = None

    def __post_init__(self) -> None:
        if self.sender not in SENDERS:
            raise MeasurementError(f"sender is {self.sender!r}: choose one of {', '.join(SENDERS)}")
        if isinstance(self.port, bool) or not isinstance(self.port, int) or not 1024 <= self.port <= 65535:
            raise MeasurementError(f"port is {self.port!r}: choose 1024 to 65535")


@dataclass(frozen=True)
class StreamResult:
    """When each packet of a stream left and arrived, by sequence number, in seconds since the first one left.

    `departure_s` is when a packet passed the sender's interface, `arrival_s` when it passed the receiver's, None for
    one that was lost. `media_s` is what its RTP timestamp says, from the first one's; `ip_bytes` its size with the
    headers of IPv4, UDP and RTP. `duplicates` were not counted again; `reordered` packets arrived behind a later one.
    `received` is the transport stream that arrived, in the packets' order; it is not part of the JSON form.
    """

    KIND: ClassVar[str] = "video stream"
    VERSION: ClassVar[int] = 1

    flow: VideoFlow
    clip: Clip
    video: str
    origin: Origin
    departure_s: tuple[float, ...]
    media_s: tuple[float, ...]
    ip_bytes: tuple[int, ...]
    arrival_s: tuple[float | None, ...]
    duplicates: int
    reordered: int
    received: bytes = field(default=b"", repr=False, compare=False)

    @property
    def sent_packets(self) -> int:
        """How many left."""
        return len(self.departure_s)

    @property
    def lost_packets(self) -> int:
        """How many did not arrive."""
        return self.arrival_s.count(None)

    @property
    def loss_percent(self) -> float:
        """The share of packets that did not arrive."""
        return 100 * self.lost_packets / self.sent_packets

    @property
    def arrived(self) -> tuple[tuple[float, float, int], ...]:
        """(arrival in s, timestamp in s, bytes of IP) of each packet that arrived, in the order in which they did."""
        known = zip(self.arrival_s, self.media_s, self.ip_bytes, strict=True)
        return tuple(sorted((there, media, size) for there, media, size in known if there is not None))

    @property
    def delay_ms(self) -> tuple[float | None, ...]:
        """The one-way delay of each packet, interface to interface: what the network took, queues included."""
        pairs = zip(self.departure_s, self.arrival_s, strict=True)
        return tuple(None if there is None else 1000 * (there - left) for left, there in pairs)

    def to_json(self) -> dict[str, Any]:
        """As JSON data, with its kind and the version of its form; `from_json` reads it."""
        data = {name: value for name, value in asdict(self).items() if name != "received"}
        return {"measurement": self.KIND, "version": self.VERSION, **data}

    @classmethod
    def from_json(cls, data: Any) -> StreamResult:
        """The result that `to_json` wrote. Raises MeasurementError for another kind, version or shape of data."""
        if not isinstance(data, dict) or (data.get("measurement"), data.get("version")) != (cls.KIND, cls.VERSION):
            raise MeasurementError(f"this is no measurement of the kind {cls.KIND}, version {cls.VERSION}")
        try:
            result = cls(
                VideoFlow(**data["flow"]),
                Clip(**data["clip"]),
                str(data["video"]),
                Origin(**data["origin"]),
                tuple(map(float, data["departure_s"])),
                tuple(map(float, data["media_s"])),
                tuple(map(int, data["ip_bytes"])),
                tuple(None if it is None else float(it) for it in data["arrival_s"]),
                int(data["duplicates"]),
                int(data["reordered"]),
            )
        except (KeyError, TypeError, ValueError) as wrong:
            raise MeasurementError(f"this video stream measurement is damaged: {wrong}") from None
        if not result.sent_packets == len(result.media_s) == len(result.ip_bytes) == len(result.arrival_s) > 0:
            raise MeasurementError("this video stream measurement is damaged: it has not one time for each packet")
        return result


_SEQUENCES: Final = 1 << 16
_TIMESTAMPS: Final = 1 << 32


@dataclass(frozen=True)
class RtpPacket:
    """One packet as it passed an interface. ``time_ns`` is the kernel's; ``ip_bytes`` without Ethernet's header."""

    time_ns: int
    sequence: int
    timestamp: int
    ip_bytes: int
    payload: bytes


def rtp_packets(packets: Iterable[Packet], port: int) -> tuple[RtpPacket, ...]:
    """The RTP packets of a transport stream to a UDP port, in the order in which they passed.

    Raises MeasurementError for a packet to that port that is none.
    """
    from scapy.layers.inet import IP, UDP
    from scapy.layers.rtp import RTP

    found = []
    for packet in packets:
        if UDP not in packet or packet[UDP].dport != port:
            continue
        rtp = RTP(bytes(packet[UDP].payload))
        if rtp.version != 2 or rtp.payload_type != MP2T:
            raise MeasurementError(
                f"a packet to port {port} is no RTP packet of a transport stream: {packet.summary()}"
            )
        time_ns = round(packet.time * 1_000_000_000)
        found.append(RtpPacket(time_ns, rtp.sequence, rtp.timestamp, packet[IP].len, bytes(rtp.payload)))
    return tuple(found)


@dataclass(frozen=True)
class Passage:
    """What two captures say of one stream: see the fields of `linklab.measure.tools.video.StreamResult`."""

    departure_s: tuple[float, ...]
    media_s: tuple[float, ...]
    ip_bytes: tuple[int, ...]
    arrival_s: tuple[float | None, ...]
    duplicates: int
    reordered: int
    received: bytes


def passage(left: Sequence[RtpPacket], arrived: Sequence[RtpPacket]) -> Passage:
    """Puts side by side what left and what arrived, by sequence number. Pure; both captures have one clock.

    Raises MeasurementError where nothing left, where numbers are missing among what left, and for an arrival that
    never left.
    """
    if not left:
        raise MeasurementError("no RTP packet left the sender: look at what it said")
    begin = left[0]
    numbers = _unwrapped((packet.sequence for packet in left), begin.sequence, _SEQUENCES)
    if numbers != list(range(len(left))):
        raise MeasurementError(
            "the packets that left are not numbered one after the other: capture at the sender alone"
        )
    ticks = _unwrapped((packet.timestamp for packet in left), begin.timestamp, _TIMESTAMPS)
    times: list[float | None] = [None] * len(left)
    payloads: list[bytes] = [b""] * len(left)
    duplicates = reordered = 0
    highest = -1
    for packet, number in zip(
        arrived, _unwrapped((it.sequence for it in arrived), begin.sequence, _SEQUENCES), strict=True
    ):
        if not 0 <= number < len(left):
            raise MeasurementError(f"a packet arrived that never left (sequence number {packet.sequence})")
        if times[number] is not None:
            duplicates += 1
            continue
        reordered += number < highest
        highest = max(highest, number)
        times[number] = (packet.time_ns - begin.time_ns) / 1e9
        payloads[number] = packet.payload
    return Passage(
        tuple((packet.time_ns - begin.time_ns) / 1e9 for packet in left),
        tuple(tick / CLOCK_HZ for tick in ticks),
        tuple(packet.ip_bytes for packet in left),
        tuple(times),
        duplicates,
        reordered,
        b"".join(payloads),
    )


def _unwrapped(counters: Iterable[int], begin: int, span: int) -> list[int]:
    """Counters that start again at `span`, as distances from `begin`: each next one is taken the shorter way."""
    found: list[int] = []
    last = 0
    for counter in counters:
        step = (counter - begin - last) % span
        last += step - span if step >= span // 2 else step
        found.append(last)
    return found


_FILE: Final = "video.py"
_HEADERS_BYTES: Final = 14 + 20 + 8 + 12
_SILENCE_S: Final = 3.0
_FIRST_S: Final = 20.0


def stream(lab: Lab, flow: VideoFlow, video: Video) -> StreamResult:
    """Sends a video and captures it at both ends. Packets that are lost are a result.

    Raises MeasurementError where a program is missing or fails, where the receiver got nothing at all, or where what
    it took and what was captured differ; LabError for a node that is not there. Either way, and at Ctrl-C, no program
    is left running.
    """
    address = flow.address or address_of(lab, flow.destination)
    out, into = _interface(lab, flow.source, address), _interface_of(lab, flow.destination, address)
    file = _placed(lab, flow.source, video.packets_path if flow.sender == "paced" else video.stream_path)
    tool = "linklab stream 1" if flow.sender == "paced" else _ffmpeg_of(lab, flow.source)
    limit_s = video.clip.duration_s + _FIRST_S
    expression = f"udp dst port {flow.port}"
    with ThinProgram(lab, _FILE) as programs:
        receiver = programs.start(flow.destination, "receive", flow.port, f"{_SILENCE_S:g}", f"{_FIRST_S:g}")
        await_ready(receiver, "the receiver of the video")
        with (
            capture(lab, flow.source, out, expression, bytes_per_packet=_HEADERS_BYTES) as left,
            capture(lab, flow.destination, into, expression) as arrived,
        ):
            if flow.sender == "paced":
                words = ("send", address, flow.port, file, RTP_PACKET_BYTES, CLOCK_HZ)
                _refuse_other_video(last_words(programs.start(flow.source, *words), limit_s), video)
            else:
                _await_ffmpeg(programs.start_other(flow.source, _ffmpeg(flow, address, file, tool)), limit_s)
            taken = last_words(receiver, limit_s, skip=1)["packets"]
    return _result(flow, video, origin_of(tool, lab), (left, arrived), taken)


def _result(
    flow: VideoFlow, video: Video, origin: Origin, captures: tuple[Capture, Capture], taken: int
) -> StreamResult:
    left, arrived = (rtp_packets(caught.packets, flow.port) for caught in captures)
    if not arrived:
        raise MeasurementError(
            f"nothing of the video arrived at {flow.destination}, of {len(left)} packets that left {flow.source}: "
            "try a ping between them, and look at the links' loss"
        )
    if taken != len(arrived):
        raise MeasurementError(
            f"{len(arrived)} packets passed the interface of {flow.destination}, its receiver took {taken}: "
            "measure on virtual time, or a video of a lower rate"
        )
    seen = passage(left, arrived)
    return StreamResult(
        flow,
        video.clip,
        video.digest,
        origin,
        seen.departure_s,
        seen.media_s,
        seen.ip_bytes,
        seen.arrival_s,
        seen.duplicates,
        seen.reordered,
        seen.received,
    )


def _ffmpeg(flow: VideoFlow, address: str, file: str, version: str) -> str:
    # from 6.1 on ffmpeg sends the first half second at once unless it is told otherwise, and takes 0 for half a second
    calm = " -readrate_initial_burst 0.001" if _release(version) >= (6, 1) else ""
    # bitexact: numbers and identifiers begin at 0 instead of anywhere; no reports (RTCP), to which nobody listens
    form = "-fflags +bitexact -f rtp_mpegts -rtp_muxer_options rtpflags=skip_rtcp"
    target = f"rtp://{address}:{flow.port}?pkt_size={RTP_PACKET_BYTES}"
    return f"exec ffmpeg -nostdin -hide_banner -loglevel error -re{calm} -i {file} -map 0:v -c copy {form} '{target}'"


def _release(version: str) -> tuple[int, int]:
    """ "ffmpeg version 5.1.9-0+deb12u1" is (5, 1). Builds between releases have a revision instead, and are new."""
    found = re.search(r"version n?(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (99, 0)


def _placed(lab: Lab, node: str, path: Path) -> str:
    """Where a file of this machine stands in the lab. A guest sees most of them; what it does not see is copied."""
    said = lab[node].cmd(f"stat -L -c %s {shlex.quote(str(path))} 2>/dev/null").strip()
    if said == str(path.stat().st_size):
        return shlex.quote(str(path))
    place = f"/tmp/linklab-{path.name}"
    lab.write_file(place, path.read_bytes())
    return place


def _refuse_other_video(sent: Any, video: Video) -> None:
    if sent["digest"] != video.digest:
        raise MeasurementError("the lab sent another video than was asked for: start the lab again")


def _interface(lab: Lab, node: str, address: str) -> str:
    """By which interface a node sends to an address."""
    words = lab[node].cmd(f"ip -4 -oneline route get {shlex.quote(address)} 2>&1").split()
    if "dev" not in words:
        raise MeasurementError(f"{node} has no way to {address}: {' '.join(words)}")
    return words[words.index("dev") + 1]


def _interface_of(lab: Lab, node: str, address: str) -> str:
    """Which interface of a node has an address."""
    for line in lab[node].cmd("ip -4 -oneline address show").splitlines():
        words = line.split()
        if len(words) > 3 and words[3].partition("/")[0] == address:
            return words[1]
    raise MeasurementError(f"{node} has not the address {address}: choose one of its own, or leave address= away")


def _ffmpeg_of(lab: Lab, node: str) -> str:
    return lab[node].cmd("ffmpeg -version").partition(" Copyright")[0].strip()


def _await_ffmpeg(program: Program, limit_s: float) -> None:
    try:
        status = program.wait(limit_s)
    except LabError:
        raise MeasurementError(f"{program.command!r} was not done after {limit_s:g} s of the lab's time") from None
    if status:
        lines = [line for line in program.output.splitlines() if line.strip()] or [f"exit status {status}"]
        if "not found" in lines[-1]:
            raise MeasurementError("ffmpeg is not installed where the lab runs: sudo apt-get install ffmpeg")
        raise MeasurementError(f"the sender of the video failed: {lines[-1]}")
