"""A cache of a test's own, which starts empty but for the lab image."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.runtime.image.find import find_image
from linklab.runtime.kernel import runs_user_mode_linux


def own_cache(patched: pytest.MonkeyPatch, folder: Path) -> None:
    """Have Linklab keep what it makes in this folder, and find the lab image where it is."""
    if runs_user_mode_linux():
        patched.setenv("LINKLAB_IMAGE", str(find_image().folder))
    patched.setenv("XDG_CACHE_HOME", str(folder))
