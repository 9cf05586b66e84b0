# %% [markdown] id="goal"
# # Lab 18: Who may start
#
# **Time:** about 3 hours, five minutes of them for measurements. **You need:** routes (Lab 01), path MTU (Lab 08), and
# how TCP opens a connection.
#
# In the middle of the network stand devices that remember: a home router with NAT, a filter, a server's queue of
# half-open connections. What they remember decides who may start to talk to whom, and for how long. You build these
# devices from rules, find out when they forget, and see what breaks when they drop too much. So in sections 1 to 6
# devices that remember decide. In section 7 all are on one cable: there nobody remembers who may say what, and
# everybody is believed. Section 8 says what IPv6 changes. **Do such experiments only in networks that you made
# yourself**, as these, whose packets never leave your lab.

# %% id="imports"
from linklab import lab18, measure, show, start

display(lab18.progress())
lab = start(lab18.homes())
lab18.hide_homes(lab)
h3 = lab["h3"].address
show.network(lab)

# %% [markdown] id="nat-task"
# ## 1. A home behind NAT (20 minutes)
#
# h1 lives behind the router r1, h2 behind r2. h3 is a server on the Internet, and r3 is the Internet. A and B, the
# subnets of both homes, stand for *private* addresses (RFC 1918), all others for public ones: no router outside has a
# route to A or B. So an answer to h1 does not find its way.
#
# A home router helps with **network address translation** (NAT, RFC 3022). In each packet that leaves the home it
# writes its own outer address in place of the source, and another port if this one is taken. It remembers this as a
# *mapping*, and in the answer it puts the home's address and port back. In Linux, nftables does this. The next cell
# makes a table, and in it a chain: this chain sees only the first packet of each exchange that leaves a router; the
# mapping then changes all others. `masquerade` is the statement that changes the source; in front of it you write to
# which packets it applies: `oifname r1-eth1` means "leaves by the interface r1-eth1".
#
# **Your turn:** add the rule to the chain `out` of r1, and to that of r2: `nft add rule ip home out ...`.

# %% answer="nat"
hook = "{ type nat hook postrouting priority srcnat; }"
for router in ("r1", "r2"):
    lab[router].cmd(f"nft add table ip home; nft 'add chain ip home out {hook}'")
    lab[router].cmd("nft flush chain ip home out")  # so that you may run the cell again
### BEGIN SOLUTION
for router in ("r1", "r2"):
    lab[router].cmd(f"nft add rule ip home out oifname {router}-eth1 masquerade")
### STARTER
# # YOUR TURN: print(lab["r1"].cmd("nft add rule ip home out ...")), and the same for r2
### END SOLUTION
for router in ("r1", "r2"):
    print(lab[router].cmd("nft list table ip home"))

# %% check="nat" points=2
lab18.check_nat(lab).require()

# %% [markdown] id="seen-text"
# `lab18.late(lab, 1, exchanges=1)` lets h1 ask h3 one question, which h3 answers. After one second of silence h3 sends
# one more datagram, the *late* one. The next cell records this. Its first output has size, addresses and ports of each
# packet, as it leaves by an interface: h1's question by h1-eth0, and r1-eth1; answers by r3-eth1, and r1-eth0. So at r1
# the home's address changes in both directions, and h3's address never.
#
# Then `conntrack -L` shows r1's mappings, each with two pairs of ends: those of a packet as the home sends it, and
# those of its answer as it comes from outside. (The other mappings are left from the check.) Below is the same as a
# picture that you can play.

# %% id="seen"
with measure.recorded(lab) as seen:
    lab18.late(lab, 1, exchanges=1)
print(lab18.headers(seen, "h1-eth0", "r1-eth1", "r3-eth1", "r1-eth0"))
print(lab["r1"].cmd("conntrack -L"))
show.network(seen)

# %% [markdown] id="life-task"
# ## 2. When does it forget? (15 minutes)
#
# UDP has no end that a router could see. So a mapping ends when no packet has used it for some time. RFC 4787 asks for
# two minutes at least. The next cell prints the two limits of Linux. One of them is shorter than RFC 4787 asks for:
# which? The larger one is for a *stream*: a mapping becomes one when packets have passed both ways, and another one
# passes more than two seconds after the first. All other mappings have the smaller limit.
#
# `lab18.late(lab, silence_s, exchanges)` is True if the late datagram got home. A minute of silence takes none of your
# time. **Predict** after how many seconds of silence it does not get home any more: if h3 has answered one question,
# and if it has answered four, asked at 0, 1, 2 and 3 s. **Then** find, for both cases, two silences, one second apart:
# after the shorter one the datagram gets home, after the longer one it does not. Begin at your prediction, and bisect.
# Store all probes by their silence.

# %% answer="life"
print(lab["r1"].cmd("sysctl -a 2>/dev/null | grep nf_conntrack_udp_timeout"))
probes = {"one": {}, "four": {}}  # by silence in s, for exchanges=1 and exchanges=4
### BEGIN SOLUTION
life = lab18.predict("life", {"one": 30, "four": 120}, sure=80)
for name, exchanges, silences_s in (("one", 1, (29, 30)), ("four", 4, (119, 120))):
    for silence_s in silences_s:
        probes[name][silence_s] = lab18.late(lab, silence_s, exchanges)
### STARTER
# life = lab18.predict("life", {"one": None, "four": None}, sure=None)
# # YOUR TURN: probes["one"][10] = lab18.late(lab, 10, 1), and so on
### END SOLUTION
print(probes)
life

# %% check="life" points=3
lab18.check_predicted(life).require()
lab18.check_life(probes).require()

# %% [markdown] id="call-task"
# ## 3. Two homes call each other (25 minutes)
#
# h1 and h2 want to talk without h3 in between, as in a video call. Neither can start: the other one has no address that
# the Internet knows. *Hole punching* (RFC 5128) is the way out. Both ask h3, and h3 tells each one from which address
# and port it sees the other. Then each sends to that address and port. This needs routers that keep the port when the
# same host sends to somebody else. (RFC 4787, REQ-1, asks for one mapping for all destinations.) Linux makes a new
# mapping for each destination, but keeps the port's number while it is free.
#
# `lab18.call(lab, 0, 2)` does this: h1 sends five datagrams, one a second from 0 s on, and h2 five from 2 s on, counted
# from h3's answer. It returns at which instants each home got datagrams from the other one. Run the next cell: the call
# fails, whoever begins. To which port does each home send? From which port do h2's datagrams leave r2?

# %% id="call-fails"
with measure.recorded(lab) as failed:
    print(lab18.call(lab, 0, 2))
print(lab18.headers(failed, "r1-eth1", "r2-eth1"))

# %% [markdown] id="call-why"
# h1's first datagram is for r2's own address, and r2 has a mapping for h2 and h3 alone. So r2 takes it for its own,
# *answers* that nobody listens (ICMP), and remembers this exchange. That occupies the port. When h2 then sends to r1,
# its port is taken, and NAT chooses another one, of which h1 knows nothing.
#
# A home router should drop such a packet without an answer: then it remembers nothing of it. (RFC 5382, REQ-4, asks
# for this in TCP: no answer to an unexpected SYN for six seconds at least.) **Your turn:** at r1 and at r2, drop what
# comes from the Internet, is for the router itself, and is new. The chain `in` sees packets for the router.
# `iifname r1-eth1` means "came in by r1-eth1", `ct state new` means that the packet belongs to nothing that the router
# remembers, and `drop` drops it.

# %% answer="call"
hook = "{ type filter hook input priority filter; }"
for router in ("r1", "r2"):
    lab[router].cmd(f"nft 'add chain ip home in {hook}'; nft flush chain ip home in")
### BEGIN SOLUTION
for router in ("r1", "r2"):
    lab[router].cmd(f"nft add rule ip home in iifname {router}-eth1 ct state new drop")
### STARTER
# # YOUR TURN: print(lab["r1"].cmd("nft add rule ip home in ...")), and the same for r2
### END SOLUTION
with measure.recorded(lab) as works:
    print(lab18.call(lab, 0, 2))
show.network(works)

# %% check="call" points=3
lab18.check_call(lab).require()

# %% [markdown] id="page-task"
# ## 4. A filter that drops too much (25 minutes)
#
# The cable between r1 and r3 carries packets of 1400 bytes at most. Somebody at h3 has read that ICMP is dangerous, and
# drops all of it but pings: `lab18.wall(lab)`. In Lab 08 a tunnel was silent about packets that do not fit. Here r3
# does tell h3, as it should. Run the cell. `lab18.page(lab)` loads a page of 100,000 bytes with curl, and returns how
# many bytes arrived within 10 s, and how long it took. Then answer its question with a letter.

# %% answer="hang"
print(lab18.wall(lab))
print(lab["h1"].cmd(f"ping -c 2 {h3}"))
with measure.recorded(lab) as hangs:
    print(lab18.page(lab))
lines = lab18.headers(hangs, "h1-eth0", "r1-eth1", "h3-eth0", "r3-eth0").split("\n")
print("\n".join(lines[:24]), f"\n... and {len(lines) - 24} more")
print(lab18.question("hang"))
### BEGIN SOLUTION
hang = "b"
### STARTER
# hang = None
### END SOLUTION

# %% check="hang" points=1
lab18.check_hang(hang).require()

# %% [markdown] id="mss-task"
# You are at home, and h3 is not yours. But each end of a connection says in its SYN how large a segment it accepts:
# the **MSS** (maximum segment size, RFC 9293), which is the MTU without the headers of IP and TCP. (TCP's options count
# as data here: with 12 bytes of them, a segment of 1460 bytes carries 1448 bytes of the page.) h1 says 1460, since its
# own cable carries 1500 bytes. A router on the way can write a smaller number into the SYN.
#
# The chain `through` sees the packets that r1 forwards. `tcp flags syn` chooses SYNs and SYN-ACKs.
# `tcp option maxseg size set 1000` makes an MSS of 1000 out of every larger one. In the place of the number you can
# write `rt mtu`: then r1 takes the smaller of two MTUs (of the cable on which the SYN arrives, and of the one on which
# it leaves), minus the headers.
#
# **Predict** the largest MSS with which all segments pass the cable of 1400 bytes. **Then** add one rule to r1, so
# that the page arrives. Do not change h3, nor any MTU.

# %% answer="clamp"
mss = lab18.predict(
    "mss",
    ### BEGIN SOLUTION
    {"mss": 1400 - 40},
    sure=90,
    ### STARTER
    # {"mss": None},
    # sure=None,
    ### END SOLUTION
)
hook = "{ type filter hook forward priority mangle; }"
lab["r1"].cmd(f"nft 'add chain ip home through {hook}'; nft flush chain ip home through")
### BEGIN SOLUTION
rule = "tcp flags syn tcp option maxseg size set rt mtu"
lab["r1"].cmd(f"nft add rule ip home through {rule}")
### STARTER
# # YOUR TURN: print(lab["r1"].cmd("nft add rule ip home through ..."))
### END SOLUTION
print(lab18.page(lab))
mss

# %% check="clamp" points=4
lab18.check_predicted(mss).require()
lab18.check_page(lab).require()

# %% [markdown] id="flood-task"
# ## 5. A flood (40 minutes)
#
# Now a server remembers. After a SYN it keeps an entry for the half-open connection, and sends a SYN-ACK. If nobody
# answers, it repeats the SYN-ACK five times (`tcp_synack_retries`), after pauses of 1, 2, 4, 8 and 16 s, waits for 32 s
# more, and gives up. (The kernel's timers add up to two seconds to this.) The program on h3 asks for a *backlog* of 64.
# In Linux this number bounds its half-open connections. (One more gets in.)
#
# `lab18.flood(server, rate, seconds, clients_s)` lets h2 send so many SYNs a second, each from another address that
# nobody has, so nobody answers. At each instant of `clients_s`, h1 tries a real connection, for 1.5 s. The half-open
# ones are counted after 0.5 s, 1.5 s, and so on.
#
# **Predict** how many entries there are in the end at 0.4 SYNs a second, and after how many seconds the backlog is
# full at 16 SYNs a second.

# %% answer="flood-predict"
flooded = lab18.predict(
    "flood",
    ### BEGIN SOLUTION
    {"entries": 0.4 * 63, "full_s": 64 / 16},
    sure=80,
    ### STARTER
    # {"entries": None, "full_s": None},
    # sure=None,
    ### END SOLUTION
)
flooded

# %% check="flood-predict" points=1
lab18.check_predicted(flooded).require()

# %% [markdown] id="flood-run"
# The next cell starts a new lab, without NAT and filters, and with IPv6 for section 8. SYN cookies, which section 6
# explains, are off. `slow` is there: 0.4 a second for 100 s, with a client at 90 s. Then the cell waits until the old
# entries have ended. **Your turn:** measure `fast`: 16 a second for 10 s, with clients at 3 s and at 5 s.

# %% answer="flood"
lab.stop()
server = start(lab18.homes(ipv6=True))
server["h3"].cmd("sysctl -w net.ipv4.tcp_syncookies=0")
floods = {"slow": lab18.flood(server, 0.4, 100, [90]), "fast": None}
server.sleep(100)
### BEGIN SOLUTION
floods["fast"] = lab18.flood(server, 16, 10, [3, 5])
### STARTER
# # YOUR TURN: floods["fast"] = lab18.flood(server, ...)
### END SOLUTION
server.sleep(100)
lab18.figures.half_open(floods)

# %% check="flood" points=2
lab18.check_flood(floods).require()

# %% [markdown] id="claim-task"
# ### A claim to test
#
# Ask a language model about floods of SYNs, and you get a paragraph like this one. It is fluent, and one of its
# sentences is wrong.
#
# > (1) A server keeps an entry for each half-open connection, and repeats its SYN-ACK at most five times: some 1, 3, 7,
# > 15 and 31 s after the first one. (2) So two SYNs a second are enough against a backlog of 64: after 32 s it is full,
# > and real clients get no answer. (3) With five repetitions an entry is gone after little more than a minute, however
# > slowly the SYNs come. (4) A faster flood fills it sooner: at 16 a second it takes 4 s. (5) With SYN cookies a full
# > backlog turns nobody away: the server puts what it must know into the sequence number of its SYN-ACK, and keeps
# > nothing for this client.
#
# **Your turn:** find the wrong sentence, and store its number and the flood that shows it, with a client. Cookies stay
# off.

# %% answer="claim"
### BEGIN SOLUTION
wrong_sentence = 2
shows_it = lab18.flood(server, 2, 80, [40, 70])
print(max(shows_it["half_open"]), shows_it["served"])
server.sleep(100)
### STARTER
# wrong_sentence = None  # its number
# shows_it = None  # lab18.flood(server, ...)
### END SOLUTION

# %% check="claim" points=3
lab18.check_claim(wrong_sentence, shows_it).require()

# %% [markdown] id="cookies-task"
# ## 6. A server that remembers nothing (5 minutes)
#
# A *SYN cookie* (RFC 4987, section 3.6) is a sequence number that the server computes from both addresses, both ports,
# a secret and the time. For this connection it keeps nothing. If the client's next packet acknowledges the number, the
# server knows that the number is its own, and only then makes the connection. Of the SYN's options a rough MSS fits
# into the number, and Linux puts some more into the timestamp of its SYN-ACK; the rest is lost. So Linux sends cookies
# only once the backlog is full.
#
# **Your turn:** turn them on at h3 (`sysctl -w net.ipv4.tcp_syncookies=1`). The check floods h3 four times as fast as
# you did.

# %% answer="cookies"
### BEGIN SOLUTION
print(server["h3"].cmd("sysctl -w net.ipv4.tcp_syncookies=1"))
### STARTER
# # YOUR TURN: server["h3"].cmd("...")
### END SOLUTION

# %% check="cookies" points=2
lab18.check_cookies(server).require()

# %% [markdown] id="spoof-task"
# ## 7. Who has this address? (15 minutes)
#
# On one cable, or at one switch, no router decides. A host that wants to send to a neighbour asks all of them by ARP
# who has the address (RFC 826), and believes the answer. If it has an entry for this address, it also believes an
# answer for which it has not asked (*gratuitous ARP*), and the last one counts. Whoever answers for another host's
# address gets its packets: *ARP spoofing*.
#
# `lab18.office()` is a new network: h1, h2 and h3 at the switch s1. `lab18.spoof(office)` records this: h1 pings h2 six
# times, one a second. Between the second and the third ping, h3 tells h1 that h2's IP address is at h3's MAC address.
# Between the fourth and the fifth one, h2 tells all that it is at its own, as hosts do when they come up. What h3 gets
# for h2 it sends on to h2, so that nobody misses anything.
#
# **Predict** how many of h1's six requests go through h3, and how many of h2's six replies. **Then** run the cell. It
# lists the frames on h1's cable: number, instant, MAC addresses of sender and receiver, and what the frame says. Which
# frame is forged? Store its number.

# %% answer="spoof"
through_h3 = lab18.predict(
    "spoof",
    ### BEGIN SOLUTION
    {"requests": 2, "replies": 0},
    sure=80,
    ### STARTER
    # {"requests": None, "replies": None},
    # sure=None,
    ### END SOLUTION
)
office = start(lab18.office())
spoofed = lab18.spoof(office)
frames = lab18.frames(spoofed)
print("\n".join(frames))
### BEGIN SOLUTION
forged = 7
### STARTER
# forged = None  # the number of a frame
### END SOLUTION
display(through_h3)
show.network(spoofed)

# %% check="spoof" points=3
lab18.check_predicted(through_h3).require()
lab18.check_spoof(frames, forged).require()

# %% [markdown] id="ipv6-task"
# ## 8. IPv6 (30 minutes)
#
# IPv6 asks for its neighbours by other packets, and believes the answers just the same (RFC 3756). A switch can close
# the hole: it knows from DHCP which address belongs to which port, and drops answers that say otherwise (*dynamic ARP
# inspection*; RFC 7513 has it for IPv4 and IPv6).
#
# IPv6 has addresses enough for all hosts, so NAT is not needed. (A filter still is.) An interface forms its addresses
# by itself (SLAAC, RFC 4862): a *link-local* one as soon as it is up, which begins with fe80:: and holds on its own
# cable only; and one more for each prefix that a router *advertises*. The lower half of both is here made of the MAC
# address: ff:fe comes into the middle of its six bytes, and in the first byte the bit of value 2 is flipped (RFC 4291,
# appendix A). 52:54:00:12:34:56 gives 5054:ff:fe12:3456. Many systems take a number that looks random instead, so that
# the address does not tell the MAC address (RFC 7217).
#
# **Predict** the address that h1 forms when r1 advertises the prefix of h1's home. The check takes the addresses away
# that h1 was given by hand, lets r1 advertise, and compares.

# %% answer="slaac"
print("h1-eth0 has", lab18.mac("h1"), "and r1 advertises", lab18.prefix())
### BEGIN SOLUTION
one, two, three, four, five, six = lab18.mac("h1").split(":")
lower = f"{int(one, 16) ^ 2:02x}{two}:{three}ff:fe{four}:{five}{six}"
h1_address = lab18.prefix().replace("::/64", f":{lower}")
### STARTER
# h1_address = None  # a text
### END SOLUTION
h1_address

# %% check="slaac" points=2
lab18.check_slaac(server, h1_address).require()

# %% [markdown] id="ndp-text"
# In the next cell r1 advertises once more: its message goes to ff02::1, which is all nodes of the cable. Then the cell
# empties r3's table of neighbours, and lets h1 ping h3. In place of ARP, r3 asks with a *neighbour solicitation* (RFC
# 4861) from its link-local address. Only h3 must look at it: it goes to a multicast address that ends in the last 24
# bits of the address wanted. (The last lines: each asks whether the other one is still there, five seconds after it
# first sent to an address that it had not confirmed.)
#
# Then h3 sends h1 three pings of 1500 bytes. The cable of 1400 bytes is too narrow for these, and for their answers (r1
# tells h1 so, which the list does not show). Why is only the third ping answered? Find out who cuts a large packet.

# %% answer="fragment"
server.sleep(100)  # until nothing of the last flood is left
with measure.recorded(server, ["r1-eth0", "h3-eth0", "r3-eth0", "r3-eth1"]) as neighbours:
    address = lab18.advertise(server)
    server["r3"].cmd("ip -6 neigh flush dev r3-eth0")
    print(server["h1"].cmd(f"ping -c 1 {server['h3'].ipv6}"))
    print(server["h3"].cmd(f"ping -c 3 -s 1452 {address}"))
print(lab18.headers(neighbours, "r1-eth0").split("\n")[1])
print(lab18.headers(neighbours, "r3-eth0", "h3-eth0"))
display(show.network(neighbours))
print(lab18.question("fragment"))
### BEGIN SOLUTION
fragment = "d"
### STARTER
# fragment = None
### END SOLUTION

# %% check="fragment" points=1
lab18.check_fragment(fragment).require()

# %% [markdown] id="eyeballs-task"
# A server with both kinds of addresses may be reachable by only one of them. A browser does not wait until the other
# one has failed: it begins with IPv6, and after a short pause begins with IPv4 too. The first connection wins. This is
# called *happy eyeballs* (RFC 8305, which recommends a pause of 250 ms). curl waits for 200 ms.
#
# **Predict** how long curl needs for the connection, in ms, if the way by IPv6 is dead and drops all packets silently.

# %% answer="eyeballs-predict"
eyeballs = lab18.predict(
    "eyeballs",
    ### BEGIN SOLUTION
    {"ms": 200 + 2 * sum(lab18.homes().link(it).delay_ms for it in ("r1-r3", "h3-r3"))},
    sure=80,
    ### STARTER
    # {"ms": None},
    # sure=None,
    ### END SOLUTION
)
eyeballs

# %% check="eyeballs-predict" points=1
lab18.check_predicted(eyeballs).require()

# %% answer="eyeballs"
both = f"www:80:[{server['h3'].ipv6}],{server['h3'].address}"
curl = f"curl -s -o /dev/null --resolve '{both}' --happy-eyeballs-timeout-ms 200"
curl += " -w '%{time_connect} s, to %{remote_ip}' http://www/"
for word in ("del", "add"):  # first without the blackhole for IPv6, then with it
    server["r3"].cmd(f"ip -6 route {word} blackhole {server['h3'].ipv6}/128")
    print(server["h1"].cmd(curl))
### BEGIN SOLUTION
connect_ms = 1000 * float(server["h1"].cmd(curl).split()[0])
### STARTER
# connect_ms = None  # what curl printed last, in ms
### END SOLUTION

# %% check="eyeballs" points=1
lab18.check_eyeballs(connect_ms).require()

# %% id="stop"
server.stop()
lab18.calibration()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# - NAT rewrites addresses, and remembers what it rewrote. A mapping of UDP ends after some silence: 30 s in Linux, and
#   120 s if packets have passed both ways for more than two seconds.
# - A host behind NAT can start a conversation. Behind a NAT that filters as Linux does nobody outside can, unless the
#   owner forwards a port. Two such hosts reach each other if both start, if their routers keep the port, and if these
#   drop without an answer what they do not expect.
# - A filter that drops "too big" breaks transfers whose full segments meet a narrower cable, unless the sender probes
#   for the size (Lab 08). Small packets pass. An MSS that fits, written into the SYN, avoids it for TCP.
# - A server's memory for half-open connections holds rate times lifetime of them, up to the backlog. Linux shortens
#   the lifetime where more than half is taken, so only a fast flood fills it. SYN cookies need no memory.
# - On one cable hosts believe anyone who claims an address: ARP has no proof, and neighbour discovery of IPv6 has none
#   either. A switch that knows who has which address can drop false answers.
# - An IPv6 host forms its address from a router's prefix and its MAC address, or from a random number.
# - In IPv6 only the sender cuts packets, so "packet too big" must pass. A dead path beside a live one costs a pause.
#
# **Review questions** (no points)
#
# 1. A phone's chat program sends a datagram every 25 s though nobody types. Why? <details><summary>Answer</summary>It
#    keeps the mapping of its NAT alive: without it, 30 s of silence may be enough, and no message from outside gets in
#    (RFC 5626 and RFC 8445 ask for such keepalives).</details>
# 2. What could the operator of h3 have written in place of the filter? <details><summary>Answer</summary>A rule that
#    accepts `ct state related`: ICMP messages about connections that h3 has. Or drop only the types that it does not
#    want: RFC 4890 lists what must not be dropped for IPv6.</details>
# 3. Clamping the MSS does not help QUIC or a game over UDP. Why, and what do they do?
#    <details><summary>Answer</summary>They have no MSS in a SYN. QUIC sends 1200 bytes at first, and looks for larger
#    packets by probes (RFC 9000, section 14).</details>
# 4. In section 5 r2 had no NAT any more. What would h3 have seen with it? And how does a router stop false addresses?
#    <details><summary>Answer</summary>`masquerade` would have put r2's own address into each SYN, so that h3 could
#    refuse this one sender. Better is a router that lets only its own subnet's addresses out (RFC 2827, BCP 38). Many
#    networks do not filter.</details>
# 5. Two hosts of a home use the same port towards the same server. What does NAT do?
#    <details><summary>Answer</summary>It gives one of them another port outside, as in section 3: else answers could
#    not be told apart (RFC 4787, section 4.2.1).</details>
#
# ### Where to read on
#
# The [glossary](glossary.md); RFC 3022 and RFC 4787 (NAT), RFC 5128 and RFC 8445 (hole punching, ICE), RFC 2923 and RFC
# 4821 (path MTU), RFC 4987 (floods), RFC 826 (ARP), RFC 3756 (trust in neighbours), RFC 8200, RFC 4861 and RFC 4862
# (IPv6), RFC 8305 (happy eyeballs). Kurose & Ross: the data plane. Peterson & Davie: internetworking.
