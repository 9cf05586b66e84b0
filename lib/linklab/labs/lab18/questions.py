"""What Lab 18, Who may start, lets students predict: each number by theory, and the slips that are expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from linklab.analysis.half_open import full_after_s, lasting_entries, lifetime_s
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Slip, Value, stated
from linklab.labs.lab18.networks import BACKLOG, NARROW_MTU_BYTES, rtt_ms
from linklab.units import IPV4_HEADER_BYTES, TCP_HEADER_BYTES

_EXACT: Final = 6
UNREPLIED_S: Final = 30
"""How long Linux keeps a mapping of UDP for which it has not seen packets both ways for more than two seconds
(nf_conntrack_udp_timeout).
"""
STREAM_S: Final = 120
"""How long it keeps one for which it has (nf_conntrack_udp_timeout_stream)."""
CASES: Final = {"one": UNREPLIED_S, "four": STREAM_S}
"""The limit of each case that students probe: h3 answers one question, or four."""
SLOW: Final = 0.4
FAST: Final = 16.0
"""SYNs a second of both floods."""
MSS_BYTES: Final = NARROW_MTU_BYTES - IPV4_HEADER_BYTES - TCP_HEADER_BYTES
"""The largest segment that fits all cables (RFC 9293, section 3.7.1)."""
SPOOFED_REQUESTS: Final = 2
"""How many pings h1 sends between h3's answer for h2's address and h2's own: `spoof` in networks has the instants."""
EYEBALLS_MS: Final = 200
"""How long curl waits for IPv6 before it tries IPv4 too (RFC 8305, section 5: 250 ms are recommended)."""


def _life() -> list[Value]:
    tells = "the kernel's limits stand in the output of sysctl; which of them counts for this case?"
    after = "an answer alone is not enough: Linux calls it a stream when packets still pass after two seconds"
    other = (Slip(STREAM_S, "that is the limit of a stream", after),)
    short = (Slip(UNREPLIED_S, "that is the limit without a stream", "here packets pass both ways for three seconds"),)
    return [
        Value("one", "one answer", stated(UNREPLIED_S, "s", "no packet after two seconds", _EXACT), tells, other),
        Value("four", "four answers", stated(STREAM_S, "s", "a stream of both ways", _EXACT), tells, short),
    ]


def _segment() -> list[Value]:
    heads = "the MTU counts the headers of IP and TCP, the MSS does not"
    slips = (
        Slip(NARROW_MTU_BYTES, "that is the MTU", heads),
        Slip(1460, "that is the MSS of a cable of 1500 bytes", "which cable is the narrowest?"),
        Slip(NARROW_MTU_BYTES - IPV4_HEADER_BYTES, "that leaves out the header of TCP", heads),
        Slip(NARROW_MTU_BYTES - 28, "that takes off the header of UDP or ICMP", "the header of TCP has 20 bytes"),
    )
    return [Value("mss", "the MSS", stated(MSS_BYTES, "bytes", "the MTU less 40 bytes", _EXACT), heads, slips)]


def _flooded() -> list[Value]:
    kept, full_s = lasting_entries(SLOW, BACKLOG), full_after_s(FAST, BACKLOG) or 0.0
    life = "how long is one entry kept? Add the pauses before each repetition, and the one after the last"
    slow = (
        Slip(SLOW * 31, "that leaves out the last pause", "after the last repetition the server waits once more"),
        Slip(BACKLOG, "that is the whole backlog", "entries end, too: as many come as go"),
        Slip(lifetime_s(), "that is how long one entry is kept", "how many come in that time?"),
    )
    fast = (Slip(FAST * lifetime_s(), "that is what would be kept without a limit", "when are 64 of them there?"),)
    fill = "until the first entry ends, each SYN adds one"
    return [
        Value("entries", f"entries at {SLOW:g}/s", stated(kept, "", "rate times lifetime", 2), life, slow),
        Value("full_s", f"full at {FAST:g}/s", stated(full_s, "s", "backlog over rate", 2), fill, fast),
    ]


def eyeballs_slips() -> tuple[Slip, ...]:
    """Return wrong times to connect while IPv6 is dead, in ms, with what is wrong about them."""
    return (
        Slip(EYEBALLS_MS, "that is the pause alone", "then a connection by IPv4 begins: a round trip"),
        Slip(EYEBALLS_MS + rtt_ms() / 2, "that has one direction only", "SYN and SYN-ACK: a round trip"),
        Slip(EYEBALLS_MS + 2 * rtt_ms(), "that has two round trips", "only the connection is asked for, no page"),
        Slip(rtt_ms(), "that is a round trip alone", "curl does not know that IPv6 is dead: it waits first"),
    )


def _eyeballs() -> list[Value]:
    right = EYEBALLS_MS + rtt_ms()
    waits = "curl waits for IPv6 first. Then it begins with IPv4: what does a connection need from there?"
    return [Value("ms", "time to connect", stated(right, "ms", "the pause and a round trip"), waits, eyeballs_slips())]


def _spoofed() -> list[Value]:
    last = "h1 believes whoever spoke last: who has, when this request leaves?"
    requests = (
        Slip(4, "those are all after h3's answer", "h2 speaks, too, and later than h3"),
        Slip(3, "that counts one too many", "h2 speaks before the fifth request"),
        Slip(6, "those are all requests", "the first ones leave before h3 has said a word"),
        Slip(0, "that is none", "does h1 ask for a proof?"),
    )
    own = "h3 has told nothing to h2: which address does h2 know for h1?"
    replies = (Slip(SPOOFED_REQUESTS, "that is as many as requests", own), Slip(6, "those are all replies", own))
    return [
        Value(
            "requests",
            "requests to h3",
            stated(SPOOFED_REQUESTS, "", "from h3's answer to h2's", _EXACT),
            last,
            requests,
        ),
        Value("replies", "replies to h3", stated(0, "", "h2 knows h1 as before", _EXACT), own, replies),
    ]


_TOLD: Final = (
    "h1 believes the last answer, whether it has asked or not, since RFC 826 has no proof of who speaks. h2's replies "
    "come directly, since nobody told h2 anything. Whoever wants both directions tells both hosts, again and again: a "
    "true answer, as h2's here, mends the table."
)


def forged_frame(number: int, slips: Sequence[Slip]) -> Value:
    """Ask which frame of a list is forged: the one with this number. ``slips`` are what other frames are."""
    hints = (
        "two hosts say that they have one address. Whose is it, by what h1 was told when it asked?",
        "look where the destination of h1's requests changes: what did h1 hear just before?",
        "the line in which h2's address is said to be at the MAC address of h3",
    )
    right = stated(number, "", "its number in the list", _EXACT)
    return Value("", "the forged frame", right, hints, slips, by_tool=True, explanation=_TOLD)


PREDICTIONS: Final = Predictions(
    "Lab 18",
    {"life": _life, "mss": _segment, "flood": _flooded, "spoof": _spoofed, "eyeballs": _eyeballs},
)
