"""``linklab`` itself: mistakes are one line, on machines of the wrong kind too."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from linklab import process_tree  # noqa: F401 - psutil loads only on the system that it was built for
from linklab.cli import main
from linklab.errors import LabError
from linklab.runtime import backends

from .terminal import one_line


@pytest.mark.parametrize(
    ("words", "platform_name", "system"),
    [
        (["up", "--no-browser"], "win32", "Windows"),
        (["shell"], "win32", "Windows"),
        (["run", "a.ipynb"], "win32", "Windows"),
        (["grade", "submissions", "--output", "graded"], "darwin", "Darwin"),
    ],
)
def test_another_system(
    words: list[str],
    platform_name: str,
    system: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "platform", platform_name)
    monkeypatch.setattr(platform, "system", lambda: system)
    assert main(words) == 1
    said = one_line(capsys.readouterr().err)
    assert said.startswith("linklab: this needs Linux")
    assert f"here is {system}: use WSL2 or `vagrant up`" in said


@pytest.mark.parametrize(("system", "processor"), [("linux", "aarch64"), ("darwin", "arm64"), ("darwin", "x86_64")])
def test_without_user_mode_linux_virtual_time_needs_qemu(
    system: str, processor: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: processor)
    monkeypatch.setenv("LINKLAB_QEMU", "/nonexistent/qemu")
    assert main(["mininet", "mn"]) == 1
    assert "install QEMU (Debian: apt install qemu-system-x86, macOS: brew install qemu)" in capsys.readouterr().err


def test_ctrl_c_has_its_own_status(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("linklab.shell.shell", interrupted)
    assert main(["shell"]) == 130


@pytest.mark.parametrize("words", [["up"], ["report"], ["mininet", "net.py"], ["study", "run", "mtu"]])
def test_a_folder_that_was_removed_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert main(words) == 1
    assert "the current folder was removed" in one_line(capsys.readouterr().err)


def test_a_reader_that_leaves_early() -> None:
    words = f"{sys.executable} -m linklab image path | true; test ${{PIPESTATUS[0]}} -le 1"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_kind_of_lab_at_all(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def none(*_: object, **__: object) -> object:
        raise LabError("no lab image was found: make lab")

    monkeypatch.setattr(backends, "find_image", none)
    assert main(["shell", "--network", "two-hosts"]) == 1
    assert one_line(capsys.readouterr().err).endswith("make lab")


def test_a_word_that_is_none_meets_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["foo"], ["--help"]):
        with pytest.raises(SystemExit):
            main(words)
        said = capsys.readouterr()
        assert all(name in said.out + said.err for name in ("run", "study", "grade", "shell"))


@pytest.mark.parametrize("words", [["--version"], ["shell", "--help"], ["up", "--help"], ["doctor", "--help"]])
def test_what_takes_long_to_load_is_left_alone(words: list[str]) -> None:
    code = (
        "import sys\nfrom linklab.cli import main\n"
        f"try:\n    main({words})\nexcept SystemExit:\n    pass\n"
        "print(sorted({'pandas', 'nbformat', 'matplotlib', 'scipy', 'numpy'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[-1] == "[]"
