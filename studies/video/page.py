# %% [markdown]
# # Video: the multimedia study of 2015, repeated

# %%
from linklab.measure.video_file import IP_PACKET_BYTES, Clip
from linklab.network.catalogue import VIDEO_RUNS_MBPS
from linklab.show.video import distribution, rate_over_time, similarity_over_time
from linklab.study.declare import BRIDGE, OPENFLOW
from linklab.study.notebook import open_page
from linklab.study.page import inconsistencies, say, significant, spread, table
from linklab.units import BITS_PER_BYTE, transmission_ms
from studies.video.judges import CLAIMS, LINKS, PACED, PUBLISHED, RUNS, find
from studies.video.study import ENDLESS, FRAME, FRAME_BYTES, HTB, QUANTITIES, STUDIES, VIDEO

page = open_page("video", STUDIES, CLAIMS)
video, picture = page["video"], page["picture"]
P = {"sender": PACED, "shaper": HTB, "switch": BRIDGE}
CONTROLLER = {**P, "switch": OPENFLOW}
F = {**P, "sender": "ffmpeg"}
settings = {"paced, bridge": P, "paced, controller": CONTROLLER, "ffmpeg -re, bridge": F}
film, packet_bytes = PUBLISHED["video"], PUBLISHED["packet_bytes"]
frame_ms = {link: transmission_ms(FRAME_BYTES, link) for link in VIDEO_RUNS_MBPS[3]}


def ours(metric, link, setting=P):
    return video.lookup(metric, link_mbps=link, **setting)


def packets(kbps):
    """How many packets in a second a bandwidth is."""
    return round(kbps * 1000 / packet_bytes / BITS_PER_BYTE)


def shown(metric, link, setting):
    """The mean of the repeats, but of minima the least and of maxima the largest."""
    if not len(video.select(link_mbps=link, **setting)):
        return "-"  # a network without switches has no controller
    found = ours(metric, link, setting)
    value = found.low if metric.endswith("_minimum") else found.high if metric.endswith("_maximum") else found.mean
    if abs(value) >= 100:
        return f"{value:.2f}"
    return f"{value:.6f}" if 1e-6 <= value < 1e-4 else significant(value)


def by_run(quantity):
    """The statistics of a quantity in each run, published and ours."""
    rows = []
    for topology, link in RUNS:
        real, virtual = (find(link, quantity, platform) for platform in ("real", "virtual"))
        run = (real["figure"], f"{topology}, {link} Mbit/s")
        for it in ("mean", "minimum", "maximum", "variance", "deviation"):
            each = (shown(f"{quantity}_{it}", link, setting) for setting in settings.values())
            rows.append((*run, it.replace("deviation", "standard deviation"), real[it], virtual[it], *each))
            run = ("", "")
    unit = next(metric.unit for metric in VIDEO.metrics if metric.name == f"{quantity}_mean")
    columns = ("figure", "topology, link", f"in {unit}", "real, published", "Mininet, published", *settings)
    note = (
        f"All values in {unit}, variances in its square. Ours: the mean of the repeats, but of minima the least and of "
        "maxima the largest."
    )
    return table(rows, columns, note)


def line(measured, metric, **levels):
    """A series of the first repeat."""
    return list(measured.series(metric, repeat=1, **levels)["mean"])


def lines(metric, runs):
    return {name: line(video, metric, link_mbps=link, **setting) for name, (link, setting) in runs.items()}


# %%
our_means = [ours("bandwidth_kbps_mean", link).mean for link in LINKS]
means = [find(link, "bandwidth_kbps", it)["mean"] for link in LINKS for it in ("real", "virtual")]
say(f"""
A video of the study's kind crossed its six testbeds on **virtual time**: the clock of a lab's Linux moves when all of
its programs wait, and stands while one computes, so no machine's speed is in a number. Over all six links mean
bandwidth is {min(our_means):.0f} to {max(our_means):.0f} kbit/s where the study printed {min(means):.0f} to
{max(means):.0f} (each link below), but the film is ours and not the study's, so that says something of the films alone.
The study's clearest difference between hardware and Mininet,
packets that come less than {find(2, "delay_ms", "real")["minimum"]} ms apart over 2 Mbit/s, we call
*{page.verdict("video-wan-spacing")}*, and it is the token bucket's: we see {ours("delay_ms_minimum", 2).low:.2f} ms
with Mininet's and {ours("delay_ms_minimum", 2, {"sender": PACED, "shaper": FRAME}).low:.2f} ms with one that holds a
single frame. The columns called *published* are figures of hardware and software that no lab here has; all others are
measured here.
""")

# %% [markdown]
# ## What was sent, and how it was read

# %%
ends = [find(link, "bandwidth_kbps", it) for link in LINKS for it in ("real", "virtual")]
multiples = {packets(it[which]) for it in ends for which in ("minimum", "maximum")}
say(f"""
The study's own film is not public. Ours has its length, size, pictures and rate ({film["duration_s"]} s,
{film["width"]}x{film["height"]}, {film["frames_per_s"]} pictures a second; H.264, {ours("coded_kbps", 1000).mean:.0f}
kbit/s measured for {film["bitrate_kbps"]} asked, before headers) and scenes that are quiet and busy in turn, drawn by
ffmpeg itself. In every tenth second a picture stands still; another one is as busy as the study's busiest. It travels
as MPEG-TS in RTP, {ours("sent_packets", 1000).mean:.0f} packets of {packet_bytes} bytes with the headers of IPv4, UDP
and RTP: all of the study's least and largest bandwidths are whole multiples of that packet's size in a second
({", ".join(map(str, sorted(multiples)))} packets). A film of your own takes its place with `--set video=mine.mp4`.
""")

# %%
say(f"""
**Two senders.** The study used VLC, and does not say how it spaces packets; on 1000 Mbit/s some come
{find(1000, "delay_ms", "real")["minimum"]} ms (real) and {find(1000, "delay_ms", "virtual")["minimum"]} ms (Mininet)
after the one before. *paced* spreads packets evenly between two marks of the stream's clock. *ffmpeg* is
`ffmpeg -re`, which sends a picture's packets one behind the other. Comparing the two shows how much of a number is
the sender's, and not the network's.
""")

# %%
say(f"""
**Two kinds of switches.** The study's Mininet has a controller (its figure 7). *controller* is Open vSwitch with a
learning one, *bridge* a Linux bridge. A controller is asked about the first packet of a flow, and about addresses
before it: the longest one-way delay over 100 Mbit/s is {significant(ours("one_way_max_ms", 100, CONTROLLER).high, 3)}
ms with it and {significant(ours("one_way_max_ms", 100).high, 3)} ms without. Means over the whole film hardly see
that.
""")

# %%
say(f"""
**Definitions** are those of Wireshark, the study's tool. Bandwidth at a packet: all that arrived within the second that
ends with it, a value for each packet. So a mean over packets counts busy seconds more often: ours is
{ours("bandwidth_kbps_mean", 1000).mean:.0f} kbit/s where the whole stream, with the headers of MPEG-TS, RTP, UDP and
IPv4, has {ours("mean_kbps", 1000).mean:.0f}, and that explains why the study measures more than its video has. Delay:
the time since the packet before. Jitter: RFC 3550's, smoothed over 16 packets. For the least bandwidth the first 20
packets do not count.
""")

# %% [markdown]
# ## Bandwidth, figures 10 to 15

# %%
by_run("bandwidth_kbps")

# %%
seconds = lines("second_kbps", {f"{link} Mbit/s": (link, P) for link in (1000, 2)})
carried_kbps = 2000 * IP_PACKET_BYTES / FRAME_BYTES
drawing = rate_over_time(seconds, limit_kbps=carried_kbps)
page.figure("bandwidth", "Our video in each second, over 1000 and over 2 Mbit/s.", drawing)

# %%
say(f"""
**Where we differ, and why.** A link that is faster than the video changes next to nothing in our runs. The study's
differ a little more, in Mininet's least value above all: {packets(find(1000, "bandwidth_kbps", "virtual")["minimum"])}
packets in a second between direct hosts, {packets(find(10, "bandwidth_kbps", "virtual")["minimum"])} through switches.
Ours is that of a still second, {packets(ours("bandwidth_kbps_minimum", 1000).low)} packets, with switches and without.
None of these links held packets back, so the study's computers are a likely cause of what its Mininet shows; a film
that fills a link makes such a difference too, since what waited before the still second passes in it. At 2 Mbit/s the
link is the limit: {ours("bandwidth_kbps_maximum", 2).high:.2f} kbit/s at most, where the study has
{find(2, "bandwidth_kbps", "real")["maximum"]} (real) and {find(2, "bandwidth_kbps", "virtual")["maximum"]} (Mininet).
The link carries {carried_kbps:.0f} kbit/s on average in packets of {packet_bytes} bytes (frames of {FRAME_BYTES}),
{carried_kbps * 1000 / packet_bytes / BITS_PER_BYTE:.1f} packets in a second. A second that ends with a packet and
begins with one counts both, and what the token bucket lets through at once is one more: so Mininet's number is ours, to
the digit.
""")

# %% [markdown]
# ## Time between packets (the study's delay), figures 16 to 21

# %%
by_run("delay_ms")

# %%
say(f"""
**The least time between packets** is what a WAN link shows most clearly. A frame of {FRAME_BYTES} bytes takes
{frame_ms[2]:.2f} ms at 2 Mbit/s (its IP packet alone {transmission_ms(IP_PACKET_BYTES, 2):.2f}), so behind such a link
no two can come much closer (a serial cable's frames have other headers). The real network's least is
{find(2, "delay_ms", "real")["minimum"]} ms there, and {find(8, "delay_ms", "real")["minimum"]} of {frame_ms[8]:.2f} ms
at 8 Mbit/s; Mininet's at 2 Mbit/s is {find(2, "delay_ms", "virtual")["minimum"]} ms. Its link keeps to the rate by a
token bucket that fills while the link is idle, and then lets two packets pass as close as they came.
""")

# %%
rows = []
for link, takes_ms in frame_ms.items():
    known = [find(link, "delay_ms", platform)["minimum"] for platform in ("real", "virtual")]
    least_ms = [ours("delay_ms_minimum", link, {**P, "shaper": it}).low for it in (HTB, FRAME)]
    rows.append((f"{link} Mbit/s", f"{takes_ms:.2f}", *known, *(f"{it:.2f}" for it in least_ms)))
columns = (
    "WAN link", "a frame takes", "real, published", "Mininet, published", "ours, Mininet's bucket",
    "ours, bucket of one frame",
)  # fmt: skip
table(rows, columns, "All in ms.")

# %%
runs = {
    "1000 Mbit/s": (1000, P),
    "2 Mbit/s": (2, P),
    "2 Mbit/s, one frame": (2, {**P, "shaper": FRAME}),
    "ffmpeg -re, 1000 Mbit/s": (1000, F),
    "ffmpeg -re, 2 Mbit/s": (2, F),
}
marks = {f"{FRAME_BYTES} bytes at 2 Mbit/s": frame_ms[2]}
drawing = distribution(lines("delay_ms", runs), "time between packets", "ms", marks=marks)
caption = (
    "How the time between packets is distributed: paced where no sender is named, behind Mininet's bucket where it is "
    "not that of one frame."
)
page.figure("delay", caption, drawing)

# %% [markdown]
# **Where we differ, and why.** On fast links the least time is the sender's own. The study's is that of VLC, whose
# spacing is not known; *paced* never sends two packets closer than its busiest 70 ms ask for, and *ffmpeg* sends a
# picture's back to back: where packets pass at once they lie a step of a lab's clock apart, a quarter of a
# microsecond, which says no more than "at once". The largest time is the film's, in a still second.
#
# ## Jitter, figures 22 to 27

# %%
by_run("jitter_ms")

# %%
runs = {f"{link} Mbit/s": (link, P) for link in (2, 4, 8, 10, 1000)} | {"ffmpeg -re, 1000 Mbit/s": (1000, F)}
drawing = distribution(lines("jitter_ms", runs), "jitter", "ms")
page.figure("jitter", "How RFC 3550's jitter is distributed.", drawing)

# %%
more = ""
if ours("jitter_ms_mean", 2).mean > find(2, "jitter_ms", "real")["mean"]:
    more = ", more than the study's, since our film asks for more than the link has in every tenth second"
say(f"""
**Where we differ, and why.** Virtual time has no noise: a sender that wakes up on time and a network that is never
late leave a mean jitter of {1000 * ours("jitter_ms_mean", 1000).mean:.2f} us over 1000 Mbit/s, the rounding of
timestamps to 1/90000 s. What the study has more than that on the same links is its computers'. Jitter that a network
makes is seen where packets wait: {ours("jitter_ms_mean", 2).mean:.2f} ms on average at 2 Mbit/s{more}. Even at 10
Mbit/s the busiest packets, {ours("delay_ms_minimum", 1000).low:.2f} ms apart, come faster than the link sends them
({transmission_ms(FRAME_BYTES, 10):.2f} ms each): the least and the largest bandwidth in a second do not show that, the
largest jitter does. And *ffmpeg
-re* has {ours("jitter_ms_mean", 1000, F).mean:.2f} ms on an idle gigabit link: a picture's packets leave at once
though their timestamps lie apart. Who compares jitters compares senders first.
""")

# %% [markdown]
# ## Normally distributed?
#
# The study says of every series that it is not normally distributed, and does not name its test. Ours is D'Agostino and
# Pearson's, of paced packets across bridges. With thousands of values it finds the slightest difference, so p says
# little by itself: a series that is hardly skewed at all still fails. Skewness and kurtosis say how far from normal a
# series is. Nor are the values independent of each other, as the test takes them to be: a window of a second shares
# nearly all of its packets with the next.

# %%
rows = []
for topology, link in RUNS:
    for quantity in QUANTITIES:
        p = ours(f"{quantity}_normal_p", link).high  # the largest of the repeats: a mean of p-values is none
        skewness, kurtosis = (ours(f"{quantity}_{it}", link).mean for it in ("skewness", "excess_kurtosis"))
        name = quantity.rpartition("_")[0].replace("delay", "time between packets")
        told = "below 1e-300" if p < 1e-300 else f"{p:.1e}"
        rows.append((f"{topology}, {link} Mbit/s", name, "no", told, f"{skewness:.2f}", f"{kurtosis:.2f}"))
table(rows, ("topology, link", "quantity", "normal, published", "p", "skewness", "excess kurtosis"))

# %% [markdown]
# ## What the study did not look at: the picture
#
# The study's links lost nothing that it mentions. So we let its topology 3 lose packets in two ways: at random on a WAN
# link that is fast enough, and in a short queue where the link is slower than the film. What arrived is decoded, and
# each picture held next to the one that was to be shown at that instant (SSIM: 1 is the same, bit for bit). Each case
# ran with several seeds, since which packets a link loses is chance. A picture is *damaged* that is not as it was sent,
# or never shown; the *longest delay* is that from interface to interface, and a token bucket lets a packet that comes
# alone pass at once. Ten seconds of the film are about a thousand packets, so of 0.1 % asked one would be lost in a run
# on average. In our five none was, which chance makes in one case of two hundred; and the same seeds draw the same
# numbers for each loss, so that all of them lost somewhat less than asked.

# %%
cases = picture.frame[list(picture.study.factors)].drop_duplicates().to_dict("records")
metrics = ("lost_percent", "damaged_percent", "mean_ssim", "least_ssim", "one_way_max_ms")
rows = [
    (
        f"{case['link_mbps']} Mbit/s", case["queue_packets"], case["loss_percent"],
        *(spread(picture.lookup(it, **case), 3) for it in metrics),
    )
    for case in cases
]  # fmt: skip
columns = (
    "WAN link", "queue (packets)", "loss asked (%)", "packets lost (%)", "pictures damaged (%)", "mean SSIM",
    "worst SSIM", "longest delay (ms)",
)  # fmt: skip
seeds = picture.lookup("mean_ssim", **cases[0]).count
table(rows, columns, f"Mean of {seeds} seeds (least to largest); one value where all agree.")


# %%
def median(cases):
    """A case with moderate damage."""
    damaged = [case for case in cases if picture.lookup("damaged_percent", **case).mean]
    return sorted(damaged, key=lambda case: picture.lookup("mean_ssim", **case).mean)[len(damaged) // 2]


lossy = median([it for it in cases if it["loss_percent"]])
short = median([it for it in cases if it["queue_packets"] != ENDLESS])
similarity = {
    f"{lossy['loss_percent']} % loss": line(picture, "ssim", **lossy),
    f"{short['link_mbps']} Mbit/s, a queue of {short['queue_packets']}": line(picture, "ssim", **short),
}
caption = "Structural similarity of each picture with the one that was sent, first seed."
page.figure("ssim", caption, similarity_over_time(similarity, Clip().frames_per_s))

# %% [markdown]
# **What to see.** One lost packet spoils more than one picture. Most pictures say only what changed since the one
# before, so damage stays until the next keyframe, which comes two seconds later at most. Lost packets that are spread
# at random thus damage more pictures than as many in a row. A short queue loses them in a row, just when there is most
# to show; a long one loses none and lets the film wait instead.
#
# ## The study's claims

# %%
page.claims()

# %%
page.how_judged()

# %% [markdown]
# A claim about Mininet is judged in the setting nearest to the study's, in two repeats: packets spread evenly,
# Mininet's own token bucket, and a controller where there are switches; but times between packets over a WAN with
# bridges, where no packet waits for anything else than the link.
#
# A claim about hardware is judged by the numbers that the study printed of its own. Where it compares hardware with
# Mininet, the study's own Mininet stands beside it and not ours, since its film is another. That reproduces nothing:
# the verdict then says whether *the paper's own numbers agree* with what it says of them.
# `linklab study page video --beside mine.csv` judges such a claim by a table of your own, next to ours.
#
# ## Where the study contradicts itself

# %%
inconsistencies(PUBLISHED.inconsistencies)

# %% [markdown]
# ## Where these numbers come from

# %%
page.provenance()
