"""The list of libraries: to the byte what the image's own ldconfig writes."""

from __future__ import annotations

from hashlib import sha256

import pytest

from linklab.runtime.image import tree
from linklab.runtime.image.find import finished_images
from tools.image.build import image_key
from tools.image.contents import Contents, File
from tools.image.debian import lock_text
from tools.image.libraries import CACHE, PROGRAM, list_libraries

LDCONFIG_WROTE = "a7b7d1db2253af09"
"""The SHA-256 of what it wrote for the packages of packages.lock begins so."""


def test_it_is_what_ldconfig_writes() -> None:
    if not (images := finished_images()):
        pytest.skip("needs the lab image: python -m tools.image")
    contents = Contents()
    for path in tree.everything(images[0].root):
        name = path.relative_to(images[0].root).as_posix()
        if path.is_symlink():
            contents.put(name, path.readlink().as_posix())
        else:
            contents.put(name, None if path.is_dir() else File(path.read_bytes()))
    before = contents[CACHE]
    assert isinstance(before, File)
    contents.put(PROGRAM, File(before.data[before.data.index(b"ldconfig (") :]))
    list_libraries(contents)
    assert contents[CACHE] == before
    if not images[0].about.replaced and images[0].about.key == image_key(lock_text()):
        assert sha256(before.data).hexdigest().startswith(LDCONFIG_WROTE)
