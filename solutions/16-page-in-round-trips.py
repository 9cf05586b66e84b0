# %% [markdown] id="goal"
# # Lab 16: A page in round trips
#
# **Time:** about 3 hours and 30 minutes, five minutes of them for measurements. **You need:** round trips and their
# parts (Lab 04), windows (Lab 05), Python.
#
# You type a name into a browser. A second later the page is there. Where does this second go? Mostly not into sending
# bytes: it is a chain of round trips, and each of them waits for the one before. You write a resolver that finds the
# server's address. Then you load a page in five ways, from HTTP/1.0 to HTTP/3, and predict each time to within 5 ms.
# Finally one packet is lost: you say which objects wait for it.

# %% id="imports"
from linklab import lab16, measure, show, start

display(lab16.progress())
network = lab16.web()
lab = start(network)
lab16.serve_names(lab)
servers = ["nsroot", "nstop", "nszone", "www"]
rtt_ms = {server: lab16.rtt_ms(server) for server in servers}
print(rtt_ms)
show.network(lab)

# %% [markdown] id="names-task"
# ## 1. Who knows an address? (15 minutes)
#
# `client` sits behind an access link of 400 Mbit/s (r1-r2; your own network may have another rate). Each server has its
# own distance: `rtt_ms` has the round trips from `client`. The browser needs the address of `www.shop.example`, and
# asks the *domain name system* (DNS) for it. None of its servers knows all addresses (RFC 1034):
#
# - `nsroot` serves the *root*. It knows who serves `example`.
# - `nstop` serves the top-level domain `example`. It knows who serves `shop.example`. In answers its name is
#   `ns.example`.
# - `nszone` serves the zone `shop.example`. It is its *authority*, and knows the address of `www.shop.example`. In
#   answers its name is `ns.shop.example`.
#
# A server that knows somebody closer to the answer sends a *referral*: the name of that server (`NS`, in the section
# AUTHORITY), and its address (`A`, in the section ADDITIONAL). (Here each referral has this address. In the Internet
# many have none: then a resolver must look up the server's name first.) The number before `IN` is the *TTL*: the asker
# may keep the record for that many seconds.
#
# **Your turn:** the next cell asks all three. Run it, and answer its question with a letter. Then ping `www` from
# `client` three times (`-c 3`): is its round trip as printed above?

# %% answer="glue"
for server in servers[:3]:
    print(f"--- {server} answers:\n{lab16.ask(lab, server)}")
print(lab16.question("glue"))
### BEGIN SOLUTION
glue = "c"
print(lab["client"].cmd(f"ping -n -c 3 {lab['www'].address}"))
### STARTER
# glue = None
# # YOUR TURN: lab["client"].cmd(f"ping ... {lab['www'].address}")
### END SOLUTION

# %% check="glue" points=1
lab16.check_glue(glue).require()

# %% [markdown] id="lookup-task"
# A *resolver* does what you have just seen: it asks the root, then follows referrals until somebody has the address.
# Most resolvers belong to a provider, and answer all its customers; yours runs on `client`. **Predict** how long it
# takes for the first question (`first`), and for the same question one second later (`kept`), in ms; `sure` is how sure
# you are, in percent. Any prediction earns the point.

# %% answer="lookup-predict"
lookup = lab16.predict(
    "lookup",
    ### BEGIN SOLUTION
    {"first": rtt_ms["nsroot"] + rtt_ms["nstop"] + rtt_ms["nszone"], "kept": 0},
    sure=90,
    ### STARTER
    # {"first": None, "kept": None},
    # sure=None,
    ### END SOLUTION
)
lookup

# %% check="lookup-predict" points=1
lab16.check_predicted(lookup).require()

# %% [markdown] id="resolver-task"
# ## 2. Your resolver (50 minutes)
#
# `lab16.head()` is the first part of a resolver: the next cell prints it. `self.ask(server, name)` sends a question,
# and returns the first answer that *fits*, or None. `addresses(answer.answer)` has the addresses of the section ANSWER
# with their TTLs, and `addresses(answer.additional)` those of ADDITIONAL: `[("10.0.4.2", 3600)]`.
#
# **Your turn:** write its two methods, as texts.
#
# - `fits(query, answer)` says whether this is an answer to this question. Anybody can send a packet to your port, and
#   write the server's address on it. The right answer has the question's number (`id`) and repeats the question
#   (`question`).
# - `resolve(name)` returns the address, and for how many more seconds the asker may keep it; None if there is no
#   address. Begin at `ROOT`, and follow referrals. Keep the answer in `self.kept` until its TTL ends. Count the TTL
#   from the instant at which the answer arrives (`time.monotonic()`). Then ask anew.
#
# The cell behind them starts your resolver on `client`. `lab16.look_up(lab, seconds, ...)` asks it once for each
# number: so many seconds after the previous answer. It shows when your resolver was asked, what it answered, and whom
# it asked itself. Below the table stands what your code prints, and each exception that it raises. The check asks
# questions of its own in another lab, which has other addresses and one name server more, and sends forged answers to
# some of them.

# %% answer="fits"
print(lab16.head())
fits = """
    def fits(self, query, answer):
        ### BEGIN SOLUTION
        return answer.id == query.id and answer.question == query.question
        ### STARTER
        # return True  # YOUR TURN
        ### END SOLUTION
"""

# %% answer="resolver"
resolve = """
    def resolve(self, name):
        ### BEGIN SOLUTION
        address, end_s = self.kept.get(name, (None, 0))
        if time.monotonic() < end_s:
            return address, end_s - time.monotonic()
        server = ROOT
        while server and (answer := self.ask(server, name)):
            for address, ttl in addresses(answer.answer):
                self.kept[name] = address, time.monotonic() + ttl
                return address, ttl
            server = next((address for address, _ in addresses(answer.additional)), None)
        ### STARTER
        # # YOUR TURN
        ### END SOLUTION
        return None
"""

# %% id="resolver-run"
mine = fits + resolve
resolver = lab16.start_resolver(lab, mine)
display(lab16.look_up(lab, 0, 1, 28, 2))
print(resolver.output)

# %% check="resolver" points=6
lab16.check_resolver(mine).require()

# %% [markdown] id="page-task"
# ## 3. The first page (35 minutes)
#
# After the name come TCP's handshake (one round trip), TLS 1.3's handshake (one round trip: both sides agree on keys,
# and the server shows its certificate), and the request. The server may send 10 segments at once (RFC 6928), each with
# 1448 bytes. When they are acknowledged it sends twice as many, and so on: *slow start*.
#
# **Predict** when each part is there, in ms from the beginning: the name, the first byte of a file of 60,000 bytes, and
# its last byte. The resolver has kept nothing yet. Ignore how long bytes occupy a link: the links are fast.
#
# Then measure. `measure.WebFlow("client", "www", http="2", objects=0, base_bytes=60_000, by_name=True)` loads this file
# over HTTP/2. The server is nginx, the browser libcurl (the library of `curl`), and `by_name=True` asks *your*
# resolver. **Your turn:** start the resolver anew, so that it has kept nothing, measure, and keep what `measure.run`
# returns.

# %% answer="page-predict"
parts = lab16.predict(
    "page",
    ### BEGIN SOLUTION
    {
        "name": lookup["first"],
        "first": lookup["first"] + 3 * rtt_ms["www"],
        "page": lookup["first"] + 5 * rtt_ms["www"],
    },
    sure=80,
    ### STARTER
    # {"name": None, "first": None, "page": None},
    # sure=None,
    ### END SOLUTION
)
parts

# %% check="page-predict" points=1
lab16.check_predicted(parts).require()

# %% answer="page"
### BEGIN SOLUTION
lab16.start_resolver(lab, mine)
page = measure.run(
    lab, measure.WebFlow("client", "www", http="2", objects=0, base_bytes=60_000, by_name=True)
)
print(page.visits[0])
### STARTER
# page = None  # YOUR TURN: lab16.start_resolver(lab, mine), then measure.run(lab, ...)
### END SOLUTION

# %% check="page" points=3
lab16.check_page(page).require()

# %% [markdown] id="rounds-task"
# **Your turn:** write the function for any file: how many round trips pass from its request to its last byte? Nothing
# is lost, and HTTP's own headers are small: ignore them. Then load a file of each size in `lab16.SIZES` alone, over
# HTTP/2 and without the name, and compare. Eighteen times as many bytes: how many times as long? (The check says it
# when all your runs are right.)
#
# Many large sites let their servers begin with more than the 10 segments of RFC 6928. On `www`, `ip route change
# default via ADDRESS initcwnd 30` does that; `ip route` shows the address. Load 35,000 bytes once more with it, keep
# the result as `sizes["initcwnd"]`, and set the window back to 10.


# %% answer="rounds"
def rounds(size_bytes):
    ### BEGIN SOLUTION
    found, window, sent = 0, 10, 0
    while sent * 1448 < size_bytes:
        found, sent, window = found + 1, sent + window, 2 * window
    return found
    ### STARTER
    # ...  # YOUR TURN
    ### END SOLUTION


# %% check="rounds" points=2
lab16.check_rounds(rounds).require()

# %% answer="sizes"
sizes = dict.fromkeys(lab16.SIZES)
### BEGIN SOLUTION
for size in sizes:
    sizes[size] = measure.run(
        lab, measure.WebFlow("client", "www", http="2", objects=0, base_bytes=size)
    )
    predicted_ms = (2 + rounds(size)) * rtt_ms["www"]
    print(f"{size} bytes: {sizes[size].page_ms:.1f} ms, predicted {predicted_ms:g} ms")
gateway = lab["r2"].addresses["r2-eth4"].partition("/")[0]
lab["www"].cmd(f"ip route change default via {gateway} initcwnd 30")
sizes["initcwnd"] = measure.run(
    lab, measure.WebFlow("client", "www", http="2", objects=0, base_bytes=35_000)
)
lab["www"].cmd(f"ip route change default via {gateway} initcwnd 10")
### STARTER
# # YOUR TURN: sizes[size] = measure.run(lab, ...) for each size, and sizes["initcwnd"]
### END SOLUTION

# %% check="sizes" points=2
lab16.check_sizes(sizes).require()

# %% [markdown] id="ways-task"
# ## 4. A page of nine files (40 minutes)
#
# A page is a *base file* and the *objects* that it names (images, scripts). The browser knows the objects only when the
# base file is there. Here are eight objects, and all files have 1000 bytes: each one fits into a packet. Five ways:
#
# | way | connections | requests |
# | --- | --- | --- |
# | `HTTP/1.0` | a new one for each file (here one at a time) | one after another |
# | `keep-alive` (HTTP/1.1) | one, which stays open | one after another: the next one when the answer is there |
# | `six` (HTTP/1.1) | up to six, which stay open | one at a time on each; the first object takes the open connection |
# | `HTTP/2` | one | all objects at once, each in a *stream* of its own |
# | `HTTP/3` | one, over QUIC (UDP) | the same; QUIC's handshake has TLS in it: one round trip for both |
#
# **Predict** how many round trips each takes until the whole page is there, without the name. Then measure all five:
# `lab16.flow("HTTP/2")` is the flow of this way, and so on. The table counts from the beginning of the visit. The last
# cell shows the page over six connections as it happened: look for the two round trips in which five connections open
# while the first one already loads objects, and for the third, in which all six load.

# %% answer="ways-predict"
ways = lab16.predict(
    "ways",
    ### BEGIN SOLUTION
    {"HTTP/1.0": 9 * 3, "keep-alive": 3 + 8, "six": 3 + 3, "HTTP/2": 3 + 1, "HTTP/3": 2 + 1},
    sure=80,
    ### STARTER
    # dict.fromkeys(lab16.WAYS),  # YOUR TURN: {"HTTP/1.0": ..., "keep-alive": ..., and so on}
    # sure=None,
    ### END SOLUTION
)
ways

# %% check="ways-predict" points=1
lab16.check_predicted(ways).require()

# %% answer="ways"
loaded = dict.fromkeys(lab16.WAYS)
### BEGIN SOLUTION
for way in loaded:
    loaded[way] = measure.run(lab, lab16.flow(way))
### STARTER
# # YOUR TURN: loaded[way] = measure.run(lab, ...) for each way
### END SOLUTION
lab16.figures.page_table(loaded)

# %% check="ways" points=4
lab16.check_ways(loaded).require()

# %% id="ways-replay"
show.network(measure.run_together(lab, [lab16.flow("six")], record=True))

# %% [markdown] id="warm-task"
# ## 5. The second visit (20 minutes)
#
# TLS 1.3 can resume a session: the server gave the browser a *ticket* at the first visit. With *early data* (0-RTT) the
# browser sends its request together with TLS's first message, encrypted by the ticket's key. TCP's handshake stays.
# `visits=2` loads the page twice, the second time over new connections; `early_data=True` sends the first request of
# the second visit as early data. (The lab's curl has no early data over HTTP/3: there a second visit takes as long as
# the first. Other programs have it, and then the request leaves together with QUIC's first packet.)
#
# **Your turn:** measure both, `HTTP/2` with `early_data=True`, `HTTP/3` without. `page_ms` is the second visit's.

# %% answer="warm"
warm = dict.fromkeys(["HTTP/2", "HTTP/3"])
### BEGIN SOLUTION
warm["HTTP/2"] = measure.run(lab, lab16.flow("HTTP/2", visits=2, early_data=True))
warm["HTTP/3"] = measure.run(lab, lab16.flow("HTTP/3", visits=2))
for way, run in warm.items():
    print(way, [round(visit.page_ms, 1) for visit in run.visits])
### STARTER
# # YOUR TURN: warm["HTTP/2"] = measure.run(lab, lab16.flow(..., visits=2, ...)), and HTTP/3
### END SOLUTION

# %% check="warm" points=2
lab16.check_warm(warm).require()

# %% answer="early"
print(lab16.question("early"))
### BEGIN SOLUTION
early = "b"
### STARTER
# early = None
### END SOLUTION

# %% check="early" points=1
lab16.check_early(early).require()

# %% [markdown] id="claim-task"
# ### A claim to test
#
# Ask a language model why pages are slow, and you get a paragraph like this one. It is fluent, and one of its sentences
# is wrong.
#
# > (1) A page is bits, and a link takes its time for them: with a tenth of the rate on the access link, the same page
# > takes at least twice as long. (2) Before a page's first byte a browser waits for the name, for TCP, for TLS and for
# > its request. (3) HTTP/3 saves one of these round trips, because QUIC's handshake has TLS in it. (4) A kept address
# > saves the whole lookup until its TTL ends. (5) Early data save a round trip at a second visit.
#
# **Your turn:** find the wrong sentence, and measure the run that shows it. Store the sentence's number, and the result
# of the page over HTTP/2 (`lab16.flow("HTTP/2")`), in a lab of its own: `start(lab16.web(rate_mbps))` has an access
# link of this rate. A tenth of yours is `network.links[1].rate_mbps / 10`.

# %% answer="claim"
### BEGIN SOLUTION
wrong_sentence = 1
with start(lab16.web(network.links[1].rate_mbps / 10)) as slow:
    shows_it = measure.run(slow, lab16.flow("HTTP/2"))
print(shows_it.page_ms, "instead of", loaded["HTTP/2"].page_ms)
### STARTER
# wrong_sentence = None  # its number
# shows_it = None  # YOUR TURN: in another lab, measure.run(slow, ...)
### END SOLUTION

# %% check="claim" points=3
lab16.check_claim(wrong_sentence, shows_it).require()

# %% [markdown] id="loss-task"
# ## 6. One packet is lost (35 minutes)
#
# `lab16.lose_object(lab)` lets r2 lose one packet of the next page, once: the one that carries object number
# `lab16.lost_object()`. The eight objects leave the server in their order, one packet each. When the server hears that
# three later packets have arrived, it takes the missing one for lost, and sends it again.
#
# **Predict** for HTTP/2 and HTTP/3 how many of the eight objects come later than they would without the loss. Then
# measure: the table shows how many ms after its request each object was there.

# %% answer="loss-predict"
print("lost: object", lab16.lost_object())
late = lab16.predict(
    "loss",
    ### BEGIN SOLUTION
    {"HTTP/2": 9 - lab16.lost_object(), "HTTP/3": 1},
    sure=70,
    ### STARTER
    # {"HTTP/2": None, "HTTP/3": None},
    # sure=None,
    ### END SOLUTION
)
late

# %% check="loss-predict" points=1
lab16.check_predicted(late).require()

# %% answer="loss"
lossy = dict.fromkeys(["HTTP/2", "HTTP/3"])
### BEGIN SOLUTION
for way in lossy:
    lab16.lose_object(lab)
    lossy[way] = measure.run(lab, lab16.flow(way))
### STARTER
# # YOUR TURN: right before each of the two runs, lab16.lose_object(lab)
### END SOLUTION
lab16.figures.object_table(lossy)

# %% check="loss" points=4
lab16.check_loss(lossy).require()

# %% id="loss-replay"
lab16.lose_object(lab)
show.network(measure.run_together(lab, [lab16.flow("HTTP/2")], record=True))

# %% [markdown] id="loss-question"
# **Question.** A site moves from HTTP/1.1 with six connections to HTTP/2. For users on good links pages become faster.
# For some users on a mobile network that loses 2 % of all packets they become *slower*. Why? And what do you expect of
# HTTP/3 for them? Use what you measured.

# %% [markdown] reflect="mobile" points=4
# HTTP/2 puts all objects on one TCP connection, and TCP hands over its bytes in order. One lost packet makes all
# objects behind it wait for a round trip, although their bytes have arrived (head-of-line blocking), as in the run with
# one loss. With six connections a loss stops only the objects of its own connection: one sixth of the page. It also
# lowers only one of six windows, and six connections begin with six first windows. QUIC keeps an order only within a
# stream: one loss delays one object, as measured, while the single connection and the handshake of one round trip stay.
# But HTTP/3 has one congestion window, too, so its rate still falls at a loss.
#
# **Rubric.** 4 points: one TCP connection delivers in order, so all objects behind the loss wait; with six connections
# only those of one connection; a loss makes the only window smaller (or one of six); HTTP/3 delays only the lost
# object, but has one window. 1 point each. Typical wrong: (1) "HTTP/2 sends more bytes": it sends fewer headers; (2)
# "UDP loses more packets": the network loses the same ones.

# %% [markdown] id="poison-task"
# ## 7. A poisoned cache (15 minutes)
#
# Somebody wants your resolver to keep a wrong address. They cannot see your questions, but they can make you ask (by a
# link in a mail, say), and send forged answers with the address of `nszone` as the sender. The first answer that fits
# is kept, for a TTL that the forger chooses. (If the right answer comes first, they must wait until its TTL ends, or
# make you ask for another name.) A forged answer has 100 bytes on the cable. The forger sends `forger_mbps` Mbit/s: the
# rate of link L3 in the course network of Lab 01. They forge answers to the last question of a lookup.
#
# **Your turn:** compute
#
# - `window`: for how many ms after this question forged answers count;
# - `forged`: how many of them arrive in this time;
# - `chance`: the chance, in percent, that one of them fits, if only the id (16 bits) must be guessed, and each forged
#   answer has another id;
# - `lookups`: how many lookups they need on average, if they must guess the port too: Linux takes one of 28,232.

# %% answer="poison"
forger_mbps = lab16.forger_mbps()
### BEGIN SOLUTION
forged = forger_mbps * 1e6 * rtt_ms["nszone"] / 1000 / 800
poison = {
    "window": rtt_ms["nszone"],
    "forged": forged,
    "chance": 100 * forged / 2**16,
    "lookups": 2**16 * 28_232 / forged,
}
print(poison)
### STARTER
# poison = {"window": None, "forged": None, "chance": None, "lookups": None}
### END SOLUTION

# %% check="poison" points=3
lab16.check_poison(poison).require()

# %% id="stop"
lab.stop()
lab16.explain("mobile")
lab16.calibration()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# - A resolver asks root, top-level and authoritative servers one after another: a round trip each. It keeps the answer
#   until the TTL ends. It knows the right answer by id and question, and by the addresses and ports of its packet.
# - A first request costs one round trip for TCP and one for TLS 1.3; QUIC needs one for both. Early data save one
#   more.
# - As long as nothing is lost and the link is not full, the number of a file's round trips grows with the logarithm of
#   its size: the window begins with 10 segments and doubles.
# - HTTP/1.0 pays handshakes for each file. HTTP/2 and 3 ask for all objects at once.
# - After a loss TCP hands over nothing that lies behind it until the lost packet has come: HTTP/2's objects wait for
#   each other, HTTP/3's do not.
#
# **Review questions** (no points)
#
# 1. You read a page, and your browser already opens connections to servers whose pages you may click next. Why?
#    <details><summary>Answer</summary>Name, TCP and TLS take their round trips while you read: only the request is
#    left.</details>
# 2. A site halves its TTL. Who notices? <details><summary>Answer</summary>Its name servers get more questions: up to
#    twice as many from resolvers that are asked all the time, hardly more from those that are asked seldom. Some more
#    users wait for a lookup. In turn, a new address is known everywhere sooner.</details>
# 3. In section 4, when would six connections beat HTTP/2 without any loss? <details><summary>Answer</summary>When
#    each object is a few first windows long, here 30 to 60 kB: six connections begin with six windows of 10 segments
#    each, and one connection with one. With smaller objects their handshakes cost more than that; with larger objects
#    two of the eight wait long for a second turn.</details>
# 4. Why does it do more harm if a resolver keeps a false answer than if one user gets it once?
#    <details><summary>Answer</summary>All who ask this resolver get it, until its TTL ends, and the forger has chosen
#    the TTL.</details>
#
# ### Where to read on
#
# The [glossary](glossary.md); RFC 1034 and 1035 (DNS), RFC 5452 (forged answers), RFC 4033 (DNSSEC: answers that are
# signed), RFC 8446 (TLS 1.3), RFC 8470 (early data), RFC 6928 (ten segments), RFC 9112 to 9114 (HTTP/1.1, 2, 3), RFC
# 9000 and 9002 (QUIC). Kurose & Ross: the application layer. M. Belshe, *More Bandwidth Doesn't Matter (Much)*, 2010.
