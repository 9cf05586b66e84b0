# %% [markdown] id="goal"
# # Lab 09: Video
#
# A video is on its way from `h1` to `h2`, in real pace. What does it look like to the network? In 2015 a study sent
# one over a real network and over Mininet, and compared. You repeat the part that says most about both: you find out
# why Mininet let packets come too close. Then you see what lost packets do to the *picture*, which the study did not
# look at.
#
# **Time:** about 2 hours and 30 minutes. **You need:** Lab 03 (`iperf3`, `tc`, the queue of a bottleneck) and Lab 04
# (delays of a path).

# %% id="imports"
from linklab import lab09, measure, show, start

lab09.progress()

# %% [markdown] id="networks-intro"
# ## 1. Networks and video
#
# Two of the study's topologies, and two of our own. `gigabit` is a cable of 1 Gbit/s between two hosts. `wan` has
# two switches and two routers, with a WAN link of 2 Mbit/s between the routers; all else has 100 Mbit/s. `loss` is
# like it, but its WAN link has 8 Mbit/s and loses 1 % of all packets. `queue` has 2 Mbit/s, and room for ten
# waiting packets only.

# %% id="networks"
networks = lab09.NETWORKS
show.draw(networks["wan"], highlight=lab09.path(networks["wan"], "h1", "h2"))

# %% [markdown] id="video-intro"
# The study's film is not public, so ffmpeg draws one of the same kind: 800x600 pixels, 60 pictures a second, 1026
# kbit/s, H.264. The study's lasted 50 s. Ours lasts 10 s, to save your time. It is made once and kept, which takes
# about half a minute.

# %% id="video"
video = measure.encoded(measure.Clip(duration_s=10), tell=print)
print(f"{video.bitrate_kbps:.0f} kbit/s; its container has {video.stream_bytes} bytes")

# %% [markdown] id="packets-task"
# ## 2. Predict
#
# The container (MPEG-TS) cuts the pictures into packets of 188 bytes, and seven of them travel together:
#
# | MPEG-TS | RTP: a number and a timestamp | UDP | IPv4 | Ethernet | frame |
# | --- | --- | --- | --- | --- | --- |
# | 7 * 188 = 1316 bytes | 12 | 8 | 20 | 14 | 1370 |
#
# **Your turn:** `ip_kbps` is the mean rate of the *IP packets* (1356 bytes each) in kbit/s; `video.stream_bytes` is
# what the container has in all, and the video lasts 10 s. `spacing_ms`: how close can two of these packets arrive
# behind a link of 2 Mbit/s, in ms? And how sure are you, from 0 to 100?

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
# Most pictures say only what has *changed* since the one before. About every two seconds, and where the scene
# changes, a *keyframe* says everything anew. A picture takes one or two packets, a keyframe many.
#
# **Your turn:** one packet in a hundred is lost, at random. Of all pictures, which share will not be shown as it was
# sent, in percent?

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
# `measure.run(lab, flow)` sends the video of a `VideoFlow` from its source to its destination, captures the packets
# at both ends with tcpdump, and returns when each one left and arrived.
#
# **Your turn:** fill `runs`: for each network start a lab with `with start(network) as lab:` and send the video over
# `flow`. 10 s of video take some seconds.

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
# One of the numbers should puzzle you. Keep it for section 6.
#
# ### Look for yourself
#
# `tcpdump -n -c 10 -i r1-eth1 udp` prints the first ten UDP packets that cross an interface, and ends.
# `ping -i 0.25 -c 40 ADDRESS` sends 40 pings, four in a second. Both can run while the video does.
#
# **Your turn:** start `networks["wan"]` once more, `with start(...) as lab:`. In it start `tcpdump` on r1 and
# `ping` from h1 to h2, each with `popen`; then `measure.run(lab, flow)`; then wait for both: `dump.wait(5)`,
# `ping.wait(5)`. What a program has printed is its `.output`. How large are the packets, and what happens to the
# pings?

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

# %% [markdown] id="queue-question"
# **Question.** `wan` and `queue` differ in their queue only. What did the long queue of `wan` cost, in place of
# packets, and whom? Would you choose it for a film? For a video call?

# %% [markdown] reflect="queue" points=3
# Time: packets waited up to some tenths of a second in the busiest seconds, and arrived. They cost it everybody who
# crosses this link: the pings waited behind the video, although they are no part of it. A film can start a second
# later and then never stutters, so a long queue is right for it. In a call people notice a delay of a few tenths of
# a second; there a short queue, and a sender that lowers its rate, are better.
#
# **Rubric.** 3 points: delay in place of loss, the others' delay too, and film and call told apart with a reason; 2
# points: two of them; 1 point: one of them. Typical wrong: (1) "a longer queue makes the link faster" - the link
# sends 2 Mbit/s all the same; (2) "the delay is always there" - only while more comes than leaves: in quiet seconds
# the pings take no time; (3) "lost packets are sent again" - nobody asks for them, RTP over UDP sends nothing
# again.

# %% [markdown] id="jitter-task"
# <details><summary>Open this when you have written your answer</summary>
#
# ITU-T G.114 wants a delay of at most 150 ms, one way, for a good talk; 400 ms is its limit. A queue that is long
# and full spoils that for everybody who crosses it: *bufferbloat*. Where the queue manages itself (RFC 7567, CoDel
# in RFC 8289), it drops earlier, so that senders that listen slow down.
#
# </details>
#
# ## 4. Jitter
#
# RTP's timestamp is the time at which the content was sampled (RFC 3550, section 5.1); for MPEG-TS it is the time at
# which the packet was *meant* to be sent (RFC 2250, section 2). If packets arrive as far apart as they were meant to
# be, there is no jitter. RFC 3550 measures what differs. For each packet and the one before it:
#
# $$D = (\text{arrival} - \text{arrival before}) - (\text{timestamp} - \text{timestamp before})$$
#
# $$J \leftarrow J + \frac{|D| - J}{16}$$
#
# J starts at 0. The 16 makes it smooth: each difference counts for a sixteenth. (One late packet makes two: its own,
# and that of the packet behind it.)
#
# **Your turn:** a function that gets two lists in *seconds*, and returns J after the last packet in *milliseconds*.


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
# The study used Wireshark, and so do its definitions. *Bandwidth* at a packet is all that arrived in the second
# before it, so there is one value for each packet. For the least one, its first 20 packets do not count. Its
# *delay* is the time between a packet and the one before. The real network had Cisco's routers and switches.

# %% id="study-table"
lab09.figures.study_table(runs)

# %% id="rate-figure"
lab09.figures.rate_figure(runs)

# %% [markdown] id="mean-question"
# **Question.** The video is another one, so compare sizes, not digits. Look at the mean bandwidth of `gigabit`: it
# is higher than the mean rate that you predicted and measured, from the same packets! Why? And what happens to the
# busiest second over 2 Mbit/s?

# %% [markdown] reflect="mean" points=2
# The study's mean is taken over packets: each packet brings one value, the rate of the second before it. A busy
# second has more packets than a quiet one, so its high rate counts more often. The mean over time counts each
# second once. Over 2 Mbit/s the busiest second is cut off at what the link carries: what is too much waits in the
# queue, and comes a little later, so that the second after it has more than the video sent in it.
#
# **Rubric.** 2 points: a mean over packets counts busy seconds more often, and what is too much comes later; 1
# point: one of the two. Typical wrong: (1) "headers" - they are in both means; (2) "packets are sent twice" - each
# number comes once, RTP over UDP sends nothing again; (3) "the busiest second is lost" - no packet was lost over
# `wan`.

# %% [markdown] id="normality-intro"
# ### (optional) Normally distributed?
#
# The study says that nothing is normally distributed. A test agrees where its p is below 0.05. What does the
# *skewness* say? Which of the three could it make you take for normal?

# %% id="normality-table"
lab09.figures.normality_table(runs["gigabit"])

# %% [markdown] id="close-question"
# <details><summary>Open this when you have an answer</summary>
#
# Skewness says how lopsided values are, and no more. It is 0 for *every* symmetric distribution: the normal one,
# one that is flat, one of two equal peaks. So a skewness far from 0 tells that values are not normal, and one near
# 0 does not tell that they are. The test (D'Agostino and Pearson) looks at the kurtosis as well, at how heavy the
# tails are. And mind p: the test takes values to be independent of each other. These are not, for a window of one
# second shares nearly all of its packets with the next, and the jitter is smoothed. With a thousand values p finds
# the slightest difference, too.
#
# </details>
#
# ## 6. Packets that come too close
#
# You predicted the least time behind 2 Mbit/s, and in `wan` packets came closer. The study saw it too.
#
# **Your turn:** a frame takes 5.48 ms at 2 Mbit/s. How can two arrive 1.69 ms apart in the study's Mininet?
#
# (a) Its clock is not exact. (b) The second one was smaller. (c) Mininet's link saves up what it may send during a
# pause, and then lets both pass as they came. (d) They took different paths.

# %% answer="close"
### BEGIN SOLUTION
close_packets = "c"
### STARTER
# close_packets = None
### END SOLUTION

# %% check="close" points=1
lab09.check_close(close_packets).require()

# %% [markdown] id="bucket-task"
# Linklab takes Mininet's own link. `tc class show dev r1-eth1`, on r1, tells the size of its bucket (`burst`,
# `cburst`).
#
# **Your turn:** start `networks["wan"]` again. First show the class. Then put a bucket of one frame in its place,
# send the video, and keep the result as `runs["one frame"]`. The command, on r1, is `tc qdisc replace dev r1-eth1
# root tbf rate 2mbit burst SIZE latency 5s`, where SIZE is one byte more than a frame has: tc counts in ticks, and
# rounds down. (`measure.bucket_of_one_frame` does the same.)

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
lab09.figures.spacing_table(runs, packets)

# %% id="gaps-figure"
lab09.figures.gaps_figure(runs)

# %% [markdown] id="picture-intro"
# ## 7. The picture
#
# `measure.quality(video, run)` decodes what arrived, as a player would, and compares each picture with the one that
# was sent. **SSIM** (structural similarity) is 1 where they are the same. If no new picture came, the old one stands
# still, and is compared with what should have been there.

# %% id="qualities"
qualities = dict.fromkeys(lab09.LOSSY)
for name in qualities:
    if runs[name] is not None:
        qualities[name] = measure.quality(video, runs[name])
lab09.figures.damage_figure(qualities, video)

# %% id="damage-table"
lab09.figures.damage_table(runs, qualities)

# %% id="worst-loss"
lab09.figures.worst_picture(video, runs["loss"], qualities["loss"])

# %% [markdown] id="damage-task"
# **Your turn:** how many pictures did one lost packet damage, on average, in `loss` and in `queue`?
# `qualities["loss"].frames` is a list of pictures, each with `.whole` (True or False); `runs["loss"].lost_packets`
# is a number.

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

# %% [markdown] id="loss-question"
# **Question.** Why does one lost packet damage so many pictures, and when is the picture whole again? Why does a lost
# packet do less harm in `queue` than in `loss`? Name a way to make a video stand losses better, and its price.

# %% [markdown] reflect="loss" points=3
# A damaged picture is what the next one is built on, so the damage stays until a keyframe comes, which is built on
# no other. About 100 packets leave in a second, so one of them is lost nearly every second, and keyframes come
# every two seconds or so: most of the time lies between a loss and the next keyframe. `queue` loses many packets in
# one busy second, and they damage the same pictures. More keyframes shorten the damage, and cost rate, for they are
# large. Forward error correction sends more packets; sending again costs a round trip.
#
# **Rubric.** 3 points: pictures built on each other until the next keyframe, losses of `queue` come together, a way
# with its price; 2 points: two of them; 1 point: one. Typical wrong: (1) "the picture is whole at the next one" -
# the curve stays down; (2) "the lost packet is sent again" - nobody asks for it; (3) "in `queue` the packets were
# less important" - random or not, a packet carries as much; they only fall on the same pictures.

# %% [markdown] id="end-of-lab"
# ## 8. What you know now
#
# You know how a video becomes packets, and what they look like behind a slow link; what jitter measures; that an
# emulated link has a burst that a cable has not; and that one lost packet spoils many pictures. The whole study, six
# networks and 50 s: `linklab study run video`.
#
# **Three questions for review.**
#
# 1. The study's largest bandwidth in Mininet at 2 Mbit/s is 1996.03 kbit/s of IP packets. How much is that in Ethernet
#    frames? How can that be?
#    <details><summary>Answer</summary>1996.03 * 1370 / 1356 = 2017 kbit/s: more than the link's rate. In one second the
#    bucket adds its burst to what the rate allows.</details>
# 2. All packets of a stream are 100 ms late. How large is the jitter?
#    <details><summary>Answer</summary>0: they arrive as far apart as they left. Jitter is about
#    differences.</details>
# 3. A player waits 300 ms before it shows the first picture. What does that help against, and what not?
#    <details><summary>Answer</summary>Packets that are up to 300 ms later than the first one still come in time. It
#    brings back no packet that was lost.</details>
#
# **Where to read on.** RFC 3550 (RTP; section 6.4.1 and appendix A.8: jitter), RFC 3393 (IPDV, the variation of
# delay), RFC 2250 (MPEG-TS over RTP), RFC 8289 (CoDel). Jimenez and others, *Study of Multimedia Delivery over
# Software Defined Networks*, Network Protocols and Algorithms 7(4), 2015. Kurose and Ross, chapter 9 of the seventh
# edition: multimedia networking. Peterson and Davie: the sections on transport for real-time applications (RTP) and
# on multimedia data.
