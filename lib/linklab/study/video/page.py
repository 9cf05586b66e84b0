"""The page of the multimedia study: its figures 10 to 27 beside ours, and what it did not look at: the picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from linklab.network.video_testbeds import RUNS_MBPS
from linklab.published.multimedia_study import INCONSISTENCIES, Printed, VideoQuantity, VideoRow, find
from linklab.show.video import Percentiles, distribution, rate_over_time
from linklab.study.page import Grid, Picture
from linklab.study.video.claims import PACED, judge_video
from linklab.study.video.page_picture import picture_chapter
from linklab.study.video.runs import FRAME, FRAME_BYTES, HTB, QUANTITIES
from linklab.study.video.values import Values
from linklab.study.write_page import Chapter, Page, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FFMPEG: Final = "ffmpeg"
_RUNS: Final = tuple((topology, link) for topology, links in RUNS_MBPS.items() for link in links)
_STATISTICS: Final = ("mean", "minimum", "maximum", "variance", "deviation")
_TITLES: Final[Mapping[VideoQuantity, str]] = {
    "bandwidth_kbps": "Bandwidth, figures 10 to 15",
    "delay_ms": "Time between packets (the study's delay), figures 16 to 21",
    "jitter_ms": "Jitter, figures 22 to 27",
}


def page(tables: Mapping[str, Sequence[Row]]) -> Page:
    """The page, of the tables of studies `video` and `picture`. Raises MeasurementError where they lack a run."""
    video, picture = Values("video", tables["video"]), Values("picture", tables["picture"])
    return Page(
        "video",
        "Video: the multimedia study of 2015, repeated",
        _lead(video),
        (
            Chapter("What was sent, and how it was read", _method(video)),
            Chapter(_TITLES["bandwidth_kbps"], (_grid(video, "bandwidth_kbps"), *_bandwidth(video))),
            Chapter(_TITLES["delay_ms"], (_grid(video, "delay_ms"), *_delay(video))),
            Chapter(_TITLES["jitter_ms"], (_grid(video, "jitter_ms"), *_jitter(video))),
            Chapter("Normally distributed?", _normality(video)),
            picture_chapter(picture, tables["picture"]),
            Chapter("The study's claims", (_claims(tables["video"]),)),
            Chapter("Where the study contradicts itself", (_inconsistencies(),)),
        ),
    )


def _lead(video: Values) -> str:
    means = [video.one("bandwidth_kbps_mean", link_mbps=link, sender=PACED, shaper=HTB) for _, link in _RUNS]
    burst = video.one("delay_ms_minimum", link_mbps=2, sender=PACED, shaper=HTB)
    frame = video.one("delay_ms_minimum", link_mbps=2, sender=PACED, shaper=FRAME)
    unequal = video.unequal()
    agree = "repeats agree to the last digit" if not unequal else f"repeats differ in {', '.join(unequal)}"
    return (
        "A video of the study's kind crossed its six testbeds on virtual time; "
        f"{agree}. Mean bandwidth is {min(means):.0f} to {max(means):.0f} kbit/s where the study printed 1335 to "
        "1373. Its clearest difference between hardware and Mininet, packets that come less than 5.41 ms apart over "
        f"2 Mbit/s, is the token bucket's: we see {burst:.2f} ms with Mininet's and {frame:.2f} ms with one that holds "
        "a single frame. The columns *real* and *Mininet* are published figures of hardware and software that no lab "
        "here has; *ours* is measured."
    )


def _method(video: Values) -> tuple[str, ...]:
    coded = video.one("coded_kbps", link_mbps=1000, sender=PACED, shaper=HTB)
    sent = video.one("sent_packets", link_mbps=1000, sender=PACED, shaper=HTB)
    return (
        "The study's own film is not public. Ours has its length, size, frames and rate (50 s, 800x600, 60 frames a "
        f"second; H.264, {coded:.0f} kbit/s measured for 1026 asked) and scenes that are quiet and busy in turn, drawn "
        f"by ffmpeg itself. It travels as MPEG-TS in RTP, {sent:.0f} packets of 1356 bytes with the headers of IPv4, "
        "UDP and RTP: all of the study's least and largest bandwidths are whole multiples of that packet's size.",
        "**Two senders.** The study used VLC, which spreads packets evenly between two marks of the stream's clock. "
        "*paced* does that with the same packets. *ffmpeg* is `ffmpeg -re`, which sends a picture's packets one behind "
        "the other, and looks at the clock every 10 ms (version 5). Comparing the two shows how much of a number is "
        "the sender's, and not the network's.",
        "**Definitions** are those of Wireshark, the study's tool. Bandwidth at a packet: all that arrived within the "
        "second that ends with it, a value for each packet. So a mean over packets counts busy seconds more often: "
        f"ours is {video.one('bandwidth_kbps_mean', link_mbps=1000, sender=PACED, shaper=HTB):.0f} kbit/s where the "
        f"whole stream has {video.one('mean_kbps', link_mbps=1000, sender=PACED, shaper=HTB):.0f}, and that explains "
        "why the study measures more than its video has. Delay: the time since the packet before. Jitter: RFC 3550's, "
        "smoothed over 16 packets. For the least bandwidth the first 20 packets do not count.",
    )


def _grid(video: Values, quantity: VideoQuantity) -> Grid:
    rows = []
    for topology, link_mbps in _RUNS:
        real, virtual = (find(link_mbps, quantity, platform) for platform in ("real", "virtual"))
        levels = {"link_mbps": link_mbps, "shaper": HTB}
        for statistic in _STATISTICS:
            ours = [
                _shown(video.one(f"{quantity}_{statistic}", sender=sender, **levels))
                if video.has(f"{quantity}_{statistic}", sender=sender, **levels)
                else "-"
                for sender in (PACED, FFMPEG)
            ]
            first = statistic == "mean"
            where = f"{topology}, {link_mbps} Mbit/s"
            rows.append(
                (
                    str(real.figure) if first else "",
                    where if first else "",
                    statistic.replace("deviation", "standard deviation"),
                    str(_printed(real, statistic)),
                    str(_printed(virtual, statistic)),
                    *ours,
                )
            )
    unit = find(2, quantity, "real").unit
    columns = ("figure", "topology, link", f"in {unit}", "real", "Mininet", "ours, paced", "ours, ffmpeg -re")
    return Grid(
        columns, tuple(rows), f"All values in {unit}, variances in its square. *real* and *Mininet* as published."
    )


def _printed(row: VideoRow, statistic: str) -> Printed:
    found = getattr(row, statistic)
    assert isinstance(found, Printed)
    return found


def _shown(value: float) -> str:
    return "0" if value == 0 else f"{value:.2f}" if abs(value) >= 100 else f"{value:.3g}"


def _bandwidth(video: Values) -> tuple[str | Picture, ...]:
    largest = video.one("bandwidth_kbps_maximum", link_mbps=2, sender=PACED, shaper=HTB)

    def draw() -> Figure:
        lines = {
            f"{link} Mbit/s": video.numbered("second_kbps", link_mbps=link, sender=PACED, shaper=HTB)
            for link in (1000, 2)
        }
        return rate_over_time(lines, limit_kbps=2000 * (FRAME_BYTES - 14) / FRAME_BYTES)

    return (
        Picture(
            "bandwidth",
            "Our video in each second, over 1000 and over 2 Mbit/s.",
            "Bandwidth over 50 seconds; both lines are alike but in the busiest seconds, which 2 Mbit/s cut off.",
            draw,
        ),
        "**Where we differ, and why.** A link that is faster than the video changes nothing: our runs at 4 Mbit/s and "
        "more have one mean, least and largest value, to 0.1 kbit/s. The study's differ a little more: in Mininet's "
        "least value (86.78 to 173.57), in both largest ones at 4 Mbit/s. None of these links held packets back, so "
        "its computers are a likely cause. Our least value is a matter of counting: behind 20 packets the first second "
        "is still filling, and 21 packets are 227.81 kbit/s. The study's 86.78 and 162.72 are 8 and 15 packets, in "
        "some quieter second of its film. "
        f"At 2 Mbit/s the link is the limit: {largest:.2f} kbit/s at most, beside 1963.49 (181 packets, real) and "
        "1996.03 (184, Mininet). 2 Mbit/s carry 182.5 frames of 1370 bytes a second; what is more came out of the "
        "token bucket. The real network's mean time between packets there is 1.8 % above Mininet's over the same 50 s, "
        "so that fewer packets arrived: its router probably dropped some in a short queue.",
    )


def _delay(video: Values) -> tuple[str | Picture | Grid, ...]:
    rows = []
    for link_mbps in RUNS_MBPS[3]:
        whole_ms = FRAME_BYTES * 8 / link_mbps / 1000
        rows.append(
            (
                f"{link_mbps} Mbit/s",
                f"{whole_ms:.2f}",
                *(str(find(link_mbps, "delay_ms", platform).minimum) for platform in ("real", "virtual")),
                *(
                    f"{video.one('delay_ms_minimum', link_mbps=link_mbps, sender=PACED, shaper=shaper):.2f}"
                    for shaper in (HTB, FRAME)
                ),
            )
        )
    columns = ("WAN link", "a frame takes", "real", "Mininet", "ours, Mininet's bucket", "ours, bucket of one frame")

    def draw() -> Figure:
        runs = {
            "1000 Mbit/s": (1000, PACED, HTB),
            "2 Mbit/s": (2, PACED, HTB),
            "2 Mbit/s, one frame": (2, PACED, FRAME),
            "ffmpeg -re, 1000 Mbit/s": (1000, FFMPEG, HTB),
            "ffmpeg -re, 2 Mbit/s": (2, FFMPEG, HTB),
        }
        lines = {
            name: Percentiles(tuple(video.numbered("delay_ms", link_mbps=link, sender=sender, shaper=shaper)))
            for name, (link, sender, shaper) in runs.items()
            if video.has("delay_ms", link_mbps=link, sender=sender, shaper=shaper)
        }
        return distribution(lines, "time between packets", "ms", marks={"1370 bytes at 2 Mbit/s": 5.48})

    return (
        "**The least time between packets** is what a WAN link shows most clearly. A frame of 1370 bytes takes 5.48 ms "
        "at 2 Mbit/s, so behind such a link no two can come closer. The real network's 5.41 is that (a serial cable's "
        "frames have other headers). Mininet's is not. Its link keeps to the rate by a token bucket that fills while "
        "the link is idle, and then lets two packets pass as close as they came.",
        Grid(columns, tuple(rows), "All in ms. *real* and *Mininet* as published."),
        Picture(
            "delay",
            "How the time between packets is distributed.",
            "Distribution of the time between packets; ffmpeg's packets come in bursts and pauses, and with a bucket "
            "of one frame no packet comes sooner than 5.48 milliseconds after another.",
            draw,
        ),
        "**Where we differ, and why.** On fast links the least time is the sender's own. The study's 0 to 1.6 ms are "
        "VLC's; *paced* never sends two packets closer than its busiest 70 ms ask for, and *ffmpeg* sends a picture's "
        "back to back. The largest time is the film's: ours has no second as still as the study's.",
    )


def _jitter(video: Values) -> tuple[str | Picture, ...]:
    def draw() -> Figure:
        lines = {
            name: Percentiles(tuple(video.numbered("jitter_ms", link_mbps=link, sender=sender, shaper=HTB)))
            for name, link, sender in (
                ("2 Mbit/s", 2, PACED),
                ("4 Mbit/s", 4, PACED),
                ("8 Mbit/s", 8, PACED),
                ("10 Mbit/s", 10, PACED),
                ("1000 Mbit/s", 1000, PACED),
                ("ffmpeg -re, 1000 Mbit/s", 1000, FFMPEG),
            )
            if video.has("jitter_ms", link_mbps=link, sender=sender, shaper=HTB)
        }
        return distribution(lines, "jitter", "ms")

    calm, waiting = (video.one("jitter_ms_mean", link_mbps=it, sender=PACED, shaper=HTB) for it in (1000, 2))
    other = (
        f" {video.one('jitter_ms_mean', link_mbps=1000, sender=FFMPEG, shaper=HTB):.2f} ms"
        if video.has("jitter_ms_mean", link_mbps=1000, sender=FFMPEG, shaper=HTB)
        else " more"
    )
    return (
        Picture(
            "jitter",
            "How RFC 3550's jitter is distributed.",
            "Distribution of the jitter on a logarithmic axis: the slower the link, the more of it.",
            draw,
        ),
        "**Where we differ, and why.** Virtual time has no noise: a sender that wakes up on time and a network that is "
        f"never late leave a mean jitter of {1000 * calm:.2f} us, the rounding of timestamps to 1/90000 s. The study's "
        "4 to 44 us on the same links are its computers. Jitter that a network makes is seen where packets wait: "
        f"{waiting:.2f} ms on average at 2 Mbit/s. That is more than the study's 0.05 and 0.03: our film asks for more "
        "than the link has in every tenth second, and sends at more than its rate for moments in others. And "
        f"*ffmpeg -re* has{other} on an idle gigabit link: a picture's packets leave at once though their timestamps "
        "lie apart. Who compares jitters compares senders first.",
    )


def _normality(video: Values) -> tuple[str | Grid, ...]:
    rows = []
    for topology, link_mbps in _RUNS:
        for quantity in QUANTITIES:
            levels = {"link_mbps": link_mbps, "sender": PACED, "shaper": HTB}
            p = video.one(f"{quantity}_normal_p", **levels)
            rows.append(
                (
                    f"{topology}, {link_mbps} Mbit/s",
                    quantity.rpartition("_")[0].replace("delay", "time between packets"),
                    "no" if not find(link_mbps, quantity, "real").normal else "yes",
                    "below 1e-300" if p < 1e-300 else f"{p:.1e}",
                    f"{video.one(f'{quantity}_skewness', **levels):.2f}",
                    f"{video.one(f'{quantity}_excess_kurtosis', **levels):.2f}",
                )
            )
    return (
        "The study says of every series that it is not normally distributed, and does not name its test. Ours is "
        "D'Agostino and Pearson's. With more than 5000 values it finds the slightest difference, so p says little by "
        "itself: bandwidth is hardly skewed at all and still fails. Skewness and kurtosis say how far from normal a "
        "series is. Nor are the values independent of each other, as the test takes them to be: a window of a second "
        "shares nearly all of its packets with the next.",
        Grid(("topology, link", "quantity", "normal, published", "p", "skewness", "excess kurtosis"), tuple(rows)),
    )


def _claims(rows: Sequence[Row]) -> Grid:
    return Grid(
        ("claim", "where", "verdict", "because"),
        tuple((it.claim.says, it.claim.where, it.verdict, it.because) for it in judge_video(rows)),
    )


def _inconsistencies() -> Grid:
    return Grid(("where", "what"), tuple((it.where, it.what) for it in INCONSISTENCIES))
