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


_FOLDER: Final = Path(__file__).parent
check_stream = letters("Lab 02, a stream of bytes", _FOLDER, "stream")
"""Judge what ``recv`` may return of two writes, by letter."""
check_pieces = letters("Lab 02, the cost of pieces", _FOLDER, "pieces")
"""Judge why large pieces cost less, and change nothing between h1 and h4, by letter."""
check_in_band = letters("Lab 02, an end that data cannot imitate", _FOLDER, "end", "length")
"""Judge which end no data can imitate, and how a length says the end of what has no known length, by letter."""
