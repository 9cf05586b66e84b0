"""What Lab 18, Who may start, asks of homes behind NAT, of filters and of a flooded server, and how it is judged.

Rules of nftables are judged by what they do to packets: the checks send their own through the student's lab.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any, Final

from linklab.analysis import Expectation
from linklab.analysis.half_open import full_after_s, lasting_entries, lifetime_s
from linklab.grade.check import Check, Hints, Refuse, a_kind, collect_checks
from linklab.grade.choices import letter
from linklab.grade.measured import measured
from linklab.grade.questions import Slip, Value, asked_one, is_missing
from linklab.grade.reachability import Checkable, LiveLab, running
from linklab.grade.result import Result, guarded
from linklab.grade.student_functions import call as call_function
from linklab.grade.wanted import refuse_another_network
from linklab.labs.claims import claim, contradicts
from linklab.labs.lab18.networks import (
    BACKLOG,
    OUTER,
    ROUTERS,
    WALL,
    call,
    exchange,
    flood,
    homes,
    outer_address,
    page,
    rtt_ms,
)
from linklab.labs.lab18.questions import EYEBALLS_MS, FAST, MSS_BYTES, PREDICTIONS, SLOW, STREAM_S, UNREPLIED_S

_FOLDER: Final = Path(__file__).parent
_PAGE_BYTES: Final = 100_000


def _home_lab(lab: Checkable) -> LiveLab:
    """Return a running lab of this lab's network; refuse another one."""
    live = running(lab)
    refuse_another_network("the lab", live.state(), homes())
    return live


# --- A home behind NAT


@guarded("Lab 18, NAT")
def check_nat(lab: Checkable) -> Iterator[Check]:
    """Judge by packets that each home gets answers, and that h3 sees the home router's address."""
    live = _home_lab(lab)
    for host, router in ROUTERS.items():
        arrived, seen = exchange(live, 1, 1, host)
        what, expected = f"{host} asks h3", f"h3 sees {outer_address(router)}"
        hints: Hints = (
            f"which packets must {router} change: those that leave by {OUTER[router]}, or those that come in?",
            "nft list ruleset shows what there is: the chain must have a rule that ends in masquerade",
            f"nft add rule ip home out oifname {OUTER[router]} masquerade",
        )
        if not seen:
            yield Check.failing(what, "nothing arrived at h3", hints, expected, "nothing")
        elif seen.partition(":")[0] != outer_address(router):
            yield Check.failing(what, f"h3 sees {seen}, a private address", hints, expected, seen)
        elif not arrived:
            yield Check.failing(what, "h3's answer did not get home", hints, expected, seen)
        else:
            yield Check.passing(what, expected, seen)


_CASES: Final = {"nothing": UNREPLIED_S, "one": UNREPLIED_S, "four": STREAM_S}
_PROBES: Final = '{"nothing": {10: lab18.late(lab, 10), ...}, "one": {...}, "four": {...}}'


@guarded("Lab 18, a mapping's life")
def check_life(probes: object) -> Result:
    """Judge probes of three cases: whether a datagram still gets home, by seconds of silence."""
    checks = collect_checks(lambda: (_died(name, limit_s, probes) for name, limit_s in _CASES.items()))
    ends = {name: float(limit_s) for name, limit_s in _CASES.items()}
    return PREDICTIONS.compared(Result("Lab 18, a mapping's life", checks), "life", ends)


def _died(name: str, limit_s: int, probes: object) -> Check:
    what, expected = f"the case {name}", "the second in which the mapping dies"
    found = probes.get(name) if isinstance(probes, Mapping) else None
    if is_missing(found) or not isinstance(found, Mapping) or not found:
        raise Refuse(what, "no probes yet", f"store them by their silence in s: {_PROBES}", expected)
    alive = [silence for silence, arrived in found.items() if arrived is True]
    dead = [silence for silence, arrived in found.items() if arrived is False]
    if not alive or not dead:
        hint = "try shorter and longer silences until you have both: a datagram that arrives, and one that is lost"
        return Check.failing(what, f"all probes ended {'well' if alive else 'in a loss'}", hint, expected)
    last, first = max(alive), min(dead)
    shown = f"arrives after {last:g} s, is lost after {first:g} s"
    if first - last > 1:
        hint = "go on between these two until they are one second apart"
        return Check.failing(what, shown, hint, expected, shown)
    if first != limit_s:
        said = {"nothing": "exchanges=0", "one": "exchanges=1", "four": "exchanges=4"}[name]
        hints = ("was this the case? Each probe begins anew", f"lab18.late(lab, silence, {said})")
        return Check.failing(what, f"{shown}: this is not so here", hints, expected, shown)
    return Check.passing(what, expected, f"it dies at {first:g} s")


# --- Two homes call each other


@guarded("Lab 18, a call")
def check_call(lab: Checkable) -> Iterator[Check]:
    """Judge by packets that two homes reach each other, whoever begins, and that nobody gets in without a call."""
    live = _home_lab(lab)
    for first, begins in (("h1", (0, 2)), ("h2", (2, 0))):
        arrived = call(live, *begins)
        what, expected = f"{first} begins", "both get the other's datagrams"
        hints: Hints = (
            "the first datagram meets a router that does not expect it: what does that router do with it?",
            "a router that answers has a mapping for it, and that takes the port: it must drop the datagram",
            "nft add rule ip home in iifname r1-eth1 ct state new drop, and the same at r2",
        )
        deaf = [host for host, times in arrived.items() if not times]
        if deaf:
            yield Check.failing(what, f"nothing arrived at {' and '.join(deaf)}", hints, expected)
        else:
            yield Check.passing(what, expected, f"{len(arrived['h1'])} and {len(arrived['h2'])} datagrams")
    alone = call(live, 0, 20)["h2"]
    what, expected = "h2 does not call", "nothing arrives at h2"
    if alone:
        hint = "a rule lets everything in: the home must drop what it has not asked for"
        yield Check.failing(what, "h1's datagrams arrive all the same", hint, expected)
    else:
        yield Check.passing(what, expected)


check_hello = letter("Lab 18, the first datagram", _FOLDER, "hello")
"""Judge what the first datagram of a call meets at the other home."""
check_hang = letter("Lab 18, a page that hangs", _FOLDER, "hang")
"""Judge why pings pass, and the page does not."""


# --- Path MTU, broken


@guarded("Lab 18, the page")
def check_page(lab: Checkable) -> Result:
    """Judge by packets that the page gets home while h3 goes on dropping what tells of the MTU."""
    checks = collect_checks(lambda: _page(_home_lab(lab)))
    return PREDICTIONS.compared(Result("Lab 18, the page", checks), "mss", {"mss": float(MSS_BYTES)})


def _page(live: LiveLab) -> Iterator[Check]:
    what, expected = "h3's filter", "as the cell made it"
    rules = live["h3"].cmd("nft list table ip wall")
    if WALL.partition("icmp type")[2] not in rules or "accept" in rules.replace("policy accept", ""):
        hint = "you are at home, and h3 is not yours: run the cell with lab18.wall(lab) again, and mend r1"
        raise Refuse(what, "it is another one", hint, expected)
    yield Check.passing(what, expected)
    state = live.state()
    for link in homes().links:
        for end in link.ends:
            face = state.interface(end.node, end.interface)
            if face is not None and face.mtu_bytes != link.mtu_bytes:
                hint = f"set it back: ip link set {end.interface} mtu {link.mtu_bytes}. Change what r1 says in the SYN"
                raise Refuse("MTU", f"{end.interface} has {face.mtu_bytes}", hint, str(link.mtu_bytes))
    live["h3"].cmd("ip route flush cache")
    size, seconds = page(live)
    what, expected = "the page", f"{_PAGE_BYTES} bytes"
    if size < _PAGE_BYTES:
        hints = (
            "h3 never learns that its segments are too large. Who can tell it beforehand how large they may be?",
            "the SYN from h1 has the MSS that h3 will use, and it passes r1: the chain through sees it",
            "nft add rule ip home through tcp flags syn tcp option maxseg size set rt mtu",
        )
        yield Check.failing(what, f"{size} bytes arrived in {seconds:.0f} s", hints, expected, f"{size} bytes")
    else:
        yield Check.passing(what, expected, f"in {seconds:.2f} s")


# --- A flood of SYNs

_FLOODS: Final = '{"slow": lab18.flood(server, 0.4, 100, [90]), "fast": lab18.flood(server, 16, 10, [3, 5])}'
_LONG: Final = "let it last: the first entries end after 63 s"


def _flood(what: str, given: object, rate: float, seconds: int) -> Mapping[str, Any]:
    """Return what `flood` returned for this rate; refuse everything else."""
    if is_missing(given):
        raise Refuse(what, "not measured yet", f"store {_FLOODS}")
    if not isinstance(given, Mapping) or not {"rate", "half_open", "served"} <= set(given):
        raise Refuse(what, f"this is {a_kind(given)}", "store what lab18.flood(...) returns, as it is")
    if rate and given["rate"] != rate:
        raise Refuse(what, f"the rate was {given['rate']}", f"write {rate:g}", f"{rate:g}", f"{given['rate']}")
    if len(given["half_open"]) < seconds:
        hint = _LONG if seconds > lifetime_s() else f"write {seconds} seconds or more"
        raise Refuse(what, f"it lasted {len(given['half_open'])} s", hint, f"{seconds} s or more")
    return given


@guarded("Lab 18, two floods")
def check_flood(floods: object) -> Result:
    """Judge two floods: how many half-open connections there are, and whether a real client is served."""
    found = floods if isinstance(floods, Mapping) else {}
    checks = collect_checks(lambda: _floods(found.get("slow"), found.get("fast")))
    right = {"entries": lasting_entries(SLOW, BACKLOG), "full_s": full_after_s(FAST, BACKLOG)}
    return PREDICTIONS.compared(Result("Lab 18, two floods", checks), "flood", right)


_COOKIES_OFF: Final = "sysctl -w net.ipv4.tcp_syncookies=0 on h3, before the flood"


def _floods(slow: object, fast: object) -> Iterator[Check]:
    one = _flood("slow", slow, SLOW, 90)
    kept = lasting_entries(SLOW, BACKLOG)
    expected = Expectation(
        kept, kept - 1, kept + 2, "", f"{SLOW:g} SYNs a second, each kept for {lifetime_s()} s", None,
        source="RFC 6298, section 5.5, and tcp_synack_retries=5",
        allowance="one entry that has just come or gone, and the instants of the kernel's timers",
    )  # fmt: skip
    last = one["half_open"][70:90]
    again = "wait 100 s between two floods: old entries end then"
    yield measured("half-open connections at the end, slow", sum(last) / len(last), expected, (_LONG, again))
    yield _served("slow", one, 90, served=True)
    two = _flood("fast", fast, FAST, 8)
    full_s = full_after_s(FAST, BACKLOG) or 0.0
    reached = next((at + 0.5 for at, count in enumerate(two["half_open"]) if count >= BACKLOG), None)
    if reached is None:
        yield Check.failing("fast", "the backlog was never full", _COOKIES_OFF, f"full at {full_s:g} s")
    else:
        within = Expectation(
            full_s, full_s - 0.5, full_s + 0.5, "s", f"{BACKLOG} entries at {FAST:g} a second", None,
            source="arithmetic", allowance="a count each second",
        )  # fmt: skip
        yield measured("the backlog is full, fast", reached, within, again)
    yield _served("fast", two, 3, served=True)
    yield _served("fast", two, 5, served=False)


def _served(name: str, found: Mapping[str, Any], at_s: float, *, served: bool) -> Check:
    what, expected = f"{name}, a client at {at_s:g} s", "served" if served else "no answer"
    was = found["served"].get(at_s)
    if was is None:
        return Check.failing(what, "there was none", f"give the instants of clients last: {_FLOODS}", expected)
    if was != served:
        hint = _COOKIES_OFF if was else "was the backlog full of an earlier flood? Wait 100 s between two"
        return Check.failing(what, "served" if was else "no answer", hint, expected)
    return Check.passing(what, expected)


@guarded("Lab 18, cookies")
def check_cookies(lab: Checkable) -> Iterator[Check]:
    """Judge by packets that a real client is served while the server is flooded."""
    live = _home_lab(lab)
    found = flood(live, FAST, 8, [6])
    what, expected = "a client at 6 s of a fast flood", "served"
    hints = (
        "a server that keeps nothing has nothing that can be full: where could it put what it must know?",
        "Linux has this switch, net.ipv4.tcp_syncookies, and 0 is off",
        "sysctl -w net.ipv4.tcp_syncookies=1 on h3",
    )
    if max(found["half_open"], default=0) < BACKLOG - 1:
        hint = "the backlog must fill as before: change nothing but the cookies"
        yield Check.failing("the flood", "it does not fill the backlog", hint, f"{BACKLOG} entries")
    was = found["served"].get(6.0)
    yield Check.passing(what, expected) if was else Check.failing(what, "no answer", hints, expected)


def _never_full(given: object) -> Check:
    """Judge a flood that would fill the backlog if each entry were kept for 63 s."""
    what = "the run that shows it"
    run = _flood(what, given, 0, 0)
    rate = run["rate"]
    if not BACKLOG / lifetime_s() < rate <= 2:  # Linux lets none of these fill it
        raise Refuse(what, f"{rate:g} SYNs a second", "the sentence speaks of two a second", "2")
    due_s = BACKLOG / rate
    later = {at: was for at, was in run["served"].items() if at > due_s}
    if len(run["half_open"]) < due_s + 5 or not later:
        hint = f"by the sentence it is full after {due_s:.0f} s: flood for longer, and let a client try after that"
        raise Refuse(what, "it ended too early, or no client tried late enough", hint)
    most = max(run["half_open"])
    return contradicts(
        "the backlog is full and the client gets no answer",
        f"at most {most} of {BACKLOG} entries, and the client was {'' if all(later.values()) else 'not '}served",
        is_wrong=most < BACKLOG and all(later.values()),
        step=_COOKIES_OFF,
    )


check_claim = claim("Lab 18, a claim to test", _FOLDER, _never_full)
"""Judge the number of the wrong sentence on floods, and the flood that shows it."""


# --- IPv6


def link_local(mac: str) -> str:
    """Return the link-local address that an interface gives itself (RFC 4291, appendix A; RFC 4862, section 5.3)."""
    numbers = [int(part, 16) for part in mac.split(":")]
    whole = [0xFE, 0x80, *[0] * 6, numbers[0] ^ 2, *numbers[1:3], 0xFF, 0xFE, *numbers[3:]]
    return str(IPv6Address(bytes(whole)))


_MACS: Final = ("00:00:00:00:00:03", "52:54:00:ab:cd:ef", "0a:1b:2c:3d:4e:5f")


@guarded("Lab 18, an address from a MAC")
def check_link_local(function: object) -> Iterator[Check]:
    """Judge a function that computes the link-local address of an interface from its MAC address."""
    if not callable(function):
        raise Refuse("link_local", "not written yet", "give the function itself, without parentheses")
    for mac in _MACS:
        given = call_function(function, (mac,))
        what, right = f'link_local("{mac}")', IPv6Address(link_local(mac))
        try:
            found = IPv6Address(str(given).strip().partition("%")[0])
        except ValueError:
            hint = "return a text as fe80::1234:56ff:fe78:9abc"
            yield Check.failing(what, f"it gives {given!r}"[:120], hint, "an address of IPv6")
            continue
        hints: Hints = (
            "the six bytes become eight: what comes into their middle, and which bit changes?",
            "ff:fe comes into the middle, and the bit of value 2 of the first byte is turned",
            "fe80:: and the four groups: first byte ^ 2 with the second; third and ff; fe and fourth; fifth and sixth",
        )
        if int(found) == int(right) ^ (2 << 56):
            hints = "the universal/local bit is missing: the first byte ^ 2"
        if found == right:
            yield Check.passing(what, str(right))
        else:
            yield Check.failing(what, f"it gives {found}", hints, "another address", str(found))


@guarded
def check_eyeballs(connect_ms: object) -> Result:
    """Judge how long curl needed to connect while IPv6 was dead, in ms, as curl printed it."""
    right = EYEBALLS_MS + rtt_ms()
    expected = Expectation(
        right, right - 0.1, right + 2, "ms", "curl's pause, and a round trip by IPv4", "low",
        source="RFC 8305, section 5", allowance="2 ms for curl's own start",
    )  # fmt: skip
    slips = (Slip(rtt_ms(), "that is a round trip alone", "was the path of IPv6 dead?"),)
    hints = ("curl prints seconds", "--happy-eyeballs-timeout-ms 200, and 1000 times what curl prints")
    value = Value("", "time to connect", expected, hints, slips, shown=True)
    result = asked_one("Lab 18, happy eyeballs", connect_ms, value)
    return PREDICTIONS.compared(result, "eyeballs", {"ms": right})


check_fragment = letter("Lab 18, a packet that is too large", _FOLDER, "fragment")
"""Judge who cuts a packet of IPv6 that is too large."""
