"""Asking for a tool before it is used."""

from __future__ import annotations

import re
from weakref import WeakKeyDictionary

from linklab.errors import MeasurementError
from linklab.lab import Lab

_TOOLS = {
    "ping": ("ping -V", re.compile(r"ping from iputils \d+"), "iputils-ping"),
    "iperf3": ("iperf3 --version", re.compile(r"iperf (3\.\d+)\S*"), "iperf3"),
    "python3": ("python3 --version", re.compile(r"Python 3\.\S+"), "python3"),
}
_found: WeakKeyDictionary[Lab, dict[str, str]] = WeakKeyDictionary()


def tool_version(lab: Lab, tool: str, node: str) -> str:
    """What the tool calls itself in this lab, asked once. Raises MeasurementError with the fix where it is missing."""
    known = _found.setdefault(lab, {})
    if tool not in known:
        command, _, _ = _TOOLS[tool]
        known[tool] = read_version(tool, lab[node].cmd(f"LC_ALL=C {command}"))
    return known[tool]


def read_version(tool: str, said: str) -> str:
    """The version in a tool's answer. Pure. Raises MeasurementError for no answer, or that of another tool."""
    _, pattern, package = _TOOLS[tool]
    version = pattern.search(said)
    if version is None:
        answer = " ".join(said.split())[:100]
        raise MeasurementError(
            f"{tool} of the package {package} is needed and {answer!r} came instead: sudo apt-get install {package}"
        )
    return version[0]
