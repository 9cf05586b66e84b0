"""Turn a bare kernel into a place where Mininet can work: mounts, kernel settings, date and timers.

Everything is done by system calls from this one process: each program started instead would cost a guest
several milliseconds of boot.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import time
from pathlib import Path

from linklab.guest import stand_ins

_libc = ctypes.CDLL(None, use_errno=True)
_MS_RDONLY, _MS_NOSUID, _MS_NOATIME, _MS_BIND = 1, 2, 1024, 4096
_SYS_PIVOT_ROOT = 155  # x86-64, the only processor of a guest
_MNT_DETACH = 2
_PR_SET_TIMERSLACK = 29
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
DATE_S = 2_082_758_400
"""When every lab boots, in seconds since 1970: on 1 January 2036 (UTC). Later than any file that
comes into a lab, or make and tar would complain of files from the future; earlier than the instants at which seconds of
32 bits begin anew (NTP's on 7 February 2036, Unix' in 2038).
"""


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    """Mount a file system, as mount(2) does. Raises OSError."""
    words = (os.fsencode(source), os.fsencode(target), kind.encode(), flags, os.fsencode(options))
    if _libc.mount(*words) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mount {kind} on {target}: {os.strerror(number)}")


def boot_guest(folder: str | None, reads: list[str], layers: str, library: str, packages: tuple[str, str]) -> None:
    """Mount the file systems of a guest in user-mode Linux; an overlay in `layers` keeps all changes in its memory.

    Of this machine there is, to be read, Linklab in `library` and the notebook's installed `packages` (their folder on
    this machine, and in the guest), and `reads`, where changes stay in the guest's memory too. `folder` alone is this
    machine's own, straight through hostfs: a file edited here is seen changed there.
    """
    root = _overlay(layers)
    mount(library, root + library, "", _MS_BIND)
    mount("none", root + packages[1], "hostfs", _MS_NOSUID | _MS_RDONLY, packages[0])
    for where in ("tmp", "var/tmp"):
        os.chmod(f"{root}/{where}", 0o1777)  # no file of an image has more than its owner may write
    for number, read in enumerate(reads):
        lower, upper, work = (f"{layers}/{part}{number}" for part in ("lower", "upper", "work"))
        for part in (lower, upper, work):
            os.mkdir(part)
        mount("none", lower, "hostfs", _MS_NOSUID | _MS_RDONLY, read)
        os.makedirs(root + read, exist_ok=True)
        mount("overlay", root + read, "overlay", _MS_NOSUID, f"lowerdir={lower},upperdir={upper},workdir={work}")
    if folder is not None:
        os.makedirs(root + folder, exist_ok=True)  # below /run or /dev/shm it is hidden by what was mounted there
        # whether a time of access is due depends on the folder's past, and writing it back would show in digits
        mount("none", root + folder, "hostfs", _MS_NOSUID | _MS_NOATIME, folder)
    _switch_root(root)
    configure_kernel(folder)


def _overlay(base: str) -> str:
    """Lay a tmpfs over the root file system, with the usual mounts; return the path of both together."""
    # All such sizes together are less than the memory: files that fill it could not be freed by ending a program.
    mount("tmpfs", base, "tmpfs", 0, "size=40%")
    for part in ("upper", "work", "root"):
        os.mkdir(f"{base}/{part}")
    # nosuid: an ordinary user's guest sees root's files as nobody's, and mount(8) would run as that
    mount("overlay", f"{base}/root", "overlay", _MS_NOSUID, f"lowerdir=/,upperdir={base}/upper,workdir={base}/work")
    mount_usual(f"{base}/root")
    return f"{base}/root"


def mount_usual(root: str) -> None:
    """Mount /proc, /sys, /dev and /run below `root`."""
    for kind, where, options in (
        ("proc", "proc", ""),
        ("sysfs", "sys", ""),
        ("devtmpfs", "dev", ""),
        ("tmpfs", "run", "size=10%"),
    ):
        mount(kind, f"{root}/{where}", kind, _MS_NOSUID, options)
    for where, options in (("dev/pts", "ptmxmode=666"), ("dev/shm", "size=20%")):
        os.makedirs(f"{root}/{where}", exist_ok=True)
        mount("x", f"{root}/{where}", "devpts" if "pts" in where else "tmpfs", _MS_NOSUID, options)
    for name, target in (
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ):
        if not os.path.lexists(f"{root}/dev/{name}"):
            os.symlink(target, f"{root}/dev/{name}")


def configure_kernel(folder: str | None) -> None:
    """Set what labs need in a guest's kernel, write the stand-in programs, and bring the loopback interface up."""
    # else every new namespace starts with four tunnels that nobody asked for
    with contextlib.suppress(FileNotFoundError):
        Path("/proc/sys/net/core/fb_tunnels_only_for_init_net").write_text("2")
    # else only some congestion controls may become a namespace's default
    controls = Path("/proc/sys/net/ipv4")
    (controls / "tcp_allowed_congestion_control").write_text(
        (controls / "tcp_available_congestion_control").read_text()
    )
    stand_ins.write_programs(Path("/usr/local/bin"))
    socket.sethostname(Path("/etc/hostname").read_text("ascii").strip())
    # Linux ends some other program than the one that asks for memory, and the asker waits for that in a busy loop: on
    # virtual time for ever.
    Path("/proc/sys/vm/oom_kill_allocating_task").write_text("1")
    # else the agent, which goes first (`turns`), would wait at times until a program has computed to its end
    Path("/proc/sys/kernel/sched_rt_runtime_us").write_text("-1")
    os.chdir(folder or "/")
    for where in ("/run/netns", "/run/lock"):
        os.makedirs(where, exist_ok=True)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sh", b"lo", 0)
        flags = struct.unpack("16sh", fcntl.ioctl(probe, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(probe, _SIOCSIFFLAGS, struct.pack("16sh", b"lo", flags | _IFF_UP))


def _switch_root(root: str) -> None:
    """Make `root` the root of this mount namespace. chroot would not do: Mininet's mnexec enters a node's mount
    namespace by setns(2), which leads back to the namespace's own root.
    """
    os.chdir(root)
    if _libc.syscall(_SYS_PIVOT_ROOT, b".", b".") != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"pivot_root to {root}: {os.strerror(number)}")
    _libc.umount2(b".", _MNT_DETACH)
    os.chdir("/")


def exact_timers() -> None:
    """Make sleeps of this process, and of all that it starts, end on time. Linux may otherwise end them up to
    50 us late, together with some other timer, so that what runs besides would show in a measurement's last digits.
    """
    _libc.prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)


def seed_kernel(seed: int) -> None:
    """Seed the kernel's random numbers, whatever it drew while it booted."""
    Path("/sys/module/random/parameters/seed").write_text(str(seed))


def set_date() -> None:
    """Set the time of day to `DATE_S`, and as much more as has passed since the boot.

    Programs seed their random numbers with the date, so the host's would show in digits. ping takes its times from the
    time of day, in whole microseconds: parts of a second beside the clock since boot would show in a round trip.
    """
    time.clock_settime_ns(time.CLOCK_REALTIME, time.monotonic_ns() + DATE_S * 10**9)
