# %% [markdown] id="goal"
# # Lab 09: Video
#
# A video is on its way from `h1` to `h2`, in real pace. What does it look like to the network? In 2015 a study
# sent one over a real network and over Mininet, and compared. You repeat the part that says most about both.
#
# You predict packets and times, measure them, find out why Mininet let packets come too close, and see what
# lost packets do to the *picture*, which the study did not look at.

# %% id="imports"
import linklab
from linklab import measure, show
from linklab.labs import lab09
from linklab.labs.lab09 import figures as figures
from linklab.labs.lab09.figures import arrivals, gaps_ms
from linklab.network import path

# %% [markdown] id="networks-intro"
# ## 1. The networks
#
# Two of the study's topologies, and two of our own. `gigabit` is a cable of 1 Gbit/s between two hosts. `wan`
# has two switches and two routers, with a WAN link of 2 Mbit/s between the routers; everything else has
# 100 Mbit/s. `loss` is like it, but its WAN link has 8 Mbit/s and loses 1 % of all packets. `queue` has
# 2 Mbit/s, and room for ten waiting packets only.

# %% id="networks"
networks = lab09.NETWORKS
show.draw(networks["wan"], highlight=path(networks["wan"], "h1", "h2"))

# %% [markdown] id="video-intro"
# ## 2. The video
#
# The study's film is not public, so ffmpeg draws one of the same kind: 800x600 pixels, 60 pictures a second,
# 1026 kbit/s, H.264. The study's lasted 50 s. Ours lasts 10 s here, to save your time. It is made once and kept,
# which takes about half a minute.

# %% id="video"
video = measure.encoded(measure.Clip(duration_s=10), tell=print)
print(f"{video.bitrate_kbps:.0f} kbit/s; its container has {video.stream_bytes} bytes")

# %% [markdown] id="packets-task"
# ## 3. Predict: packets
#
# The container (MPEG-TS) cuts the pictures into packets of 188 bytes. Seven of them travel together. Around
# them come the headers of **RTP** (12 bytes: a number and a timestamp), **UDP** (8), **IPv4** (20) and
# **Ethernet** (14).
#
# **Your turn:** the size of a frame with all four headers; how many packets leave in a second, on average; and
# the bandwidth of the *IP* packets (so without Ethernet's header) in kbit/s. `video.stream_bytes` is what the
# container has in all, and the video lasts 10 s.

# %% answer="packets"
predicted = {
    ### BEGIN SOLUTION
    "frame_bytes": 7 * 188 + 12 + 8 + 20 + 14,
    "packets_per_s": video.stream_bytes / 1316 / 10,
    "ip_kbps": video.stream_bytes / 1316 / 10 * 1356 * 8 / 1000,
    ### STARTER
    # "frame_bytes": None,
    # "packets_per_s": None,
    # "ip_kbps": None,
    ### END SOLUTION
}

# %% check="packets" points=3
lab09.check_packets(predicted, video).require()

# %% [markdown] id="spacing-task"
# ## 4. Predict: how close can packets come?
#
# A link sends one frame after the other. While it sends one, the next must wait. So behind a slow link two
# packets cannot arrive closer to each other than the time that the link needs for a frame.
#
# **Your turn:** that time in ms, for WAN links of 2, 4 and 8 Mbit/s.

# %% answer="spacing"
predicted_ms = {
    ### BEGIN SOLUTION
    2: 1370 * 8 / 2000,  # 2 Mbit/s are 2000 bits in a millisecond
    4: 1370 * 8 / 4000,
    8: 1370 * 8 / 8000,
    ### STARTER
    # 2: None,
    # 4: None,
    # 8: None,
    ### END SOLUTION
}

# %% check="spacing" points=3
lab09.check_spacing(predicted_ms).require()

# %% [markdown] id="loss-task"
# ## 5. Predict: what does loss do?
#
# Most pictures say only what has *changed* since the one before. About every two seconds, and where the scene
# changes, a *key picture* says everything anew. A picture takes one or two packets, a key picture many.
#
# One packet in a hundred is lost, at random. Which share of the pictures will not be as they were sent?
# (a) about 1 %; (b) about 2 %, those that lose a packet of their own; (c) most of them; (d) all behind the
# first loss.

# %% answer="loss"
### BEGIN SOLUTION
damage = "c"
### STARTER
# damage = None
### END SOLUTION

# %% check="loss" points=1
lab09.check_loss(damage).require()

# %% [markdown] id="loss-question"
# **Question.** Why? Give a reason, before you measure.

# %% [markdown] reflect="loss" points=1
# A damaged picture is what the next one is built on, so the damage stays until a key picture comes. About 100
# packets leave in a second, so one of them is lost nearly every second, and key pictures come every two seconds
# or so: between a loss and the next key picture all pictures are damaged, and that is most of the time.

# %% [markdown] id="measure-task"
# ## 6. Measure
#
# `measure.run(lab, flow)` sends the video of a `VideoFlow` from its source to its destination, captures the packets
# at both ends with tcpdump, and returns when each one left and arrived.
#
# **Your turn:** fill `runs`: for each network start a lab with `with linklab.start(network) as lab:` and send
# the video over `flow`. 10 s of video take a few seconds on virtual time.

# %% answer="runs"
flow = measure.VideoFlow("h1", "h2", video)
runs = dict.fromkeys(networks)
### BEGIN SOLUTION
for name, network in networks.items():
    with linklab.start(network) as lab:
        runs[name] = measure.run(lab, flow)
### STARTER
# # YOUR TURN: for name, network in networks.items(): ...
### END SOLUTION

# %% check="runs" points=3
lab09.check_runs(runs, video).require()

# %% id="packets-table"
figures.packets_table(runs["gigabit"], predicted)

# %% [markdown] id="jitter-task"
# ## 7. Jitter
#
# RTP's timestamp says when a packet was *meant* to be sent. If packet after packet arrives as far apart as it
# was meant to be, there is no jitter. RFC 3550 measures what differs. For each packet and the one before it:
#
# $$D = (\text{arrival} - \text{arrival before}) - (\text{timestamp} - \text{timestamp before})$$
#
# $$J \leftarrow J + \frac{|D| - J}{16}$$
#
# J begins at 0. The 16 makes it smooth: a single late packet moves it by a sixteenth of its lateness.
#
# **Your turn:** a function that gets two lists in *seconds*, and returns J after the last packet in
# *milliseconds*.


# %% answer="jitter"
def jitter_ms(arrivals_s, timestamps_s):
    ### BEGIN SOLUTION
    jitter = 0.0
    for i in range(1, len(arrivals_s)):
        arrived = arrivals_s[i] - arrivals_s[i - 1]
        meant = timestamps_s[i] - timestamps_s[i - 1]
        jitter += (abs(arrived - meant) * 1000 - jitter) / 16
    return jitter
    ### STARTER
    # return None
    ### END SOLUTION


# %% check="jitter" points=3
lab09.check_jitter(jitter_ms).require()

# %% id="jitter-yours"
for name, run in runs.items():
    if run is not None:
        print(f"{name}: {jitter_ms(*arrivals(run)) or 0:.4f} ms after the last packet")

# %% [markdown] id="study-intro"
# ## 8. Explain: beside the study
#
# The study used Wireshark, and so do its definitions. *Bandwidth* at a packet is all that arrived in the second
# before it, so there is one value for each packet. For the least one, its first 20 packets do not count. Its
# *delay* is the time between a packet and the one before. The real network had Cisco's routers and switches.

# %% id="study-table"
figures.study_table(runs)

# %% id="rate-figure"
figures.rate_figure(runs)

# %% [markdown] id="study-notice"
# **What to notice.** The video is another one, so the numbers are not the same, but they are of the same size:
# a gigabit link shows the video as it is. Over 2 Mbit/s the busiest second is cut off, in the study as well as
# here: what is too much waits in the queue, and comes a little later.
#
# Our mean bandwidth is higher than what you predicted, from the same packets! A mean over *packets* counts a
# busy second more often than a quiet one, for it has more packets. And jitter: on virtual time the gigabit run
# has practically none. The study's 0.044 and 0.004 ms are its computers, not its cables.

# %% id="normality-table"
figures.normality_table(runs["gigabit"])

# %% [markdown] id="normality-notice"
# **What to notice.** The study says that nothing is normally distributed, and the test agrees: p is below 0.05. But
# with a thousand values a test finds the slightest difference. *Skewness* says how large it is: 0 is symmetric,
# like a normal distribution. The times between packets are far from that, bandwidth is not.
#
# ## 9. Packets that come too close
#
# You predicted the least time behind 2 Mbit/s. What did the packets do?
#
# **Your turn:** the least time between two packets in the runs `gigabit` and `wan`. `gaps_ms(run)` is a list of
# all times between packets. Then find the third: in Mininet, a link keeps to its rate by a *token bucket*,
# which fills while the link is idle. A full one lets a packet more pass at once. So start `networks["wan"]`
# again, make the bucket as small as one frame with
# `measure.bucket_of_one_frame(lab, "r1", "r1-eth1", 2, 1370)`, and send the video: `runs["one frame"]`.

# %% answer="one-frame"
runs["one frame"] = None
### BEGIN SOLUTION
with linklab.start(networks["wan"]) as lab:
    measure.bucket_of_one_frame(lab, "r1", "r1-eth1", 2, 1370)
    runs["one frame"] = measure.run(lab, flow)
### STARTER
# # YOUR TURN: runs["one frame"] = ...
### END SOLUTION

# %% check="one-frame" points=2
lab09.check_runs({"one frame": runs["one frame"]}, video, ("one frame",)).require()

# %% answer="least"
### BEGIN SOLUTION
least_ms = {name: min(gaps_ms(runs[name])) for name in ("gigabit", "wan", "one frame")}
### STARTER
# least_ms = {"gigabit": None, "wan": None, "one frame": None}
### END SOLUTION

# %% check="least" points=2
lab09.check_least(least_ms, runs).require()

# %% id="spacing-table"
figures.spacing_table(runs, predicted_ms)

# %% id="gaps-figure"
figures.gaps_figure(runs)

# %% [markdown] id="spacing-notice"
# **What to notice.** The study's real network obeys your prediction (its serial cable has other headers than
# Ethernet). Its Mininet does not, and neither does our `wan`: after a pause the bucket is full, and a packet
# passes right behind another. With a bucket of one frame the difference is gone. So it was no error of the
# study, and none of its machine's speed. It is how Mininet emulates a link.
#
# ## 10. The picture
#
# `measure.quality(video, run)` decodes what arrived, as a player would, and compares each picture with the one
# that was sent. **SSIM** (structural similarity) is 1 where they are the same. If no new picture came, the old
# one stands still, and is compared with what should have been there.

# %% id="qualities"
qualities = dict.fromkeys(lab09.LOSSY)
for name in qualities:
    if runs[name] is not None:
        qualities[name] = measure.quality(video, runs[name])
figures.damage_table(runs, qualities)

# %% id="damage-figure"
figures.damage_figure(qualities, video)

# %% [markdown] id="damage-notice"
# **What to notice.** Where a curve leaves 1, a packet was lost. Where it comes back to 1, there was a key
# picture. `loss` loses single packets at any time. `queue` loses many within one second: where the video needs
# more than the link has.

# %% id="worst-loss"
figures.worst_picture(video, runs["loss"], qualities["loss"])

# %% id="worst-queue"
figures.worst_picture(video, runs["queue"], qualities["queue"])

# %% [markdown] id="damage-task"
# **Your turn:** how many pictures did one lost packet damage, on average? `qualities["loss"].frames` is a list
# of pictures, each with `.whole` (True or False); `runs["loss"].lost_packets` is a number.

# %% answer="damage"
per_lost = {
    ### BEGIN SOLUTION
    name: sum(not frame.whole for frame in qualities[name].frames) / runs[name].lost_packets
    for name in lab09.LOSSY
    ### STARTER
    # "loss": None,
    # "queue": None,
    ### END SOLUTION
}

# %% check="damage" points=2
lab09.check_damage(per_lost, runs, qualities).require()

# %% [markdown] id="queue-question"
# **Question.** `wan` and `queue` differ in their queue only. What did the long queue of `wan` cost, in place of
# packets? Would you choose it for a film? For a video call?

# %% [markdown] reflect="queue" points=1
# Time: packets waited up to some tenths of a second in the busiest seconds, and arrived. A film can begin a
# second later and never stutters, so a long queue is right for it. In a call people notice such a delay; there a
# short queue and a sender that lowers its rate are better.

# %% [markdown] id="questions-task"
# ## 11. What the study saw
#
# **Your turn:** a number, and for the other questions a letter.
#
# `study_packets`: the study's largest bandwidth in its real network at 2 Mbit/s is 1963.49 kbit/s. How many IP
# packets are that in a second?
#
# `study_mean`: its video has 1026 kbit/s, its mean bandwidth about 1340. Why? (a) Headers alone take the
# difference. (b) Headers take some of it, and a mean over packets counts busy seconds more often. (c) Lost
# packets are sent again. (d) Every packet was captured twice.
#
# `close_packets`: how can packets arrive 1.69 ms apart behind 2 Mbit/s in the study's Mininet? (a) Its clock is
# not exact. (b) The second one was smaller. (c) The link's token bucket was full after a pause. (d) They took
# different ways.
#
# `whole_again`: a packet is lost. When is the picture whole again? (a) At the next picture. (b) When the packet
# is sent again. (c) Never. (d) At the next key picture.

# %% answer="questions"
answers = {
    ### BEGIN SOLUTION
    "study_packets": 1963.49 * 1000 / 8 / 1356,
    "study_mean": "b",
    "close_packets": "c",
    "whole_again": "d",
    ### STARTER
    # "study_packets": None,
    # "study_mean": None,
    # "close_packets": None,
    # "whole_again": None,
    ### END SOLUTION
}

# %% check="questions" points=4
lab09.check_questions(answers).require()

# %% [markdown] id="end-of-lab"
# **What you know now:** how a video becomes packets, and what they look like behind a slow link; what jitter
# measures; that an emulated link has a burst that a cable has not; and that one lost packet spoils many
# pictures. The whole study, six networks and 50 s: `linklab study run video`.
