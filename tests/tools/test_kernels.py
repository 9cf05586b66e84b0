"""The kernels' configurations, and the compiled kernels that come with Linklab."""

from __future__ import annotations

import lzma
from dataclasses import replace
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.runtime.kernel import manifest
from tools.image import debian, kernels
from tools.image.kernels import FLAVOURS, USER_MODE

SAMPLE = """# a comment
CONFIG_HOSTFS=y

# -- Links
CONFIG_VETH=y
# CONFIG_FRAME_POINTER is not set
# -- Optional: older kernels only
CONFIG_PROC_SYSCTL=y
"""


def test_hash_ignores_comments_and_order_and_sees_each_option_change_and_word(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"lab.config": SAMPLE, "uml.config": "", "line.patch": "", "memory.patch": "", "progress.patch": ""}
    texts |= {"clock.patch": "+a\n", "random.patch": "why\n+b\n"}
    monkeypatch.setattr(kernels, "_text", texts.__getitem__)
    first = USER_MODE.configuration_hash()
    texts["lab.config"] = "CONFIG_PROC_SYSCTL=y\n# other words\nCONFIG_VETH=y\nCONFIG_HOSTFS=y\n"
    texts["random.patch"] = "for another reason\n+b\n"
    assert USER_MODE.configuration_hash() == first
    assert replace(USER_MODE, words=("CFLAGS=-O3",)).configuration_hash() != first
    texts["uml.config"] = "CONFIG_TUN=y\n"
    with_tun = USER_MODE.configuration_hash()
    texts["clock.patch"] = "+c\n"
    assert len({first, with_tun, USER_MODE.configuration_hash()}) == 3


def test_the_kernels_are_compiled_from_this_configuration_and_these_patches() -> None:
    """A change of them needs kernels made anew: `python -m tools.kernels write`."""
    carried = manifest()["kernels"]
    assert {name: each["configuration"] for name, each in carried.items()} == {
        flavour.file: flavour.configuration_hash() for flavour in FLAVOURS
    }


def test_the_kernels_are_compiled_from_the_pinned_source_with_the_pinned_compiler() -> None:
    pinned = {each.name: each for each in debian.pinned(Path("tools/kernels.lock").read_text("utf-8"))}
    source, compiler = manifest()["source"], manifest()["compiler"]
    assert pinned[source["package"]].version == source["version"]
    assert pinned[source["package"]].sha256 == source["sha256"]
    assert pinned[compiler["package"]].version == compiler["version"]


def test_a_damaged_kernel_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert kernels.kernel_bytes(USER_MODE).startswith(b"\x7fELF")
    monkeypatch.setattr(kernels, "FOLDER", tmp_path)
    monkeypatch.setattr(kernels, "manifest", lambda: {"kernels": {USER_MODE.file: {"sha256": "0" * 64}}})
    for content in (b"cut off", lzma.compress(b"another kernel")):
        (tmp_path / f"{USER_MODE.file}.xz").write_bytes(content)
        with pytest.raises(LabError, match="install Linklab again"):
            kernels.kernel_bytes(USER_MODE)
