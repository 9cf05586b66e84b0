"""``python -m linklab.grading.tied PARENT COMMAND...``: becomes a command that ends when its parent does.

A judge's own processes stay below it, also those whose parents end (`linklab.runtime.process_tree`).
"""

from __future__ import annotations

import os
import sys

from linklab.runtime.process_tree import become_head


def main() -> None:
    """Ties this process to its parent and becomes the command; both ties outlast that (prctl(2))."""
    parent, *command = sys.argv[1:]
    if not become_head(int(parent)):
        sys.exit(1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
