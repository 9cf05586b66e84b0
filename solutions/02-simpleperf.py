# %% [markdown] id="goal"
# # Lab 02: Implement simpleperf
#
# You write a network tool of your own: `simpleperf`, a small `iperf`. Its client sends as much as TCP carries, its
# server counts what arrives, and both say how fast that was. All later labs measure with it.
#
# **Time:** about 3 hours. **You need:** Lab 00, and Python (functions, loops, exceptions). The
# [glossary](glossary.md) explains the words.
#
# The program grows in seven steps. Each step has its own graded cell. Some steps build on earlier ones, so
# take them in order.

# %% id="imports"
from linklab import lab02, measure, network, show, simpleperf, start

lab = start(network.COURSE)
display(lab02.progress())
show.draw(lab, highlight=network.path(network.COURSE, "h1", "h4"))

# %% [markdown] id="ten-lines"
# This is the network of Lab 01. You will measure between `h1` and `h4`, along the path that is marked.
#
# ## Ten lines
#
# A server makes a socket, *binds* it to its address and port, *listens*, and *accepts* a client: that gives
# a second socket, the connection. A client makes a socket and *connects* it. Then both can send and
# receive. Here are both in one program, on the loopback of your own machine. Run it, and play with it.

# %% id="ten-lines-try"
import socket

server = socket.create_server(("127.0.0.1", 0))  # bind and listen; 0: any free port
client = socket.create_connection(server.getsockname())
connection, address = server.accept()
client.sendall(b"hello ")
client.sendall(b"BYE")
print("received:", connection.recv(100), "from", address[0])
for each in (client, connection, server):
    each.close()

# %% [markdown] id="stream-task"
# **Question.** The client sent twice. What may the first `recv(100)` return?
#
# - a: always `b"hello "`: one `recv` for each `sendall`
# - b: always `b"hello BYE"`: all that was sent
# - c: any first part of `b"hello BYE"`, one byte at least
# - d: `b"hello "` or `b"BYE"`: packets may overtake each other
#
# **Your turn:** write the letter. A right answer opens the explanation, and you need it for your program.

# %% answer="stream"
### BEGIN SOLUTION
stream = {"stream": "c"}
### STARTER
# stream = {"stream": None}
### END SOLUTION

# %% check="stream" points=1
lab02.check_stream(stream).require()

# %% [markdown] id="where"
# ## What simpleperf does
#
# | who | what |
# | --- | --- |
# | client | connects, sends chunks of 1000 bytes for `-t` seconds, then `BYE` |
# | server | counts what comes before `BYE`, answers `ACK: BYE`, prints a row |
# | client | waits for `ACK: BYE`, prints a row |
#
# A table has a heading, then a row for each connection and interval: who, when, how much and how fast.
#
# ```
# ID               Interval     Transfer   Bandwidth
# 10.0.0.2:33540   0.0 - 25.0   85 MB      27.20 Mbps
# ```
#
# The checks and the later labs find interval, amount and rate by this heading. Keep it above your rows (the server says
# `Received` and `Rate`). Spacing, bars, decimals and the order of columns are yours. A unit stands beside its number or
# in the heading.
#
# The program of the course report also sends a *start message*, with the time, before its data. Yours need not:
# each side times the transfer by its own clock.
#
# You write in `simpleperf.py`, which lies next to this notebook. **Open it now:** choose it in the list of files on the
# left, and put its tab on the right side. Save it (Ctrl+S) before you run a cell here.
#
# It is a starter: arguments, rows and the frame of each function are there. What is missing is marked
# `TODO 1` for step 1, and so on (Ctrl+F finds them). You may change everything: only what the program does is
# graded. It runs already. `loopback` starts a server and a client on your own machine, and shows what both say:

# %% id="first-run" tags=["nbval-ignore-output"]
lab02.loopback("-t 1")

# %% [markdown] id="transfer-intro"
# ## 1. Sockets and one transfer
#
# Your server must find `BYE` in a stream of bytes: glued to the last data, or as `B` and then `YE`. Remember the end of
# what you read before.
#
# **Your turn:** everything marked `TODO 1`. An order that works: `serve`, `serve_client`, `receive`; then
# `run_client`, `Sender._send`, `Sender._await_acknowledgement`. Use `sendall`: a bare `send` may take only a
# part. Run the cell above after each. When both sides agree, go to the network with the next cell. The two lines with
# `$` are the commands that were run: `linklab shell h4` in a terminal gives you a command line on `h4`, to run
# them by hand. Both sides must report the same amount; the rate is 0.00 until step 2.
#
# The check below it runs a copy of your program in a small network of its own, and looks at what it does.

# %% id="transfer-try"
lab02.between(lab, "h1", "h4", "-t 2")

# %% check="transfer" points=3
simpleperf.check_step("simpleperf.py", "transfer").require()

# %% [markdown] id="nagle-intro"
# ### Two small writes
#
# The next cell sends 100 bytes to your server, then `BYE`, as two small writes: once as TCP does it by itself, once
# with the option `TCP_NODELAY`. The RTT between `h1` and `h4` is 60 ms.
#
# **Question.** The two times differ. What did TCP do with the second write, and what was it waiting for? When does that
# hurt a program?

# %% id="nagle"
small_writes = """
import socket, sys, time
with socket.create_connection(("10.0.5.2", int(sys.argv[1]))) as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(sys.argv[2]))
    start = time.monotonic()
    connection.send(b"x" * 100)
    connection.send(b"BYE")
    print(connection.recv(100), f"after {1000 * (time.monotonic() - start):.0f} ms")
"""
lab.write_file("/tmp/small_writes.py", small_writes)
with lab02.serving(lab, "h4") as server:
    for no_delay in (0, 1):
        words = f"python3 /tmp/small_writes.py {server.port} {no_delay}"
        print(lab["h1"].cmd(f"{words} 2>&1 | tail -1"), end="")

# %% [markdown] reflect="nagle" points=2
# TCP held back the second small segment, because the first was not acknowledged yet (Nagle's algorithm). The
# acknowledgement takes one RTT, and the answer to `BYE` another: 120 ms instead of 60. A program that sends many small
# requests as two writes, and waits for each answer, pays that each time. It should write once, or set the option.
#
# **Rubric.** 2 points: the second write waits for the acknowledgement of the first, and which programs that hurts. 1
# point: one of the two. Typical wrong: (1) "the server was slow": it is the same server, both times. (2) "TCP_NODELAY
# sends faster": no bit moves faster; one wait less stands before it.

# %% [markdown] id="clock-intro"
# <details><summary>Two small writes: open this when you have written your answer</summary>
#
# *Nagle's algorithm* (RFC 9293, section 3.7.4) holds back a small segment while an earlier one is not acknowledged.
# So `BYE` waits one RTT, and its answer takes another: 120 ms instead of 60. It may even be more: a receiver may
# *delay* its acknowledgement, to send it along with data or for two segments at once, on Linux usually by 40 ms and
# at most by 200; RFC 9293, section 3.8.6.3, wants less than 500. The two together are the classic trap of write,
# write, read. A long transfer does not wait, not even with its last bytes: Linux holds a small segment only while an
# earlier *small* one is not acknowledged, and the segments before the last one are full. (The kit sent 5 MB and then
# `BYE` from `h1` to `h4`: 1642 ms with the option and without.)
#
# </details>
#
# ## 2. The clock and the units
#
# > **Bits and bytes.** Amounts are in bytes, rates in bits per second, and a byte has 8 bits. In networks
# > prefixes are decimal: 1 MB is 1,000,000 bytes, 1 Mbit/s is 1,000,000 bits per second. Divide by 1024
# > twice and you report 4.6 % too little, and nobody notices.
#
# **Say to yourself:** what is the most that the client may report between `h1` and `h4`? The links carry 40 and
# 30 Mbit/s. Linklab computes it:

# %% id="ceiling"
ceiling_mbps = network.goodput_ceiling_mbps(network.path(network.COURSE, "h1", "h4"))
ceiling_mbps

# %% [markdown] id="clock-task"
# **Your turn:** first `Span.rate_mbps` alone. Then run this cell:

# %% id="clock-try"
lab02.between(lab, "h1", "h4", "-t 1")

# %% [markdown] id="clock-question"
# Compare the rates of client and server. They count the same bytes.
#
# **Question.** A client that does not wait for the acknowledgement sends 50 kB to `h4` and reports 400 Mbit/s. Explain
# that number. Why does the same program report nearly the truth with `-t 60`?

# %% [markdown] reflect="clock" points=3
# The kernel takes 50 kB into its send buffer at once, in about a millisecond, because copying memory needs no network.
# The client has measured how fast its kernel copies: 0.4 Mbit in 1 ms. In 60 s the buffer grows (Linux tunes its size),
# to some hundred kB or a few MB. But that is what is still on its way when the clock stops, of more than 200 MB in all:
# about one per cent.
#
# **Rubric.** 3 points: the bytes were taken by the kernel and not yet delivered; the number as bytes over the time of
# copying; and the buffer is a small part of a long transfer. 2 points: without the number. 1 point: "they are in a
# buffer". Typical wrong: (1) "the link is faster for small amounts": a link has one rate. (2) "it counts bytes for
# bits": that would be a factor of 8, the same for each length.

# %% [markdown] id="clock-told"
# <details><summary>Open this when you have written your answer</summary>
#
# `sendall` returns when the kernel has *taken* the bytes. The last of them are then still in the client's memory, in
# queues, and in flight. A clock that stops there divides what was handed over by the time of handing over. The larger
# the buffers and the shorter the transfer, the more it exaggerates, up to more than the link carries. `ACK: BYE` says
# that all has arrived. Only then may the clock stop. It costs half an RTT too much, and errs on the honest side.
#
# </details>
#
# **Your turn:** the other `TODO 2`, on the client's side. The server's clock (`meter.stop` in `receive`)
# stops with the last byte that it reads. Run the cell above again: now the client reports a little less than
# the server.

# %% check="clock" points=4
simpleperf.check_step("simpleperf.py", "clock").require()

# %% [markdown] id="intervals-intro"
# ## 3. Intervals
#
# One number hides what happens during a transfer. With `-i 1` the client also prints a row each second,
# while it sends. `Thread.join` with a timeout waits for a second, or until the sender has ended.
#
# Two traps. A second of sending is not exactly a second: let each row begin where the one before ended. And
# rounded amounts should still add up to the total: round both ends of an interval, not their difference.
#
# **Your turn:** everything marked `TODO 3`. Then watch it. `serving` runs a server, and `show.live` draws
# the rows of the client as they come:

# %% id="intervals-try"
with lab02.serving(lab, "h4") as server:
    client = server.client("h1", "-t 6 -i 1")
    show.live(client, lab02.intervals, ceiling_mbps=ceiling_mbps, duration_s=6)

# %% [markdown] id="intervals-told"
# **Say to yourself:** which rows differ from the others, and why?
#
# <details><summary>Open this when you have an answer</summary>
#
# The first second is slower: TCP begins with a few packets and doubles them each RTT (*slow start*, RFC 5681). The last
# row is longer than a second and its rate lower: the client waits there until the queues have emptied. A row in between
# may lie a little above theory, for the client counts what its kernel has taken. The total may not.
#
# </details>

# %% check="intervals" points=3
simpleperf.check_step("simpleperf.py", "intervals").require()

# %% [markdown] id="amount-intro"
# ## 4. An amount instead of a time
#
# With `-n 2MB` the client sends 2,000,000 bytes, however long it takes, and not one byte more: the last chunk
# may be shorter.
#
# **Say to yourself:** 2 MB are 16 Mbit. How long does that take at 28.69 Mbit/s? And will it take just that?
#
# **Your turn:** everything marked `TODO 4`.

# %% id="amount-try"
with lab02.serving(lab, "h4") as server:
    for amount in ("20KB", "200KB", "2MB"):
        print(*server.client("h1", f"-n {amount} -f KB"), sep="\n")

# %% check="amount" points=2
simpleperf.check_step("simpleperf.py", "amount").require()

# %% [markdown] id="amount-question"
# **Question.** The three amounts were sent over one path, one after the other. Why do they have three rates? Which of
# them would you call the throughput of the path?

# %% [markdown] reflect="amount" points=2
# 20 kB need 6 ms on the link. But TCP may send ten segments (14.5 kB) at first, and the rest waits for their
# acknowledgement. So the answer to `BYE` comes after two round trips, 120 ms at the earliest. 200 kB take several
# more: TCP is still in slow start. With 2 MB most of the time is spent at the full rate. None of them is the path's
# throughput quite: it is a statement about long transfers. A web page waits for the RTT.
#
# **Rubric.** 2 points: the RTT (or slow start) counts for most of a short transfer, and throughput means a long one. 1
# point: one of the two. Typical wrong: (1) "small packets are slower": nearly all segments have the same size. (2) "the
# queue was full": short transfers never fill it.

# %% [markdown] id="parallel-intro"
# ## 5. Parallel connections
#
# With `-P 3` the client opens three connections and sends over all of them at once, each in a *thread*. The
# `Sender` is such a thread already; the barrier `gate` lets all start together. The server must serve all at
# once too: in its loop it starts a thread for each client and goes straight back to `accept`.
#
# **Say to yourself:** three connections, 28.69 Mbit/s. What will each get, and what all together?
#
# **Your turn:** everything marked `TODO 5`, in client and server.

# %% id="parallel-try"
with lab02.serving(lab, "h4") as server:
    client = server.client("h1", "-t 8 -i 1 -P 3")
    show.live(client, lab02.intervals, ceiling_mbps=ceiling_mbps, duration_s=8)

# %% check="parallel" points=3
simpleperf.check_step("simpleperf.py", "parallel").require()

# %% [markdown] id="many-intro"
# <details><summary>What you may have seen with three connections: open this when you have looked at the
# shares</summary>
#
# Together they fill the link, as one did alone. But they do not share equally: a connection that loses packets at
# a bad moment falls behind, and catches up slowly. Lab 06 measures how fair that is.
#
# </details>
#
# ## 6. Many clients, and a long life
#
# A server runs for hours, and its clients are strangers. Some vanish, some reset the connection, some send
# nothing. None of them may end the server, or hold up the others.
#
# It is also stopped and started again. Whoever closes a connection *first* keeps its pair of addresses and ports for a
# while after the end (*TIME-WAIT*, RFC 9293; 60 s on Linux), so that late packets of it are not taken for another's. If
# the server closed first, it cannot bind its port again in that time, unless it sets `SO_REUSEADDR`. Python's
# `socket.create_server` sets it on Linux; a socket that you make with `socket.socket` and `bind` does not have it.
#
# **Your turn:** everything marked `TODO 6`. The first cell starts the server twice on one port. In the
# second, a client sends some data without `BYE` and goes; then an ordinary client comes.

# %% id="restart-try"
for _ in range(2):
    lab02.between(lab, "h1", "h4", "-t 1", port=9000)

# %% id="abrupt-try"
with lab02.serving(lab, "h4") as server:
    send = f"head -c 5000 /dev/zero > /dev/tcp/10.0.5.2/{server.port}"
    print(lab["h2"].cmd(f"timeout 1 bash -c '{send}'"), end="")
    print(*server.client("h1", "-t 1"), sep="\n")

# %% check="many" points=4
simpleperf.check_step("simpleperf.py", "many").require()

# %% [markdown] id="arguments-intro"
# ## 7. Arguments and errors
#
# Users mistype. A good tool then says in one line *which* argument is wrong and what it should be, and ends
# with a status that is not 0, so that scripts notice. It never shows a traceback.
#
# **Your turn:** everything marked `TODO 7`. For a wrong value, `argparse` wants its
# `ArgumentTypeError`, and adds the name of the flag by itself. For sockets, catch `OSError`.

# %% id="arguments-try"
wrong = ("", "-s -c", "-c -p 80", "-c -I 300.1.1.1", "-c -t 0", "-c -P 6", "-c -n 10XB")
for flags in (*wrong, "-c -I 10.0.5.2"):
    lab02.alone(lab, "h1", flags)

# %% check="arguments" points=3
simpleperf.check_step("simpleperf.py", "arguments").require()

# %% [markdown] id="compare-intro"
# ## 8. Against iperf3
#
# Now the moment of truth: the same path, the same six seconds, your tool and the one that the world uses.
#
# **Say to yourself:** will they agree? By how much will both stay below theory?

# %% id="compare"
with lab02.serving(lab, "h4") as server:
    client_said = list(server.client("h1", "-t 6 -i 1"))
iperf3 = measure.run(lab, measure.TcpFlow("h1", "h4", duration_s=6))
tools = {"simpleperf": next(iter(lab02.intervals(client_said).values()), ())}
tools["iperf3"] = iperf3.samples[:6]  # after six seconds comes a rest of some ms
display(show.throughput(tools, ceiling_mbps=ceiling_mbps))
rates_mbps = [["simpleperf", lab02.total_mbps(client_said)]]
rates_mbps += [["iperf3", iperf3.throughput_mbps], ["theory: at most", ceiling_mbps]]
show.table(["tool", "Mbit/s"], rates_mbps)

# %% [markdown] id="sends-intro"
# <details><summary>Open this when you have compared the two</summary>
#
# Two programs, two languages, nearly the same number: the network decides, not the tool. Both lose some per cent to
# slow start, and yours also counts the wait for the acknowledgement.
#
# </details>
#
# ## 9. What a 1000-byte write costs
#
# On a fast network the tool decides after all. Each `send` is a *system call*: the program stops, the kernel
# takes over, copies the bytes, and hands back. Sending 1000 bytes takes some µs. **Say to yourself:** how long do
# 10,000 bytes take: ten times as long?
#
# This cell sends over loopback on your own machine, in pieces of four sizes, and takes the time that the
# processor works for it.

# %% id="sends" tags=["nbval-ignore-output"]
costs = [lab02.cost_of_sends(size) for size in (1000, 10_000, 100_000, 1_000_000)]
show.table(
    ["piece (bytes)", "one call (µs)", "at most (Mbit/s)"],
    [[cost.piece_bytes, cost.call_us, round(cost.limit_mbps)] for cost in costs],
)

# %% [markdown] id="sends-question"
# **Question.** Why does one call with ten times the bytes take far less than ten times as long? Between `h1` and `h4`
# the size of the pieces changes nothing: why? From which rate on, about, would a program with 1000-byte pieces be the
# bottleneck on your machine?

# %% [markdown] reflect="sends" points=3
# Each call has a fixed cost of a few µs: entering the kernel, and TCP's work for a segment (on loopback its delivery
# too). So with small pieces most of the time goes into calls. At 28.7
# Mbit/s a piece of 1000 bytes takes 279 µs on the link, and a call takes some 5 µs: the program waits for the link
# nearly all of the time. It becomes the bottleneck where a piece takes no longer on the link than the call: 8000 bits
# in 5 µs are 1600 Mbit/s. The last column of the table says so for each size.
#
# **Rubric.** 3 points: a fixed cost for each call; the link is slower than the program by far; and the rate from the
# table. 2 points: two of these. 1 point: one. Typical wrong: (1) "small pieces make small packets": on this path data
# always waits in the send buffer, so TCP fills its segments. (2) "the link has less overhead with larger pieces": the
# same segments cross it.

# %% [markdown] id="end-of-lab"
# ## 10. Stop, and look back
#
# **What you know now:** TCP is a stream, and a clock must stop when the data has *arrived*. Rates are decimal
# and in bits. Threads serve many at once. And a tool that others trust says what it measured, also when
# something goes wrong. Keep your `simpleperf.py`: the next labs use it. (`linklab check simpleperf.py` in a terminal
# runs all checks once more.)
#
# TCP is a stream, so nobody can tell whether your chunks were handed over one by one or a hundred at a time. If you
# like, change `Sender._send` and compare `lab02.loopback("-t 1")` before and after. Linklab's own simpleperf, which
# later labs take where you have none, hands over 128 chunks a call.
#
# **Three questions to review** (no points)
#
# 1. A server reads with `recv(3)` and compares with `b"BYE"`. When does that fail?
# 2. A tool says 95.4 Mbit/s where yours says 100. What may it mean by M?
# 3. Which side of your program closes the connection first, and which side is then in TIME-WAIT?
#
# <details><summary>Answers</summary>
#
# 1. When the data's length is not a multiple of 3, or when a `recv` returns fewer than 3 bytes. 2. 1,048,576. 3.
# Normally the server: it closes right after `ACK: BYE`, so it keeps TIME-WAIT and needs `SO_REUSEADDR`.
#
# </details>
#
# ### Where to read on
#
# RFC 9293 (TCP: the stream, Nagle, TIME-WAIT), RFC 5681 (slow start), RFC 6349 (how to measure
# TCP throughput); Kurose and Ross, *Computer Networking*, sections 2.7 (sockets) and 3.5 (TCP).

# %% id="stop"
lab.stop()
