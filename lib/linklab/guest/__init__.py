"""What runs inside a lab, beside Mininet and the programs of the lab image."""

from __future__ import annotations

from typing import Final

SENT: Final = frozenset({"__init__", "errors", "units", "process_tree", "network", "guest", "runtime", "programs"})
"""The modules and rooms of Linklab that are sent into a lab. Of `runtime` and `programs` it is what confines students'
programs and tries them.
"""
