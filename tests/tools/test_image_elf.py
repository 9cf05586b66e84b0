"""Libraries that lose others that they are linked with: they load without them, and what those had returns 0."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.image import elf

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler, to make libraries")

_GONE = 'int gone_count(void) { return 7; } const char *gone_name(int n) { return n ? "a" : "b"; }'
_KEPT = "int kept_count(void) { return 5; }"
_USER = """
#include <stddef.h>
#include <unistd.h>
int gone_count(void); const char *gone_name(int); int kept_count(void);
__attribute__((weak)) int nobody(void);
int (*asked)(void) = gone_count;
int sum(void) { return gone_count() + kept_count() + (getpid() > 0 ? 30 : 0); }
int by_pointer(void) { return asked(); }
int named(void) { return gone_name(1) != NULL; }
int weak_is_there(void) { return nobody != NULL; }
"""
_ASK = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
print(*(getattr(library, name)() for name in ("sum", "by_pointer", "named", "weak_is_there")))
"""


def library(folder: Path, name: str, text: str, *words: str) -> Path:
    """Compile a shared library; the versions of its symbols are those of a map, where one lies beside it."""
    source, path = folder / f"{name}.c", folder / f"lib{name}.so"
    source.write_text(text)
    words = (*words, f"-Wl,--version-script={folder / name}.map") if (folder / f"{name}.map").exists() else words
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, source, "-L", folder, *words], check=True)
    return path


def asked(path: Path) -> str:
    """Return what the functions of a library return, in a process of its own, where libraries lie beside it."""
    words = [sys.executable, "-c", _ASK, str(path)]
    environment = {"LD_LIBRARY_PATH": str(path.parent)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_what_a_missing_library_had_returns_0(tmp_path: Path, binding: str) -> None:
    (tmp_path / "gone.map").write_text("GONE_1 { gone_count; }; GONE_2 { gone_name; };\n")
    gone = library(tmp_path, "gone", _GONE)
    library(tmp_path, "kept", _KEPT)
    user = library(tmp_path, "user", _USER, "-lgone", "-lkept", f"-Wl,-z,{binding}")
    assert asked(user) == "42 7 1 0"
    gone.unlink()
    assert "libgone.so" in asked(user)

    def find(name: str) -> bytes | None:
        found = (tmp_path / name, Path("/lib/x86_64-linux-gnu") / name, Path("/lib64") / name)
        return next((path.read_bytes() for path in found if path.exists()), None)

    whole = elf.drop_missing("user", user.read_bytes(), find)
    user.write_bytes(whole)
    assert asked(user) == "35 0 0 0"
    assert elf.drop_missing("user", whole, find) == whole
