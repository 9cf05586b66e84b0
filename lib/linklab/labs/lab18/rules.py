"""What Lab 18, Who may start, asks of NAT, filters, a flooded server and two kinds of addresses, and how it is judged.

Rules of nftables are judged by what they do to packets: the checks send their own through the student's lab.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any, Final

from linklab.analysis import Expectation
from linklab.analysis.half_open import full_after_s, lasting_entries, lifetime_s
from linklab.grade.check import Check, Hints, Refuse, a_kind, collect_checks
from linklab.grade.choices import letter
from linklab.grade.measured import measured
from linklab.grade.questions import Slip, Value, as_number, asked_one, is_missing
from linklab.grade.reachability import Checkable, LiveLab, running
from linklab.grade.result import Result, guarded
from linklab.grade.wanted import refuse_another_network
from linklab.labs.claims import claim, contradicts
from linklab.labs.lab18.networks import (
    BACKLOG,
    OUTER,
    ROUTERS,
    WALL,
    advertise,
    call,
    exchange,
    flood,
    homes,
    mac,
    office,
    outer_address,
    page,
    rtt_ms,
)
from linklab.labs.lab18.questions import CASES, EYEBALLS_MS, FAST, PREDICTIONS, SLOW, eyeballs_slips, forged_frame

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
        elif " 1 received" not in live[host].cmd(f"ping -c 1 -W 1 {homes().address_of('h3')}"):
            hint = "does your rule leave some protocols out? A packet of any kind needs an address that has a way back"
            yield Check.failing(what, "its UDP is answered, its ping is not", hint, expected, seen)
        else:
            yield Check.passing(what, expected, seen)


_PROBES: Final = '{"one": {10: lab18.late(lab, 10, 1), ...}, "four": {100: lab18.late(lab, 100, 4), ...}}'


@guarded("Lab 18, a mapping's life")
def check_life(probes: Any) -> Result:
    """Judge probes of two cases: whether a datagram still gets home, by seconds of silence."""
    checks = collect_checks(lambda: (_died(name, limit_s, probes) for name, limit_s in CASES.items()))
    result = Result("Lab 18, a mapping's life", checks)
    found = {name: probes[name].items() for name in CASES} if result.passed else {}
    ends_s = {name: float(min(at for at, arrived in it if arrived is False)) for name, it in found.items()}
    return PREDICTIONS.compared(result, "life", ends_s)


def _died(name: str, limit_s: int, probes: object) -> Check:
    what, expected = f"the case {name}", "the second in which the mapping dies"
    found = probes.get(name) if isinstance(probes, Mapping) else None
    if not isinstance(found, Mapping) or not found:
        raise Refuse(what, "no probes yet", f"store them by their silence in s: {_PROBES}", expected)
    alive = [silence for silence, arrived in found.items() if arrived is True]
    dead = [silence for silence, arrived in found.items() if arrived is False]
    if not alive or not dead:
        hint = "try shorter and longer silences until you have both: a datagram that arrives, and one that is lost"
        return Check.failing(what, f"all probes ended {'well' if alive else 'in a loss'}", hint, expected)
    last, first = max(alive), min(dead)
    shown = f"arrives after {last:g} s, is lost after {first:g} s"
    if first < last:
        hint = "a mapping that has ended does not come back: are all of these probes of this case, and measured?"
        return Check.failing(what, shown, hint, expected, shown)
    if first - last > 1:
        hint = "go on between these two until they are one second apart"
        return Check.failing(what, shown, hint, expected, shown)
    if not last < limit_s <= first:
        hints = ("did h3 answer as often as this case says?", "lab18.late(lab, silence_s, exchanges): 1 and 4")
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


check_hang = letter("Lab 18, a page that hangs", _FOLDER, "hang")
"""Judge why pings pass, and the page does not."""


# --- Path MTU, broken


@guarded("Lab 18, the page")
def check_page(lab: Checkable) -> Result:
    """Judge by packets that the page gets home while h3 goes on dropping what tells of the MTU."""
    checks = collect_checks(lambda: _page(_home_lab(lab)))
    return PREDICTIONS.compared(Result("Lab 18, the page", checks), "mss", {})


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
            "the SYN from h1 has the MSS that h3 will use. Does your rule change it? Do MSS and headers fit?",
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
        raise Refuse(what, "not measured yet", f"store {_FLOODS if rate else 'a flood of your own, with a client'}")
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
    result = Result("Lab 18, two floods", checks)
    measured_here = {"entries": _kept(found["slow"]), "full_s": _full_s(found["fast"])} if result.passed else {}
    return PREDICTIONS.compared(result, "flood", measured_here)


def _kept(run: Mapping[str, Any]) -> float:
    """Return how many half-open connections there were in the end, on average."""
    return float(sum(run["half_open"][70:90]) / 20)


def _full_s(run: Mapping[str, Any]) -> float | None:
    """Return at which count the backlog was full; None if at none."""
    return next((at + 0.5 for at, count in enumerate(run["half_open"]) if count >= BACKLOG), None)


_COOKIES_OFF: Final = "sysctl -w net.ipv4.tcp_syncookies=0 on h3, before the flood"


def _floods(slow: object, fast: object) -> Iterator[Check]:
    one = _flood("slow", slow, SLOW, 90)
    kept = lasting_entries(SLOW, BACKLOG)
    expected = Expectation(
        kept, kept - 1, kept + 2, "", f"{SLOW:g} SYNs a second, each kept for {lifetime_s()} s", None,
        source="RFC 6298, section 5.5, and tcp_synack_retries=5",
        allowance="one entry that has just come or gone, and the instants of the kernel's timers",
    )  # fmt: skip
    again = "wait 100 s between two floods: old entries end then"
    yield measured("half-open connections at the end, slow", _kept(one), expected, (_LONG, again))
    yield _served("slow", one, 90, served=True)
    two = _flood("fast", fast, FAST, 8)
    full_s, reached = full_after_s(FAST, BACKLOG) or 0.0, _full_s(two)
    if reached is None:
        yield Check.failing("fast", "the backlog was never full", _COOKIES_OFF, f"full at {full_s:g} s")
    else:
        within = Expectation(
            full_s, full_s, full_s + 1, "s", f"{BACKLOG} entries at {FAST:g} a second", None,
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
    live["h3"].cmd("sleep 70")  # entries of an earlier flood would make way for the client
    found = flood(live, 4 * FAST, 8, [6])  # so fast that no place stays free for the time of a round trip
    what, expected = "a client at 6 s of a faster flood", "served"
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
    due_s, end_s = BACKLOG / rate, len(run["half_open"])
    later = [was for at, was in run["served"].items() if due_s < at <= end_s]
    if end_s < due_s + 5 or not later:
        hint = f"by the sentence it is full after {due_s:.0f} s: flood for longer, and let a client try after that"
        raise Refuse(what, "it ended too early, or no client tried late enough", hint)
    most = max(run["half_open"])
    return contradicts(
        "the backlog is full and the client gets no answer",
        f"at most {most} of {BACKLOG} entries, and the client was {'' if all(later) else 'not '}served",
        is_wrong=most < BACKLOG and all(later),
        step=_COOKIES_OFF,
    )


check_claim = claim("Lab 18, a claim to test", _FOLDER, _never_full)
"""Judge the number of the wrong sentence on floods, and the flood that shows it."""


# --- Who has an address

_ANSWER: Final = re.compile(r"ARP: (\S+) is at (\S+)")
_FRAMES: Final = "store what lab18.frames(...) returns of lab18.spoof(office), as it is"


@guarded("Lab 18, a forged answer")
def check_spoof(lines: object, forged_number: object) -> Result:
    """Judge the number of the frame in which a host answers for an address of another one; ``lines`` are `frames`'."""
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        reason = "not recorded yet" if is_missing(lines) else f"this is {a_kind(lines)}"
        raise Refuse("the recording", reason, _FRAMES)
    owners = {office().address_of(host): mac(host) for host in ("h1", "h2", "h3")}
    answers = {number: said for number, line in enumerate(lines, 1) if (said := _ANSWER.search(line))}
    forged = [number for number, said in answers.items() if owners.get(said[1], said[2]) != said[2]]
    if len(forged) != 1:
        raise Refuse("the recording", f"{len(forged)} forged answers in it, and not one", _FRAMES)
    slips = [Slip(number, *_remark(line)) for number, line in enumerate(lines, 1) if number not in forged]
    result = asked_one("Lab 18, a forged answer", forged_number, forged_frame(forged[0], slips))
    at_h3 = "".join(line for line in lines if f"> {mac('h3')}" in line)
    went = {"requests": float(at_h3.count("echo request")), "replies": float(at_h3.count("echo reply"))}
    return PREDICTIONS.compared(result, "spoof", went)


def _remark(line: str) -> tuple[str, str]:
    """Return what a frame is that is not forged, and where to look instead."""
    if "who has" in line:
        return "that is a question of ARP", "which frames say where an address is?"
    if _ANSWER.search(line):
        return "that is a true answer", "it comes from the host whose address it tells"
    return "that is a ping", "which frame made h1 send its pings elsewhere?"


# --- IPv6


@guarded("Lab 18, an address by SLAAC")
def check_slaac(lab: Checkable, address: object) -> Iterator[Check]:
    """Let r1 advertise its prefix, and judge whether h1 then has the address that was predicted."""
    what, expected, form = "h1's address", "the one that h1 forms", 'a text as "2001:db8::1234:56ff:fe78:9abc"'
    if is_missing(address):
        raise Refuse(what, "not filled in yet", form, expected)
    try:
        given = IPv6Address(str(address).strip().partition("/")[0].partition("%")[0])
    except ValueError:
        raise Refuse(what, f"{address!r} is no address of IPv6"[:120], form, expected) from None
    formed = advertise(_home_lab(lab))
    if not formed:
        raise Refuse(what, "h1 has formed none", "start section 5's lab again: accept_ra of h1 must be 1", expected)
    differs = int(IPv6Address(formed)) ^ int(given)
    hints: Hints = (
        "the prefix is the upper half. The six bytes of the MAC address become eight: what comes into their middle?",
        "ff:fe comes into the middle, and the bit of value 2 of the first byte is flipped",
        "prefix, then four groups: first byte ^ 2 with the second; third and ff; fe and fourth; fifth and sixth",
    )
    if differs == 2 << 56:
        hints = "one bit is not flipped: the first byte ^ 2"
    elif differs % 2**64 == 0:
        hints = "the lower half is right. The upper half is the prefix that r1 advertises, lab18.prefix()"
    if differs:
        yield Check.failing(what, f"h1 has another one than {given}", hints, expected, str(given))
    else:
        yield Check.passing(what, formed)


@guarded
def check_eyeballs(connect_ms: object) -> Result:
    """Judge how long curl needed to connect while IPv6 was dead, in ms, as curl printed it."""
    right = EYEBALLS_MS + rtt_ms()
    expected = Expectation(
        right, right - 0.1, right + 2, "ms", "curl's pause, and a round trip by IPv4", "low",
        source="RFC 8305, section 5", allowance="2 ms for curl's own start",
    )  # fmt: skip
    hints = ("curl prints seconds", "--happy-eyeballs-timeout-ms 200, and 1000 times what curl prints")
    value = Value("", "time to connect", expected, hints, eyeballs_slips(), shown=True)
    result = asked_one("Lab 18, happy eyeballs", connect_ms, value)
    return PREDICTIONS.compared(result, "eyeballs", {"ms": as_number(connect_ms)})


check_fragment = letter("Lab 18, a packet that is too large", _FOLDER, "fragment")
"""Judge who cuts a packet of IPv6 that is too large."""
