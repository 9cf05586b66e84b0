"""The QEMU program and the machine that it plays: one processor, memory, and nothing else. Its kernel keeps the clock
(`runtime/kernel/clock-qemu.patch`).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from linklab.errors import LabError
from linklab.files import temporary_for_good
from linklab.guest.channel import ChannelClosed, ChannelTimeout
from linklab.runtime import bwrap
from linklab.runtime.console import Console
from linklab.runtime.qemu.gdb import Gdb

VARIABLE: Final = "LINKLAB_QEMU"
"""The environment variable that names the program, where it is not found on the PATH."""
PROGRAM: Final = "qemu-system-x86_64"
ROOT_PERCENT: Final = 75
"""Percent of a booting machine's memory that its files may take, without the archive that they are unpacked from."""
KERNEL_WORDS: Final = (
    "norandmaps tsc=reliable tsc_early_khz=1000000 rdinit=/init panic=-1 reboot=t bonding.max_bonds=0 loglevel=5 "
    f"initramfs_options=size={ROOT_PERCENT}% "
    "printk.devkmsg=on random.seed=0 clearcpuid=rep_good"  # string instructions may be slow: see copy.patch
)
_START_LIMIT_S = 120.0
_USUAL_START_S = 0.25
_MOVE_LIMIT_S = 30.0
_LOOK_S = 0.2
_MACHINE: Final = (
    "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
    "-accel", "tcg,thread=single", "-cpu", "Nehalem", "-smp", "1",
    # the machine stops itself through this device
    "-device", "pvpanic", "-action", "panic=pause",
    "-chardev", "stdio,id=console,signal=off", "-device", "isa-debugcon,iobase=0xe9,chardev=console",
)  # fmt: skip
_BOARD: Final = "microvm,acpi=off,rtc=off,pit=off,pic=off,isa-serial=off,auto-kernel-cmdline=off,memory-backend=ram"
_SANDBOX: Final = ("-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny")


@dataclass(frozen=True)
class Qemu:
    """The program. ``version`` is what it says of itself."""

    path: Path
    version: str


def find_qemu() -> Qemu:
    """Return the QEMU of this computer. Raises `LabError` with what to install where there is none."""
    given = os.environ.get(VARIABLE)
    found = shutil.which(given or PROGRAM)
    if found is None:
        where = f"{VARIABLE} names {given}, which is no program" if given else f"{PROGRAM} is not installed"
        raise LabError(f"{where}: install QEMU (Debian: apt install qemu-system-x86, macOS: brew install qemu)")
    return _asked(found)


@cache
def _asked(path: str) -> Qemu:
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=60)
    line = said.stdout.partition("\n")[0].strip()
    if said.returncode or "QEMU emulator version" not in line:
        raise LabError(f"{path} does not say its version: install QEMU again")
    return Qemu(Path(path), line)


def machine_words(memory_mb: int, ram: Path, *, private: bool) -> list[str]:
    """Return the words of QEMU's command line for the machine itself. With ``private``, ``ram`` is read and stays as it
    is; without, it becomes the machine's memory.
    """
    share = "off" if private else "on"
    memory = f"memory-backend-file,id=ram,size={memory_mb}M,mem-path={ram},share={share}"
    return ["-M", _BOARD, "-m", f"{memory_mb}M", "-object", memory, *_MACHINE]


class Machine:
    """QEMU as a process of its own, which ends with this one, and the connection to its gdbstub."""

    def __init__(self, qemu: Qemu, words: Sequence[str], shown: Path | None = None) -> None:
        """Start QEMU and return when it is connected. With ``shown`` it is confined by bubblewrap, and sees that file.

        Raises `LabError` with what it says where it does not start, and where bubblewrap is missing.
        """
        self._claims = contextlib.ExitStack()
        self.folder = temporary_for_good(self._claims)
        self.console = Console()
        door = self.folder / "gdb"
        sandbox = _SANDBOX if sys.platform == "linux" else ()
        connect = ("-chardev", f"socket,id=gdb,path={door}", "-gdb", "chardev:gdb")
        supervisor = [sys.executable, "-I", "-S", str(Path(__file__).with_name("qemu_supervisor.py")), str(self.folder)]
        if shown is not None:
            supervisor += bwrap.for_qemu(qemu.path, self.folder, shown)
        begun_s = time.monotonic()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(door))
            listener.listen(1)
            self._process = subprocess.Popen(
                [*supervisor, str(qemu.path), *words, *sandbox, *connect],
                stdin=subprocess.PIPE,
                stdout=self.console.file,
                stderr=self.console.file,
                start_new_session=True,
                cwd="/",
            )
            try:
                self._connection = self._accepted(listener)
            except BaseException:
                self.end()
                raise
        self._start_s = time.monotonic() - begun_s
        self.gdb = Gdb(self._connection)

    def _accepted(self, listener: socket.socket) -> socket.socket:
        listener.settimeout(_LOOK_S)
        deadline = time.monotonic() + _START_LIMIT_S
        while time.monotonic() < deadline and self.running:
            with contextlib.suppress(TimeoutError):
                return listener.accept()[0]
        raise LabError(f"QEMU did not start: {self.console.tail() or 'it says nothing'}")

    def patience_s(self, usual_s: float) -> float:
        """Return how long to wait here for what takes less than ``usual_s`` where QEMU starts in a quarter of a second.

        Where it starts more slowly all else is slower, too: a computer that is itself emulated is so 60 times.
        """
        return usual_s * max(1.0, self._start_s / _USUAL_START_S)

    @property
    def running(self) -> bool:
        """Say whether QEMU lives."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """The process that keeps QEMU."""
        return self._process.pid

    def receive_state(self, state: bytes) -> None:
        """Make the machine, started with ``-S -incoming defer``, one that was stopped before: its devices and
        processor from ``state``, its memory from the file that it was started with.
        """
        door = self.folder / "state"
        self._ignore_shared()
        self._command(f"migrate_incoming unix:{door}")
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(door))
            connection.sendall(state)
        self._await_migrated()

    def give_state(self) -> bytes:
        """Return the state of the stopped machine's devices and processor. It can only be ended afterwards."""
        door = self.folder / "state"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(door))
            listener.listen(1)
            listener.settimeout(self.patience_s(_MOVE_LIMIT_S))
            self._ignore_shared()
            self._command(f"migrate -d unix:{door}")
            connection, _ = listener.accept()
        data = bytearray()
        with connection:
            while piece := connection.recv(64 * 1024):
                data += piece
        self._await_migrated()
        return bytes(data)

    def _ignore_shared(self) -> None:
        self._command("migrate_set_capability x-ignore-shared on")

    def _command(self, command: str) -> None:
        said = self.gdb.monitor(command)
        if said:
            raise ChannelClosed(f"QEMU does not take {command!r}: {said}")

    def _await_migrated(self) -> None:
        deadline = time.monotonic() + self.patience_s(_MOVE_LIMIT_S)
        while time.monotonic() < deadline:
            said = self.gdb.monitor("info migrate")
            if "status: completed" in said:
                return
            if "status: failed" in said:
                raise ChannelClosed(f"QEMU cannot take the machine's state: {said}")
            time.sleep(0.005)
        raise ChannelTimeout("QEMU does not take the machine's state")

    def end(self) -> None:
        """End QEMU, and return when it is gone."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._claims.close()

    def close(self) -> None:
        """Close the connection and the console. Only after `end`."""
        self._connection.close()
        self.console.close()
