"""A machine that has booted and waits for its first request, kept in the cache: labs start from it in a fraction of the
time that a boot takes, several side by side.

``ram`` is its memory, which a lab reads and never changes; ``state`` its devices and processor.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from linklab.errors import LabError
from linklab.files import cache_folder as user_cache_folder
from linklab.files import draft_folder, locked
from linklab.guest.channel import ChannelClosed, ChannelTimeout
from linklab.runtime.image import tree
from linklab.runtime.image.find import Image, refuse_damaged
from linklab.runtime.qemu.host_box import HostBox
from linklab.runtime.qemu.machine import KERNEL_WORDS, Machine, Qemu, machine_words
from linklab.runtime.qemu.root import first_program, guest_files, write_initramfs

BOOT_LIMIT_S: Final = 300.0
_KEPT: Final = 2
"""How many others stay when a snapshot is made: each takes some 400 MB."""


@dataclass(frozen=True)
class Snapshot:
    """A machine in the cache, whole. One that is damaged later starts no lab, and the transport makes it anew."""

    folder: Path
    qemu: Qemu
    memory_mb: int

    @property
    def ram(self) -> Path:
        """The file of its memory."""
        return self.folder / "ram"

    @property
    def state(self) -> bytes:
        """Its devices and processor."""
        return (self.folder / "state").read_bytes()


def cache_folder() -> Path:
    """Return the folder of all snapshots of this user."""
    return user_cache_folder() / "qemu"


def find_or_make(image: Image, qemu: Qemu, memory_mb: int) -> Snapshot:
    """Return the snapshot of an image, made now where there is none. Raises `LabError`."""
    snapshot = Snapshot(cache_folder() / _key(image, qemu, memory_mb), qemu, memory_mb)
    lock = locked(snapshot.folder.parent / "lock")
    tree.ensure_whole(snapshot.folder, lock, lambda: make(image, snapshot))
    with contextlib.suppress(OSError):
        os.utime(snapshot.folder)  # it is in use
    return snapshot


def remove(snapshot: Snapshot) -> None:
    """Remove a snapshot that is of no use. Labs that run from it are not disturbed."""
    shutil.rmtree(snapshot.folder, ignore_errors=True)


def make(image: Image, snapshot: Snapshot) -> None:
    """Boot a machine and keep it. Whoever looks meanwhile sees none of it or all of it. Raises `LabError`."""
    place = snapshot.folder
    print("Booting a lab in QEMU once, to start from there: half a minute", file=sys.stderr)
    _remove_old(place.parent)
    try:
        with draft_folder(place) as part:
            fresh = Snapshot(part, snapshot.qemu, snapshot.memory_mb)
            address, size = write_initramfs(image.folder, fresh.ram, snapshot.memory_mb << 20)
            words = machine_words(snapshot.memory_mb, fresh.ram, private=False)
            words += ["-kernel", str(image.qemu_kernel), "-append", f"{KERNEL_WORDS} initrdmem={address},{size}"]
            (part / "state").write_bytes(_booted(snapshot.qemu, words))
            tree.move_into_place(part, place)
    except OSError as error:
        raise tree.full(error, place.parent, snapshot.memory_mb << 20) from error
    except LabError:
        refuse_damaged(image)
        raise


def _remove_old(folder: Path) -> None:
    """Remove all snapshots but those that were used last."""
    made = (path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    kept = sorted(made, key=lambda path: path.stat().st_mtime)
    for path in kept[: max(0, len(kept) - _KEPT)]:
        shutil.rmtree(path, ignore_errors=True)


def _booted(qemu: Qemu, words: list[str]) -> bytes:
    """Boot a machine until it waits for its first request; its state, its memory being in its file."""
    machine = Machine(qemu, ["-S", *words])
    try:
        machine.gdb.go_on()
        box = HostBox(machine.gdb)
        box.await_request(machine.patience_s(BOOT_LIMIT_S))
        return machine.give_state()
    except (ChannelClosed, ChannelTimeout) as failure:
        why = str(failure) or "it gave no sign in time"
        raise LabError(f"the lab did not boot in QEMU: {why}; {machine.console.tail()}") from None
    finally:
        machine.end()
        machine.close()


def _key(image: Image, qemu: Qemu, memory_mb: int) -> str:
    words = machine_words(memory_mb, Path("ram"), private=False)
    parts = [image.about.key, qemu.version, KERNEL_WORDS, first_program(), *words]
    parts += [f"{name} {state}" for name, _, state in guest_files()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
