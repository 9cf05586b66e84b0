"""Lab 09's runs: whether each is what its name says. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from linklab.analysis.video_statistics import delays
from linklab.grade.asked import each
from linklab.grade.check import Check
from linklab.grade.measured import stopped, unless_busy
from linklab.grade.real_time import late_ms
from linklab.grade.result import Result, guarded
from linklab.measure import Video, VideoResult, verdict_on
from linklab.measure.video_file import IP_PACKET_BYTES
from linklab.network import Network
from linklab.network.video_testbeds import video_network
from linklab.units import ETHERNET_HEADER_BYTES

NETWORKS: Final[Mapping[str, Network]] = {
    "gigabit": video_network(1, 1000),
    "wan": video_network(3, 2),
    "loss": video_network(3, 8, loss_percent=1),
    "queue": video_network(3, 2, queue_packets=10),
}
"""What the lab measures on, by name; "one frame" is "wan" with another token bucket."""
RUNS: Final = (*NETWORKS, "one frame")
_FRAME_MS: Final = (IP_PACKET_BYTES + ETHERNET_HEADER_BYTES) * 8 / 2 / 1000
_MOST_LINKS: Final = 4
_AGAIN: Final = "measure it again on the network of that name"
_LOST_PERCENT: Final = (0.1, 3.0)
"""1 % of a thousand packets: more than three standard deviations to both sides."""


@guarded
def check_runs(runs: object, video: Video, names: tuple[str, ...] = tuple(NETWORKS)) -> Result:
    """The runs of those names: each the whole video from h1 to h2, over the network that its name says."""

    def check(name: Any, run: object) -> Iterator[Check]:
        if not isinstance(run, VideoResult):
            said = "not measured yet" if run is None or run is ... else f"this is a {type(run).__name__}"
            hint = 'write runs["' + str(name) + '"] = measure.run(lab, VideoFlow(...))'
            yield Check.failing(f"run {name}", said, hint, "what measure.run returned")
            return
        if (cut := stopped(f"run {name}", run)) is not None:
            yield cut
            return
        yield _same_video(str(name), run, video)
        yield from _as_named(str(name), run)

    return each("Lab 09, the runs", runs, names, '{"gigabit": measure.run(...), ...}', check)


def _same_video(name: str, run: VideoResult, video: Video) -> Check:
    what, expected = f"run {name}: what was sent", "this lab's video, from h1 to h2, by the sender 'paced'"
    flow = run.flow
    if run.video != video.digest:
        return Check.failing(what, "another video was sent", "send the one that this notebook made", expected)
    if (flow.source, flow.destination) != ("h1", "h2"):
        found = f"{flow.source} to {flow.destination}"
        return Check.failing(what, f"it went from {found}", 'VideoFlow("h1", "h2") goes the right way', expected, found)
    if flow.sender != "paced":
        return Check.failing(what, f"the sender was {flow.sender}", "leave sender= away", expected, flow.sender)
    return Check.passing(what, expected, f"{run.sent_packets} packets")


def _as_named(name: str, run: VideoResult) -> Iterator[Check]:
    longest_ms = max(delay for delay in run.delay_ms if delay is not None)
    late = late_ms(run.fidelity, _MOST_LINKS)
    delay = f"{longest_ms:.4g} ms"
    if name == "gigabit":
        yield _timed(
            run, name, "longest delay", longest_ms < 1 + late, "below 1 ms", delay, "a gigabit link has no queue here"
        )
    if name in ("wan", "queue", "one frame"):
        low = _FRAME_MS * (8 if name != "queue" else 3)
        yield _timed(run, name, "longest delay", longest_ms > low, f"above {low:.0f} ms", delay, _SLOW)
    if name == "loss":
        yield _timed(
            run, name, "longest delay", longest_ms < 50 + late, "below 50 ms", delay, "8 Mbit/s are fast enough"
        )
        low, high = _LOST_PERCENT
        fits = low <= run.loss_percent <= high
        yield _counted(
            run, name, fits, f"{low:g} to {high:g} % lost", f"{run.loss_percent:.2f} %", "its link loses 1 %"
        )
    elif name == "queue":
        high_ms = _FRAME_MS * 14 + late
        yield _timed(run, name, "delay of a full queue", longest_ms < high_ms, f"below {high_ms:.0f} ms", delay, _SHORT)
        yield _counted(run, name, run.lost_packets > 0, "packets lost", f"{run.lost_packets}", _SHORT)
    else:
        yield _counted(
            run, name, run.lost_packets == 0, "no packet lost", f"{run.lost_packets}", "its links lose nothing"
        )
    if name == "one frame":
        least = min(delays(run))
        # the bucket holds a byte more than the frame
        fits = least >= _FRAME_MS - 0.01 - late
        yield _timed(run, name, "least time between packets", fits, f"{_FRAME_MS:.2f} ms", f"{least:.4g} ms", _BUCKET)


_SLOW: Final = "2 Mbit/s are less than this video needs in its busiest second, so packets wait"
_SHORT: Final = "ten packets wait at most, and the eleventh is lost"
_BUCKET: Final = 'set the bucket before you send: measure.bucket_of_one_frame(lab, "r1", "r1-eth1", 2, 1370)'


def _timed(run: VideoResult, name: str, what: str, fits: bool, expected: str, found: str, why: str) -> Check:
    """A busy machine may be to blame."""
    described = f"run {name}: {what}"
    if fits:
        return Check.passing(described, expected, found)
    hint = _AGAIN if why != _BUCKET else why
    failed = Check.failing(described, f"{found} does not fit: {why}", hint, expected, found)
    return unless_busy(failed, verdict_on(run).trouble)


def _counted(run: VideoResult, name: str, fits: bool, expected: str, found: str, why: str) -> Check:
    described = f"run {name}: packets lost"
    if fits:
        return Check.passing(described, expected, found)
    failed = Check.failing(described, f"{found} lost: {why}", _AGAIN, expected, found)
    return unless_busy(failed, verdict_on(run).trouble)
