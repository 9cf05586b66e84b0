"""Write bubblewrap's command line, here alone, and end it: for whole labs, and for programs that nobody trusts.

A guest sees of the host's files only what it is made of, to be read; to write there is none but the lab folder.
Everything a lab makes for itself lies on a tmpfs in a mount namespace of its own, so the kernel
removes it with the last process, however that one ends.

A program that nobody trusts gets its own folder to write and a Python to read. It sees no home, no file of the user,
none of the lab's processes; only the network namespace it was started in. Its limits are `linklab.guest.limits`'.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from linklab.errors import LabError
from linklab.runtime.kernel import runs_user_mode_linux

PRIVATE = "/run/linklab"  # on a tmpfs of the lab's own; not below /dev, over which some guest kernels mount theirs
_MB = 1024 * 1024
_ROOM_MB = 64
_SHARED_MB = 64
_LIMIT_S = 60
HOME = "/home/student"
"""Where the program finds its folder."""
PACKAGES = "/opt/packages"
"""Where it finds the installed Python packages, if it gets any."""
_PUBLIC_PLACES = ("/tmp", "/var/tmp", "/dev/shm")
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""PATH of programs that nobody trusts, and of those in labs."""

WITHOUT_RIGHTS = ("/usr/bin/setpriv", "--bounding-set=-all,+chown,+dac_override,+fowner")
"""What takes root's capabilities from a guest's kernel, a process of this machine that may fall into its guest's hands:
they would let it mount disks, and so see past bubblewrap's view. It may still write what others own in the lab's
folder. bubblewrap's own --cap-drop leaves the bounding set as it is, and then Linux clears the personality that
user-mode Linux has set whenever it executes itself, which it does for ever."""


def for_guest(
    folder: Path | None,
    reads: Sequence[Path],
    parts: Mapping[str, Path],
    options_fd: int,
    info_fd: int,
    memory_mb: int,
) -> list[str]:
    """Return the words that go before the command of a guest that boots from the lab image.

    It sees `parts` of this machine, by their names in `PRIVATE`, where the text behind `options_fd` stands as
    options.json, `reads`, and `folder`, which alone is writable; no other file. Its memory is a file, of `memory_mb`.
    bubblewrap writes the process id of the guest's first process, as this machine sees it, to `info_fd`.
    Raises `LabError` where bubblewrap is missing.
    """
    words = [*program("a lab"), "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net"]
    words += ["--as-pid-1", "--dev", "/dev", "--proc", "/proc"]
    words += ["--size", str((memory_mb + _ROOM_MB) * _MB), "--tmpfs", "/dev/shm", "--setenv", "TMPDIR", "/dev/shm"]
    words += ["--size", str(_ROOM_MB * _MB), "--tmpfs", "/run", "--perms", "0755", "--dir", PRIVATE]
    for name, path in parts.items():
        words += ["--ro-bind", str(path), f"{PRIVATE}/{name}"]
    words += ["--perms", "0644", "--ro-bind-data", str(options_fd), f"{PRIVATE}/options.json"]
    for read in reads:
        words += [*_way([read]), "--ro-bind", str(read), str(read)]
    if folder is not None:
        words += [*_way([folder]), "--bind", str(folder), str(folder)]
    # of /proc bubblewrap itself shuts what access(2) says to be writable, which says of /proc/sys that it is not
    closed = [word for place in ("/proc", "/dev", "/") for word in ("--remount-ro", place)]
    return [*words, *closed, "--info-fd", str(info_fd), "--"]


def for_qemu(program_path: Path, folder: Path, memory: Path) -> list[str]:
    """Return the words that go before QEMU's own command.

    It sees the system's programs, itself, ``folder``, its own, and the file of a machine's memory: QEMU opens it to be
    written, though it maps it for itself alone. Raises `LabError` where bubblewrap is missing.
    """
    words = [*program("a lab"), "--die-with-parent", "--unshare-all", "--as-pid-1", "--cap-drop", "ALL"]
    words += [*system_programs(), "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    prefix = program_path.resolve().parents[1]
    if not prefix.is_relative_to("/usr"):
        words += [*_way([prefix]), "--ro-bind", str(prefix), str(prefix)]
    words += ["--dev", "/dev", "--proc", "/proc"]
    words += [*_way([memory, folder]), "--bind", str(memory), str(memory), "--bind", str(folder), str(folder)]
    return [*words, "--remount-ro", "/proc", "--remount-ro", "/", "--"]


def own_view() -> list[str]:
    """Return bubblewrap's words for Linklab and its Python, where they lie here."""
    places = _own_places()
    return [*_way(places), *(word for place in places for word in ("--ro-bind", str(place.resolve()), str(place)))]


def _way(places: Iterable[Path]) -> list[str]:
    """Return bubblewrap's words for the folders above places. It would make them for root alone, and a program without
    root's rights could not pass.
    """
    every = (folder for place in places for folder in reversed(place.parents))
    folders = dict.fromkeys(str(folder) for folder in every if folder != Path("/"))
    return [word for folder in folders for word in ("--perms", "0755", "--dir", folder)]


def _own_places() -> list[Path]:
    """Return where Linklab, its studies and its Python lie, but for what is the system's."""
    # a lab has this module for the programs in it, and not that one
    from linklab.discovery import STUDIES

    prefixes = sorted({Path(prefix) for prefix in (sys.prefix, sys.base_prefix)})
    return [Path(__file__).resolve().parents[1], STUDIES, *(it for it in prefixes if not it.is_relative_to("/usr"))]


def for_program(
    folder: Path,
    python: str,
    packages: Path | None = None,
    *,
    elsewhere: Path | None = None,
    proc: bool = True,
    more: Sequence[str] = (),
    image: Path | None = None,
) -> list[str]:
    """Return bubblewrap's words for a program. ``folder`` is writable, and is called `HOME` there.

    So are the places where anybody may write on other machines, if ``elsewhere`` is given: they are this one folder,
    and what is found in it afterwards tells of a program that does not keep to its own.
    ``python`` is the interpreter, which is shown with all of its prefix. ``packages`` are shown as `PACKAGES`.
    Without ``proc`` there is no /proc: a kernel refuses a new one where the present one is partly covered, as it is
    in many containers. ``more`` are bubblewrap's words for what else is to be seen. ``image`` as in `program`. Raises
    LabError where bubblewrap is missing.
    """
    words = [*program("programs", image), "--die-with-parent", "--new-session", "--unshare-user", "--uid", "1000"]
    words += ["--gid", "1000", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    words += ["--hostname", "sandbox", "--cap-drop", "ALL", *system_programs()]
    for place in ("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime", "/etc/nsswitch.conf", "/etc/hosts"):
        words += ["--ro-bind-try", place, place]
    prefix = Path(python).resolve().parents[1]
    if not prefix.is_relative_to("/usr"):
        words += ["--ro-bind", str(prefix), str(prefix)]
    if packages is not None:
        words += ["--ro-bind", str(packages), PACKAGES, "--setenv", "PYTHONPATH", PACKAGES]
    words += ["--proc", "/proc"] if proc else []
    words += ["--dev", "/dev", "--size", str(_SHARED_MB * _MB), "--tmpfs", "/dev/shm"]
    for place in _PUBLIC_PLACES if elsewhere is not None else ():
        words += ["--bind", str(elsewhere), place]
    words += [*more, "--bind", str(folder), HOME, "--chdir", HOME, "--remount-ro", "/dev", "--remount-ro", "/"]
    return [*words, "--"]


def program_environment() -> dict[str, str]:
    """Return all that the program finds in its environment. Python writes each line at once, also into a pipe."""
    return {
        "PATH": SYSTEM_PATH,
        "HOME": HOME,
        "LC_ALL": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "200",  # else argparse and table makers fold their lines
        "TMPDIR": HOME,
    }


def system_programs() -> list[str]:
    """Return bubblewrap's words for the system's programs, which are read where they lie."""
    words = ["--ro-bind", "/usr", "/usr"]
    for place in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(place):
            words += ["--symlink", os.readlink(place), place]
        elif os.path.isdir(place):
            words += ["--ro-bind", place, place]
    return words


def program(what: str, image: Path | None = None) -> list[str]:
    """Return the words that start bubblewrap: this machine's own, or else that of the lab image.

    This machine's may be allowed more: some distributions let no program make namespaces but those that they name.
    ``image`` is where the user that bubblewrap will run as can read the lab image, if its own folder is closed to them.
    Raise `LabError` where there is neither; `what` it keeps off files stands in that.
    """
    if found := shutil.which("bwrap"):
        return [found]
    # not in labs, which know of no images
    from linklab.runtime.image.find import DamagedImage, find_image, run_inside

    try:
        if runs_user_mode_linux():
            return run_inside((image or find_image().folder) / "root", "/usr/bin/bwrap")
    except DamagedImage:
        raise
    except LabError:
        pass  # which says less of what is wanted here
    raise LabError(f"bubblewrap is missing, which keeps {what} off your files: sudo apt-get install bubblewrap")


def end(bubblewrap: subprocess.Popen[bytes]) -> None:
    """Kill bubblewrap, which was started in a session of its own, and all that runs in it.

    All of its session is killed: a child that bubblewrap has just made dies with it only once it has asked for that.
    """
    if bubblewrap.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(bubblewrap.pid, signal.SIGKILL)


def refusal() -> str | None:
    """Try what all labs need of bubblewrap; return in its own words why it can make no namespaces here, None where it
    can.

    Raise `LabError` where it is missing, or does not come to an end.
    """
    words = [*program("a lab"), "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    pipe = subprocess.PIPE
    try:
        # in a session of its own: Ctrl-C would end bubblewrap alone, and not the child that waits for it
        bubblewrap = subprocess.Popen(words, stdout=pipe, stderr=pipe, start_new_session=True)
    except OSError as error:
        raise LabError(f"{words[0]} cannot be started ({error.strerror}): sudo apt-get install bubblewrap") from error
    with bubblewrap:
        try:
            _, told = bubblewrap.communicate(timeout=_LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise LabError(f"bubblewrap was not done after {_LIMIT_S} s: run linklab doctor again") from error
        finally:
            end(bubblewrap)
    if bubblewrap.returncode == 0:
        return None
    said = (told.decode(errors="replace").strip().splitlines() or ["it ended without a word"])[-1]
    return said.removeprefix("bwrap: ").partition(". ")[0]
