"""The trial's steps, in the order in which a student and a term meet them. Each gives a word on what it found."""

from __future__ import annotations

import json
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tests.vagrant import daemons
from tests.vagrant.box import make_box
from tests.vagrant.digits import difference
from tests.vagrant.namespaces import DEVICE, GATEWAY
from tests.vagrant.needs import TrialError
from tests.vagrant.notebook_api import Server, code_cells, run_cells
from tests.vagrant.programs import output_of
from tests.vagrant.vagrant import STUDENT, Vagrant, address_in

REPOSITORY = Path(__file__).resolve().parents[2]
LAB = "01-router-network.ipynb"
LABS = "solutions/00-*.ipynb solutions/01-*.ipynb solutions/02-*.ipynb solutions/04-*.ipynb"
_ASK = "import json\nprint('measured', json.dumps([lab.clock, measured_rtt_ms]))"
# Emulation is 10 to 20 times slower than a processor. These end what hangs; how long a thing takes proves nothing.
INSTALL_LIMIT_S = 3 * 3600.0
START_LIMIT_S = 1800.0
CELL_LIMIT_S = 900.0
LABS_LIMIT_S = 12 * 3600.0


@dataclass
class Trial:
    """What the steps share. `said_first` is what the first `vagrant up` printed."""

    suite: str
    folder: Path
    vagrant: Vagrant
    emulate: bool = False
    installed: bool = False
    address: str = ""
    begun: float = field(default_factory=time.monotonic)

    @property
    def box(self) -> str:
        return f"linklab-test/{self.suite}"


def box(trial: Trial) -> str:
    """Makes the box and adds it under a local name."""
    path = make_box(trial.suite, trial.folder, trial.emulate, trial.vagrant.project if trial.installed else None)
    trial.vagrant.run("box", "add", "--force", "--name", trial.box, str(path), limit_s=600)
    return f"{path.stat().st_size / 1e6:.0f} MB, Debian {trial.suite}{', Linklab installed' if trial.installed else ''}"


def port_taken(trial: Trial) -> str:
    """`vagrant up` while somebody else has the port ends with one line that says so, and starts nothing."""
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 8888))
        other.listen()
        said = trial.vagrant.run("up", "--provider=libvirt", limit_s=START_LIMIT_S, fails=True)
    line = next((line for line in said.splitlines() if "LINKLAB_PORT=" in line), "")
    if not line or daemons.leftovers():
        raise TrialError(f"vagrant up with port 8888 taken said:\n{said}\nand left {daemons.leftovers()}")
    return line.strip()


def up_without_network(trial: Trial) -> str:
    """The way out is cut in the middle of the installation: one line says what to do, and that mends it."""
    cut: list[str] = []

    def hear(line: str) -> None:
        if "installing the Python packages" in line and not cut:
            cut.append(line)
            output_of("ip", "route", "del", "default")

    try:
        said = trial.vagrant.run("up", "--provider=libvirt", limit_s=INSTALL_LIMIT_S, fails=True, hear=hear)
    finally:
        if cut:
            output_of("ip", "route", "add", "default", "via", GATEWAY, "dev", DEVICE)
    line = next((line for line in said.splitlines() if "run the same command again" in line), "")
    if not cut or not line:
        raise TrialError(f"with the network cut vagrant up said:\n{said[-3000:]}")
    trial.vagrant.run("provision", limit_s=INSTALL_LIMIT_S)
    # The address comes after every start; the first one ended before.
    trial.address = address_in(trial.vagrant.run("reload", limit_s=START_LIMIT_S))
    return f"{line.strip()} (vagrant provision mended it)"


def up(trial: Trial) -> str:
    """`vagrant up` from nothing to the address."""
    said = trial.vagrant.run("up", "--provider=libvirt", limit_s=INSTALL_LIMIT_S)
    trial.address = address_in(said)
    return trial.address.partition("?")[0]


def page(trial: Trial) -> str:
    """JupyterLab answers at the address that was printed, on the loopback, and turns strangers away."""
    server = Server(trial.address)
    version = server.call("GET", "")["version"]
    if server.status(trial.address) != 200:
        raise TrialError(f"{server.origin} answers, and its page does not")
    if not server.refuses_strangers():
        raise TrialError("JupyterLab takes a wrong token")
    names = {it["name"] for it in server.call("GET", "contents/")["content"]}
    if LAB not in names:
        raise TrialError(f"JupyterLab does not offer {LAB}, but {sorted(names)}")
    return f"Jupyter server {version} on 127.0.0.1:{server.port}, {len(names)} files"


def lab(trial: Trial) -> str:
    """Lab 01's solution, cell by cell through Jupyter's interface: no error, and the digits of this machine."""
    cells = code_cells(REPOSITORY / "solutions" / LAB)
    cells = [*cells[:-1], _ASK, cells[-1]]
    answers = run_cells(Server(trial.address), LAB, cells, CELL_LIMIT_S)
    wrong = [f"cell {number}: {it.error}" for number, it in enumerate(answers, 1) if it.error]
    if wrong:
        raise TrialError("; ".join(wrong))
    inside = _measured(answers[-2].text)
    if inside[0] != "virtual":
        return f"{len(answers)} cells without an error, on {inside[0]} time"
    outside = _measured(_run_here(cells))
    if inside != outside:
        raise TrialError(f"virtual time measured {inside} in the machine, and {outside} outside")
    return f"{len(answers)} cells without an error; RTTs as outside, to the last digit: {inside[1]}"


def _measured(text: str) -> list[object]:
    line = next(line for line in text.splitlines() if line.startswith("measured "))
    found = json.loads(line.removeprefix("measured "))
    assert isinstance(found, list)
    return found


def _run_here(cells: list[str]) -> str:
    notebook = json.loads((REPOSITORY / "solutions" / LAB).read_text("utf-8"))
    empty: dict[str, object] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    notebook["cells"] = [{**empty, "id": f"cell-{number}", "source": code} for number, code in enumerate(cells)]
    book = nbformat.from_dict(notebook)  # type: ignore[no-untyped-call]
    done = NotebookClient(book, timeout=int(CELL_LIMIT_S), kernel_name="python3").execute()
    return "".join(out["text"] for out in done.cells[-2].outputs if out.output_type == "stream")


def doctor(trial: Trial) -> str:
    """The doctor, inside."""
    said = trial.vagrant.ssh("linklab doctor", START_LIMIT_S)
    (trial.folder / "doctor.txt").write_text(said)
    return f"exit 0; {said.count('does not work')} of its lines do not work"


def labs(trial: Trial) -> str:
    """Labs 00, 01, 02 and 04 without a page, on virtual time (with the digits of this machine) and in real time."""
    limits = ["--jobs", "1", "--cell-limit-s", "7200", "--notebook-limit-s", "14400", "--cpu-limit-s", "14400"]
    begun, took = time.monotonic(), []
    for clock in ("virtual", "real"):
        words = ["linklab", "run", "--clock", clock, *limits, "--output", f"executed-{clock}"]
        trial.vagrant.ssh(f"cd /vagrant && {shlex.join(words)} {LABS}", LABS_LIMIT_S)
        took.append(f"{clock} {time.monotonic() - begun:.0f} s")
        begun = time.monotonic()
    outside, inside = trial.folder / "executed-outside", trial.vagrant.project / "executed-virtual"
    books = sorted(path for pattern in LABS.split() for path in REPOSITORY.glob(pattern))
    words = ["-m", "linklab", "run", "--clock", "virtual", *limits, "--output", str(outside), *map(str, books)]
    output_of(sys.executable, *words)
    for book in books:
        if said := difference(outside / book.name, inside / book.name):
            raise TrialError(f"on virtual time {said}")
    return f"{', '.join(path.name[:2] for path in books)} passed: {', '.join(took)}; virtual digits as outside"


def halt(trial: Trial) -> str:
    """The machine is shut down, and its port is free."""
    trial.vagrant.run("halt", limit_s=START_LIMIT_S)
    if daemons.listens(Server(trial.address).port):
        raise TrialError("the machine is halted, and its port is still taken")
    return "the port is free"


def up_again(trial: Trial) -> str:
    """The second start: no installation, and the address that is in the student's bookmarks."""
    said = trial.vagrant.run("up", limit_s=START_LIMIT_S)
    if (again := address_in(said)) != trial.address:
        raise TrialError(f"the address was {trial.address} and is {again} after the second start")
    if "Python packages" in said:
        raise TrialError("the second start installed something")
    return page(trial)


def provision(trial: Trial) -> str:
    """Provisioning a second time changes nothing."""
    said = trial.vagrant.run("provision", limit_s=INSTALL_LIMIT_S)
    if "nothing was changed" not in said:
        raise TrialError(f"the second provisioning changed something:\n{said}")
    return "nothing was changed"


def destroy(trial: Trial) -> str:
    """The machine is gone, and the student's folder is not."""
    trial.vagrant.run("destroy", "-f", limit_s=START_LIMIT_S)
    if left := daemons.leftovers():
        raise TrialError(f"machines are left after destroy: {', '.join(left)}")
    disks = [
        path.name for path in (trial.folder / "var-lib-libvirt/images").iterdir() if "_vagrant_box_" not in path.name
    ]
    if disks:
        raise TrialError(f"disks are left after destroy: {', '.join(disks)}")
    notebook = trial.vagrant.project / "labs" / LAB
    if notebook.read_bytes() != (REPOSITORY / "labs" / LAB).read_bytes() or notebook.stat().st_uid != STUDENT:
        raise TrialError(f"{LAB} in the student's folder is not what it was")
    return "no machine, no disk; the notebooks are where they were"


STEPS: dict[str, Callable[[Trial], str]] = {
    step.__name__.replace("_", "-"): step
    for step in (box, port_taken, up, up_without_network, page, lab, doctor, labs, halt, up_again, provision, destroy)
}
USUAL = ("box", "port-taken", "up", "page", "lab", "doctor", "halt", "up-again", "provision", "destroy")


def carry_out(trial: Trial, steps: list[str]) -> None:
    """Carries the steps out and prints a line for each, with its seconds. Raises what the first failing one raises."""
    for name in steps:
        begun = time.monotonic()
        said = STEPS[name](trial)
        now = time.monotonic()
        print(f"{now - trial.begun:7.0f} s  {name:<18} {now - begun:5.0f} s  {said}", flush=True)


def remove_machine(trial: Trial) -> None:
    """After a failure: what libvirt still has goes with the namespaces; Vagrant's own files go with the folder."""
    for name in daemons.leftovers():
        subprocess.run(["virsh", "-c", "qemu:///system", "destroy", name], capture_output=True, check=False)
