"""Whether KVM works here: tried by starting the box's kernel, because /dev/kvm alone proves nothing."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

_INIT_SPEAKS = "Loading, please wait"
_LIMIT_S = 40


@dataclass(frozen=True)
class Accelerator:
    """libvirt's names for how a guest's instructions are carried out."""

    driver: str
    cpu_mode: str
    cpu_model: str


KVM = Accelerator("kvm", "host-passthrough", "")
EMULATION = Accelerator("qemu", "custom", "Nehalem")
ARM64 = Accelerator("qemu", "custom", "cortex-a72")
"""The last of Arm's own without pointer authentication, which takes an emulator longer than the work between."""


def choose(kernel: Path, initrd: Path) -> Accelerator:
    """KVM where a guest gets as far as its first program with it, else emulation."""
    return KVM if kvm_works(kernel, initrd) else EMULATION


def kvm_works(kernel: Path, initrd: Path) -> bool:
    """Boots `kernel` with KVM until its init speaks, which takes a second or two, or 40 s in vain."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    # No disk is there, so the init gives up on its own; panic=-1 and -no-reboot end the machine then.
    words = ["qemu-system-x86_64", "-accel", "kvm", "-cpu", "host", "-m", "512", "-nodefaults", "-no-reboot"]
    words += ["-display", "none", "-serial", "stdio", "-kernel", str(kernel), "-initrd", str(initrd)]
    words += ["-append", "console=ttyS0 panic=-1 root=/dev/none rootdelay=1"]
    program = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        said, _ = program.communicate(timeout=_LIMIT_S)
    except subprocess.TimeoutExpired:
        program.kill()
        said, _ = program.communicate()
    return _INIT_SPEAKS in said.decode(errors="replace")
