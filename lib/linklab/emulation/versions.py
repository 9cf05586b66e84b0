"""Versions of the tools in a lab, for the metadata of what is measured."""

from __future__ import annotations

import subprocess
import sys

from mininet.net import VERSION

_ASKED = {"iperf3": ["iperf3", "--version"], "iproute2": ["ip", "-V"], "ping": ["ping", "-V"]}


def tool_versions(context: object = None) -> dict[str, str]:
    """The first line that each tool says of itself; ``missing`` for one that is not there."""
    found = {"mininet": VERSION, "python": sys.version.split()[0]}
    for name, words in _ASKED.items():
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        except OSError:
            found[name] = "missing"
            continue
        said = (done.stdout or done.stderr).splitlines()
        found[name] = said[0] if said else "unknown"
    return found
