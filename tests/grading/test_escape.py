"""Code that leaves the sandbox around a simpleperf, or has left it: to become its guest's kernel, as root of the guest,
and as the guest's kernel.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from linklab import process_tree
from linklab.lab import Lab, start
from linklab.programs import submission
from linklab.programs.place import LabPlace
from linklab.programs.simpleperf.session import NETWORK
from linklab.programs.submission import SubmittedProgram
from linklab.runtime.backends import Kind
from tests.grading.judging import ROOT

pytestmark = [pytest.mark.lab, pytest.mark.timeout(300)]

FILES_AT_MOST = 200


@pytest.fixture(scope="module")
def hidden(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Files of an instructor's machine that a submission has no business with."""
    secret = tmp_path_factory.mktemp("instructor") / "secret"
    secret.write_text("an instructor's own\n")
    folders = [secret.parent, ROOT / "solutions", ROOT / "tests", Path("/root"), Path.home()]
    found = [Path("/etc/shadow"), *(path for folder in folders for path in _some_files(folder))]
    assert virtual.image is not None
    return [str(path) for path in found if path.exists() and virtual.image.folder not in path.parents]


def _some_files(folder: Path) -> list[Path]:
    """Files below a folder, as many as a test has time for; none of one that is not there or not ours to read."""
    return list(islice((Path(at, name) for at, _, names in os.walk(folder) for name in names), FILES_AT_MOST))


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> SubmittedProgram:
    """A program."""
    program = tmp_path_factory.mktemp("submission") / "simpleperf.py"
    program.write_text("print('hello')\n")
    return submission.read(program)


@pytest.fixture(scope="module")
def guest(virtual: Kind, handed_in: SubmittedProgram) -> Iterator[Lab]:
    """The guest in which a judge tries a simpleperf."""
    place = LabPlace(handed_in, NETWORK)
    yield place._started()
    place.close()


_HOST_CALL = """
import ctypes, mmap, struct, sys

stub = int(sys.argv[1], 16)
syscall = stub + ctypes.string_at(stub, 4096).index(bytes.fromhex("0f05"))
page = mmap.mmap(-1, 8192, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
base = ctypes.addressof(ctypes.c_char.from_buffer(page))
frame, rsp, rip, flags, cs = 4096, 160, 168, 176, 184  # struct ucontext of x86-64
struct.pack_into("<QHHHH", page, frame + flags, 0x202, 0x33, 0, 0, 0x2B)
tail = b"\\x48\\x89\\x87" + struct.pack("<i", rip)  # mov [rdi+rip], rax
tail += bytes.fromhex("4889fc b80f000000 ffe6")  # mov rsp, rdi; mov eax, 15 (rt_sigreturn); jmp rsi
code = bytes.fromhex("53 55 4154 4155 4156 4157 4889a7") + struct.pack("<i", rsp)  # push ...; mov [rdi+rsp], rsp
code += bytes.fromhex("488d05") + struct.pack("<i", len(tail)) + tail  # lea rax, what follows
code += bytes.fromhex("415f 415e 415d 415c 5d 5b b82a000000 c3")  # pop ...; return 42
page[: len(code)] = code
print("ready", flush=True)
print(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(base)(base + frame, syscall), flush=True)
"""
"""A program of a guest that makes a system call of this machine: it jumps to a `syscall` instruction of the page that
the guest's kernel has put into each of its processes (arch/um/kernel/skas/stub.c). The call is a harmless one, a return
from a signal that never was, which goes on behind the jump: no other shows so plainly who has answered it.
"""


def _host_call(lab: Lab) -> tuple[int, str]:
    """Run `_HOST_CALL` as a guest's program: its exit status and what it printed."""

    def run(net: object, program: str, stub: str) -> tuple[int, str]:
        import subprocess
        import sys

        made = subprocess.run([sys.executable, "-c", program, stub], capture_output=True, text=True)
        return made.returncode, made.stdout

    status, printed = lab.call(run, _HOST_CALL, _stub_page(lab))
    return status, printed


def _stub_page(lab: Lab) -> str:
    """Return where that page lies, in hexadecimal: the last that may be run, below those of this machine's kernel."""
    for folder in _programs(lab):
        maps = (folder / "maps").read_text().splitlines()
        shared = [line for line in maps if line.split()[1] == "r-xs"]
        return shared[-1].partition("-")[0]
    raise AssertionError("the guest has no programs")


def _programs(lab: Lab) -> Iterator[Path]:
    """/proc/PID of the processes of this machine that run a guest's programs."""
    for process in process_tree.below(lab.process.group_pid):
        yield Path(f"/proc/{process.pid}")


def test_a_program_of_an_ordinary_guest_can_make_system_calls_of_this_machine(virtual: Kind, lab_folder: Path) -> None:
    """So that the next test can fail: the probe finds the hole where there is one."""
    with start(NETWORK, folder=lab_folder) as lab:
        if any("\nTracerPid:\t0\n" not in (folder / "status").read_text() for folder in _programs(lab)):
            pytest.skip("this machine's guests run by ptrace alone")
        assert _host_call(lab) == (0, "ready\n42\n")


def test_a_program_that_is_tried_can_make_none(guest: Lab) -> None:
    assert _host_call(guest) == (-signal.SIGSEGV, "ready\n")
    assert guest.cli("sh echo well") == "well\n"


def test_the_guests_root_finds_nothing_of_this_machines_people(guest: Lab, hidden: list[str]) -> None:
    def found(net: object, paths: list[str]) -> list[str]:
        import os

        return [path for path in paths if os.path.lexists(path)]

    assert len(hidden) > 10
    assert guest.call(found, hidden) == []


def test_the_guests_kernel_sees_nothing_of_them_either(guest: Lab, hidden: list[str]) -> None:
    root = f"/proc/{guest.process.group_pid}/root"
    assert os.path.isdir(f"{root}/run/linklab/image/usr/bin")
    assert [path for path in hidden if os.path.lexists(root + path)] == []


def test_the_guests_kernel_has_no_right_to_change_that(guest: Lab) -> None:
    """Who may mount, make disks or open files by their number sees all disks, whatever view bubblewrap has made."""
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{guest.process.group_pid}/status").read_text().splitlines()
    )
    chown, dac_override, fowner = 1 << 0, 1 << 1, 1 << 3  # linux/capability.h
    for name in ("CapEff", "CapPrm", "CapInh", "CapBnd"):
        assert int(status[name], 16) & ~(chown | dac_override | fowner) == 0, name
    assert status["NoNewPrivs"].strip() == "1"
