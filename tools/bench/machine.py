"""What the numbers were measured on."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from pathlib import Path

from linklab import __version__
from linklab.emulation.service import tool_versions
from linklab.errors import LabError
from linklab.record import processor
from linklab.runtime.backends import choose


def about_machine() -> dict[str, str]:
    """Processor, load, kernels, versions, date and (in a git tree) the commit, by name."""
    load_1, load_5, load_15 = os.getloadavg()
    about = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.1f} GB",
        "load at start": f"{load_1:.2f} {load_5:.2f} {load_15:.2f} (over 1, 5, 15 minutes)",
        "kernel of the machine": platform.release(),
        "kernel, virtual time": _kernel("virtual"),
        "kernel, real time": _kernel("real"),
        "linklab": __version__,
    }
    commit = _commit(Path(__file__).parent)
    return about | ({"commit": commit} if commit else {}) | tool_versions()


def _kernel(clock: str) -> str:
    try:
        kind = choose(clock, "guest")  # type: ignore[arg-type]
    except LabError as error:
        return f"none: {error}"
    if kind.kernel is None:
        return "none"
    return f"Linux {kind.kernel.version}, {'seccomp' if kind.kernel.seccomp else 'ptrace'}"


def _commit(folder: Path) -> str:
    """The commit of a git tree, marked where files are changed; empty outside of one."""
    words = ["git", "-C", str(folder)]
    try:
        head = subprocess.run([*words, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
        status = [*words, "status", "--porcelain", "--untracked-files=no"]
        changed = subprocess.run(status, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head.stdout.strip() + (" with changes" if changed.stdout.strip() else "")
