"""Which kernel a lab boots."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linklab.errors import LabError
from linklab.runtime.kernel import find
from linklab.runtime.kernel.build import kernel_hash, publish
from linklab.runtime.kernel.config import configuration_hash, configuration_text
from linklab.runtime.kernel.find import Record, cache_folder, find_kernel, inspect_kernel, version_key

RECORD = Record(
    source="linux-source-6.12",
    source_version="6.12.1-1",
    kernel_version="6.12.1",
    config_hash=configuration_hash(configuration_text()),
    seccomp=False,
    verified=True,
    built_at="2026-01-01T00:00:00+00:00",
    build_seconds=180.0,
    size_bytes=9,
    compiler="gcc 12",
    objects=800,
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LINKLAB_KERNEL", raising=False)
    monkeypatch.setattr(find, "DEBIAN_KERNEL", tmp_path / "linux.uml")
    monkeypatch.setattr(find, "DEBIAN_MODULES", tmp_path / "modules")
    cache_folder().mkdir(parents=True)
    return cache_folder()


def program(path: Path, text: bytes) -> Path:
    path.write_bytes(b"\x7fELF\0" + text + b"\0")
    path.chmod(0o755)
    return path


def built(cache: Path, record: Record, name: str | None = None) -> Path:
    source = program(cache / "fresh", b"kernel")
    return publish(source, record, cache, name or kernel_hash(record.source, record.source_version, "c"))


def test_nothing_there_names_the_command() -> None:
    with pytest.raises(LabError, match="run linklab kernel build"):
        find_kernel("virtual")
    with pytest.raises(LabError, match="apt-get install user-mode-linux"):
        find_kernel("real")


def test_the_newest_verified_kernel_of_this_configuration(cache: Path) -> None:
    built(cache, RECORD)
    newest = built(cache, replace(RECORD, source_version="7.3.4-1", kernel_version="7.3.4", seccomp=True))
    built(cache, replace(RECORD, source_version="8", kernel_version="8.0.0", verified=False))
    built(cache, replace(RECORD, source_version="9", kernel_version="9.0.0", config_hash="of another"))
    kernel = find_kernel("virtual")
    assert kernel == find.Kernel(newest, "7.3.4", seccomp=True, time_travel=True, modules=None, patches=())
    assert find_kernel("real") == kernel


def test_a_broken_record_is_passed_over(cache: Path) -> None:
    path = built(cache, RECORD)
    (path.parent / "kernel.json").write_text('{"linklab_kernel": 1, "source"')
    with pytest.raises(LabError):
        find_kernel("virtual")


def test_a_record_of_another_format_is_passed_over(cache: Path) -> None:
    path = built(cache, RECORD)
    record = path.parent / "kernel.json"
    record.write_text(record.read_text().replace('"linklab_kernel": 1', '"linklab_kernel": 2'))
    assert Record.read(record) is None


def test_publishing_again_replaces_the_kernel(cache: Path) -> None:
    first = built(cache, RECORD)
    second = built(cache, replace(RECORD, compiler="gcc 13"))
    assert first == second
    record = Record.read(second.parent / "kernel.json")
    assert record is not None
    assert record.compiler == "gcc 13"


def test_a_kernel_is_there_at_each_moment_of_being_replaced(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked for after each change to the cache: a lab may start at any of them, and a build may be killed."""
    path = built(cache, RECORD)
    seen: list[Path | None] = []

    def watched(change: Callable[..., Any]) -> Callable[..., Any]:
        def changing(*arguments: Any, **options: Any) -> Any:
            result = change(*arguments, **options)
            try:
                seen.append(find_kernel("virtual").path)
            except LabError:
                seen.append(None)
            return result

        return changing

    with monkeypatch.context() as watching:
        for name in ("rename", "replace", "unlink", "rmdir", "mkdir"):
            watching.setattr(os, name, watched(getattr(os, name)))
        built(cache, replace(RECORD, compiler="gcc 13"))
    assert len(seen) >= 2
    assert set(seen) == {path}
    assert sorted(file.name for file in path.parent.iterdir()) == ["kernel.json", "linux"]


def test_real_time_runs_on_debians_kernel_with_its_modules(tmp_path: Path) -> None:
    program(tmp_path / "linux.uml", b"Linux version 6.1.176 (buildd)")
    (tmp_path / "modules/6.1.176").mkdir(parents=True)
    kernel = find_kernel("real")
    assert (kernel.version, kernel.time_travel, kernel.seccomp) == ("6.1.176", False, False)
    assert kernel.modules == tmp_path / "modules/6.1.176"
    with pytest.raises(LabError, match="virtual time"):
        find_kernel("virtual")


def test_the_environment_names_a_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"seccomp=<on/auto/off>\0time-travel=inf-cpu\0Linux version 7.3.4 (a@b)"
    monkeypatch.setenv("LINKLAB_KERNEL", str(program(tmp_path / "mine", text)))
    kernel = find_kernel("virtual")
    assert (kernel.path, kernel.version, kernel.seccomp) == (tmp_path / "mine", "7.3.4", True)


def test_a_kernel_knows_by_its_record_which_patches_it_has(cache: Path) -> None:
    built(cache, replace(RECORD, patches=("clock", "random")))
    kernel = find_kernel("virtual")
    assert (kernel.patches, kernel.patched, kernel.lacks) == (("clock", "random"), True, "")
    built(cache, replace(RECORD, patches=("random",)))
    kernel = find_kernel("virtual")
    assert (kernel.patches, kernel.patched) == (("random",), False)
    assert kernel.lacks == "without clock.patch: labs will be slower, and their last digits may differ"
    built(cache, replace(RECORD, patches=()))
    assert find_kernel("virtual").lacks == (
        "without clock.patch: labs will be slower, and their last digits may differ; "
        "without random.patch: a lab's seed will not reach its kernel's own random numbers"
    )


@pytest.mark.parametrize(
    ("text", "patches"),
    [
        (b"Linux version 7.3.4 (linklab@clock+random) (gcc 12)\0random.seed", ("clock", "random")),
        (b"Linux version 7.3.4 (linklab@random) (gcc 12)\0random.seed", ("random",)),
        (b"Linux version 7.3.4 (linklab@clock) (gcc 12)\0crandom.seed", ("clock",)),
        (b"Linux version 7.3.4 (linklab@linklab) (gcc 12)\0random.seed", ("random",)),  # made before kernels said it
        (b"Linux version 7.3.4 (linklab@none) (gcc 12)", ()),
        (b"Linux version 6.1.1 (buildd@clock+random) (gcc 12)", ()),
    ],
)
def test_a_kernel_without_a_record_is_asked_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes, patches: tuple[str, ...]
) -> None:
    monkeypatch.setenv("LINKLAB_KERNEL", str(program(tmp_path / "mine", b"time-travel=inf-cpu\0" + text)))
    kernel = find_kernel("virtual")
    assert (kernel.patches, kernel.patched) == (patches, len(patches) == 2)


def test_a_record_that_does_not_say_leaves_it_to_the_kernel(cache: Path) -> None:
    path = built(cache, RECORD)
    assert RECORD.patches is None
    assert find_kernel("virtual").patches == ()
    program(path, b"Linux version 6.12.1 (linklab@clock+random) (gcc 12)\0random.seed")
    assert find_kernel("virtual").patches == ("clock", "random")


def test_a_named_kernel_that_will_not_do_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKLAB_KERNEL", str(tmp_path / "none"))
    with pytest.raises(LabError, match="no such file"):
        find_kernel("virtual")
    monkeypatch.setenv("LINKLAB_KERNEL", str(program(tmp_path / "old", b"Linux version 6.1.1 (a@b)")))
    with pytest.raises(LabError, match="no virtual time"):
        find_kernel("virtual")
    assert find_kernel("real").version == "6.1.1"


def test_only_a_kernel_that_can_be_run_is_one(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="not a user-mode Linux"):
        inspect_kernel(program(tmp_path / "other", b"hello"))
    with pytest.raises(LabError, match="cannot be read"):
        inspect_kernel(tmp_path / "none")
    unset = program(tmp_path / "unset", b"Linux version 6.1.1 (a@b)")
    unset.chmod(0o644)
    with pytest.raises(LabError, match="can be run"):
        inspect_kernel(unset)


def test_versions_are_ordered_as_numbers() -> None:
    assert version_key("6.12.3+deb") == (6, 12, 3)
    assert version_key("6.9") < version_key("6.12") < version_key("7.0-rc1")


def test_hash_tells_source_version_and_configuration_apart() -> None:
    triples = [("a", "1", "c"), ("b", "1", "c"), ("a", "2", "c"), ("a", "1", "d")]
    assert len({kernel_hash(*triple) for triple in triples}) == 4
