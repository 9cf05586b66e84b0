"""The way from a client to a lab in QEMU."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from linklab.errors import LabError
from linklab.guest.channel import ChannelClosed, ChannelTimeout, Message
from linklab.guest.qemu_folder import NOTES_KEY, Folders
from linklab.runtime import container
from linklab.runtime.backends import Kind, guest_memory_mb
from linklab.runtime.qemu import snapshot
from linklab.runtime.qemu.host_box import HostBox
from linklab.runtime.qemu.machine import Machine, find_qemu, machine_words
from linklab.runtime.qemu.snapshot import Snapshot
from linklab.runtime.transport import BOOT_LIMIT_S, LabFacts, OwnLab

_ROOT_MB: Final = 320
"""Memory that a machine has for the image's files, besides what its guest may use."""

_MOST_NOTES, _LONGEST_NOTE = 20, 400
"""Upper limits of an answer's notes on files, and of a note's characters: some come from the lab."""


class QemuLab(OwnLab):
    """A lab in a QEMU that this process has started, and that ends with it. It rests between two requests by itself."""

    def __init__(self, kind: Kind, folder: Path | None, *, untrusted: bool, seed: int, reads: Iterable[Path]) -> None:
        """Start a lab from its snapshot, which is made before where there is none, and return when its agent answers.

        Raises `LabError` with the last lines of the console where it does not come up, and for a lab of `untrusted`
        code where bubblewrap cannot confine QEMU.
        """
        confined = sys.platform == "linux" and not container.chosen()
        if untrusted and not confined:
            raise LabError("labs of untrusted code need bubblewrap around QEMU: grade on Linux, and in no container")
        assert kind.image is not None
        qemu, memory_mb, places = find_qemu(), guest_memory_mb(), list(reads)
        kept = snapshot.find_or_make(kind.image, qemu, memory_mb + _ROOT_MB)
        try:
            ready = self._start(kept, folder, places, seed, confined)
        except _Damaged:
            snapshot.remove(kept)
            kept = snapshot.find_or_make(kind.image, qemu, memory_mb + _ROOT_MB)
            try:
                ready = self._start(kept, folder, places, seed, confined)
            except _Damaged as damaged:
                raise LabError(f"the lab did not start in QEMU: {damaged}") from None
        self.about = LabFacts(kind, ready["kernel"], ready["clock_s"], memory_mb)

    def _start(self, kept: Snapshot, folder: Path | None, reads: list[Path], seed: int, confined: bool) -> Message:
        self._folders = Folders(folder, reads, "host")
        first: Message = {"seed": seed, "folder": folder and str(folder.resolve())}
        first["reads"] = [str(path.resolve()) for path in reads]
        words = machine_words(kept.memory_mb, kept.ram, private=True)
        words += ["-S", "-incoming", "defer"]
        self._machine = machine = Machine(kept.qemu, words, shown=kept.ram if confined else None)
        self.pid, self.console = machine.pid, machine.console
        try:
            machine.receive_state(kept.state)
            self.channel = box = HostBox(machine.gdb)
            box.find()
            box.before_request, box.after_message = self._give, self._take_back
            box.send(first)
            return box.receive(machine.patience_s(BOOT_LIMIT_S))
        except (ChannelClosed, ChannelTimeout) as failure:
            said = f"{failure}; {machine.console.tail()}"
            self.end()
            raise _Damaged(said) from None
        except BaseException:
            self.end()
            raise

    def _give(self, request: Message) -> None:
        self._folders.give(request)
        _tell(self._folders.new_notes())

    def _take_back(self, answer: Message) -> None:
        self._folders.take_back(answer)
        _tell([*map(str, answer.pop(NOTES_KEY, [])), *self._folders.new_notes()])

    @property
    def running(self) -> bool:
        """Whether QEMU lives."""
        return self._machine.running

    def hang_up(self) -> None:
        """End QEMU, which wakes a request of another thread: the connection ends."""
        self._machine.end()

    def close(self) -> None:
        """Close the connection and the console."""
        self._machine.close()


class _Damaged(Exception):
    """No lab comes up from a snapshot."""


def _tell(notes: list[str]) -> None:
    for note in notes[:_MOST_NOTES]:
        print(note[:_LONGEST_NOTE], file=sys.stderr)
    if len(notes) > _MOST_NOTES:
        print(f"{len(notes) - _MOST_NOTES:,} more files are not on both sides", file=sys.stderr)
