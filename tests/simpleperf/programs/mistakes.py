"""Programs with a mistake, each an edit of the student's: what must fail, and as what. Some are right all the same."""

from __future__ import annotations

from typing import Final

from .edits import Edit


class Wrong:
    """One mistake: the steps that find it, the checks that must fail there, and the edits.

    ``hints`` are the checks that must pass with a hint.
    """

    def __init__(self, steps: str, fails: dict[str, str], *edits: Edit, hints: dict[str, str] | None = None) -> None:
        self.steps, self.fails, self.edits, self.hints = tuple(steps.split()), fails, edits, hints or {}


_RATES: Final = ("client-rate", "server-rate")
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
    return begin, f"    {statement}\n{begin}"


MISTAKES: Final[dict[str, Wrong]] = {
    "clock-before-ack": Wrong(
        "clock",
        {"ack": "clock stopped before the acknowledgement"},
        ('        sock.sendall(b"BYE")\n', '        end = time.time() - start\n        sock.sendall(b"BYE")\n'),
        (_STOP, "        sock.close()"),
    ),
    "bytes-as-bits": Wrong(
        "clock", dict.fromkeys(_RATES, "bits and bytes: the factor 8 is missing"), (_RATE, _RATE.replace(" * 8", ""))
    ),
    "bits-of-bits": Wrong(
        "clock", dict.fromkeys(_RATES, "bits and bytes: multiplied by 8 twice"), (_RATE, _RATE.replace(" * 8", " * 64"))
    ),
    "mebi-rate": Wrong(
        "clock", dict.fromkeys(_RATES, "1000 and 1024 mixed"), (_RATE, _RATE.replace("1000000", "1048576"))
    ),
    "kibi-rate": Wrong("clock", {"client-rate": "1000 and 1024 mixed"}, (_RATE, _RATE.replace("1000000", "1024000"))),
    "binary-units": Wrong(
        "clock",
        {"format": "1000 and 1024 mixed"},
        ("(count / UNITS[unit], unit)", '(count / {"B": 1, "KB": 1024, "MB": 1048576}[unit], unit)'),
    ),
    "binary-amount": Wrong(
        "amount",
        {"num-exact": "1000 and 1024 mixed"},
        ("return int(number) * UNITS[unit]", 'return int(number) * {"B": 1, "KB": 1024, "MB": 1048576}[unit]'),
    ),
    "chunk-1024": Wrong(
        "clock",
        dict.fromkeys(["format", "conserved"], "chunks of 1024 bytes sent, 1000 counted"),
        ('CHUNK = b"0" * 1000', 'CHUNK = b"0" * 1024'),
        ("sent += len(chunk)", "sent += min(len(chunk), 1000)"),
    ),
    "bye-in-pieces": Wrong(
        "transfer", {"pieces": "BYE in pieces is not found"}, ("last = (last + data)[-3:]", "last = data[-3:]")
    ),
    # a read must be BYE and nothing else
    "bye-glued": Wrong("transfer", {"ends": "BYE behind data is not found"}, (_LOOP_END, 'finished = data == b"BYE"')),
    "bye-counted": Wrong(
        "clock",
        {},
        ("received -= 3", "received -= 0"),
        hints={"conserved": "client and server differ by the length of BYE"},
    ),
    # the first cause is the first one told: that the end of a stream is not noticed is another scene
    "pieces-and-end": Wrong(
        "transfer",
        {"pieces": "BYE in pieces is not found"},
        ("last = (last + data)[-3:]", "last = data[-3:]"),
        ("            if not data:\n                break\n            received", "            received"),
    ),
    "last-read-dropped": Wrong(
        "clock",
        {"conserved": "the server counts too few bytes"},
        ("            received += len(data)\n", '            received += 3 if data.endswith(b"BYE") else len(data)\n'),
    ),
    "server-row-without-begin": Wrong(
        "transfer",
        {"server-row": "a row that its heading does not explain"},
        ('"Rate"), row(who, 0, end, received, args.format))', '"Rate"), row(who, None, end, received, args.format))'),
        (
            'return title(who, "%.1f - %.1f" % (start, end), amount(count, unit), rate(count, end - start))',
            'times = "%.1f s" % end if start is None else "%.1f - %.1f" % (start, end)\n'
            "    return title(who, times, amount(count, unit), rate(count, end - (start or 0)))",
        ),
    ),
    "rows-above-heading": Wrong(
        "intervals",
        {"interval-rows": "a row that its heading does not explain"},
        ('    say(title("ID", "Interval", "Transfer", "Bandwidth"))\n', ""),
        (
            "    for total in totals:\n",
            '    say(title("ID", "Interval", "Transfer", "Bandwidth"))\n    for total in totals:\n',
        ),
    ),
    "udp": Wrong(
        "transfer arguments",
        {"listens": "this is UDP"},
        ("SOCK_STREAM)\n    sock.", "SOCK_DGRAM)\n    sock."),
        ("SOCK_STREAM)\n        try", "SOCK_DGRAM)\n        try"),
        ("    sock.listen(20)\n", ""),
        ("        conn, addr = sock.accept()\n", "        data, addr = sock.recvfrom(65536)\n        continue\n"),
    ),
    "clock-before-connect": Wrong(
        "amount",
        {"num-rate": "the clock runs while it connects"},
        ("    start = time.time()\n    sent = 0\n", "    start = args.start\n    sent = 0\n"),
        ("    socks = []\n", "    socks = []\n    args.start = time.time()\n"),
    ),
    "one-start-for-all": Wrong(
        "parallel",
        {"concurrent-rows": "clients are mixed up"},
        ("def handle(conn, addr, args):\n", "def handle(conn, addr, args):\n    global start\n"),
    ),
    "intervals-of-one-connection": Wrong(
        "parallel",
        {"parallel-intervals": "-i prints no rows for some connections"},
        ("    totals = []\n", "    totals = []\n    args.first = socks[0]\n"),
        ("if args.interval and now >=", "if args.interval and sock is args.first and now >="),
        ("if args.interval and sent > row_sent:", "if args.interval and sock is args.first and sent > row_sent:"),
    ),
    "unacknowledged-is-done": Wrong(
        "arguments",
        {"no-answer": "a transfer without acknowledgement counts as done"},
        ('                raise OSError("no acknowledgement")\n', "                break\n"),
    ),
    "client-to-any-port": Wrong(
        "arguments",
        {"ports": "ports out of range are accepted"},
        ("not 1024 <= int(text) <= 65535", "int(text) > 65535"),
        (
            _PARSED,
            f"{_PARSED}    if args.server and args.port < 1024:\n        parser.error('the --port is below 1024')\n",
        ),
    ),
    "greatest-values-refused": Wrong(
        "arguments",
        dict.fromkeys(["ports", "parallels"], "a right argument is refused"),
        ("not 1024 <= int(text) <= 65535", "not 1024 <= int(text) < 65535"),
        ('text not in ("1", "2", "3", "4", "5")', 'text not in ("1", "2", "3", "4")'),
    ),
    "copies-all-data": Wrong(
        "transfer",
        {"ends": "it computes too much while data comes"},
        ("    received = 0\n", '    kept = b""\n'),
        ("data = conn.recv(65536)", "data = conn.recv(1000)"),
        ("            received += len(data)\n", "            kept += data\n            received = len(kept)\n"),
    ),
    "nap-before-bye": Wrong(
        "clock intervals",
        {"link": "it sleeps before BYE"},
        ('        sock.sendall(b"BYE")\n', '        time.sleep(2)\n        sock.sendall(b"BYE")\n'),
    ),
    "reads-counted": Wrong(
        "clock",
        dict.fromkeys(["format", "conserved"], "each read counted as a full buffer"),
        ("received += len(data)", "received += 65536"),
    ),
    "one-at-a-time": Wrong("parallel", {"concurrent": "one client at a time"}, (_THREAD, "handle(conn, addr, args)")),
    "one-client-only": Wrong(
        "parallel",
        {"concurrent": "the server ends after its first client"},
        (_THREAD, "handle(conn, addr, args)\n        break"),
    ),
    "no-reuseaddr": Wrong(
        "many arguments",
        {"restart": "no SO_REUSEADDR"},
        ("    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n", ""),
    ),
    "integer-division": Wrong(
        "clock", dict.fromkeys(_RATES, "integer division"), (_RATE, "count // 1000000 * 8 // max(int(seconds), 1)")
    ),
    "first-interval-twice": Wrong(
        "intervals",
        {"interval-rows": "first interval twice"},
        (_ROW, f"{_ROW}\n                if row_start == 0:\n                    {_ROW}"),
    ),
    "last-interval-missing": Wrong(
        "intervals",
        {"interval-remainder": "last interval missing"},
        ("row_start + args.interval:", "row_start + args.interval and (args.num or now < args.time):"),
        (_LAST_ROW, ""),
    ),
    "interval-cumulative": Wrong(
        "intervals",
        {"interval-rows": "intervals count from the start"},
        (_ROW, _ROW.replace("sent - row_sent", "sent")),
        ("row_start, end, sent - row_sent", "row_start, end, sent"),
    ),
    "interval-ignored": Wrong("intervals", {"interval-rows": "-i is ignored"}, _overrule("args.interval = None")),
    "parallel-in-turn": Wrong(
        "parallel",
        {"parallel-together": "connections opened one after the other"},
        (_START, "    for thread in threads:\n        thread.start()\n        thread.join()\n"),
    ),
    "parallel-rows-missing": Wrong(
        "parallel",
        {"parallel-client": "a row is missing for some connections"},
        ("    for total in totals:\n", "    for total in totals[:1]:\n"),
    ),
    "parallel-ignored": Wrong("parallel", {"parallel-together": "-P is ignored"}, _overrule("args.parallel = 1")),
    "parallel-unlimited": Wrong(
        "arguments",
        {"parallels": "-P out of range is accepted"},
        ('text not in ("1", "2", "3", "4", "5")', 'not text.isdigit() or text == "0"'),
    ),
    # errors exit with status 0
    "status-zero": Wrong(
        "arguments",
        dict.fromkeys(
            ["modes", "ports", "addresses", "formats", "times", "parallels", "amounts", "interval-text", "no-server"],
            "exit status 0 on errors",
        ),
        ("        sys.exit(2)\n", "        sys.exit(0)\n"),
        (f"{_CONNECT_FAILED}(1)", f"{_CONNECT_FAILED}(0)"),
    ),
    "traceback-on-port": Wrong(
        "arguments",
        {"ports": "traceback shown"},
        ('"--port", type=check_port, default=8088', '"--port", default="8088"'),
        (
            _PARSED,
            f"{_PARSED}    args.port = int(args.port)\n"
            "    if not 1024 <= args.port <= 65535:\n"
            '        parser.error("the --port must be a number from 1024 to 65535")\n',
        ),
    ),
    "traceback-without-server": Wrong(
        "arguments",
        {"no-server": "traceback shown"},
        (f"{_CONNECT}\n        except OSError", f"{_CONNECT}\n        except ArithmeticError"),
    ),
    "low-port-accepted": Wrong(
        "arguments",
        {"ports": "ports out of range are accepted"},
        ("not 1024 <= int(text) <= 65535", "not 1 <= int(text) <= 65535"),
    ),
    # any text of four parts is an address, and what the resolver says of it does not name -I
    "address-unchecked": Wrong(
        "arguments",
        {"addresses": "the message does not name the argument"},
        ("part.isdigit() and int(part) <= 255", "part.isdigit()"),
    ),
    "both-modes": Wrong(
        "arguments",
        {"modes": "the mode is not checked"},
        ("if args.server == args.client:", "if not args.server and not args.client:"),
    ),
    "time-ignored": Wrong("clock", {"time": "-t is ignored"}, ("if now >= args.time:", "if now >= 25:")),
    "num-ignored": Wrong("amount", {"num-exact": "-n is ignored"}, _overrule("args.num = None")),
    "num-in-whole-mb": Wrong(
        "amount",
        {"num-exact": "-n rounded"},
        ("return int(number) * UNITS[unit]", "return (int(number) * UNITS[unit] + 999999) // 1000000 * 1000000"),
    ),
    "num-in-whole-chunks": Wrong(
        "amount",
        {"num-exact": "-n rounded up to whole chunks"},
        ("chunk = CHUNK[: args.num - sent]", "chunk = CHUNK"),
    ),
    "leaves-connections-open": Wrong(
        "transfer",
        {"leaves-well": "the server leaves the connection open"},
        ("CHUNK = ", "left_open = []\nCHUNK = "),
        ("    conn.close()\n", "    left_open.append(conn)\n"),
    ),
    "bye-anywhere-is-the-end": Wrong(
        "many",
        {"bye-in-data": "BYE in the data ends the transfer"},
        ("last = (last + data)[-3:]", "last = last[-2:] + data"),
        ('finished = last == b"BYE" and waits(conn)', 'finished = b"BYE" in last'),
    ),
    "bye-last-in-a-read-is-the-end": Wrong(
        "many", {"bye-in-data": "BYE in the data ends the transfer"}, (" and waits(conn)\n", "\n")
    ),
    "another-default-time": Wrong(
        "arguments",
        {"times": "the default of -t is another one"},
        ("type=check_seconds, default=25", "type=check_seconds, default=30"),
    ),
    "no-default-time": Wrong(
        "arguments",
        {"times": "the default of -t is another one"},
        ("type=check_seconds, default=25", "type=check_seconds"),
        _overrule("args.server or args.time or args.num or parser.error('-t or -n')"),
    ),
    "dies-of-abrupt-client": Wrong(
        "many",
        {"abrupt": "server dies with an abrupt client"},
        ("import argparse\n", "import argparse\nimport os\n"),
        ('"was lost:", error, file=sys.stderr)', '"was lost:", error, file=sys.stderr)\n        os._exit(1)'),
    ),
    # the end of a stream without BYE is not noticed
    "spins-on-end": Wrong(
        "many",
        {"abrupt": "the server spins when a client has gone"},
        ("            if not data:\n                break\n            received", "            received"),
    ),
    "never-acknowledges": Wrong(
        "transfer", {"ends": "the server never acknowledges"}, ('            conn.sendall(b"ACK: BYE")\n', "")
    ),
    "asked-time": Wrong(
        "clock",
        {"ack": "rate from the asked time, not the measured"},
        ("    totals.append(row(who, 0, end,", "    totals.append(row(who, 0, end if args.num else args.time,"),
        ("row(who, row_start, end,", "row(who, row_start, end if args.num else args.time,"),
    ),
    "serverip-ignored": Wrong(
        "transfer", {"connects": "-I is ignored"}, (_CONNECT, 'sock.connect(("127.0.0.1", args.port))')
    ),
    "bind-ignored": Wrong(
        "transfer",
        {"binds": "-b is ignored"},
        ("sock.bind((args.bind, args.port))", 'sock.bind(("0.0.0.0", args.port))'),
    ),
    "port-ignored": Wrong("transfer", {"connects": "-p is ignored"}, (_CONNECT, "sock.connect((args.serverip, 8088))")),
    "format-ignored": Wrong("clock", {"format": "-f is ignored"}, _overrule('args.format = "MB"')),
    "num-or-time": Wrong(
        "amount",
        {"num-time": "it ends with an error"},
        (_PARSED, f'{_PARSED}    if args.num and "-t" in sys.argv:\n        parser.error("-n excludes -t")\n'),
    ),
    # a start message with -n alone
    "start-message-of-num": Wrong(
        "amount",
        {"num-exact": "another amount than that of -n", "num-rows": "bytes counted are not the bytes sent"},
        (
            "    try:\n        while True:\n            now",
            '    try:\n        if args.num:\n            sock.sendall(b"NUM %d\\n" % args.num)\n'
            "        while True:\n            now",
        ),
        (
            "            received += len(data)\n",
            '            if not received and data.startswith(b"NUM "):\n'
            '                data = data.partition(b"\\n")[2]\n'
            "            received += len(data)\n",
        ),
    ),
    "server-without-format": Wrong(
        "clock intervals parallel",
        {"format": "it ends with an error"},
        (_PARSED, f'{_PARSED}    if args.server and "-f" in sys.argv:\n        parser.error("-f is for clients")\n'),
    ),
    "status-one": Wrong(
        "many", {}, ("    if len(totals) < args.parallel:\n        sys.exit(1)\n", "    sys.exit(1)\n")
    ),
    "leaves-early": Wrong(
        "clock",
        {"ack": "the client does not wait for the acknowledgement"},
        ('        while answer != b"ACK: BYE":\n', "        while False:\n"),
    ),
    "parallel-shared": Wrong(
        "parallel",
        {"parallel-together": "the connections of -P share one socket"},
        ("args=(sock, args, totals)) for sock in socks]", "args=(socks[0], args, totals)) for sock in socks]"),
    ),
    "remainder-lost": Wrong(
        "intervals",
        {"interval-remainder": "last interval missing"},
        ("    if args.interval and sent > row_sent:\n", "    if args.interval and end - row_start >= args.interval:\n"),
    ),
    "times-assumed": Wrong(
        "intervals",
        {"interval-stall": "times of intervals assumed, not measured"},
        ("say(row(who, row_start, now, sent", "say(row(who, row_start, row_start + args.interval, sent"),
    ),
    "num-over-default-time": Wrong(
        "amount",
        {"num-rate": "rate from the asked time, not the measured"},
        ("totals.append(row(who, 0, end, sent,", "totals.append(row(who, 0, args.time if args.num else end, sent,"),
    ),
    "rates-in-kilobytes": Wrong(
        "clock",
        dict.fromkeys(_RATES, "the rate is in another unit than its label"),
        ("(count * 8 / 1000000 / max", "(count / 1000 / max"),
    ),
    # --- Programs that do not keep the starter's messages, heading or arguments
    "other-messages": Wrong(
        "transfer",
        {"ends": "the client sends no BYE"},
        ('finished = last == b"BYE"', 'finished = last == b"FINISH"'),
        ('sock.sendall(b"BYE")', 'sock.sendall(b"FINISH")'),
        ("last = (last + data)[-3:]", "last = (last + data)[-6:]"),
        ("received -= 3", "received -= 6"),
    ),
    "other-acknowledgement": Wrong(
        "transfer",
        {"ends": "another acknowledgement"},
        ('conn.sendall(b"ACK: BYE")', 'conn.sendall(b"ACK")'),
        ('while answer != b"ACK: BYE":', 'while answer != b"ACK":'),
    ),
    "other-heading": Wrong(
        "transfer",
        {"client-row": "a row that its heading does not explain"},
        ('say(title("ID", "Interval", "Transfer", "Bandwidth"))', 'say(title("Who", "Time", "Data", "Speed"))'),
    ),
    "remote-id": Wrong(
        "parallel",
        {"parallel-client": "a row is missing for some connections"},
        ('who = "%s:%d" % sock.getsockname()', 'who = "%s:%d" % sock.getpeername()'),
    ),
    # -n as a bare integer in the unit of -f
    "bare-amount": Wrong(
        "amount arguments",
        {"num-understood": "-n is not understood", "amounts": "a right argument is refused"},
        ("type=check_amount, help", "type=check_seconds, help"),
        (_PARSED, f"{_PARSED}    if args.num:\n        args.num *= UNITS[args.format]\n"),
    ),
}
