"""Prepare each Python of a lab that runs other people's scripts when it starts: see `linklab.guest.foreground`.

It must be quick, so Mininet is not loaded here: the first ``import mininet`` brings ours along.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import os
import socket
import sys
from collections.abc import Sequence
from types import ModuleType, TracebackType

LINES, KEYBOARD, SEED = "LINKLAB_LINES", "LINKLAB_KEYBOARD", "LINKLAB_LAB_SEED"
"""Environment variables: the socket where lines are had, the pipe that stands for the keyboard, the lab's seed."""


def install() -> None:
    """Let this Python read lines from the terminal, and find our names in Mininet's modules."""
    try:
        at_keyboard = str(os.fstat(0).st_ino) == os.environ.get(KEYBOARD)
    except OSError:
        at_keyboard = False
    if at_keyboard:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(_Keyboard(os.environ[LINES])), errors="surrogateescape")
    sys.meta_path.insert(0, _Finder())
    sys.excepthook = _show_error


def _show_error(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
    """Print the traceback, and a line on what to do about a module that is missing."""
    sys.__excepthook__(kind, value, trace)
    tell_missing(value)


def tell_missing(value: BaseException) -> None:
    """Say what to do with a script that imports a module which the lab lacks."""
    if isinstance(value, ModuleNotFoundError) and value.name:
        print(
            f"{value.name.partition('.')[0]} is not in the lab, which has Python's own, Mininet, os-ken, requests and "
            "psutil. Let the script write its results to a file in this folder, and run the part that needs it "
            "outside of the lab: python3, or a notebook",
            file=sys.stderr,
        )


class _Keyboard(io.RawIOBase):
    """Standard input that asks the notebook's side for a line, while the lab's time stands still."""

    def __init__(self, lines: str) -> None:
        super().__init__()
        self._lines, self._rest = lines, b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the pipe that nobody writes to: Mininet's command line polls it, and finds no keys."""
        return 0

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Read as much of a line as fits into the buffer."""
        if not self._rest:
            sys.stdout.flush()
            self._rest = self._ask()
        piece, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)

    def _ask(self) -> bytes:
        with socket.socket(socket.AF_UNIX) as asked:
            asked.connect(self._lines)
            pieces = []
            while piece := asked.recv(65536):
                pieces.append(piece)
        return b"".join(pieces)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads Mininet's package as it is, and then binds its names to ours."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the package's own, with this loader in place of its own."""
        if fullname != "mininet":
            return None
        sys.meta_path.remove(self)
        found = importlib.util.find_spec(fullname)
        if found is not None:
            self._own, found.loader = found.loader, self
        return found

    def exec_module(self, module: ModuleType) -> None:
        """Called once, when the first of Mininet's modules is imported."""
        assert self._own is not None
        self._own.exec_module(module)
        importlib.import_module("linklab.guest.mininet_names").bind()
