"""The doctor: tries what a lab needs, starts one, and says what mends what does not work."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import nbformat as untyped_nbformat

from linklab import lab
from linklab.discovery import hand_on
from linklab.errors import LinklabError
from linklab.network import TWO_HOSTS, rtt_floor_ms
from linklab.network.routing import path
from linklab.runtime import bwrap, container
from linklab.runtime.backends import guest_memory_mb
from linklab.runtime.kernel import runs_user_mode_linux
from linklab.settings import number

nbformat: Any = untyped_nbformat
INSTALL = "make lab (it installs what is missing)"
_LIMIT_S = 60
_WORKS = "it works"
_SUBMISSION = {
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


@dataclass(frozen=True)
class Finding:
    """One thing tried. `fix` is the one command or step that mends it; empty where nothing needs mending.

    `needed` findings make labs impossible when they fail.
    """

    what: str
    outcome: Literal["works", "does not work"]
    detail: str
    fix: str = ""
    needed: bool = False

    @property
    def works(self) -> bool:
        """Whether it works."""
        return self.outcome == "works"


def examine() -> Iterator[Finding]:
    """Tries one thing after the other and yields what was found, the needed ones first."""
    machine = _machine()
    yield machine
    if not machine.works:
        return  # advice about packages is of no use on another system
    yield _python()
    if found := _wrong_setting():
        yield found
    if sys.platform == "linux":
        yield _confinement()
    yield _lab()


def examine_grading() -> Iterator[Finding]:
    """Grade a tiny submission as `linklab grade` does: judged in its sandbox, with a lab, and a simpleperf in a guest
    of the judge's. Yield a finding for each of these steps, up to the first that all others need.
    """
    if _wrong_setting():
        return  # nothing is graded before it is mended
    from linklab.grading.model import Judged, Limits
    from linklab.grading.parcel import Parcel, judge_parcel
    from linklab.grading.run import JUDGE

    book = nbformat.v4.new_notebook(cells=[_cell(name, source) for name, source in _SUBMISSION.items()])
    files = {"simpleperf.py": b"print('I do nothing')\n"}
    limits = Limits(wall_s=3 * _LIMIT_S, cell_s=_LIMIT_S)
    answer = judge_parcel(Parcel("doctor", nbformat.writes(book).encode(), files, None, limits), JUDGE)
    if answer.trouble:
        yield _bad("grading: a submission in its sandbox", answer.trouble, _grading_fix(answer.trouble), needed=True)
        return
    cells = {cell.id: cell for cell in nbformat.reads(answer.book.decode(), as_version=4).cells}
    yield _graded("a submission in its sandbox", cells["kernel"], "its kernel runs, in a folder of bounded size")
    yield _graded("a lab of a submission's", cells["lab"], "the judge lends it, and ping works")
    judged = Judged.from_json(json.loads(answer.verdict))
    (check,) = judged.cells
    what = "grading: a simpleperf in a guest"
    if check.status == "failed" and check.checks and not check.trouble:  # that program deserves no better
        yield _good(what, "it was tried, and what does nothing failed", needed=True)
    else:
        said = next(filter(None, (*judged.notes, check.trouble)), f"it was not tried: {check.status}")
        yield _bad(what, said, _grading_fix(said), needed=True)


def _cell(name: str, source: str) -> Any:
    """Return a cell of the doctor's submission; one that checks is worth a point."""
    check = {"grade": True, "solution": False, "points": 1, "grade_id": name}
    return nbformat.v4.new_code_cell(
        source, id=name, metadata={"nbgrader": check} if name.startswith("check-") else {}
    )  # fmt: skip


def _graded(what: str, cell: Any, detail: str) -> Finding:
    """Say whether a judged cell printed `_WORKS`; if not, what it showed last."""
    shown = [f"{it.ename}: {it.evalue}" if it.output_type == "error" else it.get("text", "") for it in cell.outputs]
    if _WORKS in "".join(shown):
        return _good(f"grading: {what}", detail, needed=True)
    said = ("".join(shown).strip().splitlines() or ["it showed nothing"])[-1]
    return _bad(f"grading: {what}", said, _grading_fix(said), needed=True)


def _grading_fix(reason: str) -> str:
    """Return what mends grading where labs work: else the lines above say it."""
    if container.VARIABLE in reason:
        return f"unset {container.VARIABLE}, and grade where bubblewrap may make namespaces"
    if "bounded size" in reason or "sandbox" in reason:
        return _namespaces_fix()
    return "what the lines above say; where all of them work, report this line"


def healthy(findings: list[Finding]) -> bool:
    """Return True where labs can be used here: all that is needed works."""
    return all(finding.works for finding in findings if finding.needed)


def _good(what: str, detail: str, *, needed: bool = False) -> Finding:
    return Finding(what, "works", detail, needed=needed)


def _bad(what: str, detail: str, fix: str, *, needed: bool = False) -> Finding:
    return Finding(what, "does not work", detail, fix, needed)


def _machine() -> Finding:
    what = f"{platform.system()} on {platform.machine()}"
    if sys.platform not in ("linux", "darwin"):
        return _bad("machine", f"{what}; labs need Linux or macOS", "WSL2, or vagrant up", needed=True)
    if not runs_user_mode_linux():
        return _good("machine", f"{what}: labs run in QEMU", needed=True)
    return _good("machine", f"{what}, Linux {platform.release()}", needed=True)


def _python() -> Finding:
    version = platform.python_version()
    if importlib.util.find_spec("mininet") is None:
        detail = f"Python {version} does not see Mininet"
        return _bad("Python and Mininet", detail, INSTALL, needed=True)
    missing = [name for name in ("jupyterlab", "matplotlib", "ipywidgets") if importlib.util.find_spec(name) is None]
    if missing:
        return _bad("Python and Mininet", f"{', '.join(missing)} missing in Python {version}", INSTALL, needed=True)
    from mininet.net import VERSION

    return _good("Python and Mininet", f"Python {version}, Mininet {VERSION}", needed=True)


def _wrong_setting() -> Finding | None:
    try:
        hand_on()
        number("hints")
    except LinklabError as error:
        said, _, fix = str(error).rpartition(": ")
        return _bad("settings", said, fix, needed=True)
    return None


def _confinement() -> Finding:
    try:
        if container.VARIABLE in os.environ and container.chosen():
            place = container.memory_place(guest_memory_mb())
            return _good("confinement by this container", f"guests have their memory in {place}", needed=True)
    except LinklabError as error:
        said, _, fix = str(error).partition(": ")
        return _bad("confinement by this container", said, fix, needed=True)
    what = "confinement by bubblewrap"
    try:
        refused = bwrap.refusal()
    except LinklabError as error:
        said, _, fix = str(error).partition(": ")
        return _bad(what, said, fix, needed=True)
    if refused is None:
        return _good(what, "a process sees the files read-only and no network", needed=True)
    # grading refuses then, and a student's own labs run as in a container
    return _bad(what, refused, _namespaces_fix())


def _namespaces_fix() -> str:
    """What lets bubblewrap make its namespaces: each distribution has its own switch against it."""
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return "sudo bash vagrant/allow-bwrap.sh (an AppArmor profile that lets bwrap work)"
    if _setting("kernel/unprivileged_userns_clone") == "0":
        return "sudo sysctl -w kernel.unprivileged_userns_clone=1"
    if _setting("user/max_user_namespaces") == "0":
        return "sudo sysctl -w user.max_user_namespaces=10000"
    return "allow user namespaces here; in a container that holds nobody else: LINKLAB_CONFINEMENT=container"


def _setting(name: str) -> str | None:
    """A setting of the kernel, None where it has no such."""
    try:
        return Path("/proc/sys", name).read_text().strip()
    except OSError:
        return None


def _lab() -> Finding:
    """Start a small network with a delay, and ask for a ping that comes back no sooner than light would.

    The lab has a folder of its own, wherever the doctor is called.
    """
    floor_ms = rtt_floor_ms(path(TWO_HOSTS, "h1", "h2"))
    try:
        with (
            tempfile.TemporaryDirectory(prefix="linklab-") as folder,
            lab.start(TWO_HOSTS, folder=folder, wall_limit_s=_LIMIT_S) as running,
        ):
            said = running["h1"].cmd(f"ping -c 3 -i 0.2 {TWO_HOSTS.address_of('h2')}")
            ran = f"{running.kind}, Linux {running.process.kernel_release}"
    except (LinklabError, OSError) as error:
        return _bad("lab", str(error), _fix(str(error)), needed=True)
    match = re.search(r"3 received.*?= ([\d.]+)/([\d.]+)/", said, re.DOTALL)
    if match is None:
        words = (said.splitlines() or ["it said nothing"])[-1]
        fix = "linklab shell --network two-hosts shows more"
        return _bad("lab", f"ping was not answered: {words}", fix, needed=True)
    if float(match[1]) < floor_ms - 0.01:
        detail = f"ping took {match[1]} ms and must take {floor_ms:g}"
        return _bad("lab", detail, "this kernel's netem cannot be trusted", needed=True)
    return _good("lab", f"netem and ping work, RTT {match[2]} ms of {floor_ms:g} ({ran})", needed=True)


def _fix(reason: str) -> str:
    """Return the command that mends why a lab did not start."""
    if "QEMU" in reason and "install" in reason:
        return reason.partition(": ")[2]
    if "bubblewrap" in reason:
        return "sudo apt-get install bubblewrap"
    if os.environ.get("LINKLAB_IMAGE"):
        return "correct LINKLAB_IMAGE, or unset it"
    return "in a clone make lab, else pip install linklab-image"


def report(show: Callable[[Finding], None], *, grading: bool = False) -> bool:
    """Examines, shows each finding as it comes, and says whether labs can be used here, and if asked grading."""
    findings = []
    for finding in chain(examine(), examine_grading() if grading else ()):
        show(finding)
        findings.append(finding)
    return healthy(findings)
