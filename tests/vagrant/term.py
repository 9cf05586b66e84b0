"""What a student and a term meet when all goes well. Each step gives a word on what it found."""

from __future__ import annotations

import json
import os
import time
from collections import Counter

import nbformat
from nbclient import NotebookClient

from linklab.runtime.backends import VARIABLE
from tests.vagrant import daemons
from tests.vagrant.box import make_box
from tests.vagrant.digits import checks_in, difference, in_real_time
from tests.vagrant.needs import TrialError
from tests.vagrant.notebook_api import Server, code_cells, run_cells
from tests.vagrant.outside import run_on_disk
from tests.vagrant.trial import CELL_LIMIT_S, INSTALL_LIMIT_S, LABS_LIMIT_S, REPOSITORY, START_LIMIT_S, Trial
from tests.vagrant.vagrant import STUDENT, address_in

LAB = "01-router-network.ipynb"
LABS = "solutions/00-*.ipynb solutions/01-*.ipynb solutions/02-*.ipynb solutions/04-*.ipynb"
_ASK = "import json\nprint('measured', json.dumps([lab.clock, lab.kind, measured_rtt_ms]))"


def box(trial: Trial) -> str:
    """Makes the box and adds it under a local name."""
    project = trial.vagrant.project if trial.installed else None
    path = make_box(trial.suite, trial.folder, trial.architecture, trial.emulate, project)
    trial.vagrant.run("box", "add", "--force", "--name", trial.box, str(path), limit_s=600)
    about = f"Debian {trial.suite} for {trial.architecture.name}"
    return f"{path.stat().st_size / 1e6:.0f} MB, {about}{', Linklab installed' if trial.installed else ''}"


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
    """Lab 01's solution, cell by cell through Jupyter's interface: no error, and the digits of this machine.

    Where the machine is of another processor its labs run in QEMU, and are compared with labs in QEMU here.
    """
    cells = code_cells(REPOSITORY / "solutions" / LAB)
    cells = [*cells[:-1], _ASK, cells[-1]]
    answers = run_cells(Server(trial.address), LAB, cells, trial.cell_limit_s)
    wrong = [f"cell {number}: {it.error}" for number, it in enumerate(answers, 1) if it.error]
    if wrong:
        raise TrialError("; ".join(wrong))
    inside = _measured(answers[-2].text)
    clock, kind, rtts = inside
    if trial.architecture.foreign and kind != "qemu":
        raise TrialError(f"the lab in the machine was of kind {kind}, and labs on virtual time are in QEMU there")
    if clock != "virtual":
        return f"{len(answers)} cells without an error, on {clock} time"
    outside = _measured(_run_here(cells, str(kind)))
    if inside != outside:
        raise TrialError(f"virtual time measured {inside} in the machine, and {outside} outside")
    return f"{len(answers)} cells without an error, kind {kind}; RTTs as outside, to the last digit: {rtts}"


def _measured(text: str) -> list[object]:
    line = next(line for line in text.splitlines() if line.startswith("measured "))
    found = json.loads(line.removeprefix("measured "))
    assert isinstance(found, list)
    return found


def _run_here(cells: list[str], kind: str) -> str:
    notebook = json.loads((REPOSITORY / "solutions" / LAB).read_text("utf-8"))
    empty: dict[str, object] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    notebook["cells"] = [{**empty, "id": f"cell-{number}", "source": code} for number, code in enumerate(cells)]
    book = nbformat.from_dict(notebook)  # type: ignore[no-untyped-call]
    done = NotebookClient(book, timeout=int(CELL_LIMIT_S), kernel_name="python3").execute(
        env=os.environ | {VARIABLE: kind}
    )
    return "".join(out["text"] for out in done.cells[-2].outputs if out.output_type == "stream")


def doctor(trial: Trial) -> str:
    """The doctor, inside."""
    said = trial.vagrant.ssh("linklab doctor", START_LIMIT_S)
    (trial.folder / "doctor.txt").write_text(said)
    return f"exit 0; {said.count('does not work')} of its lines do not work"


def labs(trial: Trial) -> str:
    """Labs 00, 01, 02 and 04 without a page: all passed on virtual time, and nothing wrong natively in real time."""
    begun = time.monotonic()
    trial.vagrant.ssh(f"cd /vagrant && {_run('virtual', 'executed-virtual')}", LABS_LIMIT_S)
    virtual_s = time.monotonic() - begun
    # where a measurement is inconclusive the command says so by its exit status
    trial.vagrant.ssh(f"cd /vagrant && {_run('real', 'executed-real')} || true", LABS_LIMIT_S)
    counts: Counter[str] = Counter()
    for book in _books():
        wrong, found = in_real_time(*(trial.vagrant.project / f"executed-{it}" / book for it in ("virtual", "real")))
        if wrong:
            raise TrialError(f"in real time {wrong}")
        counts += found
    real_s = time.monotonic() - begun - virtual_s
    return f"virtual: all passed, {virtual_s:.0f} s; real: {_listed(counts)}, {real_s:.0f} s"


def labs_outside(trial: Trial) -> str:
    """The same labs in the halted machine's file system, on this machine's processor: the same digits."""
    run_on_disk(trial.disk, trial.folder, trial.vagrant.project, _run("virtual", "executed-outside"))
    inside, outside = (trial.vagrant.project / f"executed-{where}" for where in ("virtual", "outside"))
    books = _books()
    if said := [line for book in books if (line := difference(outside / book, inside / book))]:
        raise TrialError(f"on virtual time {'; '.join(said)}")
    checks = sum(len(checks_in(outside / book)) for book in books)
    return f"{checks} checks of {len(books)} labs, to the last digit what they were in the machine"


def _books() -> list[str]:
    return sorted(path.name for pattern in LABS.split() for path in REPOSITORY.glob(pattern))


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common())


def _run(clock: str, output: str) -> str:
    limits = "--jobs 1 --cell-limit-s 7200 --notebook-limit-s 14400 --cpu-limit-s 14400"
    return f"linklab run --clock {clock} {limits} --output {output} {LABS}"


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
    disks = [path.name for path in trial.images.iterdir() if "_vagrant_box_" not in path.name]
    if disks:
        raise TrialError(f"disks are left after destroy: {', '.join(disks)}")
    notebook = trial.vagrant.project / "labs" / LAB
    if notebook.read_bytes() != (REPOSITORY / "labs" / LAB).read_bytes() or notebook.stat().st_uid != STUDENT:
        raise TrialError(f"{LAB} in the student's folder is not what it was")
    return "no machine, no disk; the notebooks are where they were"
