"""An image's Python compiled in QEMU: the bytes are those that it makes where it runs itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.runtime.image.find import finished_images, read_image
from linklab.runtime.qemu.machine import find_qemu
from tests.runtime.test_image_find import made
from tools.image.elsewhere import compiled


@pytest.mark.lab
@pytest.mark.large
def test_modules_are_the_same_to_the_byte(tmp_path: Path) -> None:
    if not finished_images():
        pytest.skip("needs the lab image: python -m tools.image")
    try:
        find_qemu()
    except LabError as error:
        pytest.skip(str(error))
    shutil.copytree(finished_images()[0].folder, tmp_path / "image", symlinks=True)
    image = read_image(tmp_path / "image")
    folder = f"usr/lib/python{image.about.python}"
    wanted = {}
    for name in ("bisect", "json/decoder", "linecache"):
        above, _, stem = name.rpartition("/")
        path = next((image.root / folder / above / "__pycache__").glob(f"{stem}.*.pyc"))
        wanted[path.relative_to(image.root).as_posix()] = path.read_bytes()
        path.unlink()
    names = [f"{folder}/{name}.py" for name in ("bisect", "json/decoder", "linecache")]
    assert compiled(image, names) == wanted


def test_without_qemu_one_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKLAB_QEMU", str(tmp_path / "nothing"))
    with pytest.raises(LabError, match="which is no program: install QEMU"):
        compiled(read_image(made(tmp_path / "image")), ["usr/lib/x.py"])
    assert not list((tmp_path / "image").glob(".qemu-*"))
