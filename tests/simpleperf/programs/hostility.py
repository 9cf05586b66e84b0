"""What the hostile programs try. Their texts lie in ``hostile/``. RUN THEM IN A SANDBOX ONLY."""

from __future__ import annotations

from typing import Final

HOSTILITY: Final[dict[str, tuple[str, str]]] = {
    "loops": ("loops for ever", "stopped by a limit on CPU time or wall time, and reported"),
    "forks": ("forks without end", "stopped by a limit on processes; none of its processes is left"),
    "fills-memory": ("fills memory", "stopped by a limit on memory; the machine stays usable"),
    "fills-disk": ("fills its own folder", "stopped by a limit on file sizes or the folder's size"),
    "writes-outside": ("writes outside of its folder", "no file linklab-hostile-mark is left anywhere outside"),
    "deletes": ("deletes files, its own and outside", "the folder outside is whole, the checked file is still there"),
    "reads-secrets": ("reads other people's files", "the content of the file outside is not in what it prints"),
    "prints-gigabytes": ("prints without end", "stopped; only the first part of the output is kept"),
    "opens-sockets": (
        "opens thousands of sockets",
        "stopped by a limit on open files; others still get sockets",
    ),
    "ignores-sigterm": ("ignores every polite signal", "ended by SIGKILL"),
    "daemon": ("leaves a daemon behind by forking twice", "the daemon has ended; daemon-lives is not written any more"),
    "never-reads": ("accepts connections and never reads or answers", "the check ends within its time limit"),
}
"""By name: what it tries, and what must become of it."""
