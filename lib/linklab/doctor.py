"""``linklab doctor``: try what a lab needs, start one, and say what mends what does not work."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from linklab import lab
from linklab.errors import LinklabError
from linklab.files import temporary_folder
from linklab.network import TWO_HOSTS, rtt_floor_ms
from linklab.network.routing import path
from linklab.runtime import bwrap, container
from linklab.runtime.backends import guest_memory_mb
from linklab.runtime.image.find import intact_image
from linklab.runtime.kernel import runs_user_mode_linux
from linklab.settings import hand_on_image, number

_INSTALL: Final = "make lab (it installs what is missing)"
_LIMIT_S: Final = 60
_NAMESPACES: Final = (
    ("kernel/apparmor_restrict_unprivileged_userns", "1",
     "sudo bash vagrant/allow-bwrap.sh (an AppArmor profile that lets bwrap work)"),
    ("kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
    ("user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=10000"),
)  # fmt: skip
"""The settings by which distributions keep bubblewrap from making namespaces, and what mends each."""


@dataclass(frozen=True)
class DoctorFinding:
    """One row of the doctor's table. ``fix`` is the command or step that mends what does not work.

    Labs are impossible where something that is ``needed`` does not work.
    """

    what: str
    works: bool
    detail: str
    fix: str = ""
    needed: bool = True


class _Fails(LinklabError):
    """What is tried does not work: the detail, and what mends it."""


def _tried(what: str, attempt: Callable[[], str]) -> DoctorFinding:
    """Return what an attempt says as a finding. An error's words are what is wrong, a colon, and what mends it."""
    try:
        return DoctorFinding(what, True, attempt())
    except _Fails as failure:
        detail, fix = failure.args
    except (LinklabError, OSError) as error:
        detail, _, fix = str(error).partition(": ")
    return DoctorFinding(what, False, detail, fix)


def examine() -> Iterator[DoctorFinding]:
    """Try one thing after the other, and yield what was found."""
    machine = _tried("machine", _machine)
    yield machine
    if not machine.works:
        return  # advice about packages is of no use on another system
    yield _tried("Python and Mininet", _python)
    settings = _tried("settings", _settings)
    if not settings.works:
        yield settings
    yield _tried("image", _image)
    if sys.platform == "linux":
        yield _confinement()
    yield _tried("lab", _lab)


def _machine() -> str:
    what = f"{platform.system()} on {platform.machine()}"
    if sys.platform not in ("linux", "darwin"):
        raise _Fails(f"{what}; labs need Linux or macOS", "WSL2, or vagrant up")
    return f"{what}, Linux {platform.release()}" if runs_user_mode_linux() else f"{what}: labs run in QEMU"


def _python() -> str:
    version = platform.python_version()
    wanted = ("mininet", "jupyterlab", "matplotlib", "ipywidgets")
    if missing := [name for name in wanted if importlib.util.find_spec(name) is None]:
        raise _Fails(f"{', '.join(missing)} missing in Python {version}", _INSTALL)
    from mininet.net import VERSION

    return f"Python {version}, Mininet {VERSION}"


def _settings() -> str:
    hand_on_image()
    number("hints")
    return "read"


def _image() -> str:
    """Read every file of the image, and have one that was damaged unpacked anew."""
    image, damaged = intact_image()
    about = f"{image.folder}, Debian {image.about.debian}, Linux {image.about.kernel_version}"
    return f"{about}; {damaged} was damaged, and it was unpacked anew" if damaged else about


def _confinement() -> DoctorFinding:
    if container.VARIABLE in os.environ:
        found = _tried("confinement by this container", _container)
        if not found.works or found.detail:
            return found
    refused = ""

    def attempt() -> str:
        nonlocal refused
        refused = bwrap.refusal() or ""
        if refused:
            raise _Fails(refused, _namespaces_fix())
        return "a process sees the files read-only and no network"

    found = _tried("confinement by bubblewrap", attempt)
    # without namespaces grading refuses, and a student's own labs run as in a container
    return DoctorFinding(found.what, found.works, found.detail, found.fix, needed=not refused)


def _container() -> str:
    """Return where guests have their memory; nothing where the environment asks for bubblewrap."""
    return f"guests have their memory in {container.memory_place(guest_memory_mb())}" if container.chosen() else ""


def _namespaces_fix() -> str:
    for name, value, fix in _NAMESPACES:
        if _setting(name) == value:
            return fix
    return "allow user namespaces here; in a container that holds nobody else: LINKLAB_CONFINEMENT=container"


def _setting(name: str) -> str | None:
    """Return a setting of this machine's kernel, None where it has no such."""
    file = Path("/proc/sys", name)
    return file.read_text().strip() if file.is_file() else None


def _lab() -> str:
    """Start a small network with a delay, in a folder of its own, and ping: no answer comes sooner than light would."""
    floor_ms = rtt_floor_ms(path(TWO_HOSTS, "h1", "h2"))
    with (
        temporary_folder() as folder,
        lab.start(TWO_HOSTS, folder=folder, wall_limit_s=_LIMIT_S) as running,
    ):
        said = running["h1"].cmd(f"ping -c 3 -i 0.2 {TWO_HOSTS.address_of('h2')}")
        ran = f"{running.kind}, Linux {running.process.kernel_release}"
    match = re.search(r"3 received.*?= ([\d.]+)/([\d.]+)/", said, re.DOTALL)
    if match is None:
        words = (said.splitlines() or ["it said nothing"])[-1]
        raise _Fails(f"ping was not answered: {words}", "linklab shell --network two-hosts shows more")
    if float(match[1]) < floor_ms - 0.01:
        raise _Fails(f"ping took {match[1]} ms and must take {floor_ms:g}", "this kernel's netem cannot be trusted")
    return f"netem and ping work, RTT {match[2]} ms of {floor_ms:g} ({ran})"
