"""``linklab doctor``: try what a lab needs, start one, and say what mends what does not work."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import nbformat as untyped_nbformat

from linklab import lab, schema
from linklab.discovery import hand_on
from linklab.errors import LinklabError
from linklab.network import TWO_HOSTS, rtt_floor_ms
from linklab.network.routing import path
from linklab.runtime import bwrap, container
from linklab.runtime.backends import guest_memory_mb
from linklab.runtime.kernel import runs_user_mode_linux
from linklab.settings import number

nbformat: Any = untyped_nbformat
_INSTALL: Final = "make lab (it installs what is missing)"
_LIMIT_S: Final = 60
_WORKS: Final = "it works"
_SUBMISSION: Final = {
    "kernel": f"print({_WORKS!r})",
    "lab": f"""import linklab
from linklab.network import TWO_HOSTS
with linklab.start(TWO_HOSTS) as lab:
    said = lab["h1"].cmd(f"ping -c 1 {{TWO_HOSTS.address_of('h2')}}")
    print({_WORKS!r} if "1 received" in said else said)
""",
    "check-simpleperf": 'simpleperf.check_step("simpleperf.py", "transfer").require()',
}
"""The cells of a submission, by name."""
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


def examine(*, grading: bool = False) -> Iterator[DoctorFinding]:
    """Try one thing after the other, and yield what was found; with ``grading``, grade a tiny submission as well."""
    machine = _tried("machine", _machine)
    yield machine
    if not machine.works:
        return  # advice about packages is of no use on another system
    yield _tried("Python and Mininet", _python)
    settings = _tried("settings", _settings)
    if not settings.works:
        yield settings
    if sys.platform == "linux":
        yield _confinement()
    yield _tried("lab", _lab)
    if grading and settings.works:  # nothing is graded before a wrong setting is mended
        yield from _grading()


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
    hand_on()
    number("hints")
    return "read"


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
        tempfile.TemporaryDirectory(prefix="linklab-") as folder,
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


def _grading() -> Iterator[DoctorFinding]:
    """Grade a tiny submission as `linklab grade` does: judged in its sandbox, with a lab, and a simpleperf in a guest
    of the judge's. Yield a finding for each of these steps, up to the first that all others need.
    """
    from linklab.grading.model import Judged, Limits, Parcel
    from linklab.grading.parcel import judge_parcel
    from linklab.grading.run import JUDGE

    book = nbformat.v4.new_notebook(cells=[_cell(name, source) for name, source in _SUBMISSION.items()])
    files = {"simpleperf.py": b"print('I do nothing')\n"}
    limits = Limits(wall_s=3 * _LIMIT_S, cell_s=_LIMIT_S)
    answer = judge_parcel(Parcel("doctor", nbformat.writes(book).encode(), files, None, limits), JUDGE)
    if answer.trouble:
        yield _graded("a submission in its sandbox", answer.trouble, "")
        return
    cells = {cell.id: cell for cell in nbformat.reads(answer.book.decode(), as_version=4).cells}
    yield _graded(
        "a submission in its sandbox", _shown(cells["kernel"]), "its kernel runs, in a folder of bounded size"
    )
    yield _graded("a lab of a submission's", _shown(cells["lab"]), "the judge lends it, and ping works")
    judged = schema.parse(Judged, answer.verdict, "the judge's verdict")
    (check,) = judged.cells
    said = next(filter(None, (*judged.notes, check.trouble)), f"it was not tried: {check.status}")
    if check.status == "failed" and check.checks and not check.trouble:  # that program deserves no better
        said = _WORKS
    yield _graded("a simpleperf in a guest", said, "it was tried, and what does nothing failed")


def _cell(name: str, source: str) -> Any:
    """Return a cell of the doctor's submission; one that checks is worth a point."""
    check = {"nbgrader": {"grade": True, "solution": False, "points": 1, "grade_id": name}}
    return nbformat.v4.new_code_cell(source, id=name, metadata=check if name.startswith("check-") else {})


def _shown(cell: Any) -> str:
    """Return `_WORKS` where a judged cell printed that; if not, what it showed last."""
    shown = [f"{it.ename}: {it.evalue}" if it.output_type == "error" else it.get("text", "") for it in cell.outputs]
    return _WORKS if _WORKS in "".join(shown) else ("".join(shown).strip().splitlines() or ["it showed nothing"])[-1]


def _graded(what: str, said: str, detail: str) -> DoctorFinding:
    """Return the finding of a step of grading, which works where `_WORKS` was said."""
    if said == _WORKS:
        return DoctorFinding(f"grading: {what}", True, detail)
    fix = "what the lines above say; where all of them work, report this line"
    if container.VARIABLE in said:
        fix = f"unset {container.VARIABLE}, and grade where bubblewrap may make namespaces"
    elif "bounded size" in said or "sandbox" in said:
        fix = _namespaces_fix()
    return DoctorFinding(f"grading: {what}", False, said, fix)
