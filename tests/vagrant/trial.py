"""One trial: what its steps share."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.vagrant.architecture import Architecture
from tests.vagrant.vagrant import Vagrant

REPOSITORY = Path(__file__).resolve().parents[2]
# Emulation is 10 to 20 times slower than a processor. These end what hangs; how long a thing takes proves nothing.
INSTALL_LIMIT_S = 3 * 3600.0
START_LIMIT_S = 3600.0
CELL_LIMIT_S = 900.0
NESTED = 16
"""How many times longer a cell may take in a machine of arm64: labs run in QEMU there, one emulator in another."""
LABS_LIMIT_S = 12 * 3600.0


@dataclass
class Trial:
    """What the steps share. `address` is the one that the first `vagrant up` printed."""

    suite: str
    folder: Path
    vagrant: Vagrant
    architecture: Architecture
    emulate: bool = False
    installed: bool = False
    address: str = ""
    begun: float = field(default_factory=time.monotonic)

    @property
    def cell_limit_s(self) -> float:
        """How long a notebook's cell may take."""
        return CELL_LIMIT_S * (NESTED if self.architecture.foreign else 1)

    @property
    def box(self) -> str:
        """The local name under which Vagrant knows the box."""
        return f"linklab-test/{self.suite}"

    @property
    def images(self) -> Path:
        """Where the trial's libvirt keeps its disks, as seen from outside its namespaces too."""
        return self.folder / "var-lib-libvirt/images"

    @property
    def disk(self) -> Path:
        """The machine's own disk, with all that was written since it was made from the box."""
        return self.images / f"{self.vagrant.project.name}_default.img"
