"""Start a student's server, as that student, for JupyterHub: ``python -m linklab.hub.start``.

On one machine, in a container and on Kubernetes it is the same. The environment may say where released labs lie
(``LINKLAB_RELEASED_LABS``); otherwise they are those that this Linklab carries. They are laid into ``~/labs``, or where
JupyterHub says (``JUPYTERHUB_ROOT_DIR``), as `linklab up` does it (`linklab.carried_labs`).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

try:
    from linklab.errors import LinklabError
    from linklab.files import home, temporary_folder
    from linklab.signals import leave_on_ctrl_c
except KeyboardInterrupt:  # JupyterHub has changed its mind
    os.write(2, b"linklab: interrupted\n")
    os._exit(130)

LABS_VARIABLE: Final = "LINKLAB_RELEASED_LABS"
_FOLDER_VARIABLE: Final = "JUPYTERHUB_ROOT_DIR"


def main() -> None:
    """Copy new labs, then become the student's server. Ends with one line where the labs cannot be copied.

    JupyterHub ends a server by SIGINT, perhaps while it loads; once it serves it has a handler of its own.
    """
    leave_on_ctrl_c()
    os.umask(0o077)
    try:
        prepare_folder()
    except LinklabError as error:
        sys.exit(f"linklab: {error}")
    except OSError as error:
        sys.exit(f"linklab: {error.strerror}: {error.filename}")
    from linklab.hub.student import StudentServer

    # a folder of the student's alone; in a deep home the addresses of kernels' sockets would be too long
    with temporary_folder() as runtime:
        os.environ["JUPYTER_RUNTIME_DIR"] = str(runtime)
        StudentServer.launch_instance()


def prepare_folder() -> None:
    """Make the student's folder and put labs into it. Who is new begins in the first lab.

    Raises LinklabError where there are no labs, and what `files_of` and `lay` raise.
    """
    from linklab import carried_labs  # these load for a second, and SIGINT may come meanwhile
    from linklab.jupyter import FIRST_NOTEBOOK

    released = os.environ.get(LABS_VARIABLE)
    labs = files_of(Path(released)) if released else carried_labs.carried()
    if not labs:
        raise LinklabError(f"{LABS_VARIABLE} is not set: JupyterHub must name the folder of released labs in it")
    folder = Path(os.environ.get(_FOLDER_VARIABLE) or home() / "labs").expanduser()
    os.environ[_FOLDER_VARIABLE] = str(folder)
    if FIRST_NOTEBOOK in carried_labs.lay(folder, labs).new:
        os.environ.setdefault("JUPYTERHUB_DEFAULT_URL", f"/lab/tree/{FIRST_NOTEBOOK}")


def files_of(labs: Path) -> dict[str, bytes]:
    """Return the files of released labs by their names, without the release's own list.

    Raises LinklabError where they cannot be read.
    """
    from linklab.classroom.release import MANIFEST

    try:
        return {path.name: path.read_bytes() for path in sorted(labs.iterdir()) if path.name != MANIFEST}
    except OSError as error:
        raise LinklabError(f"the labs in {labs} cannot be read ({error.strerror}): tell your instructor") from None


if __name__ == "__main__":
    main()
