"""Which kind of lab process a computer gets, by its system, its processor and what is installed."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.runtime import backends
from linklab.runtime.backends import Kind, KindName, choose, whole_seed
from linklab.runtime.image.find import Image, ImageManifest

IMAGE = Image(Path("/image"), ImageManifest("key", "13", "3.13", {}, (), ()))


@pytest.fixture
def computer(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A computer with the lab image and QEMU."""
    monkeypatch.delenv("LINKLAB_KIND", raising=False)
    monkeypatch.setattr(backends, "find_image", lambda: IMAGE)
    monkeypatch.setattr(backends, "find_qemu", lambda: None)
    return monkeypatch


LINUX, ARM, MAC = ("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")


@pytest.mark.parametrize(
    ("here", "name", "chosen"),
    [
        (LINUX, None, "guest"),
        (LINUX, "qemu", "qemu"),
        (ARM, None, "qemu"),
        (MAC, None, "qemu"),
    ],
)
def test_what_is_chosen(
    computer: pytest.MonkeyPatch, here: tuple[str, str], name: KindName | None, chosen: KindName
) -> None:
    computer.setattr(sys, "platform", here[0])
    computer.setattr(platform, "machine", lambda: here[1])
    assert choose(name) == Kind(chosen, IMAGE)


@pytest.mark.parametrize(
    ("here", "name", "why"),
    [
        (ARM, "guest", "user-mode Linux needs Linux on x86-64, and this is .* aarch64: say kind='qemu'"),
        (LINUX, "vmware", "kind 'vmware' is unknown: say guest, qemu"),
    ],
)
def test_what_cannot_be_had(
    computer: pytest.MonkeyPatch, here: tuple[str, str], name: KindName | None, why: str
) -> None:
    computer.setattr(sys, "platform", here[0])
    computer.setattr(platform, "machine", lambda: here[1])
    with pytest.raises(LabError, match=why):
        choose(name)


def test_the_environment_says_which_kind(computer: pytest.MonkeyPatch) -> None:
    computer.setenv("LINKLAB_KIND", "qemu")
    assert choose().name == "qemu"
    assert choose("guest").name == "guest"


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, True, "1"])
def test_what_is_no_seed_is_refused(seed: object) -> None:
    with pytest.raises(LabError, match="choose a whole number from 0 to 2"):
        whole_seed(seed)


def test_who_needs_qemu_is_told_to_install_it(computer: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise LabError("install QEMU")

    computer.setattr(platform, "machine", lambda: "aarch64")
    computer.setattr(backends, "find_qemu", missing)
    with pytest.raises(LabError, match="install QEMU"):
        choose()
