"""The kernels of labs. Their configurations, patches and compiled programs lie here; `tools.kernels` compiles them."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from typing import Any, Final

USER_MODE_KERNEL: Final = "linux"
QEMU_KERNEL: Final = "vmlinuz-qemu"
KERNELS: Final = (USER_MODE_KERNEL, QEMU_KERNEL)
"""The kernels' files in a lab image."""


def manifest() -> dict[str, Any]:
    """Return ``kernels.json``: what the kernels were compiled from, and their checksums."""
    found: dict[str, Any] = json.loads((Path(__file__).parent / "kernels.json").read_text("utf-8"))
    return found


def runs_user_mode_linux() -> bool:
    """Return True where this computer's system and processor are those that user-mode Linux exists for."""
    return sys.platform == "linux" and platform.machine() == "x86_64"
