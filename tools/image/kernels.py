"""The two kernels that an image carries: what each is made of, and the compiled ones.

They lie in ``lib/linklab/runtime/kernel``, where ``kernels.json`` says what they were made from; ``make kernels`` makes
them anew (`tools.kernels`).
"""

from __future__ import annotations

import hashlib
import lzma
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from linklab.errors import LabError
from linklab.runtime import kernel
from linklab.runtime.kernel import QEMU_KERNEL, USER_MODE_KERNEL, manifest

FOLDER: Final = Path(kernel.__file__).parent
_OPTION = re.compile(r"^(CONFIG_\w+)=(\S+)$")
_OPTIONAL = re.compile(r"^# -- Optional\b")
_SHARED = "lab.config"
_NO_STRING_INSTRUCTIONS = "unrolled_loop:256:noalign,libcall:-1:noalign"


@dataclass(frozen=True)
class Flavour:
    """One of the two kernels that are made of one source.

    ``file`` is its name in an image, ``arch``, ``target`` and ``words`` what make is told, ``made`` the file that make
    makes.
    """

    name: str
    file: str
    arch: str
    target: str
    made: str
    options_file: str
    patches: tuple[str, ...]
    words: tuple[str, ...] = ()

    def configuration_text(self) -> str:
        """Return the configuration that comes with Linklab, comments included."""
        return "\n".join(_text(name) for name in (self.options_file, _SHARED))

    def configuration_hash(self) -> str:
        """Return a hash of the options, of the patches, and of what the compiler is told, without their comments."""
        lines = sorted(f"{name}={value}" for name, value in options(self.configuration_text()).items())
        for patch in self.patches:
            lines += [line for line in patch_text(patch).splitlines() if line[:1] in ("+", "-")]
        lines += self.words
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


USER_MODE = Flavour(
    name="user-mode Linux",
    file=USER_MODE_KERNEL,
    arch="um",
    target="linux",
    made="linux",
    options_file="uml.config",
    patches=("clock", "progress", "random", "line", "memory"),
)
QEMU = Flavour(
    name="Linux for QEMU",
    file=QEMU_KERNEL,
    arch="x86_64",
    target="bzImage",
    made="arch/x86/boot/bzImage",
    options_file="qemu.config",
    patches=("progress", "random", "clock-qemu", "rest", "copy", "initramfs"),
    # String instructions are thought to be slow in QEMU, which was not measured apart: see copy.patch.
    words=(f"KCFLAGS=-mmemset-strategy={_NO_STRING_INSTRUCTIONS} -mmemcpy-strategy={_NO_STRING_INSTRUCTIONS}",),
)
FLAVOURS = (USER_MODE, QEMU)


PATCHES = tuple(dict.fromkeys(patch for flavour in FLAVOURS for patch in flavour.patches))
"""All changes to a source; each says itself what it is for. No two change one file, so one tree has them all."""


def kernel_bytes(flavour: Flavour) -> bytes:
    """Return a compiled kernel that comes with Linklab. Raises `LabError` where its file is damaged."""
    packed = (FOLDER / f"{flavour.file}.xz").read_bytes()
    try:
        content = lzma.decompress(packed)
    except lzma.LZMAError:
        content = b""
    if hashlib.sha256(content).hexdigest() != manifest()["kernels"][flavour.file]["sha256"]:
        raise LabError(f"the kernel {flavour.file}.xz that comes with Linklab is damaged: install Linklab again")
    return content


def patch_text(name: str) -> str:
    """Return a change to the kernel's source that comes with Linklab."""
    return _text(f"{name}.patch")


def _text(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


def options(text: str) -> dict[str, str]:
    """Return the options that a configuration sets, in its order: ``{"CONFIG_HOSTFS": "y", ...}``."""
    found = (_OPTION.match(line.strip()) for line in text.splitlines())
    return {match[1]: match[2] for match in found if match}


def required_options(text: str) -> dict[str, str]:
    """Return the options without which a lab cannot run: all that stand above the section named "Optional"."""
    required: list[str] = []
    for line in text.splitlines():
        if _OPTIONAL.match(line):
            break
        required.append(line)
    return options("\n".join(required))


def missing_options(text: str, resulting: str) -> list[str]:
    """Return the required options of ``text`` that a kernel's resulting ``.config`` does not have, in order.

    Kconfig drops an option silently when its name or what it depends on is gone from a newer kernel.
    """
    have = options(resulting)
    return [name for name, value in required_options(text).items() if have.get(name) != value]
