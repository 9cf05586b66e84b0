"""The two kernels of a lab: what each is made of, its hash, and whether a build has all of it."""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from dataclasses import dataclass
from importlib.resources import files

_OPTION = re.compile(r"^(CONFIG_\w+)=(\S+)$")
_OPTIONAL = re.compile(r"^# -- Optional\b")
_SHARED = "lab.config"
_NO_STRING_INSTRUCTIONS = "unrolled_loop:256:noalign,libcall:-1:noalign"
WITHOUT = {
    "clock": "labs will be slower, and their last digits may differ",
    "random": "a lab's seed will not reach its kernel's own random numbers",
    "memory": "programs in labs will start more slowly",
    "copy": "labs on QEMU will be slower, and their last digits may differ",
}
"""What a kernel without a patch of Linklab's is like; it is not made without one that stands not here."""


@dataclass(frozen=True)
class Flavour:
    """One of the two kernels that are made of one source.

    ``file`` is its name in an image, ``arch``, ``target`` and ``words`` what make is told, ``made`` the file that make
    makes, ``objects`` how many it compiles for it (for the progress bar alone).
    """

    name: str
    file: str
    arch: str
    target: str
    made: str
    options_file: str
    patches: tuple[str, ...]
    objects: int
    words: tuple[str, ...] = ()

    def configuration_text(self) -> str:
        """Return the configuration that comes with Linklab, comments included."""
        return "\n".join(_text(name) for name in (self.options_file, _SHARED))

    def configuration_hash(self) -> str:
        """Return a hash of the options, of the patches, and of what the compiler is told: a reworded comment must not
        cost anybody a quarter of an hour of compiling.
        """
        lines = sorted(f"{name}={value}" for name, value in options(self.configuration_text()).items())
        for patch in self.patches:
            lines += [line for line in patch_text(patch).splitlines() if line[:1] in ("+", "-")]
        lines += self.words
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


USER_MODE = Flavour(
    name="user-mode Linux",
    file="linux",
    arch="um",
    target="linux",
    made="linux",
    options_file="uml.config",
    patches=("clock", "random", "line", "memory"),
    objects=1290,
)
QEMU = Flavour(
    name="Linux for QEMU",
    file="vmlinuz-qemu",
    arch="x86_64",
    target="bzImage",
    made="arch/x86/boot/bzImage",
    options_file="qemu.config",
    patches=("random", "clock-qemu", "rest", "copy"),
    objects=1370,
    # String instructions are thought to be slow in QEMU, which was not measured apart: see copy.patch.
    words=(f"KCFLAGS=-mmemset-strategy={_NO_STRING_INSTRUCTIONS} -mmemcpy-strategy={_NO_STRING_INSTRUCTIONS}",),
)
FLAVOURS = (USER_MODE, QEMU)


def runs_user_mode_linux() -> bool:
    """Return True where this computer's system and processor are those that user-mode Linux exists for."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


PATCHES = tuple(dict.fromkeys(patch for flavour in FLAVOURS for patch in flavour.patches))
"""All changes to a source; each says itself what it is for. No two change one file, so one tree has them all."""


def patch_text(name: str) -> str:
    """Return a change to the kernel's source that comes with Linklab."""
    return _text(f"{name}.patch")


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


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
