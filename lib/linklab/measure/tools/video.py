"""Send a video through a lab: RTP over UDP at the video's pace, captured at both ends and read by scapy.

Two senders. ``paced`` sends RTP packets that ffmpeg made, each at the time that its timestamp names, so that they
are spread evenly. ``ffmpeg`` is ``ffmpeg -re`` itself: it looks at the clock every 10 ms (version 5; from 6.1 on it
sleeps to the instant) and sends all packets of a picture back to back.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from linklab.errors import MeasurementError
from linklab.measure.capture_files import Capture
from linklab.measure.captures import capture
from linklab.measure.flows import FlowOf
from linklab.measure.results import Origin, ToolResult
from linklab.measure.tool import Job, Tool, last_line, program_command, version_of
from linklab.measure.video_file import CLOCK_HZ, MP2T, RTP_HEADER_BYTES, RTP_PACKET_BYTES, Clip, Video
from linklab.schema import NOT_STORED, Range
from linklab.units import ETHERNET_HEADER_BYTES, IPV4_HEADER_BYTES, UDP_HEADER_BYTES

if TYPE_CHECKING:
    from scapy.packet import Packet

    from linklab.lab import Lab

Sender = Literal["paced", "ffmpeg"]
UDP_PORT: Final = 5004
"""RTP's own (RFC 3551, section 8), and the study's."""
_PROGRAM: Final = "video.py"
_HEADERS_BYTES: Final = ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + UDP_HEADER_BYTES + RTP_HEADER_BYTES
_SILENCE_S: Final = 3.0
_FIRST_S: Final = 20.0


@dataclass(frozen=True)
class VideoFlow(FlowOf["VideoResult"]):
    """A video from `source` to `destination`, RTP over UDP. `video` is what `encoded` gives; no JSON form has it.

    ``sender``: ``"paced"`` sends each packet when the stream's clock says; ``"ffmpeg"`` is ``ffmpeg -re``,
    which sends the packets of a picture one behind the other. Raises MeasurementError for another sender or port.
    """

    tool_name: ClassVar[str] = "video"

    video: Video | None = field(default=None, compare=False, metadata=NOT_STORED)
    sender: Sender = "paced"
    port: Annotated[int, Range(ge=1024, le=65535)] = UDP_PORT

    def __post_init__(self) -> None:
        if self.video is not None and not isinstance(self.video, Video):
            raise MeasurementError(f"video is {self.video!r}: give what measure.encoded(...) returns")
        super().__post_init__()

    @property
    def lasts_s(self) -> float:
        """The video's length."""
        return self.video.clip.duration_s if self.video is not None else 0.0


@dataclass(frozen=True, repr=False)
class VideoResult(ToolResult):
    """When each packet of a stream left and arrived, by sequence number, in seconds since the first one left.

    `departure_s` is when a packet passed the sender's interface, `arrival_s` when it passed the receiver's, None for
    one that was lost. `media_s` is what its RTP timestamp says, from the first one's; `ip_bytes` its size with the
    headers of IPv4, UDP and RTP. `duplicates` were not counted again; `reordered` packets arrived behind a later one.
    `received` is the transport stream that arrived, in the packets' order; it is not part of the JSON form. Raises
    MeasurementError without one time of each kind for each packet.
    """

    QUANTITY: ClassVar[str] = "loss_percent"

    flow: VideoFlow
    origin: Origin
    clip: Clip
    video: str
    departure_s: tuple[float, ...]
    media_s: tuple[float, ...]
    ip_bytes: tuple[int, ...]
    arrival_s: tuple[float | None, ...]
    duplicates: int
    reordered: int
    received: bytes = field(default=b"", repr=False, compare=False, metadata=NOT_STORED)

    def __post_init__(self) -> None:
        if not self.sent_packets == len(self.media_s) == len(self.ip_bytes) == len(self.arrival_s) > 0:
            raise MeasurementError(f"{self.flow.title} has not one time for each packet")

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
    """Return the RTP packets of a transport stream to a UDP port, in the order in which they passed.

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


def passage(left: Sequence[RtpPacket], arrived: Sequence[RtpPacket]) -> dict[str, Any]:
    """Return what two captures say of one stream, as fields of a `VideoResult`. Pure; both captures have one clock.

    Raises MeasurementError where nothing left, where numbers are missing among what left, and for an arrival that
    never left.
    """
    if not left:
        raise MeasurementError("no RTP packet left the sender: look at what it said")
    begin = left[0]
    numbers = _unwrapped((packet.sequence for packet in left), begin.sequence, _SEQUENCES)
    if numbers != list(range(len(left))):
        raise MeasurementError(
            "the packets that left are not numbered one after the other: where other flows fill the sender's own "
            "interface, its queue drops some of them before any capture sees them (send less, or give its link a "
            "longer queue); and the capture has to be of the sender alone"
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
    return {
        "departure_s": tuple((packet.time_ns - begin.time_ns) / 1e9 for packet in left),
        "media_s": tuple(tick / CLOCK_HZ for tick in ticks),
        "ip_bytes": tuple(packet.ip_bytes for packet in left),
        "arrival_s": tuple(times),
        "duplicates": duplicates,
        "reordered": reordered,
        "received": b"".join(payloads),
    }


def _unwrapped(counters: Iterable[int], begin: int, span: int) -> list[int]:
    """Return counters that start again at `span` as distances from `begin`, each the shorter way from the last."""
    found: list[int] = []
    last = 0
    for counter in counters:
        step = (counter - begin - last) % span
        last += step - span if step >= span // 2 else step
        found.append(last)
    return found


@dataclass(frozen=True)
class _Prepared:
    """The video that is sent, its file in the lab, and the interfaces by which it leaves and arrives."""

    video: Video
    file: str
    out: str
    into: str


class VideoStream(Tool[VideoFlow, VideoResult]):
    """A sender, Linklab's own receiver, and a capture at each end."""

    flow = VideoFlow
    result = VideoResult
    waits_for_gate = True
    server_exits_after_client = True

    def prepare(self, lab: Lab, job: Job[VideoFlow]) -> None:
        """Find out where the file lies in the lab, and which interfaces the video passes."""
        flow = job.flow
        if flow.video is None:
            raise MeasurementError(
                f'{flow.title} has no video: VideoFlow("{flow.source}", "{flow.destination}", measure.encoded(...))'
            )
        super().prepare(lab, job)
        out = _interface(lab, flow.source, job.address)
        into = _interface_of(lab, flow.destination, job.address)
        paced = flow.sender == "paced"
        if not paced:
            job.tool_version = version_of(lab, flow.source, "ffmpeg -version")
        file = _placed(lab, flow.source, flow.video.packets_path if paced else flow.video.stream_path)
        job.extra = _Prepared(flow.video, file, out, into)

    def server(self, job: Job[VideoFlow]) -> str:
        """Return the receiver's command."""
        first_s = _FIRST_S + job.flow.start_s
        return program_command(_PROGRAM, "receive", port=job.flow.port, silence_s=_SILENCE_S, first_s=first_s)

    def watching(self, lab: Lab, job: Job[VideoFlow]) -> AbstractContextManager[tuple[Capture, Capture]]:
        """Return the captures at both ends."""
        return _captured(lab, job.flow, job.extra)

    def client(self, job: Job[VideoFlow]) -> str:
        """Return the sender's command."""
        flow, prepared = job.flow, job.extra
        if flow.sender == "paced":
            return program_command(
                _PROGRAM,
                "send",
                **job.start,
                address=job.address,
                port=flow.port,
                file=prepared.file,
                digest=prepared.video.digest,
                packet_bytes=RTP_PACKET_BYTES,
                clock_hz=CLOCK_HZ,
            )
        command = ffmpeg_words(flow, job.address, prepared.file)
        return program_command("at_gate.py", "become", **job.start, command=command)

    def parse(self, job: Job[VideoFlow], origin: Origin) -> VideoResult:
        """Return what the captures say.

        Raises MeasurementError where the sender failed, where the receiver got nothing at all, or where what it took
        and what was captured differ.
        """
        flow, video = job.flow, job.extra.video
        if flow.sender == "paced":
            job.printed()  # raises where the sender failed
        elif job.status and not job.interrupted:
            said = last_line(job.stdout) or f"exit status {job.status}"
            raise MeasurementError(f"the sender of the video failed: {said}")
        left, arrived = (rtp_packets(caught.packets, flow.port) for caught in job.capture)
        if not arrived:
            raise MeasurementError(
                f"nothing of the video arrived at {flow.destination}, of {len(left)} packets that left {flow.source}: "
                "try a ping between them, and look at the links' loss; a token bucket smaller than a frame passes none"
            )
        taken = job.printed(server=True).get("packets")
        if taken != len(arrived):
            raise MeasurementError(
                f"{len(arrived)} packets passed the interface of {flow.destination}, its receiver took {taken}: "
                "measure on virtual time, or a video of a lower rate"
            )
        known: dict[str, Any] = {"clip": video.clip, "video": video.digest, "interrupted": job.interrupted}
        return VideoResult(flow, origin, **known, **passage(left, arrived))


VIDEO: Final = VideoStream()


@contextlib.contextmanager
def _captured(lab: Lab, flow: VideoFlow, prepared: _Prepared) -> Iterator[tuple[Capture, Capture]]:
    expression = f"udp dst port {flow.port}"
    with (
        capture(lab, flow.source, prepared.out, expression, bytes_per_packet=_HEADERS_BYTES) as left,
        capture(lab, flow.destination, prepared.into, expression) as arrived,
    ):
        yield left, arrived


def ffmpeg_words(flow: VideoFlow, address: str, file: str) -> list[str]:
    """Return the command of ``ffmpeg -re``. Pure."""
    # ffmpeg sends the first half second at once unless it is told otherwise, and takes 0 for half a second
    calm = ["-readrate_initial_burst", "0.001"]
    # bitexact: numbers and identifiers begin at 0 instead of anywhere; no reports (RTCP), to which nobody listens
    form = ["-fflags", "+bitexact", "-f", "rtp_mpegts", "-rtp_muxer_options", "rtpflags=skip_rtcp"]
    target = f"rtp://{address}:{flow.port}?pkt_size={RTP_PACKET_BYTES}"
    words = ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-re", *calm, "-i", file, "-map", "0:v"]
    return [*words, "-c", "copy", *form, target]


def _placed(lab: Lab, node: str, path: Path) -> str:
    """Return where a file of this machine stands in the lab. What the guest does not see is copied into it."""
    said = lab[node].cmd(f"stat -L -c %s {shlex.quote(str(path))} 2>/dev/null").strip()
    if said == str(path.stat().st_size):
        return str(path)
    place = f"/tmp/linklab-{path.name}"
    lab.write_file(place, path.read_bytes())
    return place


def _interface(lab: Lab, node: str, address: str) -> str:
    """Return the interface by which a node sends to an address."""
    words = lab[node].cmd(f"ip -4 -oneline route get {shlex.quote(address)} 2>&1").split()
    if "dev" not in words:
        raise MeasurementError(f"{node} has no way to {address}: {' '.join(words)}")
    return words[words.index("dev") + 1]


def _interface_of(lab: Lab, node: str, address: str) -> str:
    """Return the interface of a node that has an address."""
    for line in lab[node].cmd("ip -4 -oneline address show").splitlines():
        words = line.split()
        if len(words) > 3 and words[3].partition("/")[0] == address:
            return words[1]
    raise MeasurementError(f"{node} has not the address {address}: choose one of its own, or leave address= away")
