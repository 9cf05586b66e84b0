"""Wrong programs: edits of the student's program, each of which makes exactly one mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .edits import Edit


@dataclass(frozen=True)
class Mistake:
    """One mistake: what it is called, how it shows from outside, and the edits that make it."""

    name: str
    mistake: str
    shows: str
    edits: tuple[Edit, ...]


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


MISTAKES: Final[tuple[Mistake, ...]] = (
    Mistake(
        "clock-before-ack",
        "the client's clock stops before the acknowledgement",
        "the client reports more than the link carries, and more than the server",
        (
            Edit('        sock.sendall(b"BYE")\n', '        end = time.time() - start\n        sock.sendall(b"BYE")\n'),
            Edit(_STOP, "        sock.close()"),
        ),
    ),
    Mistake(
        "bytes-as-bits",
        "bytes taken for bits in the rate",
        "rates are too low by 8",
        (Edit(_RATE, _RATE.replace(" * 8", "")),),
    ),
    Mistake(
        "bits-of-bits",
        "multiplied by 8 twice",
        "rates are too high by 8",
        (Edit(_RATE, _RATE.replace(" * 8", " * 64")),),
    ),
    Mistake(
        "mebi-rate",
        "1024 * 1024 in the rate",
        "rates are too low by 1.0486",
        (Edit(_RATE, _RATE.replace("1000000", "1048576")),),
    ),
    Mistake(
        "kibi-rate",
        "1000 * 1024 in the rate",
        "rates are too low by 1.024",
        (Edit(_RATE, _RATE.replace("1000000", "1024000")),),
    ),
    Mistake(
        "binary-units",
        "KB and MB of 1024 in amounts printed, while -n is decimal",
        "amounts are too low by 1.024 in KB and 1.0486 in MB; amounts and rates do not fit",
        (Edit("(count / UNITS[unit], unit)", '(count / {"B": 1, "KB": 1024, "MB": 1048576}[unit], unit)'),),
    ),
    Mistake(
        "binary-amount",
        "-n read with KB and MB of 1024",
        "-n 10MB sends 10.4858 MB",
        (Edit("return int(number) * UNITS[unit]", 'return int(number) * {"B": 1, "KB": 1024, "MB": 1048576}[unit]'),),
    ),
    Mistake(
        "chunk-1024",
        "chunks of 1024 bytes are sent, 1000 are counted",
        "the server receives 1.024 times what the client says it sent",
        (
            Edit('CHUNK = b"0" * 1000', 'CHUNK = b"0" * 1024'),
            Edit("sent += len(chunk)", "sent += min(len(chunk), 1000)"),
        ),
    ),
    Mistake(
        "bye-in-pieces",
        "BYE is looked for in a single read",
        "hangs when BYE arrives in pieces",
        (Edit("last = (last + data)[-3:]", "last = data[-3:]"),),
    ),
    Mistake(
        "bye-glued",
        "a read must be BYE and nothing else",
        "hangs when BYE arrives glued to data",
        (Edit(_LOOP_END, 'finished = data == b"BYE"'),),
    ),
    Mistake(
        "bye-counted",
        "BYE is counted as data",
        "the server receives 3 bytes more than were sent",
        (Edit("received -= 3", "received -= 0"),),
    ),
    Mistake(
        "reads-counted",
        "each read is counted as a full buffer",
        "the server reports more bytes than were sent",
        (Edit("received += len(data)", "received += 65536"),),
    ),
    Mistake(
        "one-at-a-time",
        "the server serves one client after the other",
        "a second client waits until the first has ended",
        (Edit(_THREAD, "handle(conn, addr, args)"),),
    ),
    Mistake(
        "one-client-only",
        "the server ends after its first client",
        "a second client finds no server",
        (Edit(_THREAD, "handle(conn, addr, args)\n        break"),),
    ),
    Mistake(
        "no-reuseaddr",
        "no SO_REUSEADDR",
        'a second start on the same port fails with "Address already in use"',
        (Edit("    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n", ""),),
    ),
    Mistake(
        "integer-division",
        "integer division in the rate",
        "rates are whole numbers, too low; amount, time and rate do not fit",
        (Edit(_RATE, "count // 1000000 * 8 // max(int(seconds), 1)"),),
    ),
    Mistake(
        "first-interval-twice",
        "the first interval is printed twice",
        "the intervals sum to more than the total",
        (Edit(_ROW, f"{_ROW}\n                if row_start == 0:\n                    {_ROW}"),),
    ),
    Mistake(
        "last-interval-missing",
        "the last interval is not printed",
        "the intervals sum to less than the total",
        (
            Edit("row_start + args.interval:", "row_start + args.interval and (args.num or now < args.time):"),
            Edit(_LAST_ROW, ""),
        ),
    ),
    Mistake(
        "interval-cumulative",
        "intervals show what was sent since the start, not in the interval",
        "the intervals sum to far more than the total, and grow",
        (
            Edit(_ROW, _ROW.replace("sent - row_sent", "sent")),
            Edit("row_start, end, sent - row_sent", "row_start, end, sent"),
        ),
    ),
    Mistake(
        "interval-ignored",
        "-i is accepted and ignored",
        "no interval rows",
        (_overrule("args.interval = None"),),
    ),
    Mistake(
        "parallel-in-turn",
        "-P connections run one after the other",
        "the whole takes N times too long; the connections do not overlap",
        (Edit(_START, "    for thread in threads:\n        thread.start()\n        thread.join()\n"),),
    ),
    Mistake(
        "parallel-rows-missing",
        "only the first of the -P connections gets a row",
        "-P 3 prints one total",
        (Edit("    for total in totals:\n", "    for total in totals[:1]:\n"),),
    ),
    Mistake(
        "parallel-ignored",
        "-P is accepted and ignored",
        "the server sees one connection",
        (_overrule("args.parallel = 1"),),
    ),
    Mistake(
        "parallel-unlimited",
        "-P above 5 is accepted",
        "-P 6 opens six connections",
        (Edit('text not in ("1", "2", "3", "4", "5")', 'not text.isdigit() or text == "0"'),),
    ),
    Mistake(
        "status-zero",
        "errors exit with status 0",
        "wrong arguments and a missing server give exit status 0",
        (
            Edit("        sys.exit(2)\n", "        sys.exit(0)\n"),
            Edit(f"{_CONNECT_FAILED}(1)", f"{_CONNECT_FAILED}(0)"),
        ),
    ),
    Mistake(
        "traceback-on-port",
        "a port that is no number is not caught",
        "-p abc prints a traceback",
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
    Mistake(
        "traceback-without-server",
        "a refused connection is not caught",
        "a client without a server prints a traceback",
        (Edit(f"{_CONNECT}\n        except OSError", f"{_CONNECT}\n        except ArithmeticError"),),
    ),
    Mistake(
        "low-port-accepted",
        "ports below 1024 are accepted",
        "-p 80 is not refused as an argument",
        (Edit("not 1024 <= int(text) <= 65535", "not 1 <= int(text) <= 65535"),),
    ),
    Mistake(
        "address-unchecked",
        "any text of four parts is an address",
        "-I 300.1.1.1 is not refused as an argument",
        (Edit("part.isdigit() and int(part) <= 255", "part.isdigit()"),),
    ),
    Mistake(
        "both-modes",
        "-s and -c together run the server",
        "-s -c starts to listen",
        (Edit("if args.server == args.client:", "if not args.server and not args.client:"),),
    ),
    Mistake(
        "time-ignored",
        "-t is ignored: always 25 s",
        "-t 2 sends for 25 s",
        (Edit("if now >= args.time:", "if now >= 25:"),),
    ),
    Mistake(
        "num-ignored",
        "-n is accepted and ignored",
        "-n 1MB sends for the time of -t",
        (_overrule("args.num = None"),),
    ),
    Mistake(
        "num-in-whole-mb",
        "-n is rounded to whole MB",
        "-n 1500KB sends 2 MB, -n 500B sends 1 MB",
        (Edit("return int(number) * UNITS[unit]", "return (int(number) * UNITS[unit] + 999999) // 1000000 * 1000000"),),
    ),
    Mistake(
        "dies-of-abrupt-client",
        "the server ends when a client resets its connection",
        "no server any more after an abrupt client",
        (
            Edit("import argparse\n", "import argparse\nimport os\n"),
            Edit('"was lost:", error, file=sys.stderr)', '"was lost:", error, file=sys.stderr)\n        os._exit(1)'),
        ),
    ),
    Mistake(
        "spins-on-end",
        "the end of a stream without BYE is not noticed",
        "after a client that leaves without BYE the server never prints its row and burns a core",
        (Edit("            if not data:\n                break\n            received", "            received"),),
    ),
    Mistake(
        "never-acknowledges",
        "the server never acknowledges",
        "the client waits for ever or fails",
        (Edit('            conn.sendall(b"ACK: BYE")\n', ""),),
    ),
    Mistake(
        "asked-time",
        "the rate is computed with the time asked for, not the measured one",
        "the client reports more than the link carries: it ended later than it says",
        (
            Edit("    totals.append(row(who, 0, end,", "    totals.append(row(who, 0, end if args.num else args.time,"),
            Edit("row(who, row_start, end,", "row(who, row_start, end if args.num else args.time,"),
        ),
    ),
    Mistake(
        "serverip-ignored",
        "-I is ignored: always 127.0.0.1",
        "the client does not reach a server at any other address",
        (Edit(_CONNECT, 'sock.connect(("127.0.0.1", args.port))'),),
    ),
    Mistake(
        "bind-ignored",
        "-b is ignored: listens on every address",
        "a server bound to one address answers on another",
        (Edit("sock.bind((args.bind, args.port))", 'sock.bind(("0.0.0.0", args.port))'),),
    ),
    Mistake(
        "port-ignored",
        "the client ignores -p: always 8088",
        "the client finds no server on any other port",
        (Edit(_CONNECT, "sock.connect((args.serverip, 8088))"),),
    ),
    Mistake(
        "format-ignored",
        "-f is accepted and ignored",
        "amounts are in MB whatever -f says",
        (_overrule('args.format = "MB"'),),
    ),
)
