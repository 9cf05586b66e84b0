"""What Lab 02 asks besides the program."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from linklab.grade.choices import letters
from linklab.published import publication

__all__ = ["REPORT_MBPS"]

REPORT_MBPS: Final[float] = publication("report").row("numbers", case=3, name="h1-h4", quantity="throughput_mbps")[
    "value"
]
"""What the course report's simpleperf measured from h1 to h4 in 25 s, in Mbit/s."""


check_stream = letters("Lab 02, a stream of bytes", Path(__file__).parent)
"""Judge what ``recv`` may return of two writes, by letter."""
