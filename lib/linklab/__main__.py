"""``linklab`` and ``python -m linklab``: where every command begins, and ends."""

from __future__ import annotations

import os
import sys

try:
    import io

    from linklab.signals import INTERRUPTED, drop, leave_on_ctrl_c
except KeyboardInterrupt:  # Python itself has just started
    os.write(2, b"linklab: interrupted\n")
    os._exit(130)


def main() -> int:
    """Run the command line; return the exit status.

    Ctrl-C ends a command at any moment with one line and its own status: while modules are loaded, while it works
    (`linklab.cli.answered`), and while Python ends.
    """
    leave_on_ctrl_c()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files, in a locale that cannot write them
    from linklab import cli

    try:
        return cli.main()
    except KeyboardInterrupt:  # pressed again
        return INTERRUPTED
    finally:
        drop()


if __name__ == "__main__":
    sys.exit(main())
