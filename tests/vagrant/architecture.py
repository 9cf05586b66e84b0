"""The processors that a box can be made for: what Debian, pip and QEMU call their parts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Architecture:
    """Debian's `name` of it. `wheels` are pip's names of the platforms whose wheels run there."""

    name: str
    console: str
    wheels: tuple[str, ...] = ()

    @property
    def foreign(self) -> bool:
        """Whether this machine's processor carries none of its programs out: the trial runs on x86-64 alone."""
        return self.name != "amd64"


AMD64 = Architecture("amd64", "ttyS0")
ARM64 = Architecture("arm64", "ttyAMA0", ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"))
ARCHITECTURES = {it.name: it for it in (AMD64, ARM64)}
