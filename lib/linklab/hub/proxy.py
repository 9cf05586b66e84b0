"""The hub's door to the network."""

from __future__ import annotations

import ipaddress
import os
import shutil
from urllib.parse import urlsplit

from jupyterhub.proxy import ConfigurableHTTPProxy

from linklab.errors import LinklabError

_DEBIANS_MODULES = "/usr/share/nodejs"


def refuse_open_door(url: str, certificate: str) -> None:
    """Raise LinklabError if ``url`` is an address of more than this machine and there is no TLS certificate for it.

    Passwords would cross the network for everybody to read. An address without a host means all of the machine's.
    """
    host = urlsplit(url).hostname or ""
    try:
        own = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        own = False
    if not own and not certificate:
        raise LinklabError(
            f"the hub would take passwords at {host or 'every address of this machine'} without TLS: give it a "
            "certificate too, --ssl-cert FILE --ssl-key FILE, or leave it on 127.0.0.1"
        )


class GuardedProxy(ConfigurableHTTPProxy):  # type: ignore[misc]
    """JupyterHub's proxy, which does not start without TLS but on loopback.

    It looks when everything has been said, in files and on the command line, so there is no way around it.
    """

    async def start(self) -> None:
        """Start the proxy, or end the hub with one line."""
        try:
            refuse_open_door(self.public_url, self.ssl_cert)
            if shutil.which(self.command[0]) is None:
                raise LinklabError(
                    f"the hub's proxy {self.command[0]} is missing: sudo apt-get install node-configurable-http-proxy"
                )
        except LinklabError as error:
            self.app.exit(f"linklab: {error}")
        # a Node.js that is not Debian's does not look where Debian's packages lie
        os.environ.setdefault("NODE_PATH", _DEBIANS_MODULES)
        await super().start()
