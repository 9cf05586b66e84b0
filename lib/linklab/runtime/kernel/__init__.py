"""The kernels of labs. Their configurations, patches and compiled programs lie here; `tools.kernels` compiles them."""

from __future__ import annotations

import platform
import sys
from typing import Final

USER_MODE_KERNEL: Final = "linux"
QEMU_KERNEL: Final = "vmlinuz-qemu"
KERNELS: Final = (USER_MODE_KERNEL, QEMU_KERNEL)
"""The kernels' files in a lab image."""


def runs_user_mode_linux() -> bool:
    """Return True where this computer's system and processor are those that user-mode Linux exists for."""
    return sys.platform == "linux" and platform.machine() == "x86_64"
