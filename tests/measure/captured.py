"""Captured output of the tools, by Debian's release and name."""

from __future__ import annotations

from pathlib import Path

RELEASES = ("deb12", "deb13")
_FOLDER = Path(__file__).with_name("captured")


def captured(release: str, name: str) -> str:
    """One file, as it came."""
    return (_FOLDER / f"{release}-{name}").read_text("utf-8")
