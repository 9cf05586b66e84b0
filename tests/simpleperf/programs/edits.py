"""Edits of a program's text: each says what stands there and what shall stand there instead."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """Replaces ``old``, which must stand in the text exactly once, by ``new``."""

    old: str
    new: str


def apply(text: str, edits: tuple[Edit, ...]) -> str:
    """The edited text. Raises ValueError if an edit's old text is missing, stands there twice, or changes nothing."""
    for edit in edits:
        if text.count(edit.old) != 1 or edit.old == edit.new:
            raise ValueError(f"{edit.old!r} stands {text.count(edit.old)} times in the program, not once")
        text = text.replace(edit.old, edit.new)
    return text
