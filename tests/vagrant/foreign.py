"""What another processor's box is spared: programs of that processor run here one instruction at a time.

pip would unpack for over an hour there, and Python compile for half an hour. Both are done by this machine's own, for
the box's Python; the project's provision.sh finds them done and goes on from there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.vagrant.architecture import Architecture
from tests.vagrant.needs import TrialError
from tests.vagrant.programs import remove_tree, run
from tests.vagrant.vagrant import STUDENT

_RIGHTS = "+setuid,+setgid,+sys_chroot"
# The emulator of single programs takes no notice of a program's setuid bit, so Debian's own sudo stays who it was.
_SUDO = '#!/bin/sh\n[ "$1" != -n ] || shift\nexec setpriv --reuid=0 --regid=0 --clear-groups -- "$@"\n'


def lay_packages(
    root: Path, venv: str, requirements: Path, architecture: Architecture, python: Path, log: Path
) -> None:
    """Makes the environment `venv` in `root`, with the wheels of `requirements` for the box's processor in it.

    `python` is the folder of a root file system of this machine's processor, which has the box's Python.
    """
    version = python_version(root)
    packages = python / "packages"
    words = [sys.executable, "-m", "pip", "install", "--no-compile", "--only-binary=:all:", "--target", str(packages)]
    words += ["--implementation", "cp", "--python-version", version]
    words += [word for name in architecture.wheels for word in ("--platform", name)]
    # pip itself too: provision.sh asks it whether all is there
    run(log, *words, "-r", str(requirements), "pip")
    site = f"{venv}/lib/python{version}/site-packages"
    compile_all(python, packages, site, log)
    as_vagrant(root, log, f"/usr/bin/python3 -m venv --without-pip --system-site-packages {venv}")
    own_scripts(packages / "bin", f"{venv}/bin/python")
    for source in sorted(packages.iterdir()):
        top = source.name in ("bin", "etc", "include", "share")
        merge(source, root / (venv if top else site).lstrip("/") / source.name)
    run(log, "chown", "-R", f"{STUDENT}:{STUDENT}", str(root / venv.lstrip("/")))


def python_version(root: Path) -> str:
    """Which Python is `root`'s, like 3.13."""
    found = re.fullmatch(r"python(3\.\d+)", os.readlink(root / "usr/bin/python3"))
    if found is None:
        raise TrialError(f"{root}/usr/bin/python3 does not say which Python it is")
    return found[1]


def compile_all(python: Path, packages: Path, site: str, log: Path) -> None:
    """Compiles what lies in `packages`, below the root file system `python`, as if it lay in the folder `site`.

    Each file is believed without a look at its source. What is no Python of today, as templates of programs, is left
    as it is.
    """
    within = f"/{packages.relative_to(python)}"
    words = ["chroot", str(python), "/usr/bin/python3", "-m", "compileall", "-q", "-s", within, "-p", site]
    with log.open("ab") as opened:
        subprocess.run(
            [*words, "--invalidation-mode", "unchecked-hash", within], stdout=opened, stderr=opened, check=False
        )
    if not any(packages.glob("*/__pycache__/*.pyc")):
        raise TrialError(f"Python compiled none of the box's packages; its log: {log}")


def own_scripts(folder: Path, python: str) -> None:
    """Makes the scripts that pip has written for this Python those of the box's `python`."""
    for path in folder.iterdir():
        data = path.read_bytes()
        if data.startswith(b"#!"):
            path.write_bytes(data.replace(sys.executable.encode(), python.encode(), 1))


def merge(source: Path, target: Path) -> None:
    """Moves a folder's content, or a file, to where something may lie already."""
    if source.is_dir() and target.is_dir():
        for inner in source.iterdir():
            merge(inner, target / inner.name)
    else:
        shutil.move(source, target)


def as_vagrant(root: Path, log: Path, command: str) -> None:
    """Runs a shell's command in `root` as the user vagrant, who may become root by `sudo -n` within `with_sudo`."""
    rights = [f"--inh-caps={_RIGHTS}", f"--ambient-caps={_RIGHTS}"]
    words = ["setpriv", f"--reuid={STUDENT}", f"--regid={STUDENT}", "--clear-groups", *rights]
    clean = ("env", "-i", "HOME=/home/vagrant", "USER=vagrant", "LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin")
    run(log, *words, "chroot", str(root), *clean, "bash", "-c", f"cd /home/vagrant && {command}")


@contextmanager
def with_sudo(root: Path) -> Iterator[None]:
    """A `sudo` in `root` that `as_vagrant`'s commands find first, until the end of the block."""
    path = root / "usr/local/bin/sudo"
    path.write_text(_SUDO)
    path.chmod(0o755)
    try:
        yield
    finally:
        path.unlink()


@contextmanager
def native_python(suite: str, folder: Path, sources: Path, options: Sequence[str], log: Path) -> Iterator[Path]:
    """A file system of this machine's own processor, with the Python of Debian's `suite` and nothing configured."""
    root = folder / f"python-{suite}"
    remove_tree(root)
    try:
        words = ("mmdebstrap", "--mode=root", "--variant=extract", "--include=base-files,python3", *options)
        run(log, *words, suite, str(root), str(sources))
        yield root
    finally:
        remove_tree(root)
