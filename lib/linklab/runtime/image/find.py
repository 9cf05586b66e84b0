"""Find the lab image that a lab boots, and compile Linklab for the image's Python.

Fast (no process is started where all is made), because every lab's start asks. Python's own library is all it needs.
The cache folder, ``linklab/image`` in the user's cache folder, holds:

| name             | what it is                                                                   |
| ---------------- | ---------------------------------------------------------------------------- |
| ``<key>/``       | an image (`Image` says what is in it); it gets this name when whole          |
| ``file-<sum>/``  | an image that was unpacked from a file with this checksum                    |
| ``files/``       | notes which of those a file was unpacked to                                  |
| ``library/``     | Linklab itself, compiled for an image's Python                               |
| ``lock``         | locked while an image is made or unpacked                                    |
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import linklab
from linklab import settings
from linklab.errors import LabError
from linklab.files import cache_folder as user_cache_folder
from linklab.files import draft_folder, locked
from linklab.guest import init, is_sent
from linklab.runtime.image import tree
from linklab.runtime.kernel import QEMU_KERNEL, USER_MODE_KERNEL, manifest, runs_user_mode_linux

FORMAT = 5
"""Goes up when an image is laid out anew, so that an older Linklab refuses it and says so."""
_LIBRARY = "/usr/lib/linklab/library"
"""Where guests have Linklab; tracebacks name its modules so."""
_LIBRARIES = tuple(f"usr/lib/x86_64-linux-gnu{name}" for name in ("", "/frr", "/pulseaudio", "/blas", "/lapack"))
"""Where an image's programs have libraries: names in programs themselves would lead to this machine's own."""
NEEDED_BYTES = 400 * 10**6
_HOW = "in a clone: make lab; else pip install linklab-image, or name one in LINKLAB_IMAGE"
_UNPACKED = "file-"
"""How the names of images begin that were unpacked from files."""
_KEPT_S = 7 * 24 * 3600.0
"""How long a compiled Linklab stays that no lab has asked for: a lab that runs reads modules from it."""
_KEPT, _DAY_S = 50, 24 * 3600.0
"""Compiled Linklabs that stay, beside those of a day: who works on Linklab makes one with each change."""


class DamagedImage(LabError):
    """A lab image whose files are not those that it was made of."""


@dataclass(frozen=True)
class Packed:
    """A package in an image, and the source package that it was made from."""

    name: str
    version: str
    source: str
    source_version: str


@dataclass(frozen=True)
class ImageManifest:
    """``image.json``: what an image was made from.

    ``key`` names all that it was made from; ``kernels`` is the kernels' manifest (``kernels.json``);
    ``replaced`` has the packages that are newer than Linklab's list of them says, as the archive had the listed version
    no longer. ``licences`` is where in the image the packages' licences are.
    """

    key: str
    debian: str
    python: str
    kernels: dict[str, Any]
    packages: tuple[Packed, ...]
    replaced: tuple[str, ...]
    licences: str = "/usr/share/doc/*/copyright"

    @property
    def kernel_version(self) -> str:
        """The version of its kernels, which are of one source."""
        return str(self.kernels["version"])

    def text(self) -> str:
        """Return this as ``image.json``."""
        return json.dumps({"linklab_image": FORMAT, **asdict(self)}, indent=1) + "\n"

    @classmethod
    def read(cls, path: Path) -> ImageManifest:
        """Return what an ``image.json`` says. Raises `LabError` where it is missing, damaged, or of another format."""
        try:
            document = json.loads(path.read_text("utf-8"))
            form = document.pop("linklab_image")
            if form != FORMAT:
                raise LabError(
                    f"{path.parent} is a lab image of format {form}, and this Linklab reads format {FORMAT}: "
                    f"update the older of the two, or make the image anew ({_HOW})"
                )
            document["packages"] = tuple(Packed(**package) for package in document["packages"])
            document["replaced"] = tuple(document["replaced"])
            return cls(**document)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise DamagedImage(f"{path.parent} is no lab image (no image.json that can be read): remove it") from error


@dataclass(frozen=True)
class Image:
    """A lab image in a folder: ``root``, two kernels, and ``image.json``."""

    folder: Path
    about: ImageManifest

    @property
    def root(self) -> Path:
        """The root file system."""
        return self.folder / "root"

    @property
    def kernel(self) -> Path:
        """The kernel of labs in user mode."""
        return self.folder / USER_MODE_KERNEL

    @property
    def qemu_kernel(self) -> Path:
        """The kernel of labs on QEMU."""
        return self.folder / QEMU_KERNEL

    @property
    def python(self) -> str:
        """The path of Python inside."""
        return f"/usr/bin/python{self.about.python}"

    def tools(self) -> dict[str, str]:
        """Return the versions of what measurements hang on: kernel, Python, and the packages of the tools."""
        names = {"mininet": "mininet", "iperf3": "iperf3", "iproute2": "iproute2", "ping": "iputils-ping"}
        versions = {package.name: package.version for package in self.about.packages}
        found = {tool: versions.get(package, "missing") for tool, package in names.items()}
        return {"kernel": self.about.kernel_version, "python": self.about.python} | found


def cache_folder() -> Path:
    """Return the folder that holds all images of this user (it need not exist)."""
    return user_cache_folder() / "image"


def find_image() -> Image:
    """Return the image that labs boot. One that another process makes or unpacks is waited for.

    The setting ``image`` (the variable ``LINKLAB_IMAGE``, or a line of ``linklab.toml``) names its file or its folder.
    Otherwise it is the one in the Python package ``linklab_image`` where that is installed, or else the newest one in
    the cache, where a clone's ``make lab`` puts it.

    One that was unpacked from a file and has lost something since is unpacked anew. Raises `LabError` with what mends
    it, also where the newest in the cache is damaged: an older one gives other digits.
    """
    if named := settings.image():
        return _named(named)
    if carried := carried_file():
        return unpacked(carried)
    if not (found := _newest()):
        with changing_images():  # one may be made just now
            found = _newest()
    if found:
        return found
    raise LabError(f"no lab image yet: {_HOW}")


def intact_image() -> tuple[Image, str]:
    """Return the image that labs boot, with every file read and compared, and the one for which it was unpacked anew.

    Raises `LabError` as `find_image`, and where a damaged one cannot be unpacked.
    """
    image = find_image()
    try:
        refuse_damaged(image)
    except DamagedImage:
        if not _is_unpacked(image.folder):
            raise
        with changing_images():
            name = tree.damaged(image.folder, sums=True)
            if name:  # else another process has just mended it
                shutil.rmtree(image.folder)
                _whole.discard(image.folder)
        return find_image(), name or ""
    return image, ""


def refuse_damaged(image: Image) -> None:
    """Read every file of an image, as of one that did not boot. Raises `DamagedImage` for the first that differs."""
    if (image.folder / tree.LIST).is_file() and (name := tree.damaged(image.folder, sums=True)):
        raise _damaged(image.folder, name)


def _damaged(folder: Path, name: str) -> DamagedImage:
    mend = (
        "linklab doctor unpacks it anew" if _is_unpacked(folder) else f"remove that folder, and make it anew ({_HOW})"
    )
    return DamagedImage(f"the lab image in {folder} is damaged ({name}): {mend}")


def _is_unpacked(folder: Path) -> bool:
    return folder.parent == cache_folder() and folder.name.startswith(_UNPACKED)


@contextmanager
def changing_images() -> Iterator[None]:
    """Hold the lock of the folder of images; a process that waits for it says so.

    Raises `LabError` where the folder cannot be written, or has no room for an image.
    """
    folder = cache_folder()
    try:
        with locked(folder / "lock", "Waiting for the lab image, which another process makes or unpacks"):
            yield
    except OSError as error:
        raise tree.full(error, folder, NEEDED_BYTES) from error


def finished_images() -> list[Image]:
    """Return the images in the cache that this Linklab can boot, the newest first."""
    found = []
    for folder in _by_age():
        with suppress(LabError, OSError):
            found.append(read_image(folder))
    return found


def _newest() -> Image | None:
    """Return the newest image in the cache that is of this Linklab. Raises `DamagedImage`."""
    for folder in _by_age():
        try:
            return read_image(folder)
        except DamagedImage:
            raise
        except (LabError, OSError):
            continue  # another Linklab's, or just removed
    return None


def _by_age() -> list[Path]:
    ages: dict[Path, int] = {}
    for path in cache_folder().glob("[!.]*/image.json"):
        with suppress(OSError):  # just removed
            ages[path.parent] = path.parent.stat().st_ctime_ns
    return sorted(ages, key=lambda folder: ages[folder], reverse=True)


def read_image(folder: Path) -> Image:
    """Return the image in a folder. Raises `LabError` where it is another Linklab's, and `DamagedImage` where there is
    none, or one of whose files the sizes are not as they were listed.
    """
    image = Image(folder, ImageManifest.read(folder / "image.json"))
    program = image.root / "usr/lib/linklab/init.py"
    parts = [image.kernel, image.qemu_kernel, image.root / image.python.lstrip("/"), program]
    if not runs_user_mode_linux() and (folder / tree.ROOT_ARCHIVE).is_file():
        parts = [image.qemu_kernel]
    for path in parts:
        if not path.is_file():
            raise _damaged(folder, str(path.relative_to(folder)))
    other = program in parts and program.read_bytes() != Path(init.__file__).read_bytes()
    if other or image.about.kernels != manifest():
        raise LabError(f"the lab image in {folder} was made for another version of Linklab: make one anew ({_HOW})")
    # one that was put together by hand has no list
    if (folder / tree.LIST).is_file() and (name := _sizes_differ(folder)):
        raise _damaged(folder, name)
    return image


_whole: Final[set[Path]] = set()
"""Images that were looked at in this process: where a lab does not boot, `refuse_damaged` looks again."""


def _sizes_differ(folder: Path) -> str | None:
    if folder not in _whole:
        if name := tree.damaged(folder):
            return name
        _whole.add(folder)
    return None


def _named(named: str) -> Image:
    path = Path(named)  # `settings.image` has made it absolute
    if path.is_dir():
        return read_image(path)
    if not path.is_file():
        raise LabError(f"LINKLAB_IMAGE names {path}, and there is no such file or folder: correct it or unset it")
    return unpacked(path)


def unpacked(path: Path) -> Image:
    """Return the image in a file, unpacked into the cache at the first call; later ones look at size and time alone.

    Raises `LabError` where the file is damaged, or made for another version of Linklab, or the cache has no room.
    """
    status = path.stat()
    state = f"{path.absolute()} {status.st_size} {status.st_mtime_ns}"
    if known := _noted(state):
        return known
    with changing_images():
        return _noted(state) or _unpack(path.read_bytes(), state)


def _note(state: str) -> Path:
    return cache_folder() / "files" / hashlib.sha256(state.encode()).hexdigest()[:16]


def _noted(state: str) -> Image | None:
    """Return the image that was unpacked from a file in this state, if one was and is still there."""
    try:
        return read_image(cache_folder() / _note(state).read_text("utf-8"))
    except (OSError, LabError):
        return None


def _unpack(content: bytes, state: str) -> Image:
    """Unpack a file's bytes into the folder that is named by its checksum, and note what it was unpacked from."""
    place = cache_folder() / f"{_UNPACKED}{hashlib.sha256(content).hexdigest()[:16]}"
    try:
        read_image(place)
    except DamagedImage:
        shutil.rmtree(place, ignore_errors=True)
        with draft_folder(place) as part:
            tree.unpack(io.BytesIO(content), part / "image")
            read_image(part / "image")
            tree.move_into_place(part / "image", place)
    note = _note(state)
    note.parent.mkdir(exist_ok=True)
    note.write_text(place.name, "utf-8")
    return read_image(place)


def carried_file() -> Path | None:
    """Return the image's file that the Python package ``linklab_image`` brings, or None where it is not installed.

    Raises `LabError` where it is there without its file.
    """
    try:
        module = importlib.import_module("linklab_image")
    except ModuleNotFoundError:
        return None
    path = Path(str(module.FILE))
    if not path.is_file():
        raise LabError(f"the Python package linklab_image has lost its file {path}: install it again")
    return path


# Linklab itself


def library(image: Image) -> Path:
    """Return a folder that holds what of Linklab is sent into labs, compiled for the image's Python, which is another
    than the notebook's.

    It is made at the first call after a change of Linklab; what has not changed is taken from the one before.
    Raises `LabError` where it cannot be made.
    """
    sources = sent_files()
    name = hashlib.sha256(f"{image.about.key} {image.about.python} {sources}".encode()).hexdigest()[:16]
    place = cache_folder() / "library" / name
    tree.ensure_whole(place, changing_images(), lambda: _make_library(image, sources, place))
    with suppress(OSError):
        os.utime(place)  # it is in use
    return place


def installed_packages() -> Path:
    """Return the folder in which the packages lie that Linklab needs, for students' programs that import one of them.

    Python's own folder for packages may not even be there, as with ``pip install --user`` or ``--target``.
    Raises `LabError` where one of them is missing.
    """
    found = importlib.util.find_spec("prettytable")
    if found is None or found.origin is None:
        raise LabError("the Python package prettytable is missing, which Linklab comes with: install Linklab again")
    return Path(found.origin).parents[1]


def sent_files() -> list[tuple[str, int, int]]:
    """Return the modules of Linklab that are sent into a lab (`linklab.guest.is_sent`), as `package_files` does."""
    files = package_files(Path(linklab.__file__).parent)
    return [
        file
        for file in files
        # the configuration says which modules a lab's kernel has in it
        if file[0].endswith((".py", ".config")) and is_sent(_module(file[0]))
    ]


def _module(file: str) -> str:
    """Return the name below ``linklab`` of what a file of the package defines."""
    return file.rpartition(".")[0].removesuffix("__init__").rstrip("/").replace("/", ".")


def package_files(folder: Path, below: str = "") -> list[tuple[str, int, int]]:
    """Return a Python package's files by their paths in it, in a fixed order, with their sizes in bytes and their times
    in ns, which tell at each start of a lab whether any has changed: to read them would take ten times as long.
    """
    found: list[tuple[str, int, int]] = []
    for entry in sorted(os.scandir(folder / below), key=lambda entry: entry.name):
        name = f"{below}{entry.name}"
        if entry.is_dir():
            found += package_files(folder, f"{name}/") if entry.name != "__pycache__" else []
        elif not entry.name.startswith("."):
            status = entry.stat()
            found.append((name, status.st_size, status.st_mtime_ns))
    return found


def _make_library(image: Image, sources: list[tuple[str, int, int]], place: Path) -> None:
    parent = place.parent
    parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError):
        _remove_old(parent)
    before = max(
        (path for path in parent.iterdir() if not path.name.startswith(".") and not tree.damaged(path)),
        key=lambda path: path.stat().st_mtime,
        default=None,
    )
    with draft_folder(place) as part:
        changed = _copy(Path(linklab.__file__).parent, [name for name, _, _ in sources], part, before, image)
        compile_modules(image, part, changed, _LIBRARY)
        tree.move_into_place(part, place)


def _copy(source: Path, names: list[str], part: Path, before: Path | None, image: Image) -> list[str]:
    """Copy Linklab; return the modules that have to be compiled. What is equal in the library ``before`` is linked."""
    changed = []
    tag = f"cpython-{image.about.python.replace('.', '')}.pyc"
    for name in names:
        path = part / "linklab" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = (source / name).read_bytes()
        compiled = path.parent / "__pycache__" / f"{path.stem}.{tag}"
        if before is not None and (old := before / path.relative_to(part)).is_file() and old.read_bytes() == content:
            with suppress(OSError):
                os.link(old, path)
                if path.suffix == ".py":
                    compiled.parent.mkdir(exist_ok=True)
                    os.link(before / compiled.relative_to(part), compiled)
                continue
        if not path.exists():
            path.write_bytes(content)
        if path.suffix == ".py":
            changed.append(str(path))
    return changed


def _remove_old(folder: Path) -> None:
    """Remove libraries that no lab has asked for in a week, or in a day where there are many newer ones."""
    for number, path in enumerate(sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)):
        if path.stat().st_mtime < time.time() - (_DAY_S if number >= _KEPT else _KEPT_S):
            shutil.rmtree(path, ignore_errors=True)


def compile_modules(image: Image, folder: Path, modules: list[str], inside: str) -> None:
    """Compile modules below ``folder`` by the image's Python; ``inside`` is that folder's name where labs see it.

    The result depends on the sources alone, and is never compared with them again. Raises `LabError` where that Python
    does not start.
    """
    if not modules:
        return
    words = run_inside(
        image.root, image.python, "-BS", "-m", "compileall", "-fq", "-i", "-", "-s", str(folder), "-p", inside
    )
    words += ["--invalidation-mode", "unchecked-hash"]
    environment = {"PYTHONHOME": str(image.root / "usr"), "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(words, input="\n".join(modules), capture_output=True, text=True, env=environment)
    except OSError as error:
        raise LabError(f"a program of the lab image in {image.folder} cannot be started ({error.strerror})") from error
    if done.returncode != 0:
        said = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()] or ["no word"]
        raise LabError(
            f"Python {image.about.python} of the lab image could not compile ({said[-1]}): is {image.folder} on a disk "
            "that is full, or mounted noexec?"
        )


def run_inside(root: Path, program: str, *words: str) -> list[str]:
    """Return a command that runs a program of the image at ``root`` on this machine, with the image's C library."""
    libraries = ":".join(str(root / name) for name in _LIBRARIES)
    loader = str(root / "usr/lib64/ld-linux-x86-64.so.2")
    return [loader, "--library-path", libraries, str(root / program.lstrip("/")), *words]
