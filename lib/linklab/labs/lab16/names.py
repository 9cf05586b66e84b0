"""Lab 16's name servers: three nsd, each with the zone that the one before delegates to it; and questions by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from linklab.errors import LinklabError
from linklab.lab import Lab
from linklab.labs.lab16.networks import CLIENT, NAME_SERVERS, ROOT, SUB, TOP, WWW, ZONE, web

__all__ = ["NAME", "ask", "serve_names"]

NAME: Final = "www.shop.example"
DEEP_NAME: Final = "www.eu.shop.example"
"""The web server's name in the lab of the resolver's check."""
FORGED_NAMES: Final = ("mail.eu.shop.example", "ftp.eu.shop.example", "api.eu.shop.example")
"""Other names of it there, for which forged answers come."""
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


def zones(addresses: Mapping[str, str], ttl_s: int = TTL_S) -> dict[str, tuple[str, str]]:
    """Return the zone of each name server, and the text of its file; ``ttl_s`` is that of the web server's address.

    ``addresses`` are those of the name servers and of the web server; `SUB` has a zone where it is among them.
    """
    top, zone, www = (addresses[name] for name in (TOP, ZONE, WWW))
    keep = DELEGATION_TTL_S
    delegated = {
        ROOT: (".", f"@ {keep} NS ns.\nns. {keep} A {addresses[ROOT]}\n"
                    f"example. {keep} NS ns.example.\nns.example. {keep} A {top}\n"),
        TOP: ("example.", f"@ {keep} NS ns.example.\nns.example. {keep} A {top}\n"
                          f"shop.example. {keep} NS ns.shop.example.\nns.shop.example. {keep} A {zone}\n"),
        ZONE: ("shop.example.", f"@ {keep} NS ns.shop.example.\nns.shop.example. {keep} A {zone}\n"
                                f"{NAME}. {ttl_s} A {www}\nmail.shop.example. {2 * ttl_s} A {zone}\n"),
    }  # fmt: skip
    if SUB in addresses:
        name, text = delegated[ZONE]
        names = "".join(f"{it}. {ttl_s} A {www}\n" for it in (DEEP_NAME, *FORGED_NAMES))
        sub = f"ns.eu.shop.example. {keep} A {addresses[SUB]}\n"
        delegated[ZONE] = name, f"{text}eu.shop.example. {keep} NS ns.eu.shop.example.\n{sub}"
        delegated[SUB] = "eu.shop.example.", f"@ {keep} NS ns.eu.shop.example.\n{sub}{names}"
    return {
        server: (name, f"$ORIGIN {name}\n{_SOA.format(zone=name.lstrip('.'))}\n{text}")
        for server, (name, text) in delegated.items()
    }


def serve_names(lab: Lab, ttl_s: int = TTL_S) -> None:
    """Start the name servers. Raises LinklabError for a lab of another network."""
    _refuse_another(lab)
    addresses = {name: lab[name].address for name in (*NAME_SERVERS, SUB, WWW) if name in lab}
    for server, (zone, text) in zones(addresses, ttl_s).items():
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
