"""The page's chapter on the picture: what loss and short queues do to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from linklab.errors import MeasurementError
from linklab.measure import Clip, Origin, VideoFlow, VideoResult, encoded, picture_at, quality
from linklab.measure.video_file import without
from linklab.show.video import pictures, similarity_over_time
from linklab.study.page import Grid, Picture
from linklab.study.video.picture import ENDLESS, lost_numbers
from linklab.study.video.values import Values
from linklab.study.write_page import Chapter, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FRAMES_PER_S: Final = Clip().frames_per_s


def picture_chapter(values: Values, rows: Sequence[Row]) -> Chapter:
    """The chapter, of the table of study `picture`. Raises MeasurementError where it lacks a run."""
    cases = _cases(values)
    lossy = _median(values, [it for it in cases if it["loss_percent"]])
    short = _median(values, [it for it in cases if not it["loss_percent"] and it["queue_packets"] != ENDLESS])
    told = {_name(lossy): lossy, _name(short): short}

    def over_time() -> Figure:
        return similarity_over_time(
            {name: values.numbered("ssim", **case) for name, case in told.items()}, _FRAMES_PER_S
        )

    unequal = values.unequal()
    repeats = (
        f"Repeats differ in {', '.join(unequal)}; the table has means."
        if unequal
        else "Repeats agree to the last digit, also in what netem drops: on virtual time its random numbers are the "
        "same in each fresh lab. So they are no further sample: of about a thousand packets, 1 % is ten, more or less."
    )
    return Chapter(
        "What the study did not look at: the picture",
        (
            "The study's links lost nothing that it mentions. So we let its topology 3 lose packets in two ways: at "
            "random on a WAN link that is fast enough, and in a short queue where the link is slower than the film. "
            "What arrived is decoded, and each picture held beside the one that was to be shown at that instant (SSIM: "
            "1 is the same, bit for bit).",
            Grid(
                (
                    "WAN link",
                    "queue (packets)",
                    "loss asked (%)",
                    "packets lost (%)",
                    "pictures damaged (%)",
                    "mean SSIM",
                    "worst SSIM",
                    "longest delay (ms)",
                ),
                tuple(_row(values, case) for case in cases),
                repeats,
            ),
            Picture(
                "ssim",
                "Structural similarity of each picture with the one that was sent.",
                "Similarity over time falls at a lost packet and recovers at the next key picture.",
                over_time,
            ),
            *(
                Picture(
                    f"frame-{number}",
                    f"The worst picture of {name}: as sent, and as shown.",
                    f"Two pictures side by side, as sent and as shown with {name}; the second is damaged.",
                    _Worst(values, rows, case),
                )
                for number, (name, case) in enumerate(told.items(), 1)
            ),
            "**What to see.** One lost packet spoils more than one picture. Most pictures say only what changed since "
            "the one before, so damage stays until the next key picture, which comes two seconds later at most. Lost "
            "packets that are spread at random thus damage most of the pictures, and as many in a row far fewer. A "
            "short queue loses them in a row, just when there is most to show; a long one loses none and lets the film "
            "wait instead.",
        ),
    )


Case = dict[str, object]


def _cases(values: Values) -> list[Case]:
    found: list[Case] = []
    for row in values.all("damaged_percent", repeat=1):
        found.append({name: row[name] for name in ("link_mbps", "queue_packets", "loss_percent", "duration_s")})
    return found


def _median(values: Values, cases: list[Case]) -> Case:
    """A case in the midst: one that is neither whole nor ruined. Raises MeasurementError where none is damaged."""
    damaged = [case for case in cases if values.has("lost_packet", repeat=1, **case)]
    if not damaged:
        raise MeasurementError("the table of study picture has no run with damage of each kind: run it without --only")
    return sorted(damaged, key=lambda case: values.one("mean_ssim", **case))[len(damaged) // 2]


def _name(case: Case) -> str:
    if case["loss_percent"]:
        return f"{case['loss_percent']} % loss"
    return f"{case['link_mbps']} Mbit/s, a queue of {case['queue_packets']}"


def _row(values: Values, case: Case) -> tuple[str, ...]:
    lost = 100 * values.one("lost_packets", **case) / values.one("sent_packets", **case)
    return (
        f"{case['link_mbps']} Mbit/s",
        str(case["queue_packets"]),
        str(case["loss_percent"]),
        f"{lost:.2f}",
        f"{values.one('damaged_percent', **case):.1f}",
        f"{values.one('mean_ssim', **case):.3f}",
        f"{values.one('least_ssim', **case):.3f}",
        f"{values.one('one_way_max_ms', **case):.1f}",
    )


class _Worst:
    """Draws the worst picture of one case: decoded anew from the video without the packets that were lost."""

    def __init__(self, values: Values, rows: Sequence[Row], case: Case) -> None:
        self._values, self._rows, self._case = values, rows, case

    def __call__(self) -> Figure:
        duration_s = self._case["duration_s"]
        assert isinstance(duration_s, int | float)
        video = encoded(Clip(duration_s=duration_s))
        lost = lost_numbers(self._rows, **self._case)
        received = without(video.stream_path.read_bytes(), lost)
        blank = VideoResult(
            VideoFlow("h1", "h2"), Origin("", "", ""), video.clip, video.digest, (0.0,), (0.0,), (0,), (0.0,), 0, 0
        )
        result = replace(blank, received=received)
        seen = quality(video, result)
        measured = self._values.numbered("ssim", **self._case)
        if [frame.ssim or 0.0 for frame in seen.frames] != measured:
            raise MeasurementError(
                "the table of study picture is of another video than this machine's ffmpeg makes: "
                "linklab study run picture --again"
            )
        worst = seen.worst()
        sent, shown = picture_at(video, result, worst.time_s)
        return pictures([(f"as sent, {worst.time_s:.2f} s", sent), (f"as shown, SSIM {worst.ssim:.2f}", shown)])
