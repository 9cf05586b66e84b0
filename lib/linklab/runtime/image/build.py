"""Building a lab image: packages fetched and unpacked, settled, kernels added, its Python compiled, booted, published.

No program of Debian's is run for the packages but the image's own ldconfig and Python, no root is needed, and the same
packages give the same files to the byte. A build that was stopped keeps the packages that it fetched.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

from linklab import settings
from linklab.errors import LabError
from linklab.runtime.image import debian, elf, tree
from linklab.runtime.image.find import (
    FORMAT,
    About,
    Image,
    Packed,
    being_built,
    cache_folder,
    compile_modules,
    find_image,
    finished_images,
)
from linklab.runtime.image.running import Status, StatusFile, build_lock
from linklab.runtime.image.verify import verify
from linklab.runtime.kernel.config import FLAVOURS, USER_MODE, kernel_bytes, manifest, runs_user_mode_linux

Progress = Callable[[str, float], None]
Say = Callable[[str], None]

NEEDED_BYTES = 700 * 10**6
_WAIT_S = 0.5
_FETCHED_AT_ONCE = 8
# Share of the whole at which each stage begins, where the kernels are there already.
_FETCH_AT, _UNPACK_AT, _SETTLE_AT, _COMPILE_AT, _DONE_AT = 0.02, 0.30, 0.75, 0.78, 0.99

_DROPPED = re.compile(
    r"""usr/share/(man|info|locale|lintian|bug|doc-base|bash-completion|zsh|fish|gdb|gettext|menu|applications|icons
              |pixmaps|metainfo|polkit-1|dbus-1|initramfs-tools|perl5|vala|gir-1.0|mime|alsa|upstart|apport|keyrings
              |python3/runtime.d
              |glib-2.0|X11|libdrm|gcc|libmysofa|pam|pam-configs|openmpt123|util-linux|aclocal|pkgconfig|tabset|readline
              |ffmpeg/[^/]*\.ffpreset)/
      | usr/share/doc/(?![^/]+/copyright/?$)
      | usr/bin/(ffplay$|py3|dh_|localedef$) | usr/sbin/(arpd|iconvconfig|zic)$ | etc/rmt$
      | usr/lib/frr/(eigrpd|fabricd|ldpd|nhrpd|pathd|pbrd|pim6?d|sharpd|vrrpd)$
      | usr/lib/x86_64-linux-gnu/frr/modules/(pathd|sharpd)
      | usr/include/ | usr/games/ | usr/lib/systemd/ | usr/lib/udev/ | usr/lib/tmpfiles.d/ | usr/lib/sysusers.d/
      | usr/lib/x86_64-linux-gnu/(pkgconfig|cmake|gconv|girepository-1.0|perl|krb5|sasl2|libcaca)/
      | usr/lib/x86_64-linux-gnu/security/(?!pam_permit)
      | usr/lib/x86_64-linux-gnu/[^/]*\.(a|la|o)$
      | usr/lib/x86_64-linux-gnu/(libmvec.so|libhwy_|libformw|libmenuw|bpf/|vdpau/|caca/|gbm/|gdk-pixbuf|engines-3/)
      | usr/lib/locale/(?!C.utf8/)
      | usr/lib/python3\.\d+/(test|idlelib|lib2to3|ensurepip|tkinter|turtledemo|pydoc_data|config-[^/]*|__phello__)/
      | usr/lib/python3\.\d+/lib-dynload/(_dbm|_test|_ctypes_test|_xx|xx)
      | usr/lib/python3/dist-packages/(ovs/_json\.|netaddr/eui/[a-z]+\.idx$|eventlet/zipkin/example/)
      | usr/lib/python3/dist-packages/([^/]+/)*tests?/
      | usr/lib/python3/dist-packages/oslo_[a-z]+/locale/
      | ([^/]+/)*__pycache__/
      | etc/(init.d|cron.[a-z]+|logrotate.d|pam.d|default|apparmor.d|systemd|kernel|X11|profile.d|xdg|security)/
      | var/(lib/dpkg|cache|lib/apt|backups|mail|local|opt)/ | boot/ | home/ | media/ | mnt/ | opt/ | srv/
    """,
    re.VERBOSE,
)
"""What no lab reads: documents but for licences, translations, what is there to compile with, services' settings."""

_DOCUMENTS = re.compile(r"\./usr/share/doc/[^/]+$")
"""A package's documents. Where that is a link, its licence lies in the folder of another package of the same source."""
_LICENCE = "usr/share/doc/{}/copyright"
_KERNELS_LICENCE = """\
The lab kernels are Linux {about.kernel_version}, made from Debian's package of its source with configurations and
changes that come with Linklab, in lib/linklab/runtime/kernel:

{kernels}

Copyright: Linus Torvalds and the authors of Linux.
Licence: GPL-2, see /usr/share/common-licenses/GPL-2.
"""
_MERGED = ("bin", "sbin", "lib", "lib64")
"""Folders of ``/`` that are links to those of ``/usr``."""
_FOLDERS = (
    "proc", "sys", "dev", "run", "tmp", "root", "home", "mnt", "opt", "srv", "var/tmp", "var/log", "var/lib",
    "var/cache", "etc/openvswitch", "var/lib/openvswitch", "var/log/openvswitch", "etc/frr", "var/log/frr",
    "var/lib/frr", "var/lib/dhcp", "etc/iproute2", "etc/sysctl.d", "etc/network", "etc/wireguard", "usr/local/bin",
    "usr/local/sbin", "usr/local/lib", "usr/lib/linklab/private", "usr/lib/linklab/library", "usr/lib/linklab/packages",
    "usr/lib/linklab/layers", "etc/pam.d",
)  # fmt: skip
LINKS = {
    "var/run": "/run",
    "var/lock": "/run/lock",
    "etc/mtab": "/proc/self/mounts",
    "usr/bin/awk": "mawk",
    "usr/bin/nawk": "mawk",
    "usr/bin/which": "which.debianutils",
    "usr/bin/nc": "nc.openbsd",
    "usr/bin/netcat": "nc.openbsd",
    "usr/bin/telnet": "inetutils-telnet",
    "usr/bin/traceroute": "traceroute.db",
    "usr/bin/traceroute6": "traceroute6.db",
    "usr/bin/pager": "less",
    "usr/bin/python": "python3",
    "usr/bin/w": "w.procps",
    "usr/sbin/iptables": "iptables-nft",
    "usr/sbin/iptables-save": "iptables-nft-save",
    "usr/sbin/iptables-restore": "iptables-nft-restore",
    "usr/sbin/ip6tables": "ip6tables-nft",
    "usr/sbin/ip6tables-save": "ip6tables-nft-save",
    "usr/sbin/ip6tables-restore": "ip6tables-nft-restore",
    "usr/sbin/arptables": "arptables-nft",
    "usr/sbin/ebtables": "ebtables-nft",
    "usr/sbin/ovs-vswitchd": "../lib/openvswitch-switch/ovs-vswitchd",
    "usr/lib/x86_64-linux-gnu/libblas.so.3": "blas/libblas.so.3",
    "usr/lib/x86_64-linux-gnu/liblapack.so.3": "lapack/liblapack.so.3",
}
"""What update-alternatives would have made; a name that a package has itself stays."""
_TEXTS = {
    "etc/hostname": "lab\n",
    "etc/hosts": "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n",
    "etc/resolv.conf": "",
    "etc/fstab": "",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\n"
    "protocols: files\nservices: files\nethers: files\nrpc: files\n",
    "etc/ld.so.conf": "/usr/local/lib\n/usr/lib/x86_64-linux-gnu\n/usr/lib\n",
    "etc/shells": "/bin/sh\n/bin/bash\n/bin/dash\n",
    "etc/machine-id": "6c696e6b6c61620000000000000000ab\n",
    "etc/pam.d/other": "auth required pam_permit.so\naccount required pam_permit.so\n",  # for vtysh
    "etc/frr/daemons": "",
    "etc/frr/vtysh.conf": "",
}
_TRIMMED = ("libav*.so.*", "libsw*.so.*", "libpostproc.so.*")
"""Ffmpeg's own libraries."""
_USERS = (("frr", 100, "/nonexistent"), ("tcpdump", 102, "/nonexistent"), ("student", 1000, "/home/student"))
"""Users beside Debian's own, each with a group of the same name and number."""
_GROUPS = (("frrvty", 101, ("frr",)),)


def build_image(
    progress: Progress, say: Say = lambda line: None, *, low_priority: bool = False, keep: bool = False
) -> Image:
    """Build the lab image, and return it; one of the same packages and kernels that is there already is not built
    again.

    ``progress`` is called with what is being done and the fraction done, from 0 to 1; ``say`` with single remarks, one
    line each. ``keep``: keep the packages that were fetched. While another process builds, this one waits and reports
    the other's progress.

    Raises `LabError`: no archive, no network, no space, no place where programs may run, or an image that no lab runs
    in.
    """
    if not runs_user_mode_linux():
        raise LabError(
            f"a lab image is built on Linux with x86-64, and this is {platform.system()} on {platform.machine()}: "
            "name one built elsewhere in LINKLAB_IMAGE, or use vagrant up"
        )
    folder = tree.ensure_folder(cache_folder())
    waiting = False
    while True:
        with build_lock(folder) as lock:
            if lock is not None:
                return _build(folder, progress, say, low_priority, keep)
        if not waiting:
            say("another process is building the lab image: waiting for it")
            waiting = True
        if status := Status.read(folder):
            progress(status.message, status.fraction)
        time.sleep(_WAIT_S)


def _build(folder: Path, progress: Progress, say: Say, low_priority: bool, keep: bool) -> Image:
    _check_place(folder)
    if low_priority:
        os.nice(19 - os.nice(0))
    status = StatusFile(folder)

    def report(message: str, fraction: float) -> None:
        status.write(message, fraction)
        progress(message, fraction)

    key = image_key(debian.lock_text())
    image = next((image for image in finished_images() if image.about.key == key), None)
    try:
        if image is None:
            _check_space(folder)
            image = Build(folder, key, report, say).make(debian.pinned())
    except OSError as error:
        raise tree.full(error, folder, NEEDED_BYTES) from error
    finally:
        status.remove()
    if not keep:
        for name in ("packages", "apt"):
            shutil.rmtree(folder / name, ignore_errors=True)
    progress("the lab image is ready", 1.0)
    return image


def _check_place(folder: Path) -> None:
    """Raise `LabError` for a folder where the image's programs may not run."""
    if os.statvfs(folder).f_flag & os.ST_NOEXEC:
        raise LabError(f"{folder} is mounted noexec: set XDG_CACHE_HOME to a folder where programs may run")


def _check_space(folder: Path, free_bytes: int | None = None) -> None:
    """Raise `LabError` when less is free than a build takes."""
    free_bytes = shutil.disk_usage(folder).free if free_bytes is None else free_bytes
    if free_bytes < NEEDED_BYTES:
        raise LabError(
            f"building the lab image needs {NEEDED_BYTES / 1e9:.1f} GB for a while, and {folder} has "
            f"{free_bytes / 1e9:.1f} GB free: free some, or set XDG_CACHE_HOME to a folder with more"
        )


def image_key(lock: str) -> str:
    """Return the name of an image: one for each list of packages, kernels, and way of putting them together."""
    kernels = manifest()["kernels"]
    digest = hashlib.sha256(
        "\n".join([str(FORMAT), lock, *(kernels[each.file]["sha256"] for each in FLAVOURS)]).encode()
    )
    for name in ("build.py", "elf.py", "tree.py", "init.py"):
        digest.update(hashlib.sha256(files(__package__).joinpath(name).read_bytes()).digest())
    return digest.hexdigest()[:16]


class Build:
    """One run: makes the image ``key`` in ``folder``."""

    def __init__(self, folder: Path, key: str, report: Progress, say: Say) -> None:
        self.folder, self.key, self.report, self.say = folder, key, report, say

    def make(self, packages: list[debian.Package]) -> Image:
        """Fetch, unpack, settle, compile, boot and publish; return the image. Raises `LabError` where no lab runs."""
        for left in self.folder.glob(".build-*"):
            shutil.rmtree(left, ignore_errors=True)
        fetched, replaced = self._fetch(packages)
        part = Path(tempfile.mkdtemp(prefix=".build-", dir=self.folder))
        try:
            root = part / "root"
            packed = self._unpack(fetched, root)
            self.report("settling the lab image", _SETTLE_AT)
            settle(root)
            drop_libraries(root)
            list_libraries(root)
            for flavour in FLAVOURS:
                (part / flavour.file).write_bytes(kernel_bytes(flavour))
            python = _python(root)
            about = self._about(python, packed, replaced)
            (part / "image.json").write_text(about.text(), "utf-8")
            add_licence(root, about)
            self.report("compiling the lab image's Python", _COMPILE_AT)
            compile_python(Image(part, about))
            self.report("finishing the lab image", _DONE_AT)
            tree.make_alike(part)
            (part / USER_MODE.file).chmod(0o755)
            self.report("booting the lab image to verify it", _DONE_AT)
            verify(Image(part, about))
            place = self.folder / self.key
            shutil.rmtree(place, ignore_errors=True)  # half of one, or it would have been taken
            tree.publish(part, place)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        return Image(place, about)

    def _fetch(self, packages: Iterable[debian.Package]) -> tuple[list[Path], list[str]]:
        """Fetch all packages; return their files, and in words which are newer than was pinned."""
        packages = list(packages)
        folder = self.folder / "packages"
        folder.mkdir(exist_ok=True)
        base = debian.archive()
        all_bytes, come = sum(package.size for package in packages), 0
        message = f"fetching {len(packages)} packages of Debian {debian.RELEASE.number} ({all_bytes / 1e6:.0f} MB)"
        counting = threading.Lock()

        def on_bytes(count: int) -> None:
            nonlocal come
            with counting:
                come += count
                self.report(message, _FETCH_AT + min(come / all_bytes, 1) * (_UNPACK_AT - _FETCH_AT))

        def fetch(package: debian.Package) -> Path | None:
            try:
                return debian.fetch(package, base, folder, on_bytes)
            except debian.Gone:
                return None

        pool = ThreadPoolExecutor(_FETCHED_AT_ONCE)
        try:
            fetched = list(pool.map(fetch, packages))
        finally:
            pool.shutdown(cancel_futures=True)
        index: debian.Index | None = None
        found, replaced = [], []
        for package, path in zip(packages, fetched, strict=True):
            if path is None:
                index = index or debian.fetch_index(base, self.folder / "apt")
                newer = index.latest(package.name)
                try:
                    path = debian.fetch(newer, base, folder, on_bytes)
                except debian.Gone as gone:
                    raise LabError(f"{gone}, though its own list names it: try again later") from gone
                replaced.append(f"{package.name} {newer.version} (listed: {package.version})")
            found.append(path)
        if replaced:
            self.say(f"the archive has newer packages than Linklab's list, so digits may differ: {', '.join(replaced)}")
        return found, replaced

    def _unpack(self, packages: list[Path], root: Path) -> list[Packed]:
        root.mkdir()
        for name in _MERGED:
            (root / "usr" / name).mkdir(parents=True, exist_ok=True)
            (root / name).symlink_to(f"usr/{name}")
        packed = []
        for number, path in enumerate(packages):
            self.report("unpacking packages", _UNPACK_AT + number / len(packages) * (_SETTLE_AT - _UNPACK_AT))
            packed.append(unpack(path, root))
        return sorted(packed, key=lambda package: package.name)

    def _about(self, python: str, packed: list[Packed], replaced: list[str]) -> About:
        return About(
            key=self.key,
            debian=f"{debian.RELEASE.number} ({debian.RELEASE.name})",
            python=python,
            kernels=manifest(),
            packages=tuple(packed),
            replaced=tuple(replaced),
        )


def unpack(path: Path, root: Path) -> Packed:
    """Put a package's files into ``root``, without those that no lab reads; return which package it is."""
    with debian.opened(path) as (fields, archive):
        for member in archive:
            name = inside(member.name)
            if member.issym() and _DOCUMENTS.match(member.name):
                name = member.name.removeprefix("./")
            if name is None or member.isdev():
                continue
            if member.islnk():
                target = inside(member.linkname)
                if target is None:
                    raise LabError(f"{path.name} links to {member.linkname}, which the image leaves out: mend build.py")
                tree.link(root, name, target)
            else:
                tree.put(archive, member, root, name)
    source, _, version = fields.get("Source", fields["Package"]).partition(" ")
    return Packed(fields["Package"], fields["Version"], source, version.strip("()") or fields["Version"])


def inside(name: str) -> str | None:
    """Return where a file of a package belongs in the image, or None for one that is left out.

    >>> inside("./lib/x86_64-linux-gnu/libc.so.6"), inside("./usr/share/man/man1/ls.1.gz")
    ('usr/lib/x86_64-linux-gnu/libc.so.6', None)
    """
    name = name.removeprefix("./").rstrip("/")
    if name in ("", ".") or name in _MERGED:
        return None
    if name.partition("/")[0] in _MERGED:
        name = f"usr/{name}"
    return None if _DROPPED.match(name) or _DROPPED.match(f"{name}/") else name


def add_licence(root: Path, about: About) -> None:
    """Put the kernels' licence beside those of the packages. Raises `LabError` where a package's own is missing."""
    missing = [each.name for each in about.packages if not (root / _LICENCE.format(each.name)).is_file()]
    if missing:
        raise LabError(f"the image would lack the licence of {', '.join(missing)}: mend packages.txt, or build.py")
    path = root / _LICENCE.format("linklab-kernel")
    path.parent.mkdir(parents=True)
    source = "{package} {version}".format_map(about.kernels["source"])
    kernels = "\n".join(f"- {each.file}: {source}, changes: {', '.join(each.patches)}" for each in FLAVOURS)
    path.write_text(_KERNELS_LICENCE.format(about=about, kernels=kernels), "utf-8")


def settle(root: Path) -> None:
    """Do in ``root`` what packages' own scripts would have done at their installation, and what labs need beside."""
    for name in _FOLDERS:
        (root / name).mkdir(parents=True, exist_ok=True)
    for name, target in LINKS.items():
        path = root / name
        if path.is_dir() and not path.is_symlink() and not any(path.iterdir()):
            path.rmdir()  # as base-files has /var/run
        if path.exists() or path.is_symlink():
            continue
        if not target.startswith("/") and not (path.parent / target).exists():
            continue  # of a package that is not among those of this image
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
    for name, text in _TEXTS.items():
        (root / name).write_text(text, "utf-8")
    _write_users(root)
    program = root / "usr/lib/linklab/init.py"
    program.write_text(files(__package__).joinpath("init.py").read_text("utf-8"), "utf-8")
    program.chmod(0o755)


def drop_libraries(root: Path) -> None:
    """Let ffmpeg start without the libraries that packages.txt leaves out, and all else need what is there."""
    folder = root / "usr/lib/x86_64-linux-gnu"

    def find(name: str) -> Path | None:
        return next((path for path in (folder / name, root / "usr/lib64" / name) if path.exists()), None)

    for pattern in _TRIMMED:
        for path in sorted(folder.glob(pattern)):
            if not path.is_symlink():
                elf.drop_missing(path, find)


def list_libraries(root: Path) -> None:
    """Write ``/etc/ld.so.cache``, where programs find their libraries at once.

    Without it they look into a folder for each kind of processor first. How many that are depends on the computer's,
    and each takes time by the clock of a lab.
    """
    program = root / "usr/sbin/ldconfig"
    try:
        done = subprocess.run([program, "-X", "-r", root], capture_output=True, text=True, check=False)
    except OSError as error:
        raise LabError(f"the lab image's ldconfig failed: {error}") from error
    if done.returncode or not (root / "etc/ld.so.cache").is_file():
        raise LabError(f"the lab image's ldconfig failed: {done.stderr.strip() or done.returncode}")
    program.unlink()
    shutil.rmtree(root / "var/cache/ldconfig", ignore_errors=True)


def _write_users(root: Path) -> None:
    """Write ``/etc/passwd`` and ``/etc/group`` from Debian's own lists of users, with those that labs have beside."""
    masters = {name: root / f"usr/share/base-passwd/{name}.master" for name in ("passwd", "group")}
    users = masters["passwd"].read_text("utf-8") if masters["passwd"].exists() else "root:*:0:0:root:/root:/bin/bash\n"
    groups = masters["group"].read_text("utf-8") if masters["group"].exists() else "root:*:0:\n"
    for name, number, home in _USERS:
        users += f"{name}:*:{number}:{number}::{home}:/usr/sbin/nologin\n"
        groups += f"{name}:*:{number}:\n"
    for name, number, members in _GROUPS:
        groups += f"{name}:*:{number}:{','.join(members)}\n"
    (root / "etc/passwd").write_text(users.replace(":*:", ":x:"), "utf-8")
    (root / "etc/group").write_text(groups.replace(":*:", ":x:"), "utf-8")


def _python(root: Path) -> str:
    """Return the version of Python in ``root``, as ``"3.13"``. Raises `LabError` where there is none."""
    found = sorted(
        path.name for path in root.glob("usr/bin/python3.[0-9]*") if re.fullmatch(r"python3\.\d+", path.name)
    )
    if not found:
        raise LabError("the packages of the lab image hold no Python: packages.lock is damaged, install Linklab again")
    return found[-1].removeprefix("python")


def compile_python(image: Image) -> None:
    """Compile all Python modules of an image by its own Python. Raises `LabError` where that does not start."""
    folders = (f"usr/lib/python{image.about.python}", "usr/lib/python3/dist-packages", "usr/lib/linklab")
    modules = [
        str(path)
        for folder in folders
        if (image.root / folder).is_dir()
        for path in tree.everything(image.root / folder)
        if path.suffix == ".py" and path.is_file()
    ]
    compile_modules(image, image.root, modules, "/")


def background_log() -> Path:
    """Return where a build in the background says what it does: one line per five percent, and why it failed."""
    return cache_folder() / "background.log"


def start_background_build() -> bool:
    """Start ``linklab image build --background`` apart from this process, and return at once.

    False, and nothing is started, when there is an image already, when one is named, or when a build runs. The build
    outlives this process.
    Raises `LabError` when the cache folder cannot be written.
    """
    tree.ensure_folder(cache_folder())
    if being_built() or settings.image():
        return False
    try:
        find_image()
        return False
    except LabError:
        pass
    # setsid --fork leaves at once and its child belongs to init, so that no zombie stays with a notebook's kernel.
    command = ["setsid", "--fork", sys.executable, "-m", "linklab", "image", "build", "--background"]
    with background_log().open("w", encoding="utf-8") as log:
        try:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise LabError(f"the lab image's build could not be started ({error}): run linklab image build") from error
    return True
