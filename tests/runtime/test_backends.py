"""Which kind of lab process a computer gets, by its system, its processor and what is installed."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.runtime import backends
from linklab.runtime.backends import Kind, KindName, choose
from linklab.runtime.image.find import About, Image
from linklab.units import AnyClock

IMAGE = Image(Path("/image"), About("key", "13", "3.13", {}, (), ()))


@pytest.fixture
def computer(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A computer with the lab image and QEMU, and no right to start native labs."""
    monkeypatch.delenv("LINKLAB_KIND", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(backends, "_may_sudo", lambda: False)
    monkeypatch.setattr(backends, "find_image", lambda: IMAGE)
    monkeypatch.setattr(backends, "find_qemu", lambda: None)
    return monkeypatch


def missing(what: str) -> object:
    def refuse(*_: object, **__: object) -> None:
        raise LabError(what)

    return refuse


LINUX, ARM, MAC = ("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")


@pytest.mark.parametrize(
    ("here", "clock", "name", "chosen"),
    [
        (LINUX, "auto", None, ("guest", "virtual")),
        (LINUX, "virtual", None, ("guest", "virtual")),
        (LINUX, "real", None, ("guest", "real")),
        (LINUX, "auto", "qemu", ("qemu", "virtual")),
        (ARM, "auto", None, ("qemu", "virtual")),
        (ARM, "virtual", "qemu", ("qemu", "virtual")),
        (MAC, "auto", None, ("qemu", "virtual")),
        (MAC, "virtual", None, ("qemu", "virtual")),
    ],
)
def test_what_is_chosen(
    computer: pytest.MonkeyPatch,
    here: tuple[str, str],
    clock: AnyClock,
    name: KindName | None,
    chosen: tuple[KindName, str],
) -> None:
    computer.setattr(sys, "platform", here[0])
    computer.setattr(platform, "machine", lambda: here[1])
    found = choose(clock, name)
    assert (found.name, found.clock) == chosen
    assert found.has_image
    assert found.image == IMAGE


@pytest.mark.parametrize(
    ("here", "clock", "name", "why"),
    [
        (ARM, "virtual", "guest", "user-mode Linux needs Linux on x86-64, and this is .* aarch64: say kind='qemu'"),
        (MAC, "real", None, "labs in real time need Linux"),
        (LINUX, "real", "qemu", "labs in QEMU have virtual time alone"),
        (LINUX, "virtual", "native", "native labs have no virtual time"),
        (LINUX, "virtual", "vmware", "kind 'vmware' is unknown: say guest, qemu, native"),
    ],
)
def test_what_cannot_be_had(
    computer: pytest.MonkeyPatch, here: tuple[str, str], clock: AnyClock, name: KindName | None, why: str
) -> None:
    computer.setattr(sys, "platform", here[0])
    computer.setattr(platform, "machine", lambda: here[1])
    with pytest.raises(LabError, match=why):
        choose(clock, name)


def test_the_environment_says_which_kind(computer: pytest.MonkeyPatch) -> None:
    computer.setenv("LINKLAB_KIND", "qemu")
    assert choose().name == "qemu"
    assert choose("virtual", "guest").name == "guest"


def test_without_qemu_an_arm_machine_falls_back_to_real_time(computer: pytest.MonkeyPatch) -> None:
    computer.setattr(sys, "platform", "linux")
    computer.setattr(platform, "machine", lambda: "aarch64")
    computer.setattr(backends, "find_qemu", missing("install QEMU"))
    computer.setattr(backends, "native", lambda **_: Kind("native", "real"))
    assert choose().name == "native"
    with pytest.raises(LabError, match="install QEMU"):
        choose("virtual")


def test_an_arm_machine_with_neither_qemu_nor_root_is_told_to_install_qemu(computer: pytest.MonkeyPatch) -> None:
    computer.setattr(sys, "platform", "linux")
    computer.setattr(platform, "machine", lambda: "aarch64")
    computer.setattr(backends, "find_qemu", missing("install QEMU"))
    computer.setattr(backends, "native", missing("say kind='guest'"))
    with pytest.raises(LabError, match="install QEMU"):
        choose()


def test_a_mac_without_qemu_is_told_so(computer: pytest.MonkeyPatch) -> None:
    computer.setattr(sys, "platform", "darwin")
    computer.setattr(platform, "machine", lambda: "arm64")
    computer.setattr(backends, "find_qemu", missing("install QEMU"))
    with pytest.raises(LabError, match="install QEMU"):
        choose()
