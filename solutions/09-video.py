# %% [markdown] id="goal"
# # Lab 09: Video
#
# `h1` sends a video to `h2`, at the speed at which it plays. What does the network see of this video? In 2015 a study
# sent a video over a real network and over Mininet, and compared the two. You repeat the part that says most about
# both: you find out why packets came too close together in Mininet. Then you see what lost packets do to the
# *picture*. The study did not look at that.
#
# **Time:** about 2 hours and 30 minutes. **You need:** Lab 03 (`iperf3`, `tc`, the queue of a bottleneck) and Lab 04
# (delays of a path).

# %% id="imports"
from linklab import lab09, measure, show, start

lab09.progress()

# %% [markdown] id="networks-intro"
# ## 1. Networks and video
#
# This lab uses two of the study's topologies, and two of our own. `gigabit` is a cable of 1 Gbit/s between two hosts.
# `wan` has two switches and two routers. Its WAN link between the routers has 2 Mbit/s, all other links have 100
# Mbit/s. `loss` is like `wan`, but its WAN link has 8 Mbit/s and loses 1 % of all packets. `queue` is like `wan`, but
# only ten packets can wait.
#
# The study's film is not public, so ffmpeg draws a similar one: 800x600 pixels, 60 pictures a second, 1026 kbit/s,
# H.264. The study's film lasted 50 s. Ours lasts 10 s, to save your time. The next cell makes the film once and keeps
# it. This takes about half a minute.

# %% id="networks"
networks = lab09.NETWORKS
video = measure.encoded(measure.Clip(duration_s=10), tell=print)
print(f"{video.bitrate_kbps:.0f} kbit/s; its container has {video.stream_bytes} bytes")
show.network(networks["wan"], highlight=lab09.path(networks["wan"], "h1", "h2"))

# %% [markdown] id="packets-task"
# ## 2. Predict
#
# The container (MPEG-TS) cuts the pictures into packets of 188 bytes. Seven of these travel together in one frame:
#
# | MPEG-TS | RTP: a number and a timestamp | UDP | IPv4 | Ethernet | frame |
# | --- | --- | --- | --- | --- | --- |
# | 7 * 188 = 1316 bytes | 12 | 8 | 20 | 14 | 1370 |
#
# **Your turn:** predict two numbers. `ip_kbps` is the mean rate of the *IP packets* (1356 bytes each) in kbit/s. The
# container has `video.stream_bytes` bytes in total, and the video lasts 10 s. `spacing_ms` is the shortest time
# between the arrivals of two IP packets behind a link of 2 Mbit/s, in ms. `sure` says how sure you are, from 0 to
# 100.

# %% answer="packets"
packets = lab09.predict(
    "packets",
    {
        ### BEGIN SOLUTION
        "ip_kbps": video.stream_bytes / 1316 * 1356 * 8 / 1000 / 10,
        "spacing_ms": 1370 * 8 / 2000,  # 2 Mbit/s are 2000 bits in a millisecond
        ### STARTER
        # "ip_kbps": None,
        # "spacing_ms": None,
        ### END SOLUTION
    },
    ### BEGIN SOLUTION
    sure=80,
    ### STARTER
    # sure=None,
    ### END SOLUTION
)
packets

# %% check="packets" points=1
lab09.check_predicted(packets).require()

# %% [markdown] id="damaged-task"
# Most pictures contain only what has *changed* since the picture before. About every two seconds, and where the scene
# changes, a *keyframe* contains the whole picture. A picture takes one or two packets, a keyframe many.
#
# **Your turn:** the network loses one packet in a hundred, at random. At `h2`, what percentage of all pictures will
# differ from the pictures that `h1` sent?

# %% answer="damaged"
### BEGIN SOLUTION
damaged = lab09.predict("damaged", 60, sure=50)
### STARTER
# damaged = lab09.predict("damaged", None, sure=None)
### END SOLUTION
damaged

# %% check="damaged" points=1
lab09.check_predicted(damaged).require()

# %% [markdown] id="measure-task"
# ## 3. Measure
#
# `measure.run(lab, flow)` sends the video of a `VideoFlow` from its source to its destination. It captures the
# packets at both ends with tcpdump, and returns when each packet left and when it arrived.
#
# **Your turn:** fill `runs`. For each network start a lab with `with start(network) as lab:` and send the video with
# `measure.run(lab, flow)`. A run sends 10 s of video in a few seconds.

# %% answer="runs"
flow = measure.VideoFlow("h1", "h2", video)
runs = dict.fromkeys(networks)
### BEGIN SOLUTION
for name, network in networks.items():
    with start(network) as lab:
        runs[name] = measure.run(lab, flow)
### STARTER
# # YOUR TURN: for name, network in networks.items(): ...
### END SOLUTION

# %% check="runs" points=2
lab09.check_runs(runs, video).require()

# %% [markdown] id="watch-task"
# One of the numbers should surprise you. Remember it until section 6.
#
# ### Look for yourself
#
# `tcpdump -n -c 10 -i r1-eth1 udp` prints the first ten UDP packets that cross an interface, and ends.
# `ping -i 0.25 -c 40 ADDRESS` sends 40 pings, four a second. Both can run while the video is on its way.
#
# **Your turn:** start `networks["wan"]` once more with `with start(...) as lab:`. In this block:
#
# 1. Start `tcpdump` on r1 and `ping` from h1 to h2, each with `popen`.
# 2. Send the video: `measure.run(lab, flow)`.
# 3. Wait for both programs: `dump.wait(5)`, `ping.wait(5)`.
#
# The text that a program has printed is its `.output`. How large are the packets, and what happens to the pings?

# %% answer="watch"
### BEGIN SOLUTION
with start(networks["wan"]) as lab:
    dump = lab["r1"].popen("tcpdump -n -c 10 -i r1-eth1 udp")
    ping = lab["h1"].popen(f"ping -i 0.25 -c 40 {lab['h2'].address}")
    measure.run(lab, flow)
    dump.wait(5)
    ping.wait(5)
dump_output, ping_output = dump.output, ping.output
### STARTER
# dump_output, ping_output = "", ""  # YOUR TURN
### END SOLUTION
print(dump_output, ping_output)

# %% check="watch" points=2
lab09.check_watch(dump_output, ping_output).require()

# %% [markdown] id="wait-question"
# **Question.** `wan` and `queue` differ only in their queue. The long queue of `wan` lost no packets. What did it cost
# instead, and who paid?

# %% [markdown] reflect="wait" points=2
# The long queue cost time. In the busiest seconds packets waited up to some tenths of a second, but they arrived.
# Everybody who uses this link paid: the pings waited behind the video, although they are no part of it.
#
# **Rubric.** 2 points: delay instead of loss, and delay of other traffic too; 1 point: one of them. Typical wrong: (1)
# "a longer queue makes the link faster" - the link still sends 2 Mbit/s; (2) "the delay is always there" - packets wait
# only while more arrive than leave: in quiet seconds the pings take no time.

# %% [markdown] id="queue-question"
# **Question.** The long queue of `wan` suits a film, but not a video call. Why?

# %% [markdown] reflect="queue" points=1
# A film can start a second later and then never stutters, so a long queue is right for a film. In a call people notice
# a delay of a few tenths of a second. A call needs a short queue and a sender that lowers its rate.
#
# **Rubric.** 1 point: a film can wait before it starts, and people in a call notice the delay. Typical wrong: (1) "a
# call sends less data" - its packets wait behind those of others all the same; (2) "lost packets are sent again" - this
# sender sends nothing again. Others may, if a receiver asks (RFC 4588), and behind a queue as long as this one it would
# come too late.

# %% id="explain-queue"
lab09.explain("queue")

# %% [markdown] id="jitter-task"
# ## 4. Jitter
#
# RTP's timestamp is the time at which the content was sampled (RFC 3550, section 5.1). For MPEG-TS it is the time at
# which the sender *meant* to send the packet (RFC 2250, section 2). There is no jitter if packets arrive with the
# spacing of their timestamps. RFC 3550 measures the difference, for each packet and the one before it:
#
# $$D = (\text{arrival} - \text{arrival before}) - (\text{timestamp} - \text{timestamp before})$$
#
# $$J \leftarrow J + \frac{|D| - J}{16}$$
#
# J starts at 0. The divisor 16 smooths J: each new difference counts for a sixteenth. (One late packet causes two
# differences: its own, and that of the next packet.)
#
# **Your turn:** write a function that takes two lists in *seconds*, and returns J after the last packet in
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


for name, run in runs.items():
    if run is not None:
        print(f"{name}: {jitter_ms(*lab09.arrivals(run)) or 0:.4f} ms after the last packet")

# %% check="jitter" points=2
lab09.check_jitter(jitter_ms).require()

# %% [markdown] id="study-intro"
# ## 5. Next to the study
#
# The study used Wireshark and its definitions. *Bandwidth* at a packet is all data that arrived in the second before
# this packet, so each packet has one value. For its least bandwidth the study leaves out the first 20 packets.
# *Delay* is the time between a packet and the one before. The study's real network had Cisco's routers and switches.

# %% id="study-table"
display(lab09.figures.study_table(runs))
lab09.figures.rate_figure(runs)

# %% [markdown] id="mean-question"
# **Question.** Your video is not the study's, so compare magnitudes, not digits. The mean bandwidth of `gigabit` is
# higher than the mean rate that you predicted, although the packets are the same. Why?

# %% [markdown] reflect="mean" points=2
# The study's mean is a mean over packets: each packet adds one value, the rate of the second before it. A busy second
# has more packets than a quiet one, so its high rate counts more often. The mean over time counts each second once.
#
# **Rubric.** 2 points: a mean over packets, which counts busy seconds more often; 1 point: a mean over packets, without
# the reason why it is higher. Typical wrong: (1) "headers" - both means contain them; (2) "packets are sent twice" -
# each number arrives once: this sender sends nothing again.

# %% [markdown] id="normality-intro"
# ### (optional) Normally distributed?
#
# The study says that none of its three quantities is normally distributed. A test agrees if its p is below 0.05. What
# does the *skewness* say? If you look at the skewness alone, which of the three could you take for normal?

# %% id="normality-table"
lab09.figures.normality_table(runs["gigabit"])

# %% [markdown] id="close-question"
# <details><summary>Open this when you have an answer</summary>
#
# Skewness measures only how asymmetric values are. It is 0 for *every* symmetric distribution: the normal one, a flat
# one, one with two equal peaks. So a skewness far from 0 shows that values are not normal. A skewness near 0 does not
# show that they are normal. The test (D'Agostino and Pearson) also uses the kurtosis, which says how heavy the tails
# are. Be careful with p: the test assumes that the values are independent of each other. Ours are not: a window of
# one second shares nearly all of its packets with the next window, and the jitter is smoothed. Also, with a thousand
# values the test finds the slightest difference from a normal distribution.
#
# </details>
#
# ## 6. Packets that come too close
#
# You predicted the shortest time between packets behind a link of 2 Mbit/s. In `wan` packets came closer together. The
# study saw this too.
#
# A frame takes 5.48 ms at 2 Mbit/s. How can two frames arrive 1.69 ms apart in the study's Mininet?
#
# - a: Mininet's clock is not exact
# - b: the second frame was smaller
# - c: Mininet's link saves up what it may send during a pause, and then lets both frames pass as they came
# - d: the frames took different paths
#
# **Your turn:** write the letter.

# %% answer="close"
### BEGIN SOLUTION
close_packets = "c"
### STARTER
# close_packets = None
### END SOLUTION

# %% check="close" points=1
lab09.check_close(close_packets).require()

# %% [markdown] id="bucket-task"
# Linklab uses Mininet's own link. On r1, `tc class show dev r1-eth1` shows the size of this link's bucket (`burst`,
# `cburst`).
#
# **Your turn:** start `networks["wan"]` again. First show the class. Then set a bucket of one frame on r1 with
# `tc qdisc replace dev r1-eth1 root tbf rate 2mbit burst SIZE latency 5s`. SIZE is the size of a frame plus one byte,
# because tc counts in ticks and rounds down. Then send the video, and keep the result as `runs["one frame"]`.
# (`measure.bucket_of_one_frame` sets the same bucket.)

# %% answer="one-frame"
### BEGIN SOLUTION
with start(networks["wan"]) as lab:
    shown = lab["r1"].cmd("tc class show dev r1-eth1")
    lab["r1"].cmd("tc qdisc replace dev r1-eth1 root tbf rate 2mbit burst 1371 latency 5s")
    runs["one frame"] = measure.run(lab, flow)
### STARTER
# shown, runs["one frame"] = "", None  # YOUR TURN: with start(networks["wan"]) as lab: ...
### END SOLUTION
print(shown)

# %% check="one-frame" points=2
lab09.check_bucket(shown, runs["one frame"], video).require()

# %% id="spacing-table"
display(lab09.figures.spacing_table(runs, packets))
lab09.figures.gaps_figure(runs)

# %% [markdown] id="picture-intro"
# ## 7. The picture
#
# `measure.quality(video, run)` decodes the packets that arrived, as a player would. It compares each picture with the
# picture that was sent. **SSIM** (structural similarity) is 1 if both are the same. If no new picture arrives, the
# player still shows the old one, and `measure.quality` compares the old one with the missing one.

# %% id="qualities"
qualities = dict.fromkeys(lab09.LOSSY)
for name in qualities:
    if runs[name] is not None:
        qualities[name] = measure.quality(video, runs[name])
display(lab09.figures.damage_figure(qualities, video))
display(lab09.figures.damage_table(runs, qualities))
lab09.figures.worst_picture(video, runs["loss"], qualities["loss"])

# %% [markdown] id="damage-task"
# **Your turn:** compute how many pictures one lost packet damaged, on average, in `loss` and in `queue`.
# `qualities["loss"].frames` is a list of pictures, each with `.whole` (True or False). `runs["loss"].lost_packets` is
# a number.

# %% answer="damage"
### BEGIN SOLUTION
per_lost = {
    name: sum(not frame.whole for frame in qualities[name].frames) / runs[name].lost_packets
    for name in lab09.LOSSY
}
### STARTER
# per_lost = {}  # YOUR TURN: per_lost["loss"] = ..., per_lost["queue"] = ...
### END SOLUTION
per_lost

# %% check="damage" points=1
lab09.check_damage(per_lost, runs, qualities).require()

# %% [markdown] id="pictures-question"
# **Question.** Why does one lost packet damage so many pictures, and until when?

# %% [markdown] reflect="pictures" points=1
# The next picture builds on the damaged one, so the damage stays until the next keyframe, which builds on no other
# picture. About 100 packets leave in a second, so the network loses one nearly every second. Keyframes come about every
# two seconds. So most of the time lies between a loss and the next keyframe.
#
# **Rubric.** 1 point: pictures build on each other until the next keyframe. Typical wrong: (1) "the next picture is
# whole again" - the curve stays down; (2) "the lost packet is sent again" - not by this sender.

# %% [markdown] id="together-question"
# **Question.** Why does a lost packet do less harm in `queue` than in `loss`?

# %% [markdown] reflect="together" points=1
# `queue` loses many packets in one busy second, and they damage the same pictures. In `loss` the losses are spread over
# the whole video, and each one damages other pictures.
#
# **Rubric.** 1 point: the losses of `queue` come together and damage the same pictures. Typical wrong: (1) "in `queue`
# the packets were less important" - each packet carries as much as in `loss`; (2) "`queue` loses fewer packets" - the
# table counts the pictures for each lost packet.

# %% [markdown] id="loss-question"
# **Question.** Name one way to protect a video better against losses, and its price.

# %% [markdown] reflect="loss" points=1
# More keyframes shorten the damage, but raise the rate, because keyframes are large. Forward error correction sends
# more packets. Retransmission costs a round trip.
#
# **Rubric.** 1 point: a way with its price. Typical wrong: (1) "a faster link" - it does not help if the link loses
# packets at random; (2) "TCP, it loses nothing" - TCP retransmits, so later packets wait: name this price.

# %% id="calibration"
lab09.calibration()

# %% [markdown] id="end-of-lab"
# ## 8. What you know now
#
# You know how a video becomes packets, and how a slow link spaces them. You know what jitter measures, that an
# emulated link sends bursts that no cable sends, and that one lost packet damages many pictures. Run the whole study,
# six networks and 50 s, with `linklab study run video`.
#
# **Three questions for review.**
#
# 1. The study's largest bandwidth in Mininet at 2 Mbit/s is 1996.03 kbit/s of IP packets. How much is that in Ethernet
#    frames? Why is this possible?
#    <details><summary>Answer</summary>1996.03 * 1370 / 1356 = 2017 kbit/s: more than the link's rate. In one second the
#    bucket adds its burst to what the rate allows.</details>
# 2. All packets of a stream are 100 ms late. How large is the jitter?
#    <details><summary>Answer</summary>0: the packets arrive as far apart as they left. Jitter measures only
#    differences.</details>
# 3. A player waits 300 ms before it shows the first picture. Which problem does this solve, and which not?
#    <details><summary>Answer</summary>Packets that are up to 300 ms later than the first one still arrive in time. A
#    lost packet stays lost.</details>
#
# **Where to read on.** RFC 3550 (RTP; section 6.4.1 and appendix A.8: jitter), RFC 3393 (IPDV, the variation of
# delay), RFC 2250 (MPEG-TS over RTP), RFC 8289 (CoDel). Jimenez and others, *Study of Multimedia Delivery over
# Software Defined Networks*, Network Protocols and Algorithms 7(4), 2015. Kurose and Ross, chapter 9 of the seventh
# edition: multimedia networking. Peterson and Davie: the sections on transport for real-time applications (RTP) and
# on multimedia data.
