"""Programs with one mistake each: the finished one, edited. Each fails the step and the checks named here."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.simpleperf.programs.edits import Edit, apply

ROOT: Final = Path(__file__).resolve().parents[3]
FINISHED: Final = (ROOT / "solutions" / "reliable.py").read_text()
_HERE: Final = Path(__file__).parent / "programs"
RIGHT: Final = {path.name.removesuffix(".txt"): path.read_text() for path in sorted(_HERE.glob("*.txt"))}


class Wrong:
    """A mistake: the step and, by a pattern, the check that must fail, and what is edited."""

    def __init__(self, step: str, fails: str, *edits: Edit, source: str = FINISHED) -> None:
        self.step, self.fails, self.text = step, fails, apply(source, edits)


_SAW, _TIME, _WINDOW = "stop-and-wait", "timeouts", "window"
_LOST = "lost and repeated datagrams"
_ROUGH = "loss, repeats and overtaking"
_END = "both sides end well"
_SIZES = "files of every size"
_DOUBLED, _HELD = "self.rto_s = 2 * self.rto_s", "= connection, packets, window"
_SENT = "        self.connection.send(self.packets[number])\n"
_ENDED = "    packets.append(pack(END, len(packets)))\n"
_WAITS = "    while (wait_s := due_s - time.monotonic()) > 0:\n"
_ONCE: Final = """            if number >= missing:
                waiting[number] = data
            while missing in waiting:
                target.write(waiting.pop(missing))
                missing += 1
"""
WRONG: Final[dict[str, Wrong]] = {
    "no repeat is thrown away": Wrong(
        _SAW, _LOST, (_ONCE, "            target.write(data)\n            missing = number + 1\n")
    ),
    "it writes in the order of arrival": Wrong(
        _WINDOW,
        _ROUGH,
        (
            _ONCE,
            """            if number not in waiting:
                waiting[number] = data
                target.write(data)
            while missing in waiting:
                missing += 1
""",
        ),
    ),
    "numbers wrap within the window": Wrong(
        _WINDOW, "old packets", ("MOD = 256", "MOD = 8"), source=RIGHT["go_back_n.py"]
    ),
    "numbers of one byte, taken for whole ones": Wrong(
        _SAW,
        _SIZES,
        ('struct.Struct("!BI")', 'struct.Struct("!BB")'),
        ("HEADER.pack(kind, number)", "HEADER.pack(kind, number % 256)"),
    ),
    "it tries for ever": Wrong(_TIME, "gives up", ("SILENCE_S = 30.0", "SILENCE_S = 1e9")),
    "it gives up 30 s after its start": Wrong(
        _TIME, "gives up", ("                self.heard_s = time.monotonic()\n", "")
    ),
    "its receiver gives up 30 s after its start": Wrong(
        _TIME,
        "gives up",
        ("        connection.settimeout(SILENCE_S)\n", "        begun_s = time.monotonic()\n"),
        (
            "            try:\n                packet, sender",
            "            if end is None:\n"
            "                connection.settimeout(max(0.001, begun_s + SILENCE_S - time.monotonic()))\n"
            "            try:\n                packet, sender",
        ),
    ),
    "the receiver leaves when it has all": Wrong(_SAW, _END, ("connection.settimeout(LINGER_S)", "return True")),
    "a short timeout that learns nothing": Wrong(
        _TIME,
        "sent again where nothing is lost",
        ("FIRST_RTO_S = 1.0", "FIRST_RTO_S = 0.02"),
        ("self.timer.sample(", "abs("),
        (_DOUBLED, "pass"),
    ),
    "a timeout of one second that learns nothing": Wrong(
        _TIME, "learns a long round trip", ("self.timer.sample(", "abs("), (_DOUBLED, "self.rto_s = 1.0")
    ),
    "no back-off": Wrong(_TIME, "doubles", (_DOUBLED, "pass")),
    "it takes samples of what was sent twice": Wrong(
        _TIME,
        "learns a long round trip",
        (" and number not in self.repeated:", ":"),
        ("max(GRANULARITY_S, 4 * self.rttvar_s)", "GRANULARITY_S"),
    ),
    "it takes samples from the last of several": Wrong(
        _TIME,
        "learns a long round trip",
        (" and number not in self.repeated:", ":"),
    ),
    "it takes samples from the first of several": Wrong(
        _TIME,
        "a loss costs a timeout",
        ("        self.repeated: set", "        self.begun_s: dict[int, float] = {}\n        self.repeated: set"),
        (_SENT, f"        self.begun_s.setdefault(number, time.monotonic())\n{_SENT}"),
        (" and number not in self.repeated:", ":"),
        ("time.monotonic() - self.sent_s[number])", "time.monotonic() - self.begun_s[number])"),
    ),
    "its timeout grows with each loss and stays": Wrong(
        _TIME,
        "a loss costs a timeout",
        ("self.rto_s = FIRST_RTO_S", "self.rto_s, self.grown = FIRST_RTO_S, 1.0"),
        ("self.rto_s = max(LEAST_RTO_S, ", "self.rto_s = self.grown * max(LEAST_RTO_S, "),
        (_DOUBLED, "self.rto_s, self.grown = min(1.6 * self.rto_s, 2.0), min(1.6 * self.grown, 20.0)"),
    ),
    "its deviation never moves": Wrong(
        _TIME,
        "learns a long round trip",
        (
            "self.rttvar_s = 0.75 * self.rttvar_s + 0.25 * abs(self.srtt_s - rtt_s)\n"
            "            self.srtt_s = 0.875 * self.srtt_s + 0.125 * rtt_s",
            "self.srtt_s, self.rttvar_s = rtt_s, rtt_s / 2",
        ),
    ),
    "it backs off once for each packet": Wrong(
        _WINDOW,
        "a loss in a window",
        (
            "            self.transmit(number)\n"
            "        if self.first in overdue:  # once for all that were lost together\n",
            "            self.transmit(number)\n",
        ),
    ),
    "it sends all at once": Wrong(_WINDOW, "no more than WINDOW", (_HELD, "= connection, packets, 100")),
    "twice the window": Wrong(_WINDOW, "no more than WINDOW", (_HELD, "= connection, packets, 2 * window")),
    "it ends when all is sent": Wrong(
        _SAW,
        _END,
        (
            "            due_s = min(",
            "            if len(self.packets) - 1 in self.sent_s:\n                return True\n"
            "            due_s = min(",
        ),
    ),
    "its buffer is five bytes too small": Wrong(_SAW, "a file arrives", ("MOST_BYTES = 2000", "MOST_BYTES = 1000")),
    "it cuts zeros off": Wrong(
        _SAW, "a file arrives", ("waiting[number] = data", 'waiting[number] = data.rstrip(b"\\0")')
    ),
    "it reads the file as text": Wrong(
        _SAW,
        "a file arrives",
        (
            'open(file, "rb") as source:\n        content = source.read()',
            "open(file) as source:\n        content = source.read().encode()",
        ),
    ),
    "an empty file has no packet": Wrong(_SAW, _SIZES, (_ENDED, f"    if packets:\n    {_ENDED}")),
    "a short packet is the end": Wrong(
        _SAW,
        "a file arrives",
        (_ENDED, ""),
        ("if kind == END:", "if len(data) < DATA_BYTES:"),
        ("for at in range(0, len(content), DATA_BYTES)]", 'for at in range(0, len(content), DATA_BYTES)] or [b""]'),
    ),
    "it knows no window": Wrong(_WINDOW, "share of the link", (_HELD, "= connection, packets, 1")),
    "it waits for a whole window": Wrong(
        _WINDOW,
        "share of the link",
        ("min(self.first + self.window, ", "min((self.first // self.window + 1) * self.window, "),
    ),
    "it looks for answers every 100 ms": Wrong(_SAW, "as fast as", (_WAITS, f"{_WAITS}        time.sleep(0.1)\n")),
    "it gives up after two tries": Wrong(
        _SAW,
        _LOST,
        ("time.monotonic() - self.heard_s > SILENCE_S", "self.timer.rto_s > 0.15 and len(self.repeated) > 1"),
    ),
    "status 0 whatever happens": Wrong(_TIME, "gives up", ("return 0 if done else 1", "return 0")),
    "packets of 1400 bytes": Wrong(_SAW, "not too large", ("DATA_BYTES = 1000", "DATA_BYTES = 1400")),
    "each packet goes out twice": Wrong(_SAW, "one packet is on its way", (_SENT, _SENT * 2)),
    "timeouts of four seconds": Wrong(_TIME, "near the round trip", ("LEAST_RTO_S = 0.1", "LEAST_RTO_S = 4.0")),
    "a loss sends the whole file again": Wrong(
        _WINDOW,
        "a loss in a window",
        (
            "            self.transmit(number)\n        if self.first",
            "            self.transmit(number)\n        for number in range(self.first, len(self.packets)):\n"
            f"    {_SENT}        if self.first",
        ),
    ),
    "it passes by the relay": Wrong(_SAW, "a file arrives", ("connect((host, port))", 'connect(("10.0.3.2", 7001))')),
    "it computes instead of waiting": Wrong(
        _SAW,
        f"{_LOST}|{_SIZES}",
        ("        connection.settimeout(wait_s)\n        try:", "        connection.setblocking(False)\n        try:"),
        (
            "        except TimeoutError:\n            return None\n        except Conn",
            "        except BlockingIOError:\n            pass\n        except Conn",
        ),
    ),
}
"""By what is wrong."""
