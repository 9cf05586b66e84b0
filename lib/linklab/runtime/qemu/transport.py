"""The way from a client to a lab in QEMU."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, cast

from linklab.errors import LabError
from linklab.runtime import process_tree
from linklab.runtime.backends import Kind, guest_memory_mb, whole_seed
from linklab.runtime.channel import Channel, ChannelClosed, ChannelTimeout, Message
from linklab.runtime.client import WALL_LIMIT_S, LabProcess
from linklab.runtime.qemu import snapshot
from linklab.runtime.qemu.box import HostBox
from linklab.runtime.qemu.folder import Folder
from linklab.runtime.qemu.machine import Machine, Qemu, find_qemu, machine_words
from linklab.runtime.qemu.snapshot import LARGEST_BYTES, LabFiles, Snapshot, find_files
from linklab.runtime.transport import BOOT_LIMIT_S, About

_KILLED: Final = re.compile(r"^Out of memory: Killed process \d{1,10} \(([^()]{1,64})\)")
ROOT_MB: Final = 320
"""Of a machine's memory: the image's files lie in it, besides what a guest may use."""


class Emulated:
    """A lab in a QEMU that this process has started, and that ends with it. It rests between two requests by itself."""

    group_pid = 0

    def __init__(self, files: LabFiles, folder: Path | None, *, seed: int) -> None:
        """Start a lab from its snapshot, which is made before where there is none, and return when its agent answers.

        Raises `LabError` with the last lines of the console where it does not come up.
        """
        qemu, memory_mb = find_qemu(), guest_memory_mb()
        kept = snapshot.find_or_make(files, qemu, memory_mb + ROOT_MB)
        try:
            ready = self._start(qemu, kept, folder, seed)
        except _Damaged:
            snapshot.remove(kept)
            kept = snapshot.find_or_make(files, qemu, memory_mb + ROOT_MB)
            try:
                ready = self._start(qemu, kept, folder, seed)
            except _Damaged as damaged:
                raise LabError(f"the lab did not start in QEMU: {damaged}") from None
        python = (ready["python"][0], ready["python"][1])
        self.about = About(Kind("guest", "virtual"), ready["kernel"], "", ready["clock_s"], memory_mb, python)

    def _start(self, qemu: Qemu, kept: Snapshot, folder: Path | None, seed: int) -> Message:
        words = machine_words(kept.memory_mb, kept.ram, private=True)
        self._machine = machine = Machine(qemu, [*words, "-S", "-incoming", "defer"])
        try:
            machine.receive_state(kept.state)
            box = HostBox(machine.gdb, LARGEST_BYTES)
            self.channel = cast(Channel, box)  # a client calls no other methods than those of both
            box.find()
            files = None if folder is None else Folder(folder)
            if files is not None:
                box.before_request, box.after_message = files.give, files.take
            box.send({"seed": seed, "folder": None if files is None else str(files.path)})
            return box.receive(BOOT_LIMIT_S)
        except (ChannelClosed, ChannelTimeout) as failure:
            said = f"{failure}; {machine.console_tail()}"
            self._end()
            raise _Damaged(said) from None
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        self._machine.end()
        self._machine.close()

    @property
    def running(self) -> bool:
        """Say whether QEMU lives."""
        return self._machine.running

    def resume(self) -> None:
        """Do nothing: the guest goes on with the message."""

    def pause(self) -> None:
        """Do nothing: the guest has stopped itself."""

    def rouse(self) -> None:
        """Do nothing: an interrupt rings."""

    def cpu_s(self) -> float:
        """QEMU's, and that of the process that keeps it."""
        return process_tree.tree_cpu_s(self._machine.pid)

    def killed_for_memory(self, answer: Message) -> list[str]:
        """Return those that the guest's kernel told of on the console."""
        lines = self._machine.new_console_lines()
        return [name for line in lines for name in _KILLED.findall(line)]

    def console_tail(self) -> str:
        """Return the last lines, without empty ones."""
        return self._machine.console_tail()

    def hang_up(self) -> None:
        """End QEMU, which wakes a request of another thread: the connection ends."""
        self._machine.end()

    def close(self) -> None:
        """Close the connection and the console."""
        self._machine.close()


class _Damaged(Exception):
    """No lab comes up from a snapshot."""


def start_qemu_lab(
    files: LabFiles | None = None, folder: Path | None = None, *, seed: int = 0, wall_limit_s: float = WALL_LIMIT_S
) -> LabProcess:
    """Start a lab in QEMU, and return its process. Its arguments are those of `LabProcess.spawn`.

    Without `files` it boots those that `find_files` finds.
    """
    return LabProcess(Emulated(files or find_files(), folder, seed=whole_seed(seed)), wall_limit_s, seed)
