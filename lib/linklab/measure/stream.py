"""A real video stream through a lab: RTP over UDP in real pace, captured at both ends and read by scapy.

Two senders. ``paced`` sends RTP packets that ffmpeg made, each at the time that its timestamp names, which is how VLC,
the multimedia study's tool, spreads packets. ``ffmpeg`` is ``ffmpeg -re`` itself: it looks at the clock every 10 ms
(version 5; from 6.1 on it sleeps to the instant) and sends all packets of a picture back to back.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any, Final

from linklab.errors import LabError, MeasurementError
from linklab.lab import Lab
from linklab.measure.addresses import address_of
from linklab.measure.capture import Capture, capture
from linklab.measure.clip import CLOCK_HZ, RTP_PACKET_BYTES, Video
from linklab.measure.results import Origin
from linklab.measure.rtp import passage, rtp_packets
from linklab.measure.stream_result import StreamResult, VideoFlow
from linklab.measure.surroundings import origin_of
from linklab.measure.thin import ThinProgram, await_ready, last_words
from linklab.program import Program

_FILE: Final = "stream_program.py"
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
