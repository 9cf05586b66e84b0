"""An image as a Python package that pip installs: ``linklab_image``, whose ``FILE`` is the image as one file.

The layout is that of "Binary distribution format" in PyPA's specifications. The same image gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from linklab import __version__
from linklab.errors import LabError
from linklab.runtime.image.find import Image
from linklab.runtime.image.tree import NAME, PACKAGE
from tools.image.pack import pack

_TAG = "py3-none-any"
"""Nothing of it is run by the machine's own libraries, and where user-mode Linux does not exist QEMU boots it."""
_MODULE = '''\
"""The lab image of Linklab {version}: Debian {about.debian}, Linux {about.kernel_version}. `FILE` is where it lies."""

from pathlib import Path

FILE = Path(__file__).with_name("{name}")
'''
_METADATA = """\
Metadata-Version: 2.1
Name: linklab-image
Version: {version}
Summary: The lab image of Linklab: Debian {about.debian} and Linux {about.kernel_version}, which labs boot
License: Those of its {count} packages of Debian and of Linux, each in the image under {about.licences}
Requires-Python: >=3.11

What Linklab's labs boot, made by `python -m tools.image` (key {about.key}). Linklab finds it where it is installed.
Its packages, with the names and versions of their sources in Debian:

{sources}
"""
_DATE = (2026, 1, 1, 0, 0, 0)
_MODE = 0o100644 << 16


def make(made: Image, folder: Path, progress: Callable[[float], None] = lambda part: None) -> Path:
    """Write an image as a wheel into ``folder``; return its path.

    ``progress`` hears which part of the packing is done, from 0 to 1. Raises `LabError` where it cannot be written, and
    as `pack`.
    """
    about, name = made.about, NAME
    stem = f"{PACKAGE}-{__version__}"
    wheel = folder / f"{stem}-{_TAG}.whl"
    sources = "\n".join(f"- {each.name} {each.version}: {each.source} {each.source_version}" for each in about.packages)
    sources += "\n- kernels {version}: {source[package]} {source[version]}".format_map(about.kernels)
    filled = {"version": __version__, "about": about, "name": name, "sources": sources, "count": len(about.packages)}
    texts = {
        f"{PACKAGE}/__init__.py": _MODULE.format(**filled),
        f"{stem}.dist-info/METADATA": _METADATA.format(**filled),
        f"{stem}.dist-info/WHEEL": f"Wheel-Version: 1.0\nGenerator: linklab\nRoot-Is-Purelib: true\nTag: {_TAG}\n",
    }
    record = f"{stem}.dist-info/RECORD"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".linklab-", dir=folder) as scratch:
            packed, part = Path(scratch, name), Path(scratch, wheel.name)
            pack(made.folder, packed, progress)
            with zipfile.ZipFile(part, "w") as archive:
                rows = [_add(archive, place, text.encode()) for place, text in texts.items()]
                rows.append(_add(archive, f"{PACKAGE}/{name}", packed.read_bytes()))
                _add(archive, record, "".join([*rows, f"{record},,\n"]).encode())
            part.replace(wheel)
    except OSError as error:
        raise LabError(f"{wheel} cannot be written ({error.strerror or error}): name another folder") from error
    return wheel


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> str:
    """Add a file as it is (the image is compressed already); return its line in RECORD."""
    entry = zipfile.ZipInfo(name, _DATE)
    entry.external_attr = _MODE
    archive.writestr(entry, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"
