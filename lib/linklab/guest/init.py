"""The first program of a guest, which lies in the lab image as /usr/lib/linklab/init.py.

It mounts the two folders of this machine that every guest sees, beside its lab's own: ``private``, with the options of
this start, and ``library``, with Linklab compiled for the image's Python. Then it becomes the agent.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

HERE = "/usr/lib/linklab"
PRIVATE, LIBRARY, PACKAGES, LAYERS = (f"{HERE}/{name}" for name in ("private", "library", "packages", "layers"))
"""Empty folders in the image, to be mounted on: the start's own files, Linklab, what the notebook's Python has
installed, and what a guest changes.
"""


def main() -> None:
    """``init.py FOLDER``: the folder of this machine with the options of this start, ``library`` among its files."""
    mount = ctypes.CDLL(None, use_errno=True).mount
    for host, place in ((sys.argv[1], PRIVATE), (f"{sys.argv[1]}/library", LIBRARY)):
        if mount(b"none", place.encode(), b"hostfs", 1, host.encode()) != 0:
            sys.exit(f"init: {host} cannot be mounted: {os.strerror(ctypes.get_errno())}")
    with open(f"{PRIVATE}/options.json", encoding="utf-8") as file:
        options = json.load(file)
    os.environ.clear()
    os.environ.update(options["environment"])
    sys.path[:1] = [LIBRARY]
    sys.path.append("/usr/lib/python3/dist-packages")
    from linklab.guest import agent

    agent.main(options | {"layers": LAYERS, "library": LIBRARY, "packages_inside": PACKAGES})


if __name__ == "__main__":
    main()
