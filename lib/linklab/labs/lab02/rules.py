"""What Lab 02 asks besides the program."""

from __future__ import annotations

from pathlib import Path

from linklab.grade.choices import choices
from linklab.grade.questions import asked
from linklab.grade.result import Result, guarded
from linklab.labs.lab02.sends import cost_of_sends
from linklab.labs.lab02.trying import alone, between, intervals, loopback, serving, total_mbps

__all__ = ["alone", "between", "check_stream", "cost_of_sends", "intervals", "loopback", "serving", "total_mbps"]


@guarded
def check_stream(answers: object) -> Result:
    """Judge what ``recv`` may return of two writes, by letter."""
    return asked("Lab 02, a stream of bytes", answers, choices(Path(__file__).parent))
