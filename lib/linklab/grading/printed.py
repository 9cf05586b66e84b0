"""The numbers that the labs of one notebook printed: those that a measurement has must be among them."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any, Final

from linklab.measure import PingResult, Run, SimpleperfResult, TcpResult, UdpResult
from linklab.measure.results import Origin, ToolResult

_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")
_LONGEST_NUMBER: Final = 24
_MOST_NUMBERS: Final = 1_000_000
_LOOKED_AT: Final = 300
_SCALES: Final = (1.0, 1e3, 1e6, 1e9, 1e-3, 1e-6, 1e6 / 8, 1e3 / 8)
"""A result has Mbit/s and ms; tools print bit/s, bytes in a second, seconds, microseconds and nanoseconds too."""
_PRINTED: Final = (PingResult, TcpResult, UdpResult, SimpleperfResult)
"""Results that have the numbers of what their programs print. Those of others have differences of times alone."""
_LEAST_SHARE: Final = 0.2
"""Of a measurement's numbers that a lab has printed. The others are computed: means, differences, sums."""
_LEAST_COPIED: Final = 0.5
"""Of the numbers in a text that a command printed, and in a list of samples. Times may come of the lab's clock."""
_DIGITS: Final = 3
"""A number with as many digits tells of one run; shorter ones stand everywhere."""
_FEWEST_IN_A_TEXT: Final = 3
_FEWEST_IN_A_LIST: Final = 20


class Printed:
    """Hears what labs answer, and tells whether a measurement can come of it."""

    def __init__(self) -> None:
        self._numbers: set[str] = set()
        self._before = ""

    def hear(self, message: object) -> None:
        """Take in an answer of a lab, as JSON data, or an event on the way to it."""
        if isinstance(message, str):  # output comes in pieces, which may end within a number
            message, self._before = self._before + message, message[-_LONGEST_NUMBER:]
        for number in _numbers_in(message):
            if len(self._numbers) < _MOST_NUMBERS:
                self._numbers.add(_key(number))

    def unseen(self, value: object, *, is_measured: bool = False) -> list[str]:
        """Return in words the measurements in a value whose numbers no lab has printed; none where too many were.

        With ``is_measured`` the plain numbers in it are measurements too, that a student has read off and rounded.
        """
        if len(self._numbers) >= _MOST_NUMBERS:
            return []
        each = list(_leaves(value))
        found = [one.in_words for one in each if isinstance(one, _PRINTED) and not self._has(one)]
        found += [f"a text, {one.strip()[:20]!r}..." for one in each if isinstance(one, str) and self._lacks(one)]
        numbers = [abs(float(one)) for one in each if isinstance(one, int | float) and math.isfinite(one)]
        if isinstance(value, list | tuple) and len(numbers) >= _FEWEST_IN_A_LIST and self._is_new(numbers):
            found.append(f"a list of {len(numbers)} numbers")
        typed = numbers if is_measured else []
        return found + [f"{number:g}" for number in typed if not self._rounds_to(number)]

    def _has(self, result: ToolResult) -> bool:
        numbers = list(islice(_floats_in(result), _LOOKED_AT))
        return sum(map(self._is_printed, numbers)) >= _LEAST_SHARE * len(numbers)

    def _lacks(self, text: str) -> bool:
        """Return whether a text is none that a lab printed: it has numbers of a run, and most of them are new."""
        told = {_key(float(one)) for one in _NUMBER.findall(text) if sum(map(str.isdigit, one)) >= _DIGITS}
        return len(told) >= _FEWEST_IN_A_TEXT and len(told & self._numbers) < _LEAST_COPIED * len(told)

    def _is_new(self, numbers: Sequence[float]) -> bool:
        return sum(map(self._is_printed, numbers)) < _LEAST_COPIED * len(numbers)

    def _is_printed(self, number: float) -> bool:
        return any(_key(number * scale) in self._numbers for scale in _SCALES)

    def _rounds_to(self, number: float) -> bool:
        """Return whether a number is one of those printed, in some unit, rounded as it is."""
        if self._is_printed(number):
            return True
        margin = 0.5000001 * 10 ** -len(f"{number:.12g}".partition(".")[2])
        return any(abs(float(key) / scale - number) <= margin for key in self._numbers for scale in _SCALES)


def _key(number: float) -> str:
    return f"{number:.6g}"


def _numbers_in(message: object) -> Iterator[float]:
    if isinstance(message, bool):
        return
    if isinstance(message, int | float):
        yield abs(float(message)) if abs(message) < 1e300 else 0.0
    elif isinstance(message, str):
        yield from (float(found[0]) for found in _NUMBER.finditer(message))
        if _BASE64.fullmatch(message):  # a file that was read
            try:
                yield from _numbers_in(base64.b64decode(message).decode())
            except (binascii.Error, ValueError):
                return
    elif isinstance(message, Mapping | Sequence):
        for each in message.values() if isinstance(message, Mapping) else message:
            yield from _numbers_in(each)


def _leaves(value: object) -> Iterator[object]:
    """Yield what lies in lists, mappings and runs, without truth values."""
    if isinstance(value, Run):
        value = value.results
    if isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(each)
    elif not isinstance(value, bool):
        yield value


def _floats_in(value: Any) -> Iterator[float]:
    """Yield the measured numbers of a result: not those of the flow, of counters and of the network."""
    if isinstance(value, float) and value:
        yield abs(value)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _floats_in(each)
    elif is_dataclass(value):
        for field in fields(value):
            if field.name != "flow" and not isinstance(getattr(value, field.name), Origin):
                yield from _floats_in(getattr(value, field.name))
