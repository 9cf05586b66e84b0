# %% [markdown] id="goal"
# # Lab 09: Video
#
# `h1` sends a video to `h2`, at the speed at which it plays. What does the network see of this video? In 2015 a study
# sent a video over a real network and over Mininet, and compared the two. You repeat the part that tells most about
# the two networks. Then you go on where the study ended: you find out how long a player must wait before it shows the
# first picture, and what lost packets do to the *picture*.
#
# **Time:** about 2 hours and 45 minutes. **You need:** Lab 03 (`iperf3`, `tc`, the queue of a bottleneck), Lab 04
# (delays of a path) and Lab 08 (section 3: a link that lets a burst pass).

# %% id="imports"
from linklab import lab09, measure, show, start

lab09.progress()

# %% [markdown] id="networks-intro"
# ## 1. Networks and video
#
# This lab uses two of the study's networks, and two of our own. `gigabit` is a cable of 1 Gbit/s (1000 Mbit/s) between
# two hosts. `wan` has two switches and two routers. Its *WAN link* (wide area network: the link between two places)
# joins the routers and has 2 Mbit/s, all other links have 100 Mbit/s. `loss` is like `wan`, but its WAN link has 8
# Mbit/s and loses 1 % of all packets. `queue` is like `wan`, but only ten packets can wait. No link has a propagation
# delay: a packet that comes late has waited.
#
# The study's film is not public, so the program ffmpeg draws a similar one: 800x600 pixels, 60 pictures a second,
# coded by H.264 with about 1026 kbit/s (1.026 Mbit/s), in a *container*: the form in which a video is stored and
# sent. The study's film lasted 50 s. Ours lasts 10 s, to save your time. The next cell makes the film once and keeps
# it. This takes about half a minute.

# %% id="networks"
networks = lab09.NETWORKS
video = measure.encoded(measure.Clip(duration_s=10), tell=print)
print(f"{video.bitrate_kbps:.0f} kbit/s; its container has {video.stream_bytes} bytes")
show.network(networks["wan"], highlight=lab09.path(networks["wan"], "h1", "h2"))

# %% [markdown] id="packets-task"
# ## 2. Predict
#
# The container (MPEG-TS) cuts the pictures into packets of 188 bytes. Seven of these travel together in one frame,
# behind a header of *RTP*, the real-time transport protocol:
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
# In this video, most pictures contain only what has *changed* since the picture before. About every two seconds, and
# where the scene changes, a *keyframe* contains the whole picture. A picture takes one or two packets, a keyframe
# many.
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
# `measure.run(lab, flow)`. A run sends 10 s of video in a few seconds. One of your first two predictions will
# differ from the measurement: section 6 says why.

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
# ### Look for yourself
#
# `tcpdump -n -c 10 -i r1-eth1 udp` prints the first ten UDP packets that cross an interface, and ends.
# `ping -i 0.25 -c 40 ADDRESS` sends 40 pings, four a second (`lab["h2"].address` is h2's address).
# Both can run while the video is on its way.
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

# %% answer="wait"
print(lab09.question("wait"))
### BEGIN SOLUTION
wait = "b"
### STARTER
# wait = None  # a letter, as "a"
### END SOLUTION

# %% check="wait" points=1
lab09.check_wait(wait).require()

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

# %% [markdown] id="late-task"
# ## 5. A playout buffer
#
# A player does not show a picture as soon as it comes. It waits for some time after the first packet, and then plays at
# the speed of the timestamps. This time is the *playout buffer*. A packet that comes after its turn is *late*: the
# player does not use it, as if it were lost. With a buffer of $b$ a packet $i$ is late if
#
# $$(\text{arrival}_i - \text{arrival}_1) - (\text{timestamp}_i - \text{timestamp}_1) > b$$
#
# **Your turn:** write a function that takes arrivals and timestamps in *seconds*, as in section 4, and the buffer in
# *milliseconds*. It returns how many of the packets that arrived are late, in percent. The figure then shows your
# recorded runs, with buffers of 20 to 500 ms.


# %% answer="late"
def late_percent(arrivals_s, timestamps_s, buffer_ms):
    ### BEGIN SOLUTION
    first_s = arrivals_s[0] - timestamps_s[0]
    both = zip(arrivals_s, timestamps_s)
    late = [came - meant - first_s > buffer_ms / 1000 for came, meant in both]
    return 100 * sum(late) / len(late)
    ### STARTER
    # return None
    ### END SOLUTION


lab09.figures.late_figure(runs, late_percent)

# %% check="late" points=2
lab09.check_late(late_percent).require()

# %% [markdown] id="buffers-task"
# **Your turn:** find the shortest buffer that makes no packet of `wan` late, in ms, and the same for `queue`. Your
# function finds them for you: try buffers in steps of 1 ms. Then answer the question that the cell prints.

# %% answer="buffers"
print(lab09.question("call"))
### BEGIN SOLUTION
buffers = {"call": "b"}
for name in ("wan", "queue"):
    arrived = lab09.arrivals(runs[name])
    buffers[name] = min(ms for ms in range(500) if late_percent(*arrived, ms) == 0)
### STARTER
# buffers = {"wan": None, "queue": None, "call": None}  # ms, ms, a letter
### END SOLUTION
buffers

# %% check="buffers" points=3
lab09.check_buffers(buffers, runs).require()

# %% [markdown] id="claim-task"
# ### A claim to test
#
# Ask a language model how a video player chooses its buffer, and you get a paragraph like this one. It is fluent, and
# one of its sentences is wrong.
#
# > (1) A player that starts some time after the first packet can show each packet that is late by less than this
# > buffer. (2) The jitter of RFC 3550 does not say how long the buffer must be: it compares each packet with the one
# > before it, and packets that are all equally late have no jitter. (3) Such a player does not use a packet that
# > comes after its turn, so a queue that kept it for too long has saved nothing. (4) For a link the mean rate of the
# > video counts: this film has 1.17 Mbit/s with all headers, so a WAN link of 1.3 Mbit/s carries it, and a buffer of
# > 300 ms is long enough there. (5) In a film a long buffer costs only a later start, but in a call each answer comes
# > later.
#
# **Your turn:** find the wrong sentence, and measure the run that shows it. `lab09.video_network(3, 2)` is the network
# `wan`, with a WAN link of 2 Mbit/s: you can start it with another rate. Store the sentence's number and what
# `measure.run` returns.

# %% answer="claim"
### BEGIN SOLUTION
wrong_sentence = 4
with start(lab09.video_network(3, 1.3)) as lab:
    shows_it = measure.run(lab, flow)
print(f"{late_percent(*lab09.arrivals(shows_it), 300):.1f} % are late with a buffer of 300 ms")
### STARTER
# wrong_sentence = None  # its number
# shows_it = None  # YOUR TURN: what measure.run returns
### END SOLUTION

# %% check="claim" points=3
lab09.check_claim(wrong_sentence, shows_it).require()

# %% [markdown] id="study-intro"
# ## 6. Next to the study
#
# The study used Wireshark, a program that shows packets, and its definitions. *Bandwidth* at a packet is all data that
# arrived in the second before this packet, so each packet has one value. For its least bandwidth the study leaves out
# the first 20 packets. *Delay* is the time between a packet and the one before. The study's real network had Cisco's
# routers and switches.

# %% id="study-table"
display(lab09.figures.study_table(runs), lab09.figures.spacing_table(runs, packets))
lab09.figures.rate_figure(runs)

# %% [markdown] id="mean-task"
# Your video and its sender are not the study's, so compare magnitudes, not digits, and jitters least of all: your
# sender paces every packet. In Mininet two packets arrive closer together than a link of 2 Mbit/s needs for one frame,
# in the study and in your `wan`: Mininet's link lets a burst pass, as you saw in Lab 08. In the study's real network
# the least time is 5.41 ms, about that of one frame.
#
# **Your turn:** answer the question that the cell prints.

# %% answer="mean"
print(lab09.question("mean"))
### BEGIN SOLUTION
mean = "c"
### STARTER
# mean = None  # a letter, as "a"
### END SOLUTION

# %% check="mean" points=1
lab09.check_mean(mean).require()

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
# `qualities["loss"].frames` is a list of pictures, each with `.whole` (True or False) and `.time_s`.
# `runs["loss"].lost_packets` is a number. Then find in `loss` when the damage of the *first* loss ended:
# `whole_again_s` is the time of the first whole picture after the first damaged one, in seconds.

# %% answer="damage"
### BEGIN SOLUTION
damage = {
    name: sum(not frame.whole for frame in qualities[name].frames) / runs[name].lost_packets
    for name in lab09.LOSSY
}
pictures = iter(qualities["loss"].frames)
broken = next(picture for picture in pictures if not picture.whole)
damage["whole_again_s"] = next(picture.time_s for picture in pictures if picture.whole)
### STARTER
# damage = {"loss": None, "queue": None, "whole_again_s": None}
### END SOLUTION
damage

# %% check="damage" points=2
lab09.check_damage(damage, runs, qualities).require()

# %% answer="why"
print(lab09.question("pictures", "together"))
### BEGIN SOLUTION
why = {"pictures": "a", "together": "d"}
### STARTER
# why = {"pictures": None, "together": None}
### END SOLUTION

# %% check="why" points=2
lab09.check_why(why).require()

# %% [markdown] id="loss-question"
# **Question.** You may protect this video against losses, in `loss` and in a call over `queue`. For each, name one
# way, its price, and a number from this lab that supports it.

# %% [markdown] reflect="loss" points=3
# In `loss` eight packets in a thousand were lost, each at another moment, and each damaged 37 pictures. More keyframes
# shorten the damage, but raise the rate, because keyframes are large. Forward error correction repairs single losses
# and sends more packets. A film can also ask for lost packets again: this takes a round trip, and a buffer of 300 ms
# has room for it. In `queue` 28 packets were lost in one busy second, too many for forward error correction: more
# packets make the queue fuller. A sender that lowers its rate loses fewer of them, and the picture is worse.
#
# **Rubric.** 3 points: a way for each of the two that fits its losses (spread or close together), a price for each, and
# a number. 1 point less for each that is missing. Typical wrong: (1) "a faster link" - it does not help if the link
# loses packets at random; (2) "TCP, it loses nothing" - TCP retransmits, so later packets wait: name this price.

# %% id="calibration"
lab09.calibration()

# %% [markdown] id="end-of-lab"
# ## 8. What you know now
#
# You know how a video becomes packets, and how a slow link delays them. You know what jitter measures and what it does
# not, how long a player must wait, and that one lost packet damages many pictures. Run the whole study,
# six networks and 50 s, with `linklab study run video`.
#
# **Video today.** Most films come over HTTP: DASH (ISO/IEC 23009-1) or HLS (RFC 8216). A server keeps the film in
# *segments* of some seconds, each coded at several rates. The player asks for one segment after the other. It chooses
# the next one's rate by how fast the last ones came, and by how much its buffer holds. TCP or QUIC sends lost packets
# again, so a loss becomes a delay, and a buffer of several segments hides it. A call cannot wait so long: it still
# sends RTP over UDP (WebRTC, RFC 8834), and its encoder lowers the rate when packets are late or lost.
#
# **Three questions for review.**
#
# 1. A player of DASH gets this film over `loss`. Which number that you measured becomes 0? What does that cost?
#    <details><summary>Answer</summary>The damaged pictures: TCP sends lost packets again. These come later, and TCP
#    lowers its rate after a loss. So the player needs a longer buffer, or a version with a lower rate.</details>
# 2. All packets of a stream are 100 ms late. How large is the jitter?
#    <details><summary>Answer</summary>0: the packets arrive as far apart as they left. Jitter measures only
#    differences.</details>
# 3. A player waits 300 ms before it shows the first picture. Which problem does this solve, and which not?
#    <details><summary>Answer</summary>Packets that are up to 300 ms later than the first one are in time. A lost packet
#    stays lost, unless the player asks for it again and it comes within these 300 ms.</details>
#
# **Where to read on.** RFC 3550 (RTP; section 6.4.1 and appendix A.8: jitter), RFC 3393 (IPDV, the variation of
# delay), RFC 2250 (MPEG-TS over RTP), RFC 8289 (CoDel). Jimenez and others, *Study of Multimedia Delivery over
# Software Defined Networks*, Network Protocols and Algorithms 7(4), 2015. Kurose and Ross, chapter 9 of the seventh
# edition: multimedia networking. Peterson and Davie: the sections on transport for real-time applications (RTP) and
# on multimedia data.
