# %% [markdown] id="goal"
# # Lab 02: Implement simpleperf
#
# You write your own network tool: `simpleperf`, a small `iperf3`. Its client sends as fast as TCP allows, and its
# server counts the bytes that arrive. Both report the rate. All later labs use this tool.
#
# **Time:** about 6 hours, in two sittings of 3 hours. A line after step 3 says where the first sitting ends. **You
# need:** Lab 00, and Python (functions, loops, exceptions). The [glossary](glossary.md) explains the words.
#
# The program grows in seven steps. Each step has its own graded cell. Some steps build on earlier ones, so take them in
# order.

# %% id="imports"
from linklab import lab02, measure, network, show, simpleperf, start

lab = start(network.COURSE)
display(lab02.progress())
show.network(lab, highlight=network.path(network.COURSE, "h1", "h4"))

# %% [markdown] id="ten-lines"
# This is the network of Lab 01: its routers (`r1` to `r4`) pass packets on from one link to the next. You will measure
# between `h1` and `h4`, along the marked path.
#
# ## Ten lines
#
# A program reaches the network through *sockets*, which the kernel makes for it. A server creates a socket, *binds* it
# to an address and a *port* (a number that tells the programs of one host apart), *listens*, and *accepts* a client.
# Accepting returns a second socket: the connection. A client creates a socket and *connects* it. Then both sides can
# send and receive. The next cell contains server and client in one program, on the *loopback* of your own machine: the
# address 127.0.0.1, at which a machine reaches itself. Run it, change it, and run it again.

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
# - b: always `b"hello BYE"`: all that the client sent
# - c: any first part of `b"hello BYE"`, at least one byte
# - d: `b"hello "` or `b"BYE"`: packets may overtake each other
#
# **Your turn:** write the letter. A right answer opens the explanation. You need it for your program.

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
# | server | counts the bytes before `BYE`, answers `ACK: BYE`, closes the connection, prints a row |
# | client | waits for `ACK: BYE`, prints a row |
#
# Both print a table: a heading, then one row for each connection and interval. A row says who sent (address and port),
# when, how much and how fast (Mbps is Mbit/s).
#
# ```
# ID               Interval     Transfer   Bandwidth
# 10.0.0.2:33540   0.0 - 25.0   85 MB      27.20 Mbps
# ```
#
# The checks and the later labs use `BYE` and `ACK: BYE`, the options, and the rows below this heading (the server's has
# `Received` and `Rate`). **Keep the messages, the heading and the parser, which reads the options: all else is yours.**
#
# The labs up to Lab 07 repeat a study, **the course report**: a student's project report (OsloMet, 2023). Its author
# wrote a simpleperf and measured this network in five *test cases*: [UDP](glossary.md) (case 1, Lab 03), single links
# (2, Lab 04), paths (3, Lab 05), several flows (4, Lab 06) and parallel connections (5, Lab 07). You see its numbers
# next to yours. They differ, and each lab says why, as far as the numbers show it. The report measured in a virtual
# machine in real time, where a busy machine delays packets. It has one number for each test.
#
# The report's program also sends a *start message* with the time before its data. Your program does not need one: each
# side times the transfer by its own clock.
#
# You write your program in the file `simpleperf.py`, next to this notebook. **Open it now:** choose it in the list of
# files on the left, and move its tab to the right side. Save it (Ctrl+S) before you run a cell here.
#
# The file is a starter: it contains the arguments, the rows and the outline of each function. `TODO 1` marks the code
# that you write in step 1, and so on (Ctrl+F finds the marks). You can run the starter now. `loopback` starts a server
# and a client on your own machine, and shows the output of both:

# %% id="first-run" tags=["nbval-ignore-output"]
lab02.loopback("-t 1")

# %% [markdown] id="transfer-intro"
# ## 1. Sockets and one transfer
#
# Your server must find `BYE` in a stream of bytes. `BYE` may arrive together with the last data, or in two pieces, as
# `B` and then `YE`. So keep the last two bytes of what you have read. When the other side has closed, `recv` returns
# `b""` at once, again and again: end your loop then. A server that does not end its loop computes for ever, and the
# lab's clock stands still.
#
# **Your turn:** write everything marked `TODO 1`. This order works: `serve`, `serve_client`, `receive`; then
# `run_client`, `Sender._send`, `Sender._await_acknowledgement`. Use `sendall`: a single `send` may take only a part of
# the bytes. You see nothing before all six are written: then run the cell above again. If a cell waits for long, look
# for a loop that never ends, and stop the cell (■).
#
# When both sides report the same amount, run the next cell: it uses the network. In its output, `$` marks the two
# commands that it runs. To run them by hand, type `linklab shell h4` in a terminal: you get a command line on `h4`. The
# rate is 0.00 until step 2.
#
# Then run the check. It runs a copy of your program in a separate small network, and tests what the program does. One
# of its links is *shaped*: it has a limited rate. It also sends `BYE` with data, and in pieces.

# %% id="transfer-try"
lab02.between(lab, "h1", "h4", "-t 2")

# %% check="transfer" points=3
simpleperf.check_step("simpleperf.py", "transfer").require()

# %% [markdown] id="nagle-intro"
# ### Two small writes
#
# The next cell sends two small writes to your server: 100 bytes, then `BYE`. TCP sends bytes in *segments*, one in each
# packet. The first run uses TCP's default, the second sets the socket's option `TCP_NODELAY`. The RTT between `h1` and
# `h4` is 60 ms.
#
# **Question.** Why does the first run take twice as long as the second?

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
# acknowledgement takes one RTT, and the answer to `BYE` another: 120 ms instead of 60, and 125 instead of 65 with a
# server that waits 5 ms after `BYE`. Some programs send many small requests, each as two writes, and wait for each
# answer. They lose one RTT per request. Such a program should write once per request, or set the option.
#
# **Rubric.** 2 points: TCP holds back the second write until the first is acknowledged, and this takes one RTT. 1
# point: one of the two. Typical wrong: (1) "the server was slow": both runs use the same server. (2) "TCP_NODELAY
# sends faster": no bit moves faster; the option only removes a wait.

# %% [markdown] id="clock-intro"
# ## 2. The clock and the units
#
# > **Bits and bytes.** Amounts are in bytes, rates in bits per second, and a byte has 8 bits. Networks use decimal
# > prefixes: 1 MB is 1,000,000 bytes, 1 Mbit/s is 1,000,000 bits per second. If you divide by 1024 twice, you report
# > 4.6 % too little, and nobody notices.
#
# **Say to yourself:** the links carry 40 and 30 Mbit/s. What is the highest rate that the client may report between
# `h1` and `h4`? The last line of the next cell's output is the rate that Linklab computes (*goodput* is throughput
# without headers).
#
# **Your turn:** write only `Span.rate_mbps` now. Then run the next cell:

# %% id="clock-try"
lab02.explain("nagle")
ceiling_mbps = network.goodput_ceiling_mbps(network.path(network.COURSE, "h1", "h4"))
lab02.between(lab, "h1", "h4", "-t 1")
ceiling_mbps

# %% [markdown] id="clock-question"
# Compare the rates of client and server. Both count the same bytes.
#
# **Question.** A client that does not wait for the acknowledgement sends 50 kB to `h4` and reports 400 Mbit/s. Explain
# this number.

# %% [markdown] reflect="clock" points=2
# The kernel takes 50 kB into its send buffer in about a millisecond, because copying memory needs no network. So the
# client has measured how fast its kernel copies: 0.4 Mbit in 1 ms.
#
# **Rubric.** 2 points: the kernel has taken the bytes but not yet delivered them, and the number is the bytes over the
# time of copying. 1 point: "they are in a buffer". Typical wrong: (1) "the link is faster for small amounts": a link
# has one rate. (2) "the client takes bytes for bits": then the factor is 8.

# %% [markdown] id="clock-told"
# **Your turn:** write the other `TODO 2`, in the client. The client's clock starts when all its connections are open:
# the time to connect does not count. The server's clock (`meter.stop` in `receive`) stops with the last byte that the
# server reads. Run the last code cell above again: now the client reports a little less than the server.

# %% check="clock" points=4
simpleperf.check_step("simpleperf.py", "clock").require()

# %% [markdown] id="intervals-intro"
# ## 3. Intervals
#
# A single rate hides what happens during a transfer. With `-i 1` the client also prints a row each second while it
# sends. `Thread.join` with a timeout waits for a second, or until the sender has ended.
#
# Avoid two traps. First, an interval is not exactly one second long: begin each row where the row before ended. Second,
# rounded amounts must still add up to the total: round both ends of an interval, not their difference. The check does
# not see this: add up the MB of your rows yourself.
#
# **Your turn:** write everything marked `TODO 3`. Then run the next cell. `serving` runs a server, and
# `show.throughput` draws the client's rows:

# %% id="intervals-try"
lab02.explain("clock")
with lab02.serving(lab, "h4") as server:
    lines = list(server.client("h1", "-t 6 -i 1"))
print(*lines, sep="\n")
show.throughput(lab02.intervals(lines), ceiling_mbps=ceiling_mbps, duration_s=6)

# %% check="intervals" points=3
simpleperf.check_step("simpleperf.py", "intervals").require()

# %% [markdown] id="amount-intro"
# **Say to yourself:** which rows differ from the others, and why?
#
# <details><summary>Open this when you have an answer</summary>
#
# The first second has a lower rate: TCP begins with a few packets and doubles them each RTT (*slow start*, RFC 5681).
# The last row ends with the acknowledgement. Its rate is lower, because the client waits until the queues have emptied.
# A row in between may lie a little above theory, because the client counts what its kernel has taken. The total may
# not lie above theory.
#
# </details>
#
# ## The first sitting ends here
#
# Your program works: it transfers for a time, measures the rate, and prints intervals. **To stop now**, save this
# notebook and `simpleperf.py`. The second sitting adds amounts, parallel connections, many clients and errors, and
# compares your program with iperf3. **To go on**, open the notebook and run two cells again: the first code cell, which
# starts the lab, and the cell in step 2 that computes `ceiling_mbps`.
#
# ## 4. An amount instead of a time
#
# With `-n 2MB` the client sends exactly 2,000,000 bytes, however long this takes. The last chunk may be shorter. (`-f
# KB` prints amounts in kB.)
#
# **Say to yourself:** 2 MB are 16 Mbit. How long does this take at 28.69 Mbit/s? Do you expect exactly this time?
#
# **Your turn:** write everything marked `TODO 4`.

# %% id="amount-try"
with lab02.serving(lab, "h4") as server:
    for amount in ("20KB", "200KB", "2MB"):
        print(*server.client("h1", f"-n {amount} -f KB"), sep="\n")

# %% check="amount" points=2
simpleperf.check_step("simpleperf.py", "amount").require()

# %% [markdown] id="amount-question"
# **Question.** You sent three amounts over one path, one after the other. Why do their rates differ?

# %% [markdown] reflect="amount" points=2
# 20 kB need 6 ms on the link. But TCP may send only ten segments (14.5 kB) before the first acknowledgement arrives. So
# the answer to `BYE` comes after two RTTs, 120 ms at the earliest. 200 kB take several more RTTs: TCP is still in slow
# start. The transfer of 2 MB runs at the full rate most of the time. None of the three rates is exactly the path's
# throughput, because throughput describes long transfers. For a web page the RTT matters more.
#
# **Rubric.** 2 points: the RTT (or slow start) takes most of the time of a short transfer, and a small part of a long
# one. 1 point: one of the two. Typical wrong: (1) "small packets are slower": nearly all segments have the same size.
# (2) "the queue was full": short transfers never fill it.

# %% [markdown] id="parallel-intro"
# ## 5. Parallel connections
#
# With `-P 3` the client opens three connections and sends over all of them at once, each in a *thread*: a part of a
# program that runs beside the other parts. The `Sender` is such a thread already; `gate`, a *barrier*, lets all senders
# start together. The server must serve all connections at once, too. Its loop starts a thread for each client and goes
# straight back to `accept`. With `-i` each sender gets a row for each interval: wait once for an interval, not once for
# each sender.
#
# **Say to yourself:** three connections share 28.69 Mbit/s. Which rate will each of them get, and what is the sum?
#
# **Your turn:** write everything marked `TODO 5`, in the client and in the server.

# %% id="parallel-try"
lab02.explain("amount")
with lab02.serving(lab, "h4") as server:
    lines = list(server.client("h1", "-t 8 -i 1 -P 3"))
print(*lines, sep="\n")
show.throughput(lab02.intervals(lines), ceiling_mbps=ceiling_mbps, duration_s=8)

# %% check="parallel" points=3
simpleperf.check_step("simpleperf.py", "parallel").require()

# %% [markdown] id="many-intro"
# <details><summary>What you may have seen with three connections: open this when you have looked at the
# shares</summary>
#
# The three connections together fill the link, as one connection did alone. But they do not share it equally: a
# connection that loses packets at a bad moment falls behind, and catches up slowly. In Lab 06 you measure how fair the
# shares are.
#
# </details>
#
# ## 6. Many clients, and restarts
#
# A server runs for hours, and it does not know its clients. Some clients vanish, some *reset* the connection (they
# break it off), some send nothing. No client may end the server or delay the other clients.
#
# Users also stop a server and start it again. The side that closes a connection *first* stays in *TIME-WAIT* for a
# while (RFC 9293; 60 s on Linux). This protects the next connection from late packets, and lets this side answer if
# its last acknowledgement was lost. If the server closed first, it cannot bind its port again in that time, unless it
# sets `SO_REUSEADDR`. Python's `socket.create_server` sets this option on Linux. A socket that you make with
# `socket.socket` and `bind` does not have it.
#
# **Your turn:** write everything marked `TODO 6`. The next cell starts the server twice on one port. Then a client
# sends some data without `BYE` and leaves, and a normal client connects. A server without the option blocks its port
# for 60 s, even for a later server that has the option. So the cell first lets a minute of the lab's time pass.

# %% id="restart-try"
lab.sleep(60)
for _ in range(2):
    lab02.between(lab, "h1", "h4", "-t 1", port=9000)

with lab02.serving(lab, "h4") as server:
    send = f"head -c 5000 /dev/zero > /dev/tcp/10.0.5.2/{server.port}"
    print(lab["h2"].cmd(f"timeout 1 bash -c '{send}'"), end="")
    print(*server.client("h1", "-t 1"), sep="\n")

# %% check="many" points=4
simpleperf.check_step("simpleperf.py", "many").require()

# %% [markdown] id="arguments-intro"
# ## 7. Arguments and errors
#
# Users mistype. A good tool then says in one line *which* argument is wrong and what it should be. It ends with a
# status that is not 0, so that scripts notice the error. It never shows a traceback.
#
# **Your turn:** write everything marked `TODO 7`. For a wrong value, raise the `ArgumentTypeError` of `argparse`, the
# module that reads the options; `argparse` adds the name of the flag. For sockets, catch `OSError`.

# %% id="arguments-try"
wrong = ("", "-s -c", "-c -p 80", "-c -I 300.1.1.1", "-c -t 0", "-c -P 6", "-c -n 10XB")
for flags in (*wrong, "-c -I 10.0.5.2"):
    lab02.alone(lab, "h1", flags)

# %% check="arguments" points=3
simpleperf.check_step("simpleperf.py", "arguments").require()

# %% [markdown] id="compare-intro"
# ## 8. Against iperf3
#
# Now compare your tool with `iperf3`, the tool that the world uses. Both send for six seconds over the same path.
#
# **Say to yourself:** will the two rates agree? How far below theory will they be?

# %% id="compare"
with lab02.serving(lab, "h4") as server:
    client_said = list(server.client("h1", "-t 6 -i 1"))
iperf3 = measure.run(lab, measure.TcpFlow("h1", "h4", duration_s=6))
tools = {"simpleperf": next(iter(lab02.intervals(client_said).values()), ())}
tools["iperf3"] = iperf3.samples[:6]  # after six seconds comes a rest of some ms
display(show.throughput(tools, ceiling_mbps=ceiling_mbps))
rates_mbps = [["simpleperf", lab02.total_mbps(client_said)]]
rates_mbps += [["iperf3", iperf3.throughput_mbps], ["theory: at most", ceiling_mbps]]
rates_mbps += [["the course report's simpleperf, 25 s", lab02.REPORT_MBPS]]
show.table(["tool", "Mbit/s"], rates_mbps)

# %% [markdown] id="sends-intro"
# <details><summary>Open this when you have compared the two</summary>
#
# Two programs in two languages report nearly the same rate: the network decides, not the tool. Both lose some per cent
# to slow start, and yours also counts the wait for the acknowledgement.
#
# The course report's simpleperf sent for 25 s, so slow start matters less. On this path ours then measures 28.4 Mbit/s.
# The report's measured 27.57, 4 % below theory. Its RTT was 69.6 ms instead of 60, so TCP took longer to start.
# Probably its 25 s also contain the wait for the last acknowledgement.
#
# </details>
#
# ## 9. What a 1000-byte write costs
#
# On a fast network the tool itself limits the rate. Each `send` is a *system call*: the program stops, the kernel
# copies the bytes, and the program goes on. Sending 1000 bytes takes some microseconds (µs). **Say to yourself:** how
# long do 10,000 bytes take: ten times as long?
#
# The next cell sends over loopback on your own machine, in pieces of four sizes. It measures the processor time.

# %% id="sends" tags=["nbval-ignore-output"]
costs = [lab02.cost_of_sends(size) for size in (1000, 10_000, 100_000, 1_000_000)]
show.table(
    ["piece (bytes)", "one call (µs)", "at most (Mbit/s)"],
    [[cost.piece_bytes, cost.call_us, round(cost.limit_mbps)] for cost in costs],
)

# %% [markdown] id="pieces-task"
# **Your turn:** write the letter. Up to 100,000 bytes, a call with ten times the bytes takes far less than ten times as
# long. Yet between `h1` and `h4` the size of the pieces changes nothing. Why both?
#
# - a: larger pieces make larger packets, but the path between `h1` and `h4` allows only one size of packets
# - b: each call has a fixed cost, and between `h1` and `h4` the program waits for the link nearly all of the time
# - c: TCP compresses large pieces, but not on links that are as slow as these
# - d: each call has a fixed cost, and Linux joins the calls between `h1` and `h4` into larger ones

# %% answer="pieces"
### BEGIN SOLUTION
pieces = {"pieces": "b"}
### STARTER
# pieces = {"pieces": None}
### END SOLUTION

# %% check="pieces" points=1
lab02.check_pieces(pieces).require()

# %% [markdown] id="in-band-task"
# ## 10. An end that data cannot imitate
#
# `BYE` goes over the same connection as the data: it is an *in-band* end. What if the data contain `BYE`? In step 6
# your server got a rule of thumb: where `BYE` stands last, wait some ms; if more comes, it was data. The next cell
# tests this rule. Its client sends a MB of data that ends with `BYE`, then another MB and the real `BYE`: once without
# a pause, and once with a pause of two seconds. (A busy client or a lost packet causes pauses, too.) The rows of your
# server tell what it took for data.
#
# Other protocols need no such rule. The sender can *close only its own direction* (`shutdown(SHUT_WR)`): the receiver
# then reads `b""`, and can still answer. Or the sender writes the length *before* the data (a *length prefix*).
#
# **Your turn:** run the cell, look at what your server does, and write the two letters that answer the cell's
# questions.

# %% answer="in-band"
late_end = """import socket, sys, time
with socket.create_connection(("10.0.5.2", int(sys.argv[1])), 30) as connection:
    connection.sendall(b"x" * 1_000_000 + b"BYE")  # data
    time.sleep(float(sys.argv[2]))
    connection.sendall(b"x" * 1_000_000 + b"BYE")
    connection.recv(100)
"""
lab.write_file("/tmp/late_end.py", late_end)
with lab02.serving(lab, "h4") as server:
    for pause_s in (0, 2):
        lab["h1"].cmd(f"python3 /tmp/late_end.py {server.port} {pause_s} 2>/dev/null")
print(lab02.question("end", "length"))
### BEGIN SOLUTION
in_band = {"end": "c", "length": "b"}
### STARTER
# in_band = {"end": None, "length": None}
### END SOLUTION

# %% check="in-band" points=2
lab02.check_in_band(in_band).require()

# %% [markdown] id="end-of-lab"
# ## 11. Stop, and look back
#
# **What you know now:** TCP is a stream. A clock must stop when the data has *arrived*. Rates are decimal and in bits.
# With threads a server serves many clients at once. A trustworthy tool says what it measured, also after an error. Keep
# your `simpleperf.py`: the next labs use it. (`linklab check simpleperf.py` in a terminal runs all checks once more.)
#
# TCP is a stream, so the receiver cannot see whether you hand over one chunk per call or a hundred. If you like, change
# `Sender._send` and compare `lab02.loopback("-t 1")` before and after. If your `simpleperf.py` is missing or does not
# work, later labs use Linklab's own, which hands over 128 chunks per call.
#
# **Three questions to review** (no points)
#
# 1. A server reads with `recv(3)` and compares the result with `b"BYE"`. When does this fail?
# 2. Another tool says 95.4 Mbit/s where yours says 100. What may M mean in its output?
# 3. Which side of your program closes the connection first? Which side is then in TIME-WAIT?
#
# <details><summary>Answers</summary>
#
# 1. When the data's length is not a multiple of 3, or when a `recv` returns fewer than 3 bytes.
# 2. 1,048,576.
# 3. Normally the server: it closes right after `ACK: BYE`. So it stays in TIME-WAIT and needs `SO_REUSEADDR`.
#
# </details>
#
# ### Where to read on
#
# RFC 9293 (TCP: the stream, Nagle, TIME-WAIT), RFC 5681 (slow start), RFC 6349 (how to measure TCP throughput); Kurose
# and Ross, *Computer Networking*, sections 2.7 (sockets) and 3.5 (TCP).

# %% id="stop"
lab.stop()
lab02.calibration()
