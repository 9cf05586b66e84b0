"""The build's own logic: progress, space, tools, interruption, which source is taken; nothing is compiled."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.runtime.image.running import Status, StatusFile, build_is_running, build_lock
from linklab.runtime.kernel import build
from linklab.runtime.kernel.build import Kernel, Kernels, Record, Source, finished_kernel, finished_kernels, kernel_hash
from linklab.runtime.kernel.config import FLAVOURS, PATCHES, QEMU, USER_MODE, Flavour, patch_text
from linklab.runtime.kernel.programs import ProgramFailed, Programs, environment, find_program
from tests.processes import gone

LIMIT_S = 300.0


def source(package: str, version: str = "1") -> Source:
    """Return a source that cannot be fetched."""

    def fetch(folder: Path, on_part: object) -> Path:
        raise AssertionError("nothing is fetched here")

    return Source(package, version, fetch)


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("  CC      net/sched/sch_netem.o", True),
        ("  AS      arch/x86/lib/copy_user_64.o", True),
        ("  CC [M]  net/sched/sch_netem.o", True),
        ("  AR      net/sched/built-in.a", False),
        ("  UPD     include/config/kernel.release", False),
        ("  HOSTCC  scripts/basic/fixdep", False),
        ("  LINK    linux", False),
        ("net/core/dev.c:7: note: see foo.o", False),
    ],
)
def test_objects_are_counted_in_what_make_says(line: str, counts: bool) -> None:
    assert build.is_object(line) is counts


def test_space_is_checked(tmp_path: Path) -> None:
    build.check_space(tmp_path, 1100 * 10**6, free_bytes=1100 * 10**6)
    with pytest.raises(LabError, match=r"needs 1\.1 GB .* has 0\.2 GB free.*XDG_CACHE_HOME"):
        build.check_space(tmp_path, 1100 * 10**6, free_bytes=200 * 10**6)


def test_a_place_that_make_cannot_cope_with_is_refused() -> None:
    for path in ("/home/anna maria/.cache", "/home/a:b"):
        with pytest.raises(LabError, match="signs in its name"):
            build.check_place(Path(path))


def test_a_place_where_nothing_may_be_run_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    build.check_place(tmp_path)
    noexec = os.statvfs("/")
    flags = type("Flags", (), {"f_flag": noexec.f_flag | os.ST_NOEXEC})
    monkeypatch.setattr("os.statvfs", lambda _: flags)
    with pytest.raises(LabError, match="noexec"):
        build.check_place(tmp_path)


def test_missing_tools_name_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str | None:
        return None if name in ("flex", "xz") else "/usr/bin/there"

    monkeypatch.setattr(build, "find_program", missing)
    monkeypatch.setattr(build, "HEADERS", {"/nonexistent/gelf.h": "libelf-dev", __file__: "libc6-dev"})
    with pytest.raises(LabError, match=r"sudo apt-get install flex libelf-dev xz-utils$"):
        build.check_tools()


def test_other_machines_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(
        LabError, match="built on x86-64, and this is aarch64: name one built elsewhere in LINKLAB_IMAGE"
    ):
        build.check_machine()
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    with pytest.raises(LabError, match="built on Linux"):
        build.check_machine()


def test_a_make_around_us_does_not_reach_the_kernels_make(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAKEFLAGS", "ARCH", "CFLAGS", "KBUILD_OUTPUT", "CROSS_COMPILE"):
        monkeypatch.setenv(name, "x")
    assert not {"MAKEFLAGS", "ARCH", "CFLAGS", "KBUILD_OUTPUT", "CROSS_COMPILE"} & environment().keys()
    assert environment()["LC_ALL"] == "C"


def test_a_failing_program_tells_its_first_error(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log, pytest.raises(ProgramFailed) as raised:
        Programs(log).run(["sh", "-c", "echo fine; echo a.c:1: error: no; echo make: Error 1; exit 2"], tmp_path)
    assert raised.value.reason == "a.c:1: error: no"
    assert "a.c:1: error: no" in (tmp_path / "log").read_text()


def test_low_priority_is_really_low(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        lines = Programs(log, low_priority=True).run(["sh", "-c", "nice; chrt -p $$; ionice"], tmp_path)
    assert lines[0] == "19"
    assert "SCHED_IDLE" in lines[1]
    assert lines[-1] == "idle"


HOLDER = """
import sys, time
from pathlib import Path
from linklab.runtime.image.running import build_lock
from linklab.runtime.kernel.programs import Programs
folder = Path(sys.argv[1])
with build_lock(folder) as lock:
    assert lock is not None
    script = "trap 'echo ended > trapped; exit' TERM; echo $$ > new; mv new child; while :; do sleep 1; done"
    with open(folder / "log", "w") as log:
        Programs(log, inherit=(lock,)).run(["sh", "-c", script], folder)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_lock_is_held_until_the_last_program_of_a_build_ends(tmp_path: Path, number: signal.Signals) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stderr=subprocess.DEVNULL, env=_environment()
    )
    try:
        wait_for(tmp_path / "child")
        with build_lock(tmp_path) as lock:
            assert lock is None
        assert build_is_running(tmp_path)
        holder.send_signal(number)
        holder.wait(LIMIT_S)
        assert gone(int((tmp_path / "child").read_text()), LIMIT_S)
        if find_program("setpriv") or number is signal.SIGINT:
            assert (tmp_path / "trapped").read_text() == "ended\n"
        assert not build_is_running(tmp_path)
        with build_lock(tmp_path) as lock:
            assert lock is not None
    finally:
        holder.kill()
        holder.wait()


def _environment() -> dict[str, str]:
    library = Path(build.__file__).parents[3]
    return os.environ | {"PYTHONPATH": str(library)}


def test_status_is_read_back_and_removed(tmp_path: Path) -> None:
    status = StatusFile(tmp_path)
    status.write("compiling", 0.25)
    read = Status.read(tmp_path)
    assert read is not None
    assert (read.message, read.fraction, read.pid) == ("compiling", 0.25, os.getpid())
    status.remove()
    assert Status.read(tmp_path) is None


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    build.cache_folder().mkdir(parents=True)
    return build.cache_folder()


def kernels_of(source: Source, folder: Path) -> Kernels:
    """Return kernels as if they had been made of a source."""
    folder.mkdir(exist_ok=True)
    made = []
    for flavour in FLAVOURS:
        path = folder / flavour.file
        path.write_text(f"{flavour.name} of {source.package}")
        config_hash = flavour.configuration_hash()
        record = Record(source.package, source.version, "7.3.4", config_hash, "gcc 12.2.0", flavour.patches)
        made.append(Kernel(flavour, path, record))
    return tuple(made)


class Attempts:
    """Sources whose making is decided by a table, in the place of hours of compiling."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cache: Path, outcomes: dict[str, Exception | None]) -> None:
        self.said: list[str] = []
        self.made: list[str] = []
        self.cache = cache
        self.sources = [source(package) for package in outcomes]

        def make(_: build.Build, source: Source) -> Kernels:
            self.made.append(source.package)
            if outcome := outcomes[source.package]:
                raise outcome
            return kernels_of(source, cache / "work")

        monkeypatch.setattr(build.Build, "_make", make)

    def used(self, use: Callable[[Kernels], str] = lambda kernels: kernels[0].record.source) -> str:
        with (self.cache / "log").open("w") as log:
            run = build.Build(self.cache, Programs(log), 1, lambda *_: None, self.said.append)
            return run.first_that_works(self.sources, use)


def test_a_source_that_does_not_compile_is_said_and_the_next_is_tried(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = ProgramFailed("make", 2, ["a.c:1: error: no"])
    attempts = Attempts(monkeypatch, cache, {"linux-source-7.3": broken, "linux-source-6.12": None})
    assert attempts.used() == "linux-source-6.12"
    assert attempts.said == ["linux-source-7.3 1: make failed: a.c:1: error: no; trying linux-source-6.12 1"]


def test_kernels_that_are_of_no_use_are_said_and_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = Attempts(monkeypatch, cache, {"linux-source-7.3": None, "linux-source-6.12": None})

    def use(kernels: Kernels) -> str:
        if kernels[0].record.source == "linux-source-7.3":
            raise build.Unfit("no lab runs on Linux 7.3: hung")
        return "image"

    assert attempts.used(use) == "image"
    assert attempts.said == ["linux-source-7.3 1: no lab runs on Linux 7.3: hung; trying linux-source-6.12 1"]
    assert finished_kernels("linux-source-7.3", "1") is None
    kept = finished_kernels("linux-source-6.12", "1")
    assert kept is not None
    assert [kernel.path.read_text() for kernel in kept] == [
        "user-mode Linux of linux-source-6.12",
        "Linux for QEMU of linux-source-6.12",
    ]


def test_when_none_works_each_was_tried_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = ProgramFailed("make", 2, ["a.c:1: error: no"])
    attempts = Attempts(monkeypatch, cache, {"linux-source-7.3": broken, "linux-source-6.12": broken})
    with pytest.raises(LabError, match=r"no kernel could be built .*a\.c:1: error: no"):
        attempts.used()
    assert attempts.made == ["linux-source-7.3", "linux-source-6.12"]


def test_a_full_disk_is_not_the_sources_fault(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = ProgramFailed("tar", 2, ["tar: a: Cannot write: No space left on device: error"])
    attempts = Attempts(monkeypatch, cache, {"linux-source-7.3": full, "linux-source-6.12": None})
    with pytest.raises(LabError, match=r"disk of .* is full"):
        attempts.used()
    assert attempts.made == ["linux-source-7.3"]


# Kernels that are there


def test_kernels_are_found_when_both_are_there_and_of_this_source_and_configuration(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = kernels_of(source("linux-source-7.3"), tmp_path / "made")
    build.publish(first, cache)
    assert finished_kernels("linux-source-7.3", "1") is None
    build.publish(second, cache)
    found = finished_kernels("linux-source-7.3", "1")
    assert found is not None
    assert [kernel.flavour for kernel in found] == [USER_MODE, QEMU]
    assert [kernel.record for kernel in found] == [first.record, second.record]
    assert finished_kernels("linux-source-7.3", "2") is None
    monkeypatch.setattr("linklab.runtime.kernel.config.patch_text", lambda name: f"+another {name}")
    assert finished_kernels("linux-source-7.3", "1") is None


def test_half_of_a_kernel_is_none(cache: Path, tmp_path: Path) -> None:
    for kernel in kernels_of(source("linux-source-7.3"), tmp_path / "made"):
        build.publish(kernel, cache)
    (cache / kernel_hash("linux-source-7.3", "1", QEMU) / "kernel.json").unlink()
    (cache / kernel_hash("linux-source-7.3", "1", USER_MODE) / "linux").unlink()
    assert [finished_kernel("linux-source-7.3", "1", flavour) for flavour in FLAVOURS] == [None, None]


@pytest.mark.parametrize("text", ["", "{}", '{"linklab_kernel": 99}', '{"linklab_kernel": 1, "patches": 3}'])
def test_a_record_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "kernel.json").write_text(text)
    assert Record.read(tmp_path / "kernel.json") is None


def test_what_a_record_says_more_than_is_asked_does_not_matter(tmp_path: Path) -> None:
    record = Record("linux-source-7.3", "7.3.4-1", "7.3.4", "feed", "gcc", ("clock", "random"))
    path = tmp_path / "kernel.json"
    record.write(path)
    path.write_text(path.read_text().replace("{", '{"seconds": 5,', 1))
    assert Record.read(path) == record


def test_a_kernel_that_is_there_is_not_built_again(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the two kernels one is there: only the other is configured and compiled."""
    linux = source("linux-source-7.3")
    made = dict(zip(FLAVOURS, kernels_of(linux, tmp_path / "made"), strict=True))
    build.publish(made[USER_MODE], cache)
    compiled = []

    def compile(work: build.Work, flavour: Flavour, *_: object) -> Kernel:
        compiled.append(flavour)
        return made[flavour]

    for name in ("fetch", "unpack", "configure"):
        monkeypatch.setattr(build.Work, name, lambda *_: None)
    monkeypatch.setattr(build.Work, "compile", compile)
    with (cache / "log").open("w") as log:
        run = build.Build(cache, Programs(log), 1, lambda *_: None, lambda line: None)
        kernels = run.first_that_works([linux], lambda kernels: kernels)
        assert compiled == [QEMU]
        assert [kernel.flavour for kernel in kernels] == list(FLAVOURS)
        assert finished_kernels("linux-source-7.3", "1") is not None
        monkeypatch.setattr(build.Work, "fetch", None)  # a call would fail
        assert run.first_that_works([linux], lambda kernels: kernels) == finished_kernels("linux-source-7.3", "1")


def test_hash_tells_source_version_and_configuration_apart() -> None:
    sources = [("a", "1"), ("b", "1"), ("a", "2")]
    assert len({kernel_hash(*each, flavour) for each in sources for flavour in FLAVOURS}) == 6
    assert len({build.work_name(source(*each)) for each in sources}) == 3


def test_unwritable_cache_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LabError, match=r"cannot make the folder .*XDG_CACHE_HOME"):
        build.ensure_folder(tmp_path / "file" / "kernel")


def test_unpacking_keeps_kconfig_and_leaves_out_what_is_never_compiled(tmp_path: Path) -> None:
    tree = tmp_path / "linux-source-6.12"
    for name in (
        "drivers/gpu/drm/Kconfig",
        "drivers/gpu/drm/big.c",
        "net/core/dev.c",
        "arch/arm/Kconfig",
        "arch/um/a.c",
    ):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("x")
    needed = write_needed(tree)
    work = tmp_path / "work"
    work.mkdir()
    source_package(tree, work / "source.deb")
    with (tmp_path / "log").open("w") as log:
        stage = build.Work(work, source("linux-source-6.12"), Programs(log), lambda *_: None)
        stage.unpack()
    found = {str(path.relative_to(work / "tree")) for path in (work / "tree").rglob("*") if path.is_file()}
    kept = {"drivers/gpu/drm/Kconfig", "net/core/dev.c", "arch/arm/Kconfig", "arch/um/a.c"}
    added = {"arch/x86/include/asm/linklab.h", "arch/x86/kernel/linklab_clock.c", "drivers/misc/linklab_rest.c"}
    added.add("arch/um/drivers/linklab_line.c")
    assert found == kept | needed | added
    assert not (work / "unpacking").exists()


def source_package(tree: Path, path: Path) -> None:
    """Write a package with a folder's files as Linux's source. Debian's have all these parts."""
    name, parts = tree.name, path.parent / "parts"
    (parts / "usr/src").mkdir(parents=True)
    subprocess.run(["tar", "-cJf", str(parts / f"usr/src/{name}.tar.xz"), name], cwd=tree.parent, check=True)
    subprocess.run(["tar", "-cJf", "data.tar.xz", "./usr"], cwd=parts, check=True)
    (parts / "debian-binary").write_text("2.0\n")
    (parts / "control.tar.xz").write_text("")
    words = ["ar", "rc", str(path), "debian-binary", "control.tar.xz", "data.tar.xz"]
    subprocess.run(words, cwd=parts, check=True)
    shutil.rmtree(parts)


def source_for(patch: str) -> dict[str, str]:
    """Files that a patch fits: what stands in its hunks, with other lines in between."""
    files: dict[str, list[str]] = {}
    lines: list[str] = []
    in_hunk = False
    for line in patch.splitlines():
        if line.startswith("--- a/"):
            lines = files.setdefault(line.removeprefix("--- a/"), [])
            in_hunk = False
        elif line.startswith("@@"):
            lines += [f"other {number}" for number in range(30)]
            in_hunk = True
        elif in_hunk and line[:1] in (" ", "-"):
            lines.append(line[1:])
    return {name: "\n".join(text) + "\n" for name, text in files.items()}


def write_needed(tree: Path) -> set[str]:
    """Write the files of a source without which no kernel is made, as the patches need them; return their names."""
    texts = {
        name: text for patch in PATCHES if patch not in WITHOUT for name, text in source_for(patch_text(patch)).items()
    }
    write_files(tree, texts)
    return set(texts)


def write_files(folder: Path, texts: dict[str, str]) -> None:
    """Write files with these texts, by their paths below a folder."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


CHANGED = {
    "clock": ("arch/um/kernel/time.c", "time_travel_busy = 0;"),
    "random": ("drivers/char/random.c", "lab_extract_entropy(buf, len);"),
    "copy": ("arch/x86/lib/copy_user_64.S", "subq $32,%rcx"),
    "clock-qemu": ("arch/x86/kernel/tsc.c", "return lab_sched_clock();"),
    "rest": ("drivers/misc/Makefile", "linklab_rest.o"),
    "line": ("arch/um/drivers/Makefile", "linklab_line.o"),
    "memory": ("arch/um/kernel/skas/stub.c", "sc->mem.fd, sc->mem.offset);"),
}
WITHOUT = {
    "clock": "linux-source-6.12 does not take clock.patch: labs will be slower, and their last digits may differ",
    "random": "linux-source-6.12 does not take random.patch: a lab's seed will not reach its kernel's own random "
    "numbers",
    "copy": "linux-source-6.12 does not take copy.patch: labs on QEMU will be slower, and their last digits may differ",
    "memory": "linux-source-6.12 does not take memory.patch: programs in labs will start more slowly",
}


def source_tree(folder: Path, misfit: str | None) -> dict[str, str]:
    """Make a source that takes all changes but one; return its files."""
    texts = {name: text for patch in PATCHES for name, text in source_for(patch_text(patch)).items()}
    assert len(texts) == 25, "no two patches change one file"
    if misfit:
        texts[CHANGED[misfit][0]] = "int other;\n"
    write_files(folder, texts)
    return texts


@pytest.mark.parametrize("misfit", [None, *WITHOUT])
def test_the_source_takes_each_change_that_fits_and_is_left_whole_by_others(tmp_path: Path, misfit: str | None) -> None:
    tree = tmp_path / "tree"
    texts = source_tree(tree, misfit)
    said: list[str] = []
    with (tmp_path / "log").open("w") as log:
        linux = source("linux-source-6.12")
        stage = build.Work(tmp_path, linux, Programs(log), lambda message, _: said.append(message))
        stage._patch(tree)
    for name, (file, line) in CHANGED.items():
        assert (line in (tree / file).read_text()) is (name != misfit)
    untouched = set(source_for(patch_text(misfit))) if misfit else set()
    assert {name for name, text in texts.items() if (tree / name).read_text() == text} == untouched
    assert said == ([WITHOUT[misfit]] if misfit else [])
    for flavour in FLAVOURS:
        taken = [name for name in flavour.patches if name != misfit]
        assert stage.patches(flavour) == tuple(taken)
        words = stage._make_words(flavour, flavour.target)
        assert f"KBUILD_BUILD_HOST={'+'.join(taken)}" in words, "the kernel says it itself"


@pytest.mark.parametrize("needed", ["clock-qemu", "rest", "line"])
def test_a_source_that_does_not_take_what_labs_need_gives_no_kernels(tmp_path: Path, needed: str) -> None:
    source_tree(tmp_path / "tree", needed)
    with (tmp_path / "log").open("w") as log:
        stage = build.Work(tmp_path, source("linux-source-6.12"), Programs(log), lambda *_: None)
        with pytest.raises(build.Unfit, match=rf"does not take {needed}\.patch, without which no lab runs"):
            stage._patch(tmp_path / "tree")
