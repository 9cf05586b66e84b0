"""The steps by their names, in the order in which a student and a term meet them."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

from tests.vagrant import daemons
from tests.vagrant.misfortunes import disk_full_inside, disk_full_outside, no_provider, port_taken, up_without_network
from tests.vagrant.term import box, destroy, doctor, halt, lab, labs, labs_outside, page, provision, up, up_again
from tests.vagrant.trial import Trial

_BEFORE = (box, no_provider, port_taken, disk_full_outside)
_AFTER = (halt, labs_outside, up_again, provision, disk_full_inside, destroy)
_ORDER = (*_BEFORE, up, up_without_network, page, lab, doctor, labs, *_AFTER)
STEPS: dict[str, Callable[[Trial], str]] = {step.__name__.replace("_", "-"): step for step in _ORDER}
USUAL = tuple(name for name in STEPS if name not in ("up-without-network", "labs", "labs-outside"))
"""All but what takes long: a second installation, and four labs on both clocks."""


def carry_out(trial: Trial, steps: list[str]) -> None:
    """Carries the steps out and prints a line for each, with its seconds. Raises what the first failing one raises."""
    for name in steps:
        begun = time.monotonic()
        said = STEPS[name](trial)
        now = time.monotonic()
        print(f"{now - trial.begun:7.0f} s  {name:<18} {now - begun:5.0f} s  {said}", flush=True)


def remove_machine(trial: Trial) -> None:
    """After a failure: what libvirt still has goes with the namespaces; Vagrant's own files go with the folder."""
    for name in daemons.leftovers():
        subprocess.run(["virsh", "-c", "qemu:///system", "destroy", name], capture_output=True, check=False)
