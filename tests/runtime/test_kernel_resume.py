"""A build of the kernel that fails half-way, goes on later, and leaves nothing broken in between.

The whole of `linklab kernel build` runs, with apt's and the booted kernel's part left out, on a source of two files.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from linklab.cli import main
from linklab.runtime.kernel import build, find
from linklab.runtime.kernel.config import configuration_hash, configuration_text

PACKAGE, VERSION = "linux-source-9.9", "1"
NEEDED = ("dpkg-deb", "gcc", "make", "xz", "strip")
pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, NEEDED)), reason=f"needs what builds kernels: {', '.join(NEEDED)}"
)
# The second object is 5 MB. "trouble" is a file whose presence makes its compiler fail.
MAKEFILE = """
allnoconfig:
	grep ^CONFIG $(KCONFIG_ALLCONFIG) > $(O)/.config
	mkdir -p $(O)/include/config && echo 9.9.1 > $(O)/include/config/kernel.release
linux: $(O)/one.o $(O)/two.o
	$(CC) -nostdlib -Wl,--entry=0 -o $(O)/linux $^
$(O)/%.o: %.c
	@echo "  CC      $*.o"
	@test $* = one -o ! -e TROUBLE || { echo "$*.c:1: error: the compiler was killed"; exit 1; }
	$(CC) -c $< -o $@.part && mv $@.part $@
	@echo $* >> $(O)/compiled
"""
_PARTS_LEFT_OUT = """
from linklab.runtime.kernel import build
build.verified_seccomp = lambda kernel: True
build.check_tools = lambda: None
build.check_space = lambda *sizes: None
build.Build._fresh_candidates = lambda self: []
"""


def fetched(folder: Path, scratch: Path, trouble: Path) -> Path:
    """Puts the source's package where a build has fetched it; the build's work folder."""
    tree, package = scratch / PACKAGE, scratch / "package"
    tree.mkdir()
    (tree / "Makefile").write_text(MAKEFILE.replace("TROUBLE", str(trouble)))
    (tree / "one.c").write_text("int one = 1;\n")
    (tree / "two.c").write_text('__asm__(".data\\n.fill 5000000, 1, 7");\n')
    (package / "usr/src").mkdir(parents=True)
    (package / "DEBIAN").mkdir()
    (package / "DEBIAN/control").write_text(
        f"Package: {PACKAGE}\nVersion: {VERSION}\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: a\n"
    )
    subprocess.run(["tar", "-cJf", str(package / f"usr/src/{PACKAGE}.tar.xz"), PACKAGE], cwd=scratch, check=True)
    config_hash = configuration_hash(configuration_text())
    work = folder / "work" / build.kernel_hash(PACKAGE, VERSION, config_hash)
    work.mkdir(parents=True)
    note = {"package": PACKAGE, "version": VERSION, "size_bytes": 5, "config_hash": config_hash}
    (work / "begun.json").write_text(json.dumps(note))
    subprocess.run(["dpkg-deb", "--build", str(package), str(work / "source.deb")], check=True, capture_output=True)
    return work


def finished() -> list[Path]:
    return [path for path, _ in find.finished_kernels(find.cache_folder(), configuration_hash(configuration_text()))]


@pytest.fixture
def kernel_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs ``linklab kernel build`` in a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LINKLAB_KERNEL", raising=False)
    for name in ("verified_seccomp", "check_tools", "check_space"):
        monkeypatch.setattr(build, name, lambda *_: True)
    monkeypatch.setattr(build.Build, "_fresh_candidates", lambda _: [])
    return lambda *words: main(["kernel", "build", "--jobs", "1", *words])


def test_it_goes_on_where_it_failed(
    kernel_build: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trouble, folder = tmp_path / "trouble", find.cache_folder()
    trouble.touch()
    work = fetched(folder, tmp_path, trouble)
    assert kernel_build() == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"linklab: no kernel could be built ({PACKAGE} {VERSION}: make failed: two.c:1: error: the compiler was killed)"
        f": see {folder / 'build.log'}"
    ]
    assert finished() == []
    assert (work / "out/one.o").is_file()
    assert sorted(path.name for path in folder.iterdir()) == ["build.log", "lock", "work"]
    trouble.unlink()
    assert kernel_build("--keep") == 0
    (kernel,) = finished()
    assert capsys.readouterr().out.splitlines()[-1] == str(kernel)
    assert (work / "out/compiled").read_text().split() == ["one", "two"], "what was compiled is not compiled again"
    assert kernel.stat().st_size > 5_000_000


# Runs in a mount namespace: on a disk of 4 MB, then on one of 40.
_ON_A_SMALL_DISK = (
    _PARTS_LEFT_OUT
    + """
import subprocess, sys
from pathlib import Path
from linklab.cli import main
from linklab.runtime.kernel.find import cache_folder
sys.path.insert(0, sys.argv[2])
from tests.runtime.test_kernel_resume import fetched, finished

def disk(options):
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", sys.argv[1]], check=True)

def build():
    print("status", main(["kernel", "build", "--jobs", "1"]), "finished", len(finished()), flush=True)
    print("files", *sorted(path.name for path in cache_folder().iterdir()), flush=True)

disk("size=4M")
fetched(cache_folder(), Path(sys.argv[3]), Path("/nowhere"))
build()
disk("remount,ro")
build()
disk("remount,rw,size=40M")
build()
"""
)


def test_a_disk_that_is_full_or_read_only(tmp_path: Path) -> None:
    alone = ["unshare", "--user", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], check=False).returncode != 0:
        pytest.skip("needs user namespaces (unshare --user), to mount a small disk")
    disk, scratch, root = tmp_path / "disk", tmp_path / "scratch", Path(__file__).parents[2]
    disk.mkdir()
    scratch.mkdir()
    words = [*alone, sys.executable, "-c", _ON_A_SMALL_DISK, str(disk), str(root), str(scratch)]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env=os.environ | {"XDG_CACHE_HOME": str(disk)}
    )
    folder = disk / "linklab" / "kernel"
    assert done.stderr.splitlines() == [
        f"linklab: the disk of {folder} is full: free 0.3 GB and run linklab kernel build again; it goes on where it "
        "was",
        f"linklab: cannot write to {folder} (Read-only file system): set XDG_CACHE_HOME to a folder you may write to",
    ]
    said = [line for line in done.stdout.splitlines() if line.startswith(("status", "files"))]
    assert said[0::2] == ["status 1 finished 0", "status 1 finished 0", "status 0 finished 1"]
    assert said[1] == said[3] == "files build.log lock work", "no status, no half of a kernel"
    assert list(disk.iterdir()) == []
