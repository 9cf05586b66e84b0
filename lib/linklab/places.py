"""The folders of this user that Linklab keeps its own files in."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder of what can be made anew: lab images, snapshots, videos. It need not exist."""
    return _folder("XDG_CACHE_HOME", "Library/Caches", ".cache")


def config_folder() -> Path:
    """Return the folder of this user's settings. It need not exist."""
    return _folder("XDG_CONFIG_HOME", "Library/Application Support", ".config")


def _folder(variable: str, on_macos: str, elsewhere: str) -> Path:
    """Return what the XDG Base Directory Specification says, or Apple's "File System Programming Guide" on macOS."""
    if given := os.environ.get(variable):
        return Path(given, "linklab")
    return Path.home() / (on_macos if sys.platform == "darwin" else elsewhere) / "linklab"
