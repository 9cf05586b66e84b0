"""Start a lab in user-mode Linux: its command, its supervisor, what confines it, and our ends of the channel."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linklab.guest.boot import DATE_S
from linklab.runtime import bwrap, container
from linklab.runtime.backends import ENVIRONMENT, Kind
from linklab.runtime.console import Console
from linklab.runtime.image.find import installed_packages, library, run_inside

_EARLY = ("PYTHONHASHSEED", "GLIBC_TUNABLES")
"""What has to be there when a guest's first program starts."""


@dataclass(frozen=True)
class Launched:
    """A lab that has been started and has not answered yet.

    ``console`` is what it writes, ``lifeline`` the socket whose end is the lab's end, ``ours`` the channel to its
    agent. ``info_fd`` gives the process id of the lab's first process as JSON (``child-pid``).
    """

    supervisor: subprocess.Popen[bytes]
    console: Console
    lifeline: socket.socket
    ours: socket.socket
    info_fd: int


def launch(
    kind: Kind, folder: Path | None, reads: Sequence[Path], *, untrusted: bool, memory_mb: int, seed: int
) -> Launched:
    """Start a lab as `linklab.runtime.client.LabProcess` says. Raises `LabError` where nothing can confine it."""
    assert kind.image is not None
    own, memory = container.own_folder(memory_mb, untrusted=untrusted) or (None, "")
    private = bwrap.PRIVATE if own is None else str(own)
    console = Console()
    lifeline, lifeline_theirs = socket.socketpair()
    ours, theirs = socket.socketpair()
    info, info_theirs = os.pipe()
    options_fd = os.memfd_create("options")
    text = json.dumps(_options(folder, reads, private, seed))
    with ExitStack() as after:
        after.enter_context(lifeline_theirs)
        after.enter_context(theirs)
        after.callback(os.close, options_fd)
        after.callback(os.close, info_theirs)
        try:
            os.write(options_fd, text.encode())
            os.lseek(options_fd, 0, os.SEEK_SET)
            options: dict[str, Any] = {"channel": theirs.fileno()}
            command = _command(kind, theirs.fileno(), private, memory_mb, seed)
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
                stdout=console.file,
                stderr=console.file,
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


def _command(kind: Kind, channel_fd: int, private: str, memory_mb: int, seed: int) -> list[str]:
    """Return the guest's own command. ``private`` is the folder of what it is made of and of its own files; ``seed`` is
    for the kernel's random numbers.
    """
    assert kind.image is not None
    return [
        f"{private}/linux",
        f"mem={memory_mb}M",
        "root=/dev/root",
        "rootfstype=hostfs",
        f"rootflags={private}/image",
        "ro",
        # quiet and con=null: a boot log on the console costs time; errors still come on standard output
        "con=null",
        "con0=null,fd:1",
        f"linklab={channel_fd}",
        "quiet",
        f"uml_dir={private}/",
        "panic=-1",
        "bonding.max_bonds=0",
        "time-travel=inf-cpu",
        f"time-travel-start={DATE_S * 10**9}",
        "norandmaps",
        f"random.seed={seed}",
        f"seccomp={'off' if kind.traced else 'auto'}",
        # what the kernel does not know becomes the environment of its first program
        *(f"{name}={ENVIRONMENT[name]}" for name in _EARLY),
        f"init={kind.image.python}",
        "--",
        "-S",
        "/usr/lib/linklab/init.py",
        private,
    ]


def _options(folder: Path | None, reads: Sequence[Path], private: str, seed: int) -> dict[str, Any]:
    """Return what the guest's first program (`linklab.guest.init`) reads, and tells the agent."""
    return {
        "seed": str(seed),
        "environment": ENVIRONMENT,
        "reads": [str(path) for path in reads],
        "packages": f"{private}/packages",
        "folder": str(folder) if folder else None,
    }
