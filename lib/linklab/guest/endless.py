"""Tell of a shell command whether it prints without an end, as ``ping`` without ``-c``, ``yes`` or ``while true``.

Such a command is never silent, so nothing else ends it. What it is stands in its text, and looking there takes no
virtual time.
"""

from __future__ import annotations

import os
import shlex
from functools import lru_cache
from typing import Final

MOST_PRINTED: Final = 30_000
"""How many characters a command without an end may print: some 500 lines of ping's, which take a second."""
_ENDS_BY: Final = {
    "ping": (("-c", "-w"), "ping -c 3"),
    "top": (("-n",), "top -b -n 1"),
    "watch": ((), "the command itself, without watch"),
    "yes": ((), "yes | head -n 3"),
    "tcpdump": (("-c",), "tcpdump -c 10"),
}
"""By program: the options of which one lets it end, and how to write it so that it ends."""
_FOLLOWS: Final = ("-f", "-F", "--follow")
_LOOPS: Final = (["while", "true"], ["while", ":"], ["until", "false"])
_WAYS_OUT: Final = frozenset({"break", "exit", "return"})
_BEFORE_A_COMMAND: Final = frozenset({"do", "then", "else", "exec", "sudo", "time"})


def is_endless(text: str, printed: int) -> bool:
    """Return whether a command that has printed so many characters is to be ended. Pure."""
    return printed > MOST_PRINTED and mend(text) != ""


def told(text: str, node: str) -> str:
    """Return what to say of a command that was ended. Pure."""
    return f"{text!r} on {node} prints without an end and was ended: write {mend(text)}"


@lru_cache(maxsize=1)  # asked anew with each piece that a command prints beyond the limit
def mend(text: str) -> str:
    """Return how to write this command so that it ends; nothing for one that may end by itself. Pure."""
    try:
        words = shlex.shlex(text, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        parts = _parts(list(words))
    except ValueError:  # a quote without its end: the shell says so
        return ""
    has_way_out = any(_WAYS_OUT.intersection(part) or ("done" in part and not shown) for part, shown in parts)
    for part, shown in parts:
        if part[:2] in _LOOPS and not has_way_out:
            return "for n in 1 2 3; do ...; done"
        if shown and (found := _mend_of(part)):
            return found
    return ""


def _parts(words: list[str]) -> list[tuple[list[str], bool]]:
    """Return the simple commands in these words, and of each whether the shell waits for it and shows its output."""
    parts: list[tuple[list[str], bool]] = []
    part: list[str] = []
    for word in [*words, ";"]:
        if set(word) <= set(";|&()"):
            parts.append((part, word not in ("|", "&", "|&")))
            part = []
        else:
            part.append(word)
    return parts


def _mend_of(part: list[str]) -> str:
    while part and part[0] in _BEFORE_A_COMMAND:
        part = part[1:]
    name, given = os.path.basename(part[0]) if part else "", part[1:]
    if name == "tail" and any(word in _FOLLOWS for word in given):
        return "tail -n 10"
    options, mended = _ENDS_BY.get(name, ((), ""))
    return "" if any(_has(given, option) for option in options) else mended


def _has(words: list[str], option: str) -> bool:
    """Return whether an option of one letter is among the words: as ``-c 3``, ``-c3`` or ``-nc 3``."""
    return any(word.startswith("-") and not word.startswith("--") and option[1] in word for word in words)
