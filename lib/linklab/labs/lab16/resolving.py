"""A student's resolver: it runs on Lab 16's client, confined, and what it sends is seen by its packets."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from linklab.errors import LabError
from linklab.lab import Lab
from linklab.labs.lab16.networks import CLIENT, NAME_SERVERS, ROOT, SUB, web
from linklab.measure import recorded
from linklab.measure.headers import ip_of
from linklab.program import Program
from linklab.programs.engine import in_lab

__all__ = ["head", "start_resolver"]

_FOLDER: Final = "/run/resolver"
_LOG: Final = "/run/resolver.log"
WAIT_S: Final = 2
"""How long a resolver waits for the answer of a server."""
_HEAD: Final = """\
import random, socket, time, traceback
import dns.edns, dns.message, dns.rcode, dns.rdatatype, dns.rrset

ROOT = "{root}"
WAIT_S = {wait_s}


def addresses(section):  # the IPv4 addresses in a section, each with its TTL: [("10.0.4.2", 3600)]
    return [(one.address, each.ttl) for each in section if each.rdtype == dns.rdatatype.A for one in each]


class Resolver:
    def __init__(self):
        self.kept = {{}}  # for what you keep

    def ask(self, server, name):  # the server's answer; None if none that fits comes within 2 s
        query = dns.message.make_query(name, "A", flags=0)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
            door.connect((server, 53))
            door.send(query.to_wire())
            end_s = time.monotonic() + WAIT_S
            while (left_s := end_s - time.monotonic()) > 0:
                door.settimeout(left_s)
                try:
                    answer = dns.message.from_wire(door.recv(4096))
                except (OSError, dns.exception.DNSException):
                    continue
                if self.fits(query, answer):
                    return answer
        return None
"""
_TAIL: Final = """

mine = Resolver()
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as front:
    front.bind(("127.0.0.1", 53))
    print("ready", flush=True)
    while True:
        data, who = front.recvfrom(4096)
        asked = dns.message.from_wire(data)
        reply = dns.message.make_response(asked, recursion_available=True)
        name, kind = asked.question[0].name, asked.question[0].rdtype
        try:
            found = mine.resolve(str(name)) if kind == dns.rdatatype.A else None
            if found:
                if not isinstance(found, (tuple, list)) or len(found) != 2:
                    raise TypeError(f"resolve returns {found!r}, and not an address and its seconds")
                address, left_s = found
                reply.answer.append(dns.rrset.from_text(name, max(0, round(left_s)), "IN", "A", address))
        except Exception as error:
            traceback.print_exc()
            found, said = None, f"{type(error).__name__}: {error}"[:200]
            reply.use_edns(options=[dns.edns.EDEOption(0, said)])  # RFC 8914: what else there is to say
        if not found and kind == dns.rdatatype.A:
            reply.set_rcode(dns.rcode.SERVFAIL)
        front.sendto(reply.to_wire(), who)
"""


def head(root: str = "") -> str:
    """Return the first part of each resolver: `addresses`, and a class that can ask a server.

    ROOT there is ``root``, or else the address of the student's own root server.
    """
    return _HEAD.format(root=root or web().address_of(ROOT), wait_s=WAIT_S)


class RunningResolver:
    """A resolver on the client, which programs there ask for names."""

    def __init__(self, lab: Lab, program: Program) -> None:
        self._lab, self._program = lab, program

    @property
    def output(self) -> str:
        """What it has printed so far, with tracebacks of its exceptions."""
        return self._lab.read_file(_LOG).decode(errors="replace").removeprefix("ready\n")

    @property
    def running(self) -> bool:
        """Whether its process still runs."""
        return self._program.poll() is None

    def __repr__(self) -> str:
        said = self.output.strip()
        return f"<resolver {'runs' if self.running else 'has ended'}{said and f': {said.splitlines()[-1]}'}>"


def start_resolver(lab: Lab, methods: str) -> RunningResolver:
    """Start a resolver on the client: `head`, and the student's methods ``fits`` and ``resolve``; an earlier one ends.

    Raises `LabError` with its last line where it ends at once.
    """
    client = lab[CLIENT]
    client.cmd("fuser -k -n udp 53; sysctl -q -w net.ipv4.ip_unprivileged_port_start=53")
    lab.write_file("/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:30 attempts:1\n")
    code = f"{head(lab[ROOT].address)}\n{methods}{_TAIL}"
    files = {"resolver.py": base64.b64encode(code.encode()).decode()}
    words = lab.process.call(in_lab.confined_words, _FOLDER, files, ["/usr/bin/python3", "resolver.py"], _LOG)
    resolver = RunningResolver(lab, client.popen(words))
    while "ready" not in lab.read_file(_LOG).decode(errors="replace"):
        if not resolver.running:
            said = resolver.output.strip().splitlines() or ["it printed nothing"]
            raise LabError(f"the resolver ended at once: {_where(resolver.output)}{said[-1]}")
        lab.sleep(0.05)
    return resolver


def _where(traceback: str) -> str:
    """Return the line of the student's methods that a traceback names last, in words; nothing for another line."""
    named = re.findall(r", line (\d+)", traceback)
    line = int(named[-1]) - head().count("\n") - 1 if named else 0
    return f"line {line} of your methods: " if line > 0 else ""


# --- Questions to it, at exact instants, and forged answers

_STUB: Final = """\
import dns.message, dns.query, dns.rdatatype, json, sys, time
got_s, told = [], []
for name, behind, later_s in json.loads(sys.argv[1]):
    due_s = (got_s[behind] if behind is not None else time.monotonic()) + later_s
    time.sleep(max(0, due_s - time.monotonic()))
    asked_s = time.monotonic()
    found, raised = None, ""
    try:
        answer = dns.query.udp(dns.message.make_query(name, "A"), "127.0.0.1", timeout=60)
        found = [[one.address, each.ttl] for each in answer.answer for one in each]
        raised = "".join(it.text for it in answer.options if it.otype == 15)
    except Exception:
        pass
    got_s.append(time.monotonic())
    told.append([asked_s, time.monotonic(), found, raised])
print(json.dumps(told))
"""
_FORGE: Final = """\
import dns.message, dns.rdatatype, dns.rrset, json, socket, struct, sys
kinds, server, address = json.loads(sys.argv[1])
sniffed = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
sniffed.bind(("r1-eth0", 0))
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
print("ready", flush=True)
while True:
    frame = sniffed.recv(2048)
    if frame[12:14] != b"\\x08\\x00" or frame[23] != 17 or frame[30:34] != socket.inet_aton(server):
        continue
    if frame[36:38] != b"\\x00\\x35":
        continue
    query = dns.message.from_wire(frame[42:])
    forged = dns.message.make_response(query)
    name = query.question[0].name
    kind = kinds.get(name.to_text(omit_final_dot=True).lower())
    if kind is None:
        continue
    if kind == "id":
        forged.id ^= 0x5555
    if kind == "name":
        name = dns.name.from_text("bank.shop.example.")
        forged.question[0].name = name
    if kind == "type":
        forged.question[0].rdtype = dns.rdatatype.MX
    forged.answer.append(dns.rrset.from_text(name, 3600, "IN", "A", address))
    data = forged.to_wire()
    udp = frame[36:38] + frame[34:36] + struct.pack("!HH", 8 + len(data), 0) + data
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0) + frame[30:34] + frame[26:30]
    raw.sendto(head + udp, (socket.inet_ntoa(frame[26:30]), 0))
"""
_DNS_PORT: Final = (53).to_bytes(2)
FORGED: Final = "192.0.2.66"
"""The address in forged answers, from a block for documentation (RFC 5737)."""
Step = tuple[str, int | None, float]
"""A question: a name, the step behind whose answer it waits, and for how many seconds."""


@dataclass(frozen=True)
class SentQuery:
    """A question that the resolver sent: when (in s), to which server, for which name.

    The server's address stands for a name where no name server has it.
    """

    at_s: float
    server: str
    name: str


@dataclass(frozen=True)
class Asked:
    """A question to the resolver: the addresses of its answer with their TTL, if one came, and what it sent.

    ``raised`` is the exception that its method ``resolve`` ended with, if so.
    """

    asked_s: float
    got_s: float
    found: tuple[tuple[str, float], ...] | None
    sent: tuple[SentQuery, ...]
    raised: str = ""

    @property
    def servers(self) -> list[str]:
        """The servers that were asked, in order."""
        return [it.server for it in self.sent]


def questions(lab: Lab, steps: Sequence[Step], forge: Mapping[str, str] | None = None) -> list[Asked]:
    """Ask the client's resolver, and return what it answers and sends.

    A program on r1 answers questions to the last name server before that does, if they are for a name in ``forge``. By
    what stands there, its answer has another id (``"id"``), or is for another name or of another type.
    """
    lab.write_file("/tmp/stub.py", _STUB)
    lab.write_file("/tmp/forge.py", _FORGE)
    servers = {lab[server].address: server for server in (*NAME_SERVERS, SUB) if server in lab}
    forger = None
    if forge:
        asked = json.dumps([forge, [*servers][-1], FORGED])
        forger = lab["r1"].popen(["python3", "/tmp/forge.py", asked])
        next(iter(forger))
    with recorded(lab, "client-eth0") as recording:
        printed = lab[CLIENT].cmd(f"python3 /tmp/stub.py '{json.dumps(steps)}'")
    if forger is not None:
        forger.terminate()
    sent = []
    for hop in recording.hops:
        ip = ip_of(hop.head)
        if hop.interface != "client-eth0" or ip is None or ip.protocol != 17:
            continue
        if hop.head[ip.data + 2 : ip.data + 4] == _DNS_PORT:
            server = servers.get(ip.destination, ip.destination)
            sent.append(SentQuery(hop.queued_ns / 1e9, server, _name(hop.head[ip.data + 20 :])))
    told = json.loads(printed.splitlines()[-1])
    return [
        Asked(asked_s, got_s, None if found is None else tuple((address, ttl) for address, ttl in found),
              tuple(it for it in sent if asked_s <= it.at_s <= got_s), raised)
        for asked_s, got_s, found, raised in told
    ]  # fmt: skip


def _name(data: bytes) -> str:
    """Return the name that begins a question, as far as it was recorded."""
    labels, at = [], 0
    while at < len(data) and data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode(errors="replace"))
        at += 1 + data[at]
    return ".".join(labels).lower()
