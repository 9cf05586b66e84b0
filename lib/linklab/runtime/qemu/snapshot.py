"""A machine that has booted and waits for its first request, kept in the cache: labs start from it in a fraction of the
time that a boot takes, several side by side.

``ram`` is its memory, which a lab reads and never changes; ``state`` its devices and processor; ``snapshot.json`` says
how large both are.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from platformdirs import user_cache_dir

from linklab.errors import LabError
from linklab.runtime.channel import ChannelClosed, ChannelTimeout
from linklab.runtime.qemu.box import HostBox
from linklab.runtime.qemu.machine import KERNEL_WORDS, Machine, Qemu, machine_words
from linklab.runtime.qemu.root import first_program, library_files, write_initramfs

LARGEST_BYTES: Final = 64 * 1024 * 1024
BOOT_LIMIT_S: Final = 300.0
ROOT_VARIABLE: Final = "LINKLAB_QEMU_ROOT"
KERNEL_VARIABLE: Final = "LINKLAB_QEMU_KERNEL"


@dataclass(frozen=True)
class LabFiles:
    """What a guest boots: the lab image's root and the kernel. ``key`` changes with either."""

    root: Path
    kernel: Path
    key: str


def find_files() -> LabFiles:
    """Return what a guest boots here: the folder and the kernel that the environment names. Raises `LabError`."""
    named = {name: Path(os.environ.get(name, "")) for name in (ROOT_VARIABLE, KERNEL_VARIABLE)}
    root, kernel = named.values()
    if not (root / "usr/bin/python3").exists() or not kernel.is_file():
        raise LabError(
            f"no lab starts in QEMU without files: set {ROOT_VARIABLE} to a lab image's folder root and "
            f"{KERNEL_VARIABLE} to its vmlinuz-qemu (linklab image path)"
        )
    digest = hashlib.sha256(kernel.read_bytes())
    about = root.parent / "image.json"
    digest.update(about.read_bytes() if about.is_file() else str(root.resolve()).encode())
    return LabFiles(root, kernel, digest.hexdigest())


@dataclass(frozen=True)
class Snapshot:
    """A machine in the cache, whole."""

    folder: Path
    memory_mb: int

    @property
    def ram(self) -> Path:
        """The file of its memory."""
        return self.folder / "ram"

    @property
    def state(self) -> bytes:
        """Its devices and processor."""
        return (self.folder / "state").read_bytes()

    @property
    def whole(self) -> bool:
        """Say whether all is there, as large as it was when it was made."""
        try:
            noted = json.loads((self.folder / "snapshot.json").read_text("utf-8"))
            state = self.state
            return bool(
                noted["ram_bytes"] == self.ram.stat().st_size
                and noted["state_sha256"] == hashlib.sha256(state).hexdigest()
            )
        except (OSError, ValueError, KeyError, TypeError):
            return False


def cache_folder() -> Path:
    """Return the folder of all snapshots of this user."""
    return Path(user_cache_dir("linklab")) / "qemu"


def find_or_make(files: LabFiles, qemu: Qemu, memory_mb: int) -> Snapshot:
    """Return the snapshot for these files, made now where there is none or a damaged one. Raises `LabError`."""
    snapshot = Snapshot(cache_folder() / _key(files, qemu, memory_mb), memory_mb)
    if not snapshot.whole:
        remove(snapshot)
        make(files, qemu, snapshot)
    return snapshot


def remove(snapshot: Snapshot) -> None:
    """Remove a snapshot that is of no use. Labs that run from it are not disturbed."""
    shutil.rmtree(snapshot.folder, ignore_errors=True)


def make(files: LabFiles, qemu: Qemu, snapshot: Snapshot) -> None:
    """Boot a machine and keep it. Whoever looks meanwhile sees none of it or all of it. Raises `LabError`."""
    place = snapshot.folder
    place.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix="new-", dir=place.parent))
    try:
        fresh = Snapshot(part, snapshot.memory_mb)
        address, size = write_initramfs(files.root, fresh.ram, snapshot.memory_mb << 20)
        words = machine_words(snapshot.memory_mb, fresh.ram, private=False)
        words += ["-kernel", str(files.kernel), "-append", f"{KERNEL_WORDS} initrdmem={address},{size}"]
        state = _booted(qemu, words)
        (part / "state").write_bytes(state)
        noted = {"ram_bytes": fresh.ram.stat().st_size, "state_sha256": hashlib.sha256(state).hexdigest()}
        (part / "snapshot.json").write_text(json.dumps(noted), "utf-8")
        try:
            part.rename(place)
        except OSError:
            if not snapshot.whole:  # else another process was faster
                raise
    except OSError as error:
        raise LabError(f"no snapshot can be kept in {place.parent}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _booted(qemu: Qemu, words: list[str]) -> bytes:
    """Boot a machine until it waits for its first request; its state, its memory being in its file."""
    machine = Machine(qemu, ["-S", *words])
    try:
        machine.gdb.go_on()
        box = HostBox(machine.gdb, LARGEST_BYTES)
        box.await_request(BOOT_LIMIT_S)
        return machine.give_state()
    except (ChannelClosed, ChannelTimeout) as failure:
        why = str(failure) or "it gave no sign in time"
        raise LabError(f"the lab did not boot in QEMU: {why}; {machine.console_tail()}") from None
    finally:
        machine.end()
        machine.close()


def _key(files: LabFiles, qemu: Qemu, memory_mb: int) -> str:
    words = machine_words(memory_mb, Path("ram"), private=False)
    parts = [files.key, qemu.version, KERNEL_WORDS, first_program(), *words]
    digest = hashlib.sha256("\0".join(parts).encode())
    for name, path in library_files():
        digest.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
