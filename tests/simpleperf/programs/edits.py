"""Edits of a program's text: each says what stands there and what shall stand there instead."""

from __future__ import annotations

Edit = tuple[str, str]


def apply(text: str, edits: tuple[Edit, ...]) -> str:
    """The edited text. Raises ValueError if an edit's old text is missing, stands there twice, or changes nothing."""
    for old, new in edits:
        if text.count(old) != 1 or old == new:
            raise ValueError(f"{old!r} stands {text.count(old)} times in the program, not once")
        text = text.replace(old, new)
    return text
