"""What became of a video stream, packet by packet: an immutable result with a JSON form."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Final, Literal

from linklab.errors import MeasurementError
from linklab.measure.clip import Clip
from linklab.measure.flows import Transport
from linklab.measure.results import Origin

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
