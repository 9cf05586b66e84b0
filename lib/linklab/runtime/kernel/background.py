"""Building the kernel behind the user's back, at low priority, while they work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from linklab.errors import LabError
from linklab.runtime.kernel.cache import build_is_running, cache_folder, ensure_folder
from linklab.runtime.kernel.find import find_kernel


def background_log() -> Path:
    """What a build in the background says: one line per five percent, and the reason when it fails."""
    return cache_folder() / "background.log"


def start_background_build() -> bool:
    """Starts ``linklab kernel build --background`` apart from this process, and returns at once.

    False, and nothing is started, when there is a kernel already or when a build runs. The build outlives
    this process; `build_is_running` and ``linklab kernel status`` tell how far it is. Raises `LabError` when
    the cache folder cannot be written.
    """
    folder = ensure_folder(cache_folder())
    if build_is_running(folder):
        return False
    try:
        find_kernel("virtual")
        return False
    except LabError:
        pass
    # setsid --fork leaves at once and its child belongs to init, so that no zombie stays with a notebook's
    # kernel.
    command = ["setsid", "--fork", sys.executable, "-m", "linklab", "kernel", "build", "--background"]
    with background_log().open("w", encoding="utf-8") as log:
        try:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise LabError(f"the kernel's build could not be started ({error}): run linklab kernel build") from error
    return True
