"""Making a lab image: packages fetched and unpacked, settled, its libraries listed, its Python compiled, published.

No program is run for it but the image's own Python, which compiles itself, where it does not run on QEMU; no root is
needed, and the same packages give the same files to the byte, on every computer.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from importlib.resources import files
from pathlib import Path

from linklab import guest, settings
from linklab.errors import LabError
from linklab.runtime.image import tree
from linklab.runtime.image.find import (
    FORMAT,
    NEEDED_BYTES,
    Image,
    ImageManifest,
    Packed,
    cache_folder,
    changing_images,
    compile_modules,
    find_image,
    finished_images,
)
from linklab.runtime.kernel import manifest, runs_user_mode_linux
from tools.image import debian, elf, elsewhere
from tools.image.contents import MERGED, Contents, File
from tools.image.kernels import FLAVOURS, USER_MODE, kernel_bytes
from tools.image.libraries import list_libraries

Say = Callable[[str], None]
Progress = Callable[[str, float], None]
"""Hears what is being done, and the fraction done, from 0 to 1."""

_AT_ONCE = 8
# Share of the whole at which each stage begins.
_SETTLE_AT, _WRITE_AT, _COMPILE_AT = 0.70, 0.75, 0.80

_DROPPED = re.compile(
    r"""usr/share/(man|info|locale|lintian|bug|doc-base|bash-completion|zsh|fish|gdb|gettext|menu|applications|icons
              |pixmaps|metainfo|polkit-1|dbus-1|initramfs-tools|perl5|vala|gir-1.0|mime|alsa|upstart|apport|keyrings
              |python3/runtime.d
              |glib-2.0|X11|libdrm|gcc|libmysofa|pam|pam-configs|openmpt123|util-linux|aclocal|pkgconfig|tabset|readline
              |ffmpeg/[^/]*\.ffpreset)/
      | usr/share/doc/(?![^/]+/copyright/?$)
      | usr/bin/(ffplay$|py3|dh_|localedef$) | usr/sbin/(arpd|iconvconfig|zic|nsd-.*)$ | etc/rmt$
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
_LIBRARIES = "usr/lib/x86_64-linux-gnu"
_TRIMMED = ("libav*.so.*", "libsw*.so.*", "libpostproc.so.*")
"""Ffmpeg's own libraries."""
_USERS = (("frr", 100, "/nonexistent"), ("tcpdump", 102, "/nonexistent"), ("student", 1000, "/home/student"))
"""Users beside Debian's own, each with a group of the same name and number."""
_GROUPS = (("frrvty", 101, ("frr",)),)


def ready_image(progress: Progress, say: Say = lambda line: None) -> Image:
    """Return the image that labs of this clone boot: the one that a setting names, or else the one of this tree's
    packages and kernels, which is made where it is not there yet.

    Raises `LabError` as `find_image` and `build_image`.
    """
    if settings.image():
        return find_image()
    return build_image(progress, say)


def build_image(progress: Progress, say: Say = lambda line: None) -> Image:
    """Make the image of this tree's packages and kernels, and return it; one that is there already is not made again.

    ``say`` hears single remarks, one line each. While another process makes one, this one waits.

    Raises `LabError`: no network, no space, or no place where programs may run.
    """
    folder, key = cache_folder(), image_key(debian.lock_text())
    with changing_images():
        image = next((image for image in finished_images() if image.about.key == key), None)
        if image is None:
            _check_space(folder)
            image = _make(folder, key, progress, say)
    progress("the lab image is ready", 1.0)
    return image


def _check_space(folder: Path) -> None:
    """Raise `LabError` when less is free than an image takes."""
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < NEEDED_BYTES:
        raise LabError(
            f"making the lab image needs {NEEDED_BYTES / 1e9:.1f} GB, and {folder} has "
            f"{free_bytes / 1e9:.1f} GB free: free some, or set XDG_CACHE_HOME to a folder with more"
        )


def image_key(lock: str) -> str:
    """Return the name of an image: one for each list of packages, kernels, and way of putting them together."""
    kernels = manifest()["kernels"]
    digest = hashlib.sha256(
        "\n".join([str(FORMAT), lock, *(kernels[each.file]["sha256"] for each in FLAVOURS)]).encode()
    )
    for name in ("build.py", "contents.py", "elf.py", "libraries.py"):
        digest.update(files(__package__).joinpath(name).read_bytes())
    digest.update(files(guest).joinpath("init.py").read_bytes())
    return digest.hexdigest()[:16]


def _make(folder: Path, key: str, tell: Progress, say: Say) -> Image:
    """Make the image ``key`` in ``folder``: fetch, unpack, settle, write, compile, publish."""
    for left in folder.glob(".build-*"):
        shutil.rmtree(left, ignore_errors=True)
    contents, packed, replaced = _unpacked(debian.pinned(), tell, say)
    tell("settling the lab image", _SETTLE_AT)
    settle(contents)
    drop_libraries(contents)
    list_libraries(contents)
    about = ImageManifest(
        key=key,
        debian=f"{debian.RELEASE.number} ({debian.RELEASE.name})",
        python=_python(contents),
        kernels=manifest(),
        packages=tuple(sorted(packed, key=lambda package: package.name)),
        replaced=tuple(replaced),
    )
    add_licence(contents, about)
    here = runs_user_mode_linux()
    part = Path(tempfile.mkdtemp(prefix=".build-", dir=folder))
    try:
        tell("writing the lab image", _WRITE_AT)
        for flavour in FLAVOURS:
            (part / flavour.file).write_bytes(kernel_bytes(flavour))
        (part / "image.json").write_text(about.text(), "utf-8")
        (contents.write if here else contents.write_archive)(part / (tree.ROOT if here else tree.ROOT_ARCHIVE))
        tell("compiling the lab image's Python", _COMPILE_AT)
        names = modules(contents, about.python)
        if here:
            compile_python(Image(part, about), names)
        else:
            for name, data in elsewhere.compiled(Image(part, about), names).items():
                contents.put(name, File(data))
            contents.write_archive(part / tree.ROOT_ARCHIVE)
        tree.make_alike(part)
        (part / USER_MODE.file).chmod(0o755)
        place = folder / key
        shutil.rmtree(place, ignore_errors=True)  # half of one, or it would have been taken
        tree.move_into_place(part, place)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return Image(place, about)


def compile_python(image: Image, names: Sequence[str]) -> None:
    """Compile Python modules of an image by its own Python. Raises `LabError` where that does not start."""
    compile_modules(image, image.root, [str(image.root / name) for name in names], "/")


def _unpacked(packages: Sequence[debian.Package], tell: Progress, say: Say) -> tuple[Contents, list[Packed], list[str]]:
    """Fetch all packages side by side, and unpack each as it comes; return their files, which they are, and in words
    which are newer than was pinned.
    """
    bases = [base for base in (debian.archive(), debian.snapshot()) if base]
    all_bytes, come = sum(package.size for package in packages), 0
    message = f"fetching {len(packages)} packages of Debian {debian.RELEASE.number} ({all_bytes / 1e6:.0f} MB)"
    counting = threading.Lock()

    def on_bytes(count: int) -> None:
        nonlocal come
        with counting:
            come += count
            tell(message, max(0.0, min(come / all_bytes, 1.0)) * _SETTLE_AT)

    def get(package: debian.Package) -> tuple[Packed, Contents] | None:
        try:
            return unpack(package.name, debian.fetch(package, bases, on_bytes))
        except debian.Gone:
            return None

    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        found = list(pool.map(get, packages))
    finally:
        pool.shutdown(cancel_futures=True)
    contents, packed, replaced = Contents(), [], []
    index: debian.Index | None = None
    for package, come_package in zip(packages, found, strict=True):
        if come_package is None:
            base = debian.newest_archive()
            with tempfile.TemporaryDirectory() as scratch:
                index = index or debian.fetch_index(base, Path(scratch))
            newer = index.latest(package.name)
            try:
                come_package = unpack(package.name, debian.fetch(newer, [base], on_bytes))
            except debian.Gone as gone:
                raise LabError(f"{gone}, though the archive's own list names it: try again later") from gone
            replaced.append(f"{package.name} {newer.version} (listed: {package.version})")
        packed.append(come_package[0])
        contents.merge(come_package[1])
    if replaced:
        say(f"no archive has some packages of Linklab's list, so digits may differ: {', '.join(replaced)}")
    return contents, packed, replaced


def unpack(name: str, content: bytes) -> tuple[Packed, Contents]:
    """Return which package a file is, and its files, without those that no lab reads."""
    contents = Contents()
    with debian.opened(name, content) as (fields, archive):
        for member in archive:
            place = inside(member.name)
            if member.issym() and _DOCUMENTS.match(member.name):
                place = member.name.removeprefix("./")
            if place is None or member.isdev():
                continue
            target = inside(member.linkname) if member.islnk() else None
            if member.islnk() and target is None:
                raise LabError(f"{name} links to {member.linkname}, which the image leaves out: mend build.py")
            contents.take(archive, member, place, target)
    source, _, version = fields.get("Source", fields["Package"]).partition(" ")
    packed = Packed(fields["Package"], fields["Version"], source, version.strip("()") or fields["Version"])
    return packed, contents


def inside(name: str) -> str | None:
    """Return where a file of a package belongs in the image, or None for one that is left out.

    >>> inside("./lib/x86_64-linux-gnu/libc.so.6"), inside("./usr/share/man/man1/ls.1.gz")
    ('usr/lib/x86_64-linux-gnu/libc.so.6', None)
    """
    name = name.removeprefix("./").rstrip("/")
    if name in ("", ".") or name in MERGED:
        return None
    if name.partition("/")[0] in MERGED:
        name = f"usr/{name}"
    return None if _DROPPED.match(name) or _DROPPED.match(f"{name}/") else name


def add_licence(contents: Contents, about: ImageManifest) -> None:
    """Put the kernels' licence beside those of the packages. Raises `LabError` where a package's own is missing."""
    missing = [each.name for each in about.packages if contents.file(_LICENCE.format(each.name)) is None]
    if missing:
        raise LabError(f"the image would lack the licence of {', '.join(missing)}: mend packages.txt, or build.py")
    source = "{package} {version}".format_map(about.kernels["source"])
    kernels = "\n".join(f"- {each.file}: {source}, changes: {', '.join(each.patches)}" for each in FLAVOURS)
    contents.text(_LICENCE.format("linklab-kernel"), _KERNELS_LICENCE.format(about=about, kernels=kernels))


def settle(contents: Contents) -> None:
    """Do what packages' own scripts would have done at their installation, and what labs need beside."""
    for name in [name for name in LINKS if contents.get(name, "") is None and not contents.below(name)]:
        contents.remove(name)  # as base-files has /var/run
    for name in _FOLDERS:
        contents.folder(name)
    for name, target in LINKS.items():
        beside = target if target.startswith("/") else f"{name.rpartition('/')[0]}/{target}"
        if name not in contents and (target.startswith("/") or contents.has(beside)):
            contents.put(name, target)
    for name, text in _TEXTS.items():
        contents.text(name, text)
    _write_users(contents)
    program = files(guest).joinpath("init.py").read_bytes()
    contents.put("usr/lib/linklab/init.py", File(program, executable=True))


def drop_libraries(contents: Contents) -> None:
    """Let ffmpeg start without the libraries that packages.txt leaves out, and all else need what is there."""

    def find(name: str) -> bytes | None:
        found = (contents.file(f"{folder}/{name}") for folder in (_LIBRARIES, "usr/lib64"))
        return next((file.data for file in found if file is not None), None)

    for path in contents.below(_LIBRARIES):
        file, name = contents[path], path.removeprefix(f"{_LIBRARIES}/")
        if isinstance(file, File) and any(fnmatch(name, pattern) for pattern in _TRIMMED):
            file.data = elf.drop_missing(name, file.data, find)


def _write_users(contents: Contents) -> None:
    """Write ``/etc/passwd`` and ``/etc/group`` from Debian's own lists of users, with those that labs have beside."""
    lists = {"passwd": "root:*:0:0:root:/root:/bin/bash\n", "group": "root:*:0:\n"}
    for name in lists:
        if (master := contents.file(f"usr/share/base-passwd/{name}.master")) is not None:
            lists[name] = master.data.decode()
    for name, number, home in _USERS:
        lists["passwd"] += f"{name}:*:{number}:{number}::{home}:/usr/sbin/nologin\n"
        lists["group"] += f"{name}:*:{number}:\n"
    for name, number, members in _GROUPS:
        lists["group"] += f"{name}:*:{number}:{','.join(members)}\n"
    for name, text in lists.items():
        contents.text(f"etc/{name}", text.replace(":*:", ":x:"))


def _python(contents: Contents) -> str:
    """Return the version of Python in an image, as ``"3.13"``. Raises `LabError` where there is none."""
    found = sorted(name for name in contents if re.fullmatch(r"usr/bin/python3\.\d+", name))
    if not found:
        raise LabError("the packages of the lab image hold no Python: mend packages.txt")
    return found[-1].removeprefix("usr/bin/python")


def modules(contents: Contents, python: str) -> list[str]:
    """Return the paths of all Python modules of an image."""
    folders = (f"usr/lib/python{python}", "usr/lib/python3/dist-packages", "usr/lib/linklab")
    return [
        name
        for folder in folders
        for name in contents.below(folder)
        if name.endswith(".py") and contents.file(name) is not None
    ]
