"""Starting a lab: its supervisor, what confines it, and the ends of the channel that the notebook holds."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from linklab.runtime import bwrap, container
from linklab.runtime.backends import Kind
from linklab.runtime.image.find import installed_packages, library, run_inside


@dataclass(frozen=True)
class Launched:
    """A lab that has been started and has not answered yet.

    ``console`` is what it writes, ``lifeline`` the socket whose end is the lab's end, ``ours`` the channel to its
    agent. ``info_fd`` gives the process id of the lab's first process as JSON (``child-pid``).
    """

    supervisor: subprocess.Popen[bytes]
    console: IO[bytes]
    lifeline: socket.socket
    ours: socket.socket
    info_fd: int


def launch(
    kind: Kind, folder: Path | None, reads: Sequence[Path], *, untrusted: bool, memory_mb: int, seed: int
) -> Launched:
    """Starts a lab as `linklab.runtime.client.LabProcess` says. Raises `LabError` where nothing can confine it."""
    assert kind.image is not None
    own, memory = container.own_folder(memory_mb, untrusted=untrusted) or (None, "")
    private = bwrap.PRIVATE if own is None else str(own)
    console = tempfile.TemporaryFile()  # noqa: SIM115 - it has no name and lives as long as the lab
    lifeline, lifeline_theirs = socket.socketpair()
    ours, theirs = socket.socketpair()
    info, info_theirs = os.pipe()
    options_fd = os.memfd_create("options")
    text = json.dumps(kind.options(folder, reads, private, seed))
    with ExitStack() as after:
        after.enter_context(lifeline_theirs)
        after.enter_context(theirs)
        after.callback(os.close, options_fd)
        after.callback(os.close, info_theirs)
        try:
            os.write(options_fd, text.encode())
            os.lseek(options_fd, 0, os.SEEK_SET)
            options: dict[str, Any] = {"channel": theirs.fileno()}
            command = kind.command(theirs.fileno(), private, seed)
            parts = {
                "image": kind.image.root,
                "linux": kind.image.kernel,
                "library": library(kind.image),
                "packages": installed_packages(),
            }
            if own is not None:
                container.link_parts(own, text, parts)
                options |= {"argv": command, "info": info_theirs, "folder": private}
                options["environment"] = {"TMPDIR": memory}
            else:
                words = bwrap.for_guest(folder, reads, parts, options_fd, info_theirs, memory_mb)
                if os.geteuid() == 0:
                    words += run_inside(Path(bwrap.PRIVATE, "image"), *bwrap.WITHOUT_RIGHTS)
                options["argv"] = words + command
            supervisor = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    str(Path(__file__).with_name("supervisor.py")),
                    str(lifeline_theirs.fileno()),
                    json.dumps(options),
                ],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                pass_fds=[lifeline_theirs.fileno(), options_fd, theirs.fileno(), info_theirs],
                start_new_session=True,
                cwd="/",
            )
        except BaseException:
            for end in (console, lifeline, ours):
                end.close()
            os.close(info)
            if own is not None:
                shutil.rmtree(own, ignore_errors=True)
            raise
    return Launched(supervisor, console, lifeline, ours, info)
