"""A build of the kernels that fails half-way, goes on later, and leaves nothing broken in between.

The whole of `linklab image build` runs, on a source of two files and a package; the booted lab is left out.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from linklab.cli import main
from linklab.runtime.image import build as image_build
from linklab.runtime.image import debian, find
from linklab.runtime.kernel import build
from linklab.runtime.kernel.config import QEMU, USER_MODE
from tests.runtime.test_image_build import PYTHON, listed
from tests.runtime.test_kernel_build import source_package, write_needed

PACKAGE, VERSION = "linux-source-9.9", "1"
NEEDED = ("ar", "gcc", "make", "xz", "strip", "patch")
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
bzImage: $(O)/one.o $(O)/two.o
	mkdir -p $(O)/arch/x86/boot && cat $^ > $(O)/arch/x86/boot/bzImage
$(O)/%.o: %.c
	@echo "  CC      $*.o"
	@test $* = one -o ! -e TROUBLE || { echo "$*.c:1: error: the compiler was killed"; exit 1; }
	$(CC) -c $< -o $@.part && mv $@.part $@
	@echo $(ARCH) $* >> $(O)/compiled
"""


def offered(archive: Path, scratch: Path, trouble: Path) -> debian.Package:
    """Put the source's package into an archive; return how a list names it."""
    tree = scratch / PACKAGE
    write_needed(tree)
    (tree / "Makefile").write_text(MAKEFILE.replace("TROUBLE", str(trouble)))
    (tree / "one.c").write_text("int one = 1;\n")
    (tree / "two.c").write_text('__asm__(".data\\n.fill 5000000, 1, 7");\n')
    archive.mkdir()
    source_package(tree, archive / "source.deb")
    content = (archive / "source.deb").read_bytes()
    return debian.Package(PACKAGE, VERSION, "source.deb", len(content), hashlib.sha256(content).hexdigest())


def small_world(patch: pytest.MonkeyPatch, scratch: Path, trouble: Path) -> None:
    """Have an archive of one package and one source."""
    archive = scratch / "archive"
    patch.setenv("LINKLAB_DEBIAN", archive.as_uri())
    patch.delenv("LINKLAB_IMAGE", raising=False)
    source = offered(archive, scratch, trouble)
    package = listed(archive, "python3", "1", dict(PYTHON))
    patch.setattr(debian, "pinned", lambda: [package])
    patch.setattr(debian, "pinned_linux", lambda: [source])
    patch.setattr(debian, "LINUX_SUITES", ("trixie",))
    patch.setattr(debian, "newest_linux", lambda *_: source)
    for name in ("verify", "compile_python", "list_libraries"):
        patch.setattr(image_build, name, lambda image: None)
    patch.setattr(image_build, "NEEDED_BYTES", 10**6)
    for name in ("check_tools", "check_space"):
        patch.setattr(build, name, lambda *_: None)


def work_folder() -> Path:
    (folder,) = (build.cache_folder() / "work").iterdir()
    return folder


@pytest.fixture
def image_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run ``linklab image build`` in a cache of the test's own; the file trouble is there."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    small_world(monkeypatch, tmp_path, tmp_path / "trouble")
    (tmp_path / "trouble").touch()
    return lambda *words: main(["image", "build", "--jobs", "1", *words])


def test_it_goes_on_where_it_failed(
    image_command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = build.cache_folder()
    assert image_command() == 1
    work = work_folder()
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"linklab: no kernel could be built ({PACKAGE} {VERSION}: make failed: two.c:1: error: the compiler was killed)"
        f": see {folder / 'build.log'}"
    ]
    assert build.finished_kernels(PACKAGE, VERSION) is None
    assert (work / "out/linux/one.o").is_file()
    assert sorted(path.name for path in folder.iterdir()) == ["build.log", "work"]
    assert main(["image", "status"]) == 1
    assert "a build was begun and stopped: linklab image build goes on with it" in capsys.readouterr().out
    (tmp_path / "trouble").unlink()
    (tmp_path / "archive/source.deb").unlink()  # what was fetched is not fetched again
    assert image_command("--keep") == 0
    kernels = build.finished_kernels(PACKAGE, VERSION)
    assert kernels is not None
    image = find.find_image()
    assert capsys.readouterr().out.splitlines()[-1] == str(image.folder)
    for flavour, arch in ((USER_MODE, "um"), (QEMU, "x86_64")):
        compiled = (work / "out" / flavour.file / "compiled").read_text().splitlines()
        assert compiled == [f"{arch} one", f"{arch} two"], "what was compiled is not compiled again"
        assert (image.folder / flavour.file).stat().st_size > 5_000_000
    assert [kernel.record.patches for kernel in kernels] == [("line",), ("clock-qemu", "rest")]
    shutil.rmtree(work)
    assert image_command() == 0, "with the kernels in the cache no source is asked for"
    assert find.find_image() == image


# Runs in a mount namespace: on a disk of 4 MB, then on one of 100.
_ON_A_SMALL_DISK = """
import subprocess, sys
from pathlib import Path
import pytest
from linklab.cli import main
from linklab.runtime.kernel import build
sys.path.insert(0, sys.argv[2])
from tests.runtime.test_kernel_resume import small_world, PACKAGE, VERSION

def disk(options):
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", sys.argv[1]], check=True)

def built():
    status = main(["image", "build", "--jobs", "1"])
    print("status", status, "kernels", build.finished_kernels(PACKAGE, VERSION) is not None, flush=True)
    print("files", *sorted(path.name for path in build.cache_folder().iterdir()), flush=True)

with pytest.MonkeyPatch.context() as patch:
    small_world(patch, Path(sys.argv[3]), Path("/nowhere"))
    disk("size=4M")
    built()
    disk("remount,ro")
    built()
    disk("remount,rw,size=100M")
    built()
"""


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
    folder = disk / "linklab"
    assert done.stderr.splitlines() == [
        f"linklab: the disk of {folder / 'kernel'} is full: free 0.5 GB and run linklab image build again; it goes on "
        "where it was",
        f"linklab: cannot write to {folder / 'image'} (Read-only file system): set XDG_CACHE_HOME to a folder you may "
        "write to",
    ]
    said = [line for line in done.stdout.splitlines() if line.startswith(("status", "files"))]
    assert said[0::2] == ["status 1 kernels False", "status 1 kernels False", "status 0 kernels True"]
    assert said[1] == said[3] == "files build.log work", "no half of a kernel"
    assert list(disk.iterdir()) == []
