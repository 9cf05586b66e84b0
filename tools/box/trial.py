"""``python -m tools.box try``: the kit's own box, without a network, from ``vagrant up`` to ``vagrant destroy``.

Everything runs in namespaces of its own (network, mounts, processes), so that libvirt's daemons, bridges and the
machine are gone with them, however the trial ends. The network namespace leads nowhere: what wants a registry fails.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import urlopen

from linklab.record import RESULT_MIME
from linklab.runtime.backends import VARIABLE
from tools.box import libvirt
from tools.box.boxes import CATALOGUE, make_boxes, write_catalogue
from tools.box.programs import REPOSITORY, STUDENT, BoxError, copy_kit, give, require, run
from tools.box.system import ARCHITECTURES, HERE

LAB: Final = "01-router-network.ipynb"
LIMIT_S: Final = 3 * 3600.0
"""Emulation is 10 to 20 times slower than a processor. This ends what hangs; how long a thing takes proves nothing."""
_PROGRAMS: Final = {
    **{"vagrant": "vagrant-libvirt", "libvirtd": "libvirt-daemon-system", "virtlogd": "libvirt-daemon-system"},
    **{"virsh": "libvirt-clients", "dnsmasq": "dnsmasq-base", "iptables": "iptables", "ssh": "openssh-client"},
}
_EMULATOR: Final = {
    "amd64": ("qemu-system-x86_64", "qemu-system-x86"),
    "arm64": ("qemu-system-aarch64", "qemu-system-arm"),
}
_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:\d+/lab\S*token=[0-9a-f]+")
_APART: Final = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child=KILL", "--mount-proc")
# The shell as process 1 reaps orphans: libvirt waits until what it has ended is gone.
_BURY: Final = ("bash", "-c", '"$@"; exit $?', "bash")


def outside(arch: str, box: Path | None, *, kvm: bool) -> int:
    """Make the box unless there is one, and carry the trial out in namespaces of its own; return the exit status."""
    require({**_PROGRAMS, _EMULATOR[arch][0]: _EMULATOR[arch][1]})
    folder = Path(tempfile.mkdtemp(prefix="linklab-vagrant-", dir="/var/tmp"))
    # libvirt's helpers, each with a user of its own, have sockets and leases below it.
    folder.chmod(0o755)
    try:
        if box is None:
            make_boxes(ARCHITECTURES[arch], ["libvirt"], folder)
        else:
            shutil.copy(box, folder)
        words = [sys.executable, "-m", "tools.box", "inside", "--arch", arch, "--folder", str(folder)]
        return subprocess.run([*_APART, *_BURY, *words, *(["--kvm"] if kvm else [])], check=False).returncode
    finally:
        shutil.rmtree(folder)


def inside(arch: str, folder: Path, *, kvm: bool) -> int:
    """Carry the trial out with the box in `folder`, and print a line for each step, with its seconds."""
    libvirt.start(folder)
    trial = Trial(arch, folder, kvm)
    begun = time.monotonic()
    for step in (prepare, refused, up, page, mininet, lab, halt_and_up, destroy):
        from_s = time.monotonic()
        said = step(trial)
        now = time.monotonic()
        print(f"{now - begun:7.0f} s  {step.__name__:<12} {now - from_s:5.0f} s  {said}", flush=True)
    print("the whole trial passed", flush=True)
    return 0


@dataclass
class Trial:
    """What the steps share: `address` is the one that `vagrant up` printed, `notebook` a notebook's bytes before it."""

    arch: str
    folder: Path
    kvm: bool
    address: str = ""
    notebook: bytes = b""
    project: Path = field(init=False)

    def __post_init__(self) -> None:
        self.project = self.folder / "linklab"

    @property
    def box(self) -> Path:
        """The box's file."""
        return next(self.folder.glob("*.box"))

    def vagrant(self, *words: str, fails: bool = False, **settings: str) -> str:
        """Run `vagrant` as a student does, and return what it says. Raises `BoxError` with its last lines.

        With `fails` it must fail. `settings` are further environment variables.
        """
        home = self.folder / "home"
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
        own = {"HOME": str(home), "VAGRANT_HOME": str(home / ".vagrant.d"), "LINKLAB_TRIAL_ARCH": self.arch}
        quiet = {"VAGRANT_NO_COLOR": "1", "VAGRANT_CHECKPOINT_DISABLE": "1"}
        if self.kvm:
            own["LINKLAB_TRIAL_KVM"] = "1"
        if self.arch != "amd64":
            # The Vagrantfile takes of the catalogue what is for this machine's own processor.
            own["LINKLAB_BOX"] = str(self.box)
        with (self.folder / "vagrant.log").open("a+", encoding="utf-8", errors="replace") as log:
            begin = log.seek(0, os.SEEK_END)
            done = subprocess.run(
                ["vagrant", *words], cwd=self.project, env={**kept, **own, **quiet, **settings},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=LIMIT_S, check=False,
            )  # fmt: skip
            log.seek(begin)
            said = log.read()
        if (done.returncode != 0) != fails:
            last = "\n".join(said.splitlines()[-25:])
            raise BoxError(f"vagrant {words[0]} ended with status {done.returncode}:\n{last}")
        return said


def prepare(trial: Trial) -> str:
    """Lay the kit's files into a student's folder, with the catalogue that a release would have there."""
    copy_kit(trial.project)
    trial.notebook = (trial.project / "labs" / LAB).read_bytes()
    catalogue = trial.project / "vagrant" / CATALOGUE
    write_catalogue(trial.folder, trial.folder.as_uri(), catalogue)
    give([catalogue])
    home = trial.folder / "home/.vagrant.d"
    home.mkdir(parents=True)
    shutil.copyfile(HERE / "Vagrantfile.trial", home / "Vagrantfile")
    if trial.arch == "arm64":
        shutil.copyfile("/usr/share/AAVMF/AAVMF_VARS.fd", home / "nvram.fd")
    return f"{trial.box.name}, {trial.box.stat().st_size / 1e6:.0f} MB"


def refused(trial: Trial) -> str:
    """`vagrant up` with the port taken, and with too little room: a line each, and nothing is started."""
    with socket.create_server(("127.0.0.1", 8888)):
        said = [_line(trial.vagrant("up", "--provider=libvirt", fails=True), "LINKLAB_PORT=")]
    full = trial.vagrant("up", "--provider=libvirt", fails=True, LINKLAB_FREE_GB="1000000")
    said.append(_line(full, "GB free, and the machine needs"))
    if left := libvirt.machines():
        raise BoxError(f"vagrant up was refused, and left {', '.join(left)}")
    return " / ".join(said)


def _line(said: str, words: str) -> str:
    """Return the line with these words; raise `BoxError` where there is none."""
    for line in said.splitlines():
        if words in line:
            return line.strip()
    raise BoxError(f"no line says {words!r}:\n{said[-3000:]}")


def up(trial: Trial) -> str:
    """`vagrant up` from nothing to the address."""
    trial.address = _address(trial.vagrant("up", "--provider=libvirt"))
    return trial.address.partition("?")[0]


def _address(said: str) -> str:
    found = _ADDRESS.findall(said)
    if not found:
        raise BoxError(f"vagrant up printed no address:\n{said[-3000:]}")
    return str(found[-1])


def page(trial: Trial) -> str:
    """JupyterLab answers at the address that was printed, and to nobody with another token."""
    with urlopen(trial.address, timeout=600) as answer:
        length = len(answer.read())
    origin = trial.address.partition("/lab")[0]
    try:
        urlopen(f"{origin}/api/kernels?token={'0' * 48}", timeout=600)
    except HTTPError as error:
        if error.code == 403:
            return f"{length} bytes; a stranger is turned away"
    raise BoxError("JupyterLab takes a wrong token")


def mininet(trial: Trial) -> str:
    """Mininet by itself, as everyone expects of a machine for Mininet."""
    return _line(trial.vagrant("ssh", "-c", "sudo mn --test pingall"), "0% dropped")


def lab(trial: Trial) -> str:
    """Lab 01's solution passes on virtual time, with the numbers that it has on this machine, to the last digit.

    A machine of arm64 has labs in QEMU, so they are in QEMU here too.
    """
    limits = ("--cell-limit-s", "7200", "--notebook-limit-s", "14400", "--cpu-limit-s", "14400")
    words = ("run", *limits, "--output", "executed", f"solutions/{LAB}")
    trial.vagrant("ssh", "-c", f"cd /vagrant && linklab {' '.join(words)}")
    there = _checks(trial.project / "executed" / LAB)
    kind = {VARIABLE: "qemu"} if trial.arch == "arm64" else {}
    run(
        sys.executable,
        "-m",
        "linklab",
        words[0],
        *words[1:-2],
        trial.folder / "executed",
        REPOSITORY / words[-1],
        settings=kind,
    )
    here = _checks(trial.folder / "executed" / LAB)
    for one, other in itertools.zip_longest(here, there):
        if one != other:
            raise BoxError(f"Lab 01 measured {one} here, and {other} in the machine")
    return f"{len(there)} checks passed, the same as here to the last digit"


def _checks(notebook: Path) -> list[Any]:
    """Return the checks of an executed notebook, each with what it expected and found."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    results = (out.get("data", {}).get(RESULT_MIME) for cell in cells for out in cell.get("outputs", []))
    return [check for result in results if result for check in result["checks"]]


def halt_and_up(trial: Trial) -> str:
    """After `halt` the port is free; the next start brings the address that is in the student's bookmarks."""
    trial.vagrant("halt")
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", 8888)) == 0:
            raise BoxError("the machine is halted, and its port is still taken")
    again = _address(trial.vagrant("up"))
    if again != trial.address:
        raise BoxError(f"the address was {trial.address} and is {again} after the second start")
    return page(trial)


def destroy(trial: Trial) -> str:
    """The machine is gone, and the student's folder is not."""
    trial.vagrant("destroy", "-f")
    disks = [path for path in Path("/var/lib/libvirt/images").iterdir() if "_vagrant_box_" not in path.name]
    if left := [*libvirt.machines(), *map(str, disks)]:
        raise BoxError(f"left after destroy: {', '.join(left)}")
    notebook = trial.project / "labs" / LAB
    if notebook.read_bytes() != trial.notebook or notebook.stat().st_uid != STUDENT:
        raise BoxError(f"{LAB} in the student's folder is not what it was")
    return "no machine, no disk; the notebooks are where they were"
