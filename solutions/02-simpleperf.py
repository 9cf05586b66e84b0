# %% [markdown] id="goal"
# # Lab 02: Implement simpleperf
#
# In this lab you write a network tool of your own: `simpleperf`, a small `iperf`. Its client sends as much
# as TCP carries, its server counts what arrives, and both say how fast that was. All later labs measure
# with it.
#
# The program grows in seven steps. Each step has its own graded cell. Some steps build on earlier ones, so
# take them in order.

# %% id="imports"
import linklab
from linklab import measure, show
from linklab.grade import simpleperf
from linklab.labs.lab02.sends import cost_of_sends
from linklab.labs.lab02.trying import alone, between, intervals, loopback, serving, total_mbps
from linklab.network import COURSE, goodput_ceiling_mbps, path

lab = linklab.start(COURSE)
show.draw(lab, highlight=path(COURSE, "h1", "h4"))

# %% [markdown] id="where"
# This is the network of Lab 01. You will measure between `h1` and `h4`, along the path that is marked.
#
# ## What it does
#
# | who | what |
# | --- | --- |
# | client | connects, sends chunks of 1000 bytes for `-t` seconds, then `BYE` |
# | server | counts what comes before `BYE`, answers `ACK: BYE`, prints a row |
# | client | waits for `ACK: BYE`, prints a row |
#
# A row says who, when, how much and how fast: `10.0.0.2:33540   0.0 - 25.0   85 MB   27.20 Mbps`.
#
# The program of the course report also sends a *start message*, with the time, before its data. Yours need not:
# each side times the transfer by its own clock.
#
# ## The file
#
# You write in `simpleperf.py`, which lies beside this notebook. **Open it now:** double-click it in the
# list of files on the left, and drag its tab to the right side. Save it (Ctrl+S) before you run a cell
# here.
#
# It is a starter: arguments, rows and the frame of each function are there. What is missing is marked
# `TODO 1` for step 1, and so on (Ctrl+F finds them). You may change everything: only what the program does is
# graded.
#
# It runs already, on the loopback of your own machine. `loopback` starts a server and a client, and shows
# what both say:

# %% id="first-run"
loopback("-t 1")

# %% [markdown] id="transfer-intro"
# ## 1. Sockets and one transfer
#
# A server makes a socket, *binds* it to its address and port, *listens*, and *accepts* a client: that gives
# a second socket, the connection. A client makes a socket and *connects* it. Then both can send and
# receive.
#
# > **TCP is a stream of bytes.** It knows no messages. Ten times 1000 bytes sent may arrive as 1448, 2896,
# > 5656 bytes. `recv` returns whatever is there, and `b""` when the other side has closed. So `BYE` may come
# > glued to the last data, or as `B` and then `YE`. Remember the end of what you read before.
#
# **Your turn:** everything marked `TODO 1`. An order that works: `serve`, `serve_client`, `receive`; then
# `run_client`, `Sender._send`, `Sender._await_acknowledgement`. Use `sendall`: a bare `send` may take only a
# part. Run the cell above after each. When both sides agree, go to the network:

# %% id="transfer-try"
between(lab, "h1", "h4", "-t 2")

# %% [markdown] id="transfer-notice"
# **What to notice.** Both sides must report the same amount. The rate is 0.00 until step 2. The two lines with
# `$` are the commands that were run: `linklab shell h4` in a terminal gives you a command line on `h4`, to run
# them by hand.
#
# The check runs a copy of your program in a small network of its own, and looks at what it does.

# %% check="transfer" points=3
simpleperf.check_step("simpleperf.py", "transfer").require()

# %% [markdown] id="nagle-intro"
# > **Nagle's algorithm.** The next cell sends 100 bytes to your server, then `BYE`, as two small writes. TCP
# > holds back a small packet while an earlier one is not yet acknowledged. The option `TCP_NODELAY` switches
# > that off. **Predict:** the RTT is 60 ms. When does `ACK: BYE` come, without and with the option?

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

# %% id="nagle-try"
with serving(lab, "h4") as server:
    for no_delay in (0, 1):
        words = f"python3 /tmp/small_writes.py {server.port} {no_delay}"
        print(lab["h1"].cmd(f"{words} 2>&1 | tail -1"), end="")

# %% [markdown] id="nagle-notice"
# > **Why.** With Nagle the `BYE` waits one RTT for the first acknowledgement, and its answer takes another:
# > 120 ms instead of 60. (Your server may wait some ms more, to see whether data follows.) In a long
# > transfer this happens once, at its end. A program that sends many small requests and waits for each
# > answer pays each time, and sets the option.

# %% [markdown] id="clock-intro"
# ## 2. The clock and the units
#
# > **Bits and bytes.** Amounts are in bytes, rates in bits per second, and a byte has 8 bits. In networks
# > prefixes are decimal: 1 MB is 1,000,000 bytes, 1 Mbit/s is 1,000,000 bits per second. With 1024 twice you
# > are 4.9 % off, and nobody notices.
#
# **Predict:** what is the most that the client may report between `h1` and `h4`? The links carry 40 and
# 30 Mbit/s, and 1448 of the 1514 bytes of each frame are data. Linklab computes it:

# %% id="ceiling"
ceiling_mbps = goodput_ceiling_mbps(path(COURSE, "h1", "h4"))
ceiling_mbps

# %% [markdown] id="clock-task"
# **Your turn:** first `Span.rate_mbps` alone. Then run this cell:

# %% id="clock-try"
between(lab, "h1", "h4", "-t 1")

# %% [markdown] id="clock-notice"
# **What to notice.** Compare the rates of client and server. They count the same bytes. Who is right?
#
# > **Why the client must wait.** `sendall` returns when the kernel has *taken* the bytes. The last of them
# > are then still in the client's memory, in queues, and on the way. A clock that stops there divides what
# > was handed over by the time of handing over. The larger the buffers and the shorter the transfer, the
# > more it exaggerates, up to more than the link carries. `ACK: BYE` says that all has arrived. Only then may
# > the clock stop. It costs half an RTT too much, and errs on the honest side.
#
# **Your turn:** the other `TODO 2`, on the client's side. The server's clock (`meter.stop` in `receive`)
# stops with the last byte that it reads. Run the cell above again: now the client reports a little less than
# the server.

# %% check="clock" points=4
simpleperf.check_step("simpleperf.py", "clock").require()

# %% [markdown] id="clock-question"
# **Question.** Without waiting for the acknowledgement, a client sends 100 kB to `h4` and reports
# 800 Mbit/s. Explain that number. Why does the same program report nearly the truth with `-t 60`?

# %% [markdown] reflect="clock" points=1
# The kernel takes 100 kB into its send buffer at once, in about a millisecond, because copying memory needs
# no network. The client has measured how fast its kernel copies: 0.8 Mbit in 1 ms. The buffer is no larger
# after 60 s: of 200 MB some hundred kB are still on their way when the clock stops, which is less than one
# per cent.

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
with serving(lab, "h4") as server:
    client = server.client("h1", "-t 6 -i 1")
    show.live(client, intervals, ceiling_mbps=ceiling_mbps, duration_s=6)

# %% [markdown] id="intervals-notice"
# **What to notice.** The first second is slower: TCP begins with a few packets and doubles them each RTT.
# This is *slow start*. The last row is longer than a second and its rate lower: the client waits there until
# the queues have emptied. A row in between may lie a little above theory, for the client counts what its
# kernel has taken. The total may not.

# %% check="intervals" points=3
simpleperf.check_step("simpleperf.py", "intervals").require()

# %% [markdown] id="amount-intro"
# ## 4. An amount instead of a time
#
# With `-n 2MB` the client sends 2,000,000 bytes, however long it takes, and not one byte more: the last chunk
# may be shorter.
#
# **Predict:** 2 MB are 16 Mbit. How long does that take at 28.69 Mbit/s? And will it take just that?
#
# **Your turn:** everything marked `TODO 4`.

# %% id="amount-try"
with serving(lab, "h4") as server:
    for amount in ("20KB", "200KB", "2MB"):
        print(*server.client("h1", f"-n {amount} -f KB"), sep="\n")

# %% [markdown] id="amount-notice"
# **What to notice.** The smaller the amount, the lower the rate. 20 kB need 6 ms on the link, but the
# acknowledgement needs 60 ms to come back. And TCP is still in slow start. Throughput is a statement about
# long transfers; a web page waits for the RTT.

# %% check="amount" points=2
simpleperf.check_step("simpleperf.py", "amount").require()

# %% [markdown] id="parallel-intro"
# ## 5. Parallel connections
#
# With `-P 3` the client opens three connections and sends over all of them at once, each in a *thread*. The
# `Sender` is such a thread already; the barrier `gate` lets all start together. The server must serve all at
# once too: in its loop it starts a thread for each client and goes straight back to `accept`.
#
# **Predict:** three connections, 28.69 Mbit/s. What will each get, and what all together?
#
# **Your turn:** everything marked `TODO 5`, in client and server.

# %% id="parallel-try"
with serving(lab, "h4") as server:
    client = server.client("h1", "-t 8 -i 1 -P 3")
    show.live(client, intervals, ceiling_mbps=ceiling_mbps, duration_s=8)

# %% [markdown] id="parallel-notice"
# **What to notice.** Together they fill the link, as one did alone. But they do not share equally: who loses
# packets at a bad moment falls behind, and catches up slowly. A later lab measures how fair that is.

# %% check="parallel" points=3
simpleperf.check_step("simpleperf.py", "parallel").require()

# %% [markdown] id="many-intro"
# ## 6. Many clients, and a long life
#
# A server runs for hours, and its clients are strangers. Some vanish, some reset the connection, some send
# nothing. None of them may end the server, or hold up the others.
#
# It is also stopped and started again. A port whose connections were closed a moment ago stays reserved for
# a minute (*TIME-WAIT*), unless the server asks to use it all the same.
#
# **Your turn:** everything marked `TODO 6`. The first cell starts the server twice on one port. In the
# second, a client sends some data without `BYE` and goes; then an ordinary client comes.

# %% id="restart-try"
for _ in range(2):
    between(lab, "h1", "h4", "-t 1", port=9000)

# %% id="abrupt-try"
with serving(lab, "h4") as server:
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
    alone(lab, "h1", flags)

# %% check="arguments" points=3
simpleperf.check_step("simpleperf.py", "arguments").require()

# %% [markdown] id="compare-intro"
# ## 8. Against iperf3
#
# Now the moment of truth: the same path, the same six seconds, your tool and the one that the world uses.
#
# **Predict:** will they agree? By how much will both stay below theory?

# %% id="compare-measure"
with serving(lab, "h4") as server:
    client_said = list(server.client("h1", "-t 6 -i 1"))
iperf3 = measure.run(lab, measure.TcpFlow("h1", "h4", duration_s=6))

# %% id="compare-figure"
tools = {"simpleperf": next(iter(intervals(client_said).values()), ())}
tools["iperf3"] = iperf3.samples[:6]  # after six seconds comes a rest of some ms
show.throughput(tools, ceiling_mbps=ceiling_mbps)

# %% id="compare-table"
rates_mbps = [
    ["simpleperf", total_mbps(client_said)],
    ["iperf3", iperf3.throughput_mbps],
    ["theory: at most", ceiling_mbps],
]
show.table(["tool", "Mbit/s"], rates_mbps)

# %% [markdown] id="compare-notice"
# **What to notice.** Two programs, two languages, nearly the same number: the network decides, not the tool.
# Both lose some per cent to slow start, and yours also counts the wait for the acknowledgement.
#
# ## 9. What a 1000-byte write costs
#
# On a fast network the tool decides after all. Each `send` is a *system call*: the program stops, the kernel
# takes over, copies the bytes, and hands back. **Predict:** sending 1000 bytes takes some µs. How long do
# 10,000 bytes take: ten times as long?
#
# This cell sends over loopback on your own machine, in pieces of four sizes, and takes the time that the
# processor works for it.

# %% id="sends"
costs = [cost_of_sends(piece_bytes) for piece_bytes in (1000, 10_000, 100_000, 1_000_000)]
show.table(
    ["piece (bytes)", "one call (µs)", "at most (Mbit/s)"],
    [[cost.piece_bytes, cost.call_us, round(cost.limit_mbps)] for cost in costs],
)

# %% [markdown] id="sends-notice"
# **What to notice.** Ten times the bytes take far less than ten times as long. A call costs a few µs before it
# copies a single byte, so with small pieces you measure calls. The gain ends where copying is all that is
# left.
#
# **If you like:** TCP is a stream, so nobody can tell whether your chunks were handed over one by one or a
# hundred at a time. Change `Sender._send` and compare `loopback("-t 1")` before and after.
# Linklab's own simpleperf, which later labs take where you have none, hands over 128 chunks a call.

# %% [markdown] id="sends-question"
# **Question.** Between `h1` and `h4` the size of the pieces changes nothing. Why? From which rate on, about,
# would a program with 1000-byte pieces be the bottleneck on your machine?

# %% [markdown] reflect="sends" points=1
# At 28.7 Mbit/s a piece of 1000 bytes takes 279 µs on the link, and a call takes some 5 µs: the program waits
# for the link nearly all of the time. It becomes the bottleneck where a piece takes no longer on the link than
# the call: 8000 bits in 5 µs are 1600 Mbit/s. The last column of the table says so for each size.

# %% [markdown] id="stop-intro"
# ## 10. Stop
#
# `linklab check simpleperf.py` in a terminal runs all checks once more.

# %% id="stop"
lab.stop()

# %% [markdown] id="end-of-lab"
# **What you know now:** TCP is a stream, and a clock must stop when the data has *arrived*. Rates are decimal
# and in bits. Threads serve many at once. And a tool that others trust says what it measured, also when
# something goes wrong. Keep your `simpleperf.py`: the next labs use it.
