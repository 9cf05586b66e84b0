"""What Lab 02 asks besides the program."""

from __future__ import annotations

from pathlib import Path

from linklab.grade.choices import letters
from linklab.labs.lab02.sends import cost_of_sends
from linklab.labs.lab02.trying import alone, between, intervals, loopback, serving, total_mbps

__all__ = ["alone", "between", "check_stream", "cost_of_sends", "intervals", "loopback", "serving", "total_mbps"]


check_stream = letters("Lab 02, a stream of bytes", Path(__file__).parent)
"""Judge what ``recv`` may return of two writes, by letter."""
