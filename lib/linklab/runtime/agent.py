"""The first program of a lab: it makes the lab ready, and answers requests."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from linklab.runtime import boot
from linklab.runtime.channel import Channel
from linklab.runtime.context import Context, grow_up, serve


def main(options: dict[str, Any]) -> None:
    """Makes the lab ready and serves it. `options` are what `linklab.runtime.backends` writes for it."""
    seed = int(options["seed"])
    for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):  # for this process, not for what runs on the hosts
        os.environ.pop(name, None)
    if options["kind"] == "guest":
        packages = options["packages"], options["packages_inside"]
        boot.boot_guest(options["folder"], options["reads"], options["layers"], options["library"], packages)
        boot.become_init("guest")
        line = os.open("/dev/linklab", os.O_RDWR | os.O_CLOEXEC)
        virtual = options["clock"] == "virtual"
        if virtual:
            boot.exact_timers()
        grow_up(virtual)
        if virtual:
            boot.whole_seconds_apart(time.time())
        channel = Channel(line, line, spin=virtual)
    else:
        boot.boot_native(options["folder"])
        boot.become_init("native")
        channel = Channel(os.dup(0), os.dup(1))
        quiet = os.open(os.devnull, os.O_RDWR)
        os.dup2(quiet, 0)
        os.dup2(2, 1)
    serve(Context(channel, options["clock"], seed))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
