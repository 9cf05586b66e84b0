"""Programs with a mistake, each an edit of the student's: what must fail, and as what. Some are right all the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from .edits import Edit


@dataclass(frozen=True)
class Wrong:
    """One mistake: its name, what it is, the steps that find it, the checks that must fail there, and the edits.

    ``hints`` are the checks that must pass with a hint.
    """

    name: str
    about: str
    steps: tuple[str, ...]
    fails: dict[str, str]
    edits: tuple[Edit, ...]
    hints: dict[str, str] = field(default_factory=dict)


_RATE: Final = "count * 8 / 1000000 / max(seconds, 0.000001)"
_THREAD: Final = "threading.Thread(target=handle, args=(conn, addr, args), daemon=True).start()"
_CONNECT: Final = "sock.connect((args.serverip, args.port))"
_CONNECT_FAILED: Final = "args.port, error), file=sys.stderr)\n            sys.exit"
_PARSED: Final = "args = parser.parse_args()\n"
_LOOP_END: Final = 'finished = last == b"BYE"'
_STOP: Final = "        end = time.time() - start\n        sock.close()"
_ROW: Final = "say(row(who, row_start, now, sent - row_sent, args.format))"
_LAST_ROW: Final = """    if args.interval and sent > row_sent:
        say(row(who, row_start, end, sent - row_sent, args.format))
"""
_START: Final = """    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def _overrule(statement: str) -> Edit:
    """Runs the statement when the arguments have been read and checked."""
    begin = "    try:\n        if args.server:"
    return Edit(begin, f"    {statement}\n{begin}")


MISTAKES: Final[tuple[Wrong, ...]] = (
    Wrong(
        "clock-before-ack",
        "the client's clock stops before the acknowledgement",
        ("clock",),
        {"ack": "clock stopped before the acknowledgement"},
        (
            Edit('        sock.sendall(b"BYE")\n', '        end = time.time() - start\n        sock.sendall(b"BYE")\n'),
            Edit(_STOP, "        sock.close()"),
        ),
    ),
    Wrong(
        "bytes-as-bits",
        "bytes taken for bits in the rate",
        ("clock",),
        dict.fromkeys(["client-rate", "server-rate"], "bits and bytes: the factor 8 is missing"),
        (Edit(_RATE, _RATE.replace(" * 8", "")),),
    ),
    Wrong(
        "bits-of-bits",
        "multiplied by 8 twice",
        ("clock",),
        dict.fromkeys(["client-rate", "server-rate"], "bits and bytes: multiplied by 8 twice"),
        (Edit(_RATE, _RATE.replace(" * 8", " * 64")),),
    ),
    Wrong(
        "mebi-rate",
        "1024 * 1024 in the rate",
        ("clock",),
        dict.fromkeys(["client-rate", "server-rate"], "1000 and 1024 mixed"),
        (Edit(_RATE, _RATE.replace("1000000", "1048576")),),
    ),
    Wrong(
        "kibi-rate",
        "1000 * 1024 in the rate",
        ("clock",),
        {"client-rate": "1000 and 1024 mixed"},
        (Edit(_RATE, _RATE.replace("1000000", "1024000")),),
    ),
    Wrong(
        "binary-units",
        "KB and MB of 1024 in amounts printed, while -n is decimal",
        ("clock",),
        {"format": "1000 and 1024 mixed"},
        (Edit("(count / UNITS[unit], unit)", '(count / {"B": 1, "KB": 1024, "MB": 1048576}[unit], unit)'),),
    ),
    Wrong(
        "binary-amount",
        "-n read with KB and MB of 1024",
        ("amount",),
        {"num-exact": "1000 and 1024 mixed"},
        (Edit("return int(number) * UNITS[unit]", 'return int(number) * {"B": 1, "KB": 1024, "MB": 1048576}[unit]'),),
    ),
    Wrong(
        "chunk-1024",
        "chunks of 1024 bytes are sent, 1000 are counted",
        ("clock",),
        dict.fromkeys(["format", "conserved"], "chunks of 1024 bytes sent, 1000 counted"),
        (
            Edit('CHUNK = b"0" * 1000', 'CHUNK = b"0" * 1024'),
            Edit("sent += len(chunk)", "sent += min(len(chunk), 1000)"),
        ),
    ),
    Wrong(
        "bye-in-pieces",
        "BYE is looked for in a single read",
        ("transfer",),
        {"pieces": "BYE in pieces is not found"},
        (Edit("last = (last + data)[-3:]", "last = data[-3:]"),),
    ),
    Wrong(
        "bye-glued",
        "a read must be BYE and nothing else",
        ("transfer",),
        {"ends": "BYE behind data is not found"},
        (Edit(_LOOP_END, 'finished = data == b"BYE"'),),
    ),
    Wrong(
        "bye-counted",
        "BYE is counted as data",
        ("clock",),
        {},
        (Edit("received -= 3", "received -= 0"),),
        {"conserved": "client and server differ by the length of BYE"},
    ),
    Wrong(
        "reads-counted",
        "each read is counted as a full buffer",
        ("clock",),
        dict.fromkeys(["format", "conserved"], "each read counted as a full buffer"),
        (Edit("received += len(data)", "received += 65536"),),
    ),
    Wrong(
        "one-at-a-time",
        "the server serves one client after the other",
        ("parallel",),
        {"concurrent": "one client at a time"},
        (Edit(_THREAD, "handle(conn, addr, args)"),),
    ),
    Wrong(
        "one-client-only",
        "the server ends after its first client",
        ("parallel",),
        {
            "parallel-client": "a row is missing for some connections",
            "parallel-server": "a row is missing for some connections",
            "concurrent": "the server ends after its first client",
        },
        (Edit(_THREAD, "handle(conn, addr, args)\n        break"),),
    ),
    Wrong(
        "no-reuseaddr",
        "no SO_REUSEADDR",
        ("many",),
        {"restart": "no SO_REUSEADDR"},
        (Edit("    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n", ""),),
    ),
    Wrong(
        "integer-division",
        "integer division in the rate",
        ("clock",),
        dict.fromkeys(["client-rate", "server-rate"], "integer division"),
        (Edit(_RATE, "count // 1000000 * 8 // max(int(seconds), 1)"),),
    ),
    Wrong(
        "first-interval-twice",
        "the first interval is printed twice",
        ("intervals",),
        {"interval-rows": "first interval twice"},
        (Edit(_ROW, f"{_ROW}\n                if row_start == 0:\n                    {_ROW}"),),
    ),
    Wrong(
        "last-interval-missing",
        "the last interval is not printed",
        ("intervals",),
        {"interval-remainder": "last interval missing"},
        (
            Edit("row_start + args.interval:", "row_start + args.interval and (args.num or now < args.time):"),
            Edit(_LAST_ROW, ""),
        ),
    ),
    Wrong(
        "interval-cumulative",
        "intervals show what was sent since the start, not in the interval",
        ("intervals",),
        {"interval-rows": "intervals count from the start"},
        (
            Edit(_ROW, _ROW.replace("sent - row_sent", "sent")),
            Edit("row_start, end, sent - row_sent", "row_start, end, sent"),
        ),
    ),
    Wrong(
        "interval-ignored",
        "-i is accepted and ignored",
        ("intervals",),
        {"interval-rows": "-i is ignored"},
        (_overrule("args.interval = None"),),
    ),
    Wrong(
        "parallel-in-turn",
        "-P connections run one after the other",
        ("parallel",),
        {"parallel-together": "connections opened one after the other"},
        (Edit(_START, "    for thread in threads:\n        thread.start()\n        thread.join()\n"),),
    ),
    Wrong(
        "parallel-rows-missing",
        "only the first of the -P connections gets a row",
        ("parallel",),
        {"parallel-client": "a row is missing for some connections"},
        (Edit("    for total in totals:\n", "    for total in totals[:1]:\n"),),
    ),
    Wrong(
        "parallel-ignored",
        "-P is accepted and ignored",
        ("parallel",),
        {"parallel-together": "-P is ignored"},
        (_overrule("args.parallel = 1"),),
    ),
    Wrong(
        "parallel-unlimited",
        "-P above 5 is accepted",
        ("arguments",),
        {"parallels": "-P out of range is accepted"},
        (Edit('text not in ("1", "2", "3", "4", "5")', 'not text.isdigit() or text == "0"'),),
    ),
    Wrong(
        "status-zero",
        "errors exit with status 0",
        ("arguments",),
        dict.fromkeys(
            ["modes", "ports", "addresses", "formats", "times", "parallels", "amounts", "interval-text", "no-server"],
            "exit status 0 on errors",
        ),
        (
            Edit("        sys.exit(2)\n", "        sys.exit(0)\n"),
            Edit(f"{_CONNECT_FAILED}(1)", f"{_CONNECT_FAILED}(0)"),
        ),
    ),
    Wrong(
        "traceback-on-port",
        "a port that is no number is not caught",
        ("arguments",),
        {"ports": "traceback shown"},
        (
            Edit('"--port", type=check_port, default=8088', '"--port", default="8088"'),
            Edit(
                _PARSED,
                f"{_PARSED}    args.port = int(args.port)\n"
                "    if not 1024 <= args.port <= 65535:\n"
                '        parser.error("the --port must be a number from 1024 to 65535")\n',
            ),
        ),
    ),
    Wrong(
        "traceback-without-server",
        "a refused connection is not caught",
        ("arguments",),
        {"no-server": "traceback shown"},
        (Edit(f"{_CONNECT}\n        except OSError", f"{_CONNECT}\n        except ArithmeticError"),),
    ),
    Wrong(
        "low-port-accepted",
        "ports below 1024 are accepted",
        ("arguments",),
        {"ports": "ports out of range are accepted"},
        (Edit("not 1024 <= int(text) <= 65535", "not 1 <= int(text) <= 65535"),),
    ),
    Wrong(
        "address-unchecked",
        "any text of four parts is an address, and what the resolver says of it does not name -I",
        ("arguments",),
        {"addresses": "the message does not name the argument"},
        (Edit("part.isdigit() and int(part) <= 255", "part.isdigit()"),),
    ),
    Wrong(
        "both-modes",
        "-s and -c together run the server",
        ("arguments",),
        {"modes": "the mode is not checked"},
        (Edit("if args.server == args.client:", "if not args.server and not args.client:"),),
    ),
    Wrong(
        "time-ignored",
        "-t is ignored: always 25 s",
        ("clock",),
        {"time": "-t is ignored"},
        (Edit("if now >= args.time:", "if now >= 25:"),),
    ),
    Wrong(
        "num-ignored",
        "-n is accepted and ignored",
        ("amount",),
        {"num-exact": "-n is ignored"},
        (_overrule("args.num = None"),),
    ),
    Wrong(
        "num-in-whole-mb",
        "-n is rounded to whole MB",
        ("amount",),
        {"num-exact": "-n rounded"},
        (Edit("return int(number) * UNITS[unit]", "return (int(number) * UNITS[unit] + 999999) // 1000000 * 1000000"),),
    ),
    Wrong(
        "dies-of-abrupt-client",
        "the server ends when a client resets its connection",
        ("many",),
        {"abrupt": "server dies with an abrupt client"},
        (
            Edit("import argparse\n", "import argparse\nimport os\n"),
            Edit('"was lost:", error, file=sys.stderr)', '"was lost:", error, file=sys.stderr)\n        os._exit(1)'),
        ),
    ),
    Wrong(
        "spins-on-end",
        "the end of a stream without BYE is not noticed",
        ("many",),
        {"abrupt": "the server spins when a client has gone"},
        (Edit("            if not data:\n                break\n            received", "            received"),),
    ),
    Wrong(
        "never-acknowledges",
        "the server never acknowledges",
        ("transfer",),
        {"ends": "the server never acknowledges"},
        (Edit('            conn.sendall(b"ACK: BYE")\n', ""),),
    ),
    Wrong(
        "asked-time",
        "the rate is computed with the time asked for, not the measured one",
        ("clock",),
        {"ack": "rate from the asked time, not the measured"},
        (
            Edit("    totals.append(row(who, 0, end,", "    totals.append(row(who, 0, end if args.num else args.time,"),
            Edit("row(who, row_start, end,", "row(who, row_start, end if args.num else args.time,"),
        ),
    ),
    Wrong(
        "serverip-ignored",
        "-I is ignored: always 127.0.0.1",
        ("transfer",),
        {"connects": "-I is ignored"},
        (Edit(_CONNECT, 'sock.connect(("127.0.0.1", args.port))'),),
    ),
    Wrong(
        "bind-ignored",
        "-b is ignored: listens on every address",
        ("transfer",),
        {"binds": "-b is ignored"},
        (Edit("sock.bind((args.bind, args.port))", 'sock.bind(("0.0.0.0", args.port))'),),
    ),
    Wrong(
        "port-ignored",
        "the client ignores -p: always 8088",
        ("transfer",),
        {"connects": "-p is ignored"},
        (Edit(_CONNECT, "sock.connect((args.serverip, 8088))"),),
    ),
    Wrong(
        "format-ignored",
        "-f is accepted and ignored",
        ("clock",),
        {"format": "-f is ignored"},
        (_overrule('args.format = "MB"'),),
    ),
    Wrong(
        "num-or-time",
        "-n and -t are not taken together",
        ("amount",),
        {"num-time": "it ends with an error"},
        (
            Edit(
                _PARSED,
                f'{_PARSED}    if args.num and "-t" in sys.argv:\n        parser.error("-n excludes -t")\n',
            ),
        ),
    ),
    Wrong(
        "start-message-of-num",
        "a start message with -n alone",
        ("amount",),
        {"num-exact": "-n rounded", "num-rows": "bytes counted are not the bytes sent"},
        (
            Edit(
                "    try:\n        while True:\n            now",
                '    try:\n        if args.num:\n            sock.sendall(b"NUM %d\\n" % args.num)\n'
                "        while True:\n            now",
            ),
            Edit(
                "            received += len(data)\n",
                '            if not received and data.startswith(b"NUM "):\n'
                '                data = data.partition(b"\\n")[2]\n'
                "            received += len(data)\n",
            ),
        ),
    ),
    Wrong(
        "server-without-format",
        "a server without -f",
        ("clock", "intervals", "parallel"),
        {"format": "it ends with an error"},
        (
            Edit(
                _PARSED,
                f'{_PARSED}    if args.server and "-f" in sys.argv:\n        parser.error("-f is for clients")\n',
            ),
        ),
    ),
    Wrong(
        "status-one",
        "status 1 after all went well",
        ("many",),
        {},
        (Edit("    if len(totals) < args.parallel:\n        sys.exit(1)\n", "    sys.exit(1)\n"),),
    ),
    Wrong(
        "leaves-early",
        "a client that leaves before the answer",
        ("clock",),
        {"ack": "the client does not wait for the acknowledgement"},
        (Edit('        while answer != b"ACK: BYE":\n', "        while False:\n"),),
    ),
    Wrong(
        "parallel-shared",
        "one connection for all of -P",
        ("parallel",),
        {"parallel-together": "the connections of -P share one socket"},
        (Edit("args=(sock, args, totals)) for sock in socks]", "args=(socks[0], args, totals)) for sock in socks]"),),
    ),
    Wrong(
        "remainder-lost",
        "the remainder of -t lost",
        ("intervals",),
        {"interval-remainder": "last interval missing"},
        (
            Edit(
                "    if args.interval and sent > row_sent:\n",
                "    if args.interval and end - row_start >= args.interval:\n",
            ),
        ),
    ),
    Wrong(
        "times-assumed",
        "times of rows assumed",
        ("intervals",),
        {"interval-stall": "times of intervals assumed, not measured"},
        (Edit("say(row(who, row_start, now, sent", "say(row(who, row_start, row_start + args.interval, sent"),),
    ),
    Wrong(
        "num-over-default-time",
        "the rate of -n over the default of -t",
        ("amount",),
        {"num-rate": "rate from the asked time, not the measured"},
        (
            Edit(
                "totals.append(row(who, 0, end, sent,",
                "totals.append(row(who, 0, args.time if args.num else end, sent,",
            ),
        ),
    ),
    Wrong(
        "rates-in-kilobytes",
        "rates in kB/s, labelled Mbit/s",
        ("clock",),
        dict.fromkeys(["client-rate", "server-rate"], "the rate is in another unit than its label"),
        (Edit("(count * 8 / 1000000 / max", "(count / 1000 / max"),),
    ),
    # --- Programs that do not keep the starter's messages, heading or arguments
    Wrong(
        "other-messages",
        "FINISH instead of BYE",
        ("transfer",),
        {"ends": "the client sends no BYE"},
        (
            Edit('finished = last == b"BYE"', 'finished = last == b"FINISH"'),
            Edit('sock.sendall(b"BYE")', 'sock.sendall(b"FINISH")'),
            Edit("last = (last + data)[-3:]", "last = (last + data)[-6:]"),
            Edit("received -= 3", "received -= 6"),
        ),
    ),
    Wrong(
        "other-acknowledgement",
        "ACK instead of ACK: BYE",
        ("transfer",),
        {"ends": "another acknowledgement"},
        (
            Edit('conn.sendall(b"ACK: BYE")', 'conn.sendall(b"ACK")'),
            Edit('while answer != b"ACK: BYE":', 'while answer != b"ACK":'),
        ),
    ),
    Wrong(
        "other-heading",
        "other words in the client's heading",
        ("transfer",),
        {"client-row": "a row that its heading does not explain"},
        (Edit('say(title("ID", "Interval", "Transfer", "Bandwidth"))', 'say(title("Who", "Time", "Data", "Speed"))'),),
    ),
    Wrong(
        "remote-id",
        "rows are named by the server's address",
        ("parallel",),
        {"parallel-client": "a row is missing for some connections"},
        (Edit('who = "%s:%d" % sock.getsockname()', 'who = "%s:%d" % sock.getpeername()'),),
    ),
    Wrong(
        "bare-amount",
        "-n as a bare integer in the unit of -f",
        ("amount", "arguments"),
        {"num-understood": "-n is not understood", "amounts": "a right argument is refused"},
        (
            Edit("type=check_amount, help", "type=check_seconds, help"),
            Edit(_PARSED, f"{_PARSED}    if args.num:\n        args.num *= UNITS[args.format]\n"),
        ),
    ),
)
