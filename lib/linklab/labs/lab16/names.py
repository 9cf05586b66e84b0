"""Lab 16's name servers: three nsd, each with the zone that the one before delegates to it; and questions by hand."""

from __future__ import annotations

import json
from typing import Final

from linklab.errors import LinklabError
from linklab.lab import Lab
from linklab.labs.lab16.networks import CLIENT, NAME_SERVERS, ROOT, TOP, WWW, ZONE, web

__all__ = ["NAME", "ask", "serve_names"]

NAME: Final = "www.shop.example"
TTL_S: Final = 30
"""How long the web server's address may be kept."""
DELEGATION_TTL_S: Final = 3600
"""How long it may be kept which servers a zone has."""
_SOA: Final = "@ 3600 IN SOA ns.{zone} admin.{zone} 1 3600 600 86400 60"
_CONFIG: Final = """\
server:
    do-ip6: no
    username: ""
    chroot: ""
    pidfile: ""
    logfile: "{folder}/log"
    xfrdfile: ""
    zonelistfile: "{folder}/zones"
    zonesdir: "{folder}"
    rrl-ratelimit: 0
remote-control:
    control-enable: no
zone:
    name: "{zone}"
    zonefile: "{folder}/zone"
"""
_ASK: Final = """\
import dns.message, dns.query, json, sys
name, server = json.loads(sys.argv[1])
print(dns.query.udp(dns.message.make_query(name, "A", flags=0), server, timeout=5))
"""


def zones(ttl_s: int = TTL_S) -> dict[str, tuple[str, str]]:
    """Return the zone of each name server, and the text of its file; ``ttl_s`` is that of the web server's address."""
    network = web()
    top, zone, www = (network.address_of(name) for name in (TOP, ZONE, WWW))
    keep = DELEGATION_TTL_S
    delegated = {
        ROOT: (".", f"@ {keep} NS ns.\nns. {keep} A {network.address_of(ROOT)}\n"
                    f"example. {keep} NS ns.example.\nns.example. {keep} A {top}\n"),
        TOP: ("example.", f"@ {keep} NS ns.example.\nns.example. {keep} A {top}\n"
                          f"shop.example. {keep} NS ns.shop.example.\nns.shop.example. {keep} A {zone}\n"),
        ZONE: ("shop.example.", f"@ {keep} NS ns.shop.example.\nns.shop.example. {keep} A {zone}\n"
                                f"{NAME}. {ttl_s} A {www}\nmail.shop.example. {2 * ttl_s} A {zone}\n"),
    }  # fmt: skip
    return {
        server: (name, f"$ORIGIN {name}\n{_SOA.format(zone=name.lstrip('.'))}\n{text}")
        for server, (name, text) in delegated.items()
    }


def serve_names(lab: Lab, ttl_s: int = TTL_S) -> None:
    """Start the three name servers. Raises LinklabError for a lab of another network."""
    _refuse_another(lab)
    for server, (zone, text) in zones(ttl_s).items():
        folder = f"/tmp/{server}"
        lab.write_file(f"{folder}/zone", text)
        lab.write_file(f"{folder}/config", _CONFIG.format(folder=folder, zone=zone))
        lab[server].popen(f"exec nsd -d -c {folder}/config")
        lab[server].wait_listening(53, protocol="udp")


def ask(lab: Lab, server: str, name: str = NAME) -> str:
    """Return what a name server answers to the client's question for a name's IPv4 address, as dnspython prints it."""
    _refuse_another(lab)
    if server not in NAME_SERVERS:
        raise LinklabError(f"{server!r} is no name server: ask one of {', '.join(NAME_SERVERS)}")
    lab.write_file("/tmp/ask.py", _ASK)
    return lab[CLIENT].cmd(f"python3 /tmp/ask.py '{json.dumps([name, web().address_of(server)])}'")


def _refuse_another(lab: Lab) -> None:
    if not {CLIENT, *NAME_SERVERS, WWW} <= set(lab):
        raise LinklabError("this needs the network of this lab: lab = start(lab16.web())")
