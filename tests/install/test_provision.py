"""The installer on pretended machines: what it asks for, what it says, and what it leaves alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.install.machine import REPOSITORY, Machine


@pytest.fixture
def computer(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_python_alone_is_needed_so_no_root_is_asked_for(computer: Machine) -> None:
    computer.sudo = True
    computer.missing = ("mininet", "bubblewrap", "ffmpeg")
    answer = computer.run("provision.sh", "--image")
    assert answer.status == 0, answer.errors
    assert "sudo" not in computer.calls
    assert "apt-get" not in computer.calls
    assert len(answer.output.splitlines()) == 1
    assert "-m tools.image" in computer.calls


def test_the_second_run_changes_nothing_and_says_so(computer: Machine) -> None:
    first = computer.run("provision.sh")
    second = computer.run("provision.sh")
    assert computer.calls.count("uv pip install") == 1
    assert "nothing was changed" not in first.output
    assert "nothing was changed" in second.output


def test_all_is_installed_by_its_checksum(computer: Machine) -> None:
    computer.run("provision.sh")
    first = (computer.repository / ".venv/linklab-first.txt").read_text()
    assert re.findall(r"^([a-z]+)==", first, re.MULTILINE) == ["setuptools", "uv"]
    assert first.count("--hash=") > 2
    assert "--require-hashes" in computer.calls
    lock = (REPOSITORY / "requirements.lock").read_text()
    for name, version in re.findall(r"^([\w-]+)==(\S+)$", (REPOSITORY / "requirements.txt").read_text(), re.MULTILINE):
        assert f"\n{name}=={version} " in f"\n{lock}", f"{name}: see docs/development/dependencies.md"


def test_an_interrupted_installation_is_taken_up_again(computer: Machine) -> None:
    computer.uv = "echo 'error: no route to the package index'; exit 1"
    answer = computer.run("provision.sh")
    assert answer.status == 1
    assert answer.error_lines[0] == "error: no route to the package index"
    assert "check the network" in answer.error_lines[-1]
    (computer.repository / ".venv/bin/uv").write_text("#!/bin/sh\n")
    assert computer.run("provision.sh").status == 0
    assert computer.calls.count("-m venv") == 1


def test_an_environment_of_another_python_is_made_anew(computer: Machine) -> None:
    computer.run("provision.sh")
    computer.python_version = "3.13"
    answer = computer.run("provision.sh")
    assert "making the Python environment anew" in answer.output
    assert computer.calls.count("-m venv") == 2


def test_without_root_and_sudo_one_line_has_the_command(computer: Machine) -> None:
    computer.python_version = ""
    computer.missing = ("python3", "python3-venv")
    answer = computer.run("provision.sh")
    assert answer.status == 1
    assert answer.error_lines == [
        "linklab: only an administrator can install them: "
        "sudo apt-get update && sudo apt-get install --no-install-recommends python3 python3-venv"
    ]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("shellcheck", "--tests"),
        ("vagrant-libvirt", "--vagrant"),
        ("node-configurable-http-proxy", "--hub"),
    ],
)
def test_a_package_is_installed_where_it_is_needed_alone(computer: Machine, name: str, words: str) -> None:
    computer.sudo = True
    computer.missing = (name,)
    assert computer.run("provision.sh").status == 0
    assert "packages.sh" not in computer.calls
    assert computer.run("provision.sh", words).status == 0
    assert re.search(rf"packages\.sh {name}\??\n", computer.calls)


def test_the_virtual_machine_gets_jupyterlab_as_a_service(computer: Machine) -> None:
    computer.sudo = True
    answer = computer.run("provision.sh", "--vm")
    assert answer.status == 0, answer.errors
    token = computer.folder / ".config" / "linklab" / "jupyter-token"
    # Jupyter compares with the whole file, so a line end would shut the student out.
    assert re.fullmatch("[0-9a-f]{48}", token.read_text())
    assert token.stat().st_mode & 0o777 == 0o600
    service = computer.written("linklab.service")
    assert "@" not in service
    assert f"Environment=JUPYTER_TOKEN_FILE={token}\n" in service
    assert "User=student\n" in service
    assert f"{computer.repository}/.venv/bin/python -m tools.image" in computer.written("linklab-image.service")
    assert "systemctl --quiet enable linklab linklab-image\n" in computer.calls


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"system": "Darwin"}, "make lab needs Linux, and this is Darwin: pip install linklab"),
        ({"machine": "riscv64"}, "this machine is riscv64: Linklab runs on x86-64 and arm64"),
        ({"apt": False, "python_version": ""}, "apt-get was not found, which would install python3 python3-venv"),
        ({"python_version": "3.10"}, "no Python from 3.11 to 3.13 with venv was found"),
    ],
)
def test_a_machine_that_cannot_serve_gets_one_line(computer: Machine, change: dict[str, object], said: str) -> None:
    for name, value in change.items():
        setattr(computer, name, value)
    answer = computer.run("provision.sh")
    assert answer.status == 1
    assert len(answer.error_lines) == 1
    assert said in answer.error_lines[0]
    assert not (computer.repository / ".venv").exists()


def test_a_package_that_nobody_offers_names_the_way_out(computer: Machine) -> None:
    computer.user_id = 0
    computer.not_offered = ("mininet",)
    answer = computer.run("real-packages.sh", "mininet")
    assert answer.status == 1
    assert "apt does not know the package mininet: enable the component" in answer.error_lines[-1]
    assert " install " not in computer.calls
