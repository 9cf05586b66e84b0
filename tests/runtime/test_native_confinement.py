"""A native lab is root in namespaces of its own and nobody on this machine, whatever it tries."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from linklab.errors import LabError
from linklab.runtime import bwrap
from linklab.runtime.backends import Kind
from linklab.runtime.client import LabProcess
from linklab.runtime.native import Ids
from linklab.runtime.transport import Spawned
from tests.conftest import SESSION

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]


@pytest.fixture
def host_file() -> Iterator[Path]:
    """A file of the host that a lab sees and anybody might write to: only the lab's confinement keeps it."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chmod(folder, 0o777)
        file = Path(folder, "precious")
        file.write_text("keep me")
        file.chmod(0o666)
        yield file


def _shell(context: Any, *commands: str) -> Any:
    """Runs commands one after the other; gives the exit status and the output of each."""
    import subprocess

    found = []
    for command in commands:
        done = subprocess.run(
            command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        found.append((done.returncode, done.stdout.strip()))
    return found


def _failed(results: list[list[Any]]) -> list[bool]:
    return [status != 0 for status, _ in results]


def test_mounting_anew_opens_nothing(native: Kind, lab_folder: Path, host_file: Path) -> None:
    attempts = (
        "mount -o remount,bind,rw /",
        "mkdir -p /tmp/again && mount --bind / /tmp/again && mount -o remount,bind,rw /tmp/again",
        "mkdir -p /tmp/all && mount --rbind / /tmp/all && mount -o remount,bind,rw /tmp/all",
        "unshare --mount mount -o remount,bind,rw /",
        "umount /tmp",
        f"echo overwritten > {host_file}",
        f"echo overwritten > /tmp/again{host_file}",
        f"echo overwritten > /tmp/all{host_file}",
        f"rm {host_file}",
        f"rm /tmp/again{host_file}",
        f"touch {host_file.parent}/more",
    )
    with LabProcess.spawn(native, lab_folder) as lab:
        results = lab.call(_shell, *attempts)
        assert lab.call(_shell, f"cat {host_file}") == [[0, "keep me"]], "the host's files are there to read"
    assert {command for command, failed in zip(attempts, _failed(results), strict=True) if not failed} == set()
    assert host_file.read_text() == "keep me"
    assert list(host_file.parent.iterdir()) == [host_file]


def test_other_processes_lead_nowhere(native: Kind, lab_folder: Path, host_file: Path) -> None:
    """Neither through /proc nor through their namespaces: the lab sees its own processes alone."""
    attempts = (
        f"for root in /proc/[0-9]*/root; do echo overwritten > $root{host_file} && exit 0; done; exit 1",
        f"nsenter --target 1 --mount --pid -- sh -c 'mount -o remount,bind,rw /; echo overwritten > {host_file}'",
        f"nsenter --target 1 --all -- sh -c 'mount -o remount,bind,rw /; echo overwritten > {host_file}'",
    )
    with LabProcess.spawn(native, lab_folder) as lab:
        assert all(_failed(lab.call(_shell, *attempts)))
        ((_, seen),) = lab.call(_shell, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    assert "bwrap" not in seen
    assert "native.py" not in seen
    assert host_file.read_text() == "keep me"


def test_the_kernels_settings_are_the_hosts_but_for_its_own_network(native: Kind, lab_folder: Path) -> None:
    """Each setting is written as it is, so that a lab that can do it does no harm here."""
    machine = ("kernel/core_pattern", "vm/swappiness", "fs/file-max")
    again = [f"cat /proc/sys/{name} > /tmp/value && cat /tmp/value > /proc/sys/{name}" for name in machine]
    fresh = "mkdir -p /tmp/proc && mount -t proc proc /tmp/proc && cd /tmp/proc/sys/vm && cat swappiness > /tmp/value"
    again.append(f"{fresh} && cat /tmp/value > swappiness")
    before = Path("/proc/sys/net/ipv4/ip_forward").read_text().strip()
    other = "0" if before == "1" else "1"
    with LabProcess.spawn(native, lab_folder) as lab:
        assert all(_failed(lab.call(_shell, *again)))
        assert all(_failed(lab.call(_shell, "cat /sys/kernel/mm/ksm/run > /sys/kernel/mm/ksm/run")))
        own = lab.call(_shell, f"sysctl -w net.ipv4.ip_forward={other}", "cat /proc/sys/net/ipv4/ip_forward")
        assert own == [[0, f"net.ipv4.ip_forward = {other}"], [0, other]]
        assert lab.call(_shell, "hostname somewhere && hostname") == [[0, "somewhere"]]
    assert Path("/proc/sys/net/ipv4/ip_forward").read_text().strip() == before
    assert os.uname().nodename != "somewhere"


def test_disks_and_modules_are_out_of_reach(native: Kind, lab_folder: Path) -> None:
    disk = os.stat("/").st_dev
    attempts = (
        f"mknod /tmp/disk b {os.major(disk)} {os.minor(disk)} && head -c 512 /tmp/disk",
        f"mknod {lab_folder}/disk b {os.major(disk)} {os.minor(disk)} && head -c 512 {lab_folder}/disk",
        "mkdir -p /tmp/disks && mount -t devtmpfs dev /tmp/disks",
        "mkdir -p /tmp/host && mount /tmp/disk /tmp/host",
        "mkdir -p /tmp/debug && mount -t debugfs debug /tmp/debug",
    )

    def load_module(context: Any) -> str:
        import ctypes
        import errno
        import platform

        number = {"x86_64": 313, "aarch64": 273}[platform.machine()]  # finit_module(2)
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.syscall(number, -1, b"", 0) == -1
        return errno.errorcode[ctypes.get_errno()]

    with LabProcess.spawn(native, lab_folder) as lab:
        assert all(_failed(lab.call(_shell, *attempts)))
        assert lab.call(load_module) in ("EPERM", "ENOSYS")  # ENOSYS: a kernel without modules
    assert list(lab_folder.iterdir()) == []


def test_what_mininet_does_works(native: Kind, lab_folder: Path) -> None:
    """All but netem and Open vSwitch, which this machine's kernel may lack."""
    namespace = "readlink /proc/{}/ns/net"
    commands = (
        "ip netns add one && ip netns exec one ip link set lo up && ip netns exec one sysctl -w net.ipv4.ip_forward=1",
        "ip link add name left type veth peer name right && ip link set right netns one && ip link set left up",
        "ip link add bridge0 type bridge && ip link set left master bridge0 && ip link set bridge0 up",
        "tc qdisc add dev left root handle 5: htb default 1",
        "tc class add dev left parent 5: classid 5:1 htb rate 1mbit",
        "mnexec -n sleep 60 > /dev/null 2>&1 & "
        f"while [ $({namespace.format('$!')}) = $({namespace.format('self')}) ]; do sleep 0.05; done; "
        "mnexec -a $! ip link set lo up && kill $!",
        "mkdir -p /var/tmp /tmp/private && mount -t tmpfs private /tmp/private && umount /tmp/private",
        "mkdir -p /run/netns /run/somewhere && ln -s /run/somewhere /dev/somewhere",
        "touch /tmp/file && chown 105:106 /tmp/file && setpriv --reuid 105 --regid 106 --clear-groups touch /tmp/other",
        "python3 -c 'import pty; pty.openpty()'",
        "echo > /dev/shm/something && echo > /dev/null",
    )
    with LabProcess.spawn(native, lab_folder) as lab:
        results = lab.call(_shell, *commands)
    assert [result for result in zip(commands, results, strict=True) if result[1][0] != 0] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make a folder of another user")
@pytest.mark.parametrize("owner", [0, 1234])
def test_what_a_lab_writes_belongs_to_the_owner_of_its_folder(native: Kind, lab_folder: Path, owner: int) -> None:
    os.chown(lab_folder, owner, owner)
    lab_folder.chmod(0o700)
    (lab_folder / "old").write_text("there before")
    os.chown(lab_folder / "old", owner, owner)
    with LabProcess.spawn(native, lab_folder) as lab:
        done = lab.call(_shell, f"cat {lab_folder}/old && rm {lab_folder}/old && echo new > {lab_folder}/new")
        assert done == [[0, "there before"]]
        assert lab.call(_shell, f"stat -c '%u %g' {lab_folder} {lab_folder}/new") == [[0, "0 0\n0 0"]]
    made = lab_folder / "new"
    assert (made.stat().st_uid, made.stat().st_gid) == (owner, owner)
    assert list(lab_folder.iterdir()) == [made]


@pytest.mark.parametrize("switch", ["bridge", "ovs"])
def test_netem_and_open_vswitch_serve_a_native_lab(virtual: Kind, lab_folder: Path, switch: str) -> None:
    """In a native lab of a guest's: its kernel has both, which this machine's may lack, and it has a clock to trust."""

    def measure(context: Any, switch: Any) -> list[str]:
        import os
        import sys

        from linklab.runtime.image import init

        sys.path.append(init.PACKAGES)  # who starts a lab needs more than the lab
        import linklab
        from linklab.network import End, Host, Link, Network, Switch

        os.mkdir("/mnt/folder")
        network = Network(
            name="inner",
            nodes=(Host("h1"), Host("h2"), Switch("s1")),
            links=tuple(
                Link(End(f"h{n}", f"h{n}-eth0", f"10.0.0.{n}/24"), End("s1", f"s1-eth{n}"), delay_ms=5, rate_mbps=10)
                for n in (1, 2)
            ),
        )
        with linklab.start(network, "real", kind="native", switch=switch, folder="/mnt/folder") as lab:
            said = lab["h1"].cmd("ping -c 3 -i 0.2 10.0.0.2; chrt --fifo 1 true || echo no realtime")
            try:
                lab.call(lambda net: os.truncate("/etc/hostname", 0))
            except linklab.LabError as error:
                return [said, str(error)]
        return [said, "written"]

    with LabProcess.spawn(virtual, lab_folder) as lab:
        said, outcome = lab.call(measure, switch)
    assert "3 received" in said
    assert "rtt min/avg/max/mdev = 20.0" in said
    assert "no realtime" in said, "no lab comes before this machine's other programs"
    assert "Permission denied" in outcome


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, whose home others may not enter")
def test_of_a_folder_in_roots_home_a_lab_sees_itself_alone(native: Kind) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix=SESSION) as home:  # for root alone
        Path(home, "secret").write_text("not for labs")
        folder = Path(home, "course", "labs")
        folder.mkdir(parents=True)
        with LabProcess.spawn(native, folder) as lab:
            assert lab.call(_shell, f"ls -A {home} {home}/course", f"echo done > {folder}/answer") == [
                [0, f"{home}:\ncourse\n\n{home}/course:\nlabs"],
                [0, ""],
            ]
        assert (folder / "answer").read_text() == "done\n"
        assert Path(home, "secret").exists()


_START = """\
import sys
from pathlib import Path
from linklab.errors import LabError
from linklab.runtime.backends import native
from linklab.runtime.client import LabProcess
try:
    LabProcess.spawn(native(), Path(sys.argv[1]) if sys.argv[1:] else None)
except LabError as error:
    print(error)
"""

_ON_AN_OVERLAY = """\
mount -t tmpfs none "$1" && mkdir "$1"/lower "$1"/upper "$1"/work "$1"/both &&
mount -t overlay -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" none "$1/both" || exit 77
exec "$2" -c "$3" "$1/both"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount")
def test_a_folder_that_cannot_be_lent_is_refused_with_what_helps(native: Kind, lab_folder: Path) -> None:
    """Root's files in a container, say, whose file system is an overlay."""
    words = ["unshare", "--mount", "sh", "-c", _ON_AN_OVERLAY, "sh", str(lab_folder), sys.executable, _START]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip(f"needs overlay mounts: {done.stderr.strip()}")
    assert f"{lab_folder}/both cannot lend it to a native lab: give the folder to an ordinary user" in done.stdout
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


_WITHOUT_USER_NAMESPACES = """\
import ctypes, os, socket, sys
from pathlib import Path
ours, theirs = socket.socketpair()
child = os.fork()
if child == 0:
    assert ctypes.CDLL(None).unshare(0x10000000) == 0
    theirs.send(b"!")
    theirs.recv(1)
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    Path("/proc/sys/user/max_user_namespaces").write_text("0")
    os.execv(sys.executable, [sys.executable, "-c", sys.argv[1]])
ours.recv(1)
for name in ("uid_map", "gid_map"):
    Path(f"/proc/{child}/{name}").write_text("0 0 4294967295")
ours.send(b"!")
os.waitpid(child, 0)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to forbid them to a process and what it starts")
def test_a_machine_that_allows_no_user_namespaces_says_so(native: Kind) -> None:
    words = [sys.executable, "-c", _WITHOUT_USER_NAMESPACES, _START]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert "sudo sysctl -w user.max_user_namespaces=10000, or say kind='guest'" in done.stdout, done.stderr
    assert len(done.stdout.splitlines()) == 1


_LATER_MOUNTED = """
import os, subprocess, sys
from pathlib import Path
import linklab
from linklab.runtime.backends import choose
from linklab.runtime.client import LabProcess

def touch(context, words):
    import subprocess
    return subprocess.run(words, shell=True, capture_output=True).returncode

disk, folder, clock, kind = sys.argv[1:]
with LabProcess.spawn(choose(clock, kind), Path(folder)) as lab:
    subprocess.run(["mount", "-t", "tmpfs", "disk", disk], check=True)
    os.chmod(disk, 0o777)
    lab.call(touch, f"touch {disk}/native")
    lab.call(touch, f"mkdir -p /tmp/h; mount -t hostfs none /tmp/h -o {disk} && touch /tmp/h/guest")
    print("found", os.listdir(disk))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, which can mount a disk")
@pytest.mark.parametrize(("clock", "kind"), [("real", "native"), ("virtual", "guest")])
def test_a_disk_that_is_mounted_later_stays_out(
    native: Kind, virtual: Kind, lab_folder: Path, tmp_path: Path, clock: str, kind: str
) -> None:
    """On a machine whose mounts are shared, as systemd makes them."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = tmp_path / "beside" / "mounts_later.py"
    script.parent.mkdir()
    script.write_text(_LATER_MOUNTED)
    apart = ["unshare", "--mount", "--propagation", "shared"]
    done = subprocess.run(
        [*apart, sys.executable, str(script), str(disk), str(lab_folder), clock, kind],
        capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.stdout == "found []\n", done.stderr


def test_a_folder_that_holds_linklab_is_not_lent_to_a_native_lab() -> None:
    folder = Path(bwrap.__file__).parents[2]
    with pytest.raises(LabError, match="holds Linklab itself, and a native lab could change it"):
        bwrap.for_native(folder, 0, Ids(2_000_000_000, 2_000_000_000, 65535, lend=True))
    words = bwrap.for_native(folder, 0, Ids(2_000_000_000, 2_000_000_000, 65535, lend=False))
    package = str(folder / "linklab")
    assert words[words.index(str(folder)) + 1 :].count(package) == 2, "it is bound again, to be read"


def test_ending_a_lab_does_not_wait_for_children_of_the_notebook(native: Kind, lab_folder: Path) -> None:
    lab = LabProcess.spawn(native, lab_folder)
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    try:
        assert isinstance(lab.transport, Spawned)
        lab.stop()
        assert lab.transport._supervisor.returncode == 0, "it was not killed"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
