"""Types of options on the command line, which say in people's words what is wrong with a value."""

from __future__ import annotations

import argparse


def count(text: str) -> int:
    """A whole number above 0."""
    return _above_0(text, "a whole number")


def seconds(text: str) -> int:
    """A whole number of seconds above 0."""
    return _above_0(text, "a whole number of seconds")


def megabytes(text: str) -> int:
    """A whole number of MB (10^6 bytes) above 0."""
    return _above_0(text, "a whole number of MB")


def _above_0(text: str, what: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not {what} above 0")
    return int(text)
