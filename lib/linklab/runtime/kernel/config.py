"""The configuration of the lab's kernel: what it asks for, its hash, and whether a build has all of it."""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files

_OPTION = re.compile(r"^(CONFIG_\w+)=(\S+)$")
_OPTIONAL = re.compile(r"^# -- Optional\b")
WITHOUT = {
    "clock": "labs will be slower, and their last digits may differ",
    "random": "a lab's seed will not reach its kernel's own random numbers",
}
"""What a kernel without a patch of Linklab's is like."""
PATCHES = tuple(WITHOUT)


def configuration_text() -> str:
    """The configuration that comes with Linklab, comments included."""
    return files(__package__).joinpath("uml.config").read_text("utf-8")


def patches() -> dict[str, str]:
    """Return the changes to the kernel's source that come with Linklab, by name; each says itself what it is for."""
    return {name: files(__package__).joinpath(f"{name}.patch").read_text("utf-8") for name in PATCHES}


def options(text: str) -> dict[str, str]:
    """The options that a configuration sets, in its order: ``{"CONFIG_HOSTFS": "y", ...}``."""
    found = (_OPTION.match(line.strip()) for line in text.splitlines())
    return {match[1]: match[2] for match in found if match}


def required_options(text: str) -> dict[str, str]:
    """The options without which a lab cannot run: all that stand above the section named "Optional"."""
    required: list[str] = []
    for line in text.splitlines():
        if _OPTIONAL.match(line):
            break
        required.append(line)
    return options("\n".join(required))


def configuration_hash(text: str) -> str:
    """Return a hash of the options and of the patches alone: a reworded comment must not cost anybody a quarter of an
    hour of compiling.
    """
    lines = sorted(f"{name}={value}" for name, value in options(text).items())
    lines += [line for patch in patches().values() for line in patch.splitlines() if line[:1] in ("+", "-")]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def missing_options(text: str, resulting: str) -> list[str]:
    """The required options of ``text`` that a kernel's resulting ``.config`` does not have, in order.

    Kconfig drops an option silently when its name or what it depends on is gone from a newer kernel.
    """
    have = options(resulting)
    return [name for name, value in required_options(text).items() if have.get(name) != value]
