"""Compiles an image's Python on computers that its programs do not run on: in a lab on QEMU that boots the image.

The same Python compiles the same modules, so the bytes are those of an image that was made on Linux with x86-64.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from linklab.errors import LabError
from linklab.runtime.image.find import Image

_LIMIT_S = 3600.0
_COMPILE = """\
find /usr -name __pycache__ -prune -exec rm -r {{}} +
sed 's#^#/#' modules | env -i PYTHONHASHSEED=0 LC_ALL=C.UTF-8 {python} -BS \
    -m compileall -fq -i - -s / -p / --invalidation-mode unchecked-hash \
&& sed -E 's#^(.*/)?([^/]*)[.]py$#\\1__pycache__/\\2.cpython-{tag}.pyc#' modules >compiled \
&& tar czf compiled.tar.gz -C / -T compiled && rm modules compiled; echo status $?
"""
"""As `linklab.runtime.image.find.compile_modules` does. What the boot has compiled is removed first: a compiler whose
own modules were loaded compiled writes others.
"""


def compiled(image: Image, names: Sequence[str]) -> dict[str, bytes]:
    """Return modules of an image compiled, by their paths in it.

    Raises `LabError` where Linklab's Python packages or QEMU are missing, or a module does not compile.
    """
    try:
        from linklab.lab import start
        from linklab.network import TWO_HOSTS
    except ModuleNotFoundError as error:
        raise LabError(
            f"on this computer the lab image is made in QEMU, which takes Linklab's Python packages ({error.name} is "
            "missing): make lab installs them"
        ) from error
    with TemporaryDirectory(prefix=".qemu-", dir=image.folder) as scratch:
        folder = Path(scratch, "lab")
        folder.mkdir()
        (folder / "modules").write_text("".join(f"{name}\n" for name in names), "utf-8")
        words = _COMPILE.format(python=image.python, tag=image.about.python.replace(".", ""))
        with (
            _set(LINKLAB_IMAGE=str(image.folder), XDG_CACHE_HOME=scratch),
            start(TWO_HOSTS, kind="qemu", folder=folder, wall_limit_s=_LIMIT_S) as lab,
        ):
            said = lab["h1"].cmd(words).split()
        if said[-2:] != ["status", "0"]:
            raise LabError(f"Python {image.about.python} of the lab image could not compile: {' '.join(said[-20:])}")
        with tarfile.open(folder / "compiled.tar.gz") as archive:
            found = {member.name: archive.extractfile(member) for member in archive if member.isreg()}
            return {name: content.read() for name, content in found.items() if content is not None}


@contextmanager
def _set(**variables: str) -> Iterator[None]:
    """Set variables of the environment for a while."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
