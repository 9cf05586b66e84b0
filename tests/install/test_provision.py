"""The installer on pretended machines: what it asks for, what it says, and what it leaves alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.install.machine import REPOSITORY, Machine


@pytest.fixture
def computer(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_everything_is_there_so_no_root_is_asked_for(computer: Machine) -> None:
    computer.sudo = True
    answer = computer.run("provision.sh")
    assert answer.status == 0, answer.errors
    assert "sudo" not in computer.calls
    assert "apt-get" not in computer.calls
    assert answer.output.splitlines()[-1] == "the doctor was here"


def test_the_second_run_changes_nothing_and_says_so(computer: Machine) -> None:
    first = computer.run("provision.sh")
    calls_before = computer.calls.count("pip install")
    second = computer.run("provision.sh")
    assert calls_before == 2
    assert computer.calls.count("pip install") == calls_before
    assert "nothing was changed" not in first.output
    assert "nothing was changed" in second.output


def test_new_requirements_are_installed_into_the_same_environment(computer: Machine) -> None:
    computer.run("provision.sh")
    with (computer.repository / "requirements.txt").open("a") as requirements:
        requirements.write("attrs==25.1.0\n")
    computer.run("provision.sh")
    assert computer.calls.count("-m venv") == 1
    assert computer.calls.count("pip install") == 4


def test_an_interrupted_installation_is_taken_up_again(computer: Machine) -> None:
    computer.pip = "echo 'ERROR: no route to the package index'; exit 1"
    answer = computer.run("provision.sh")
    assert answer.status == 1
    assert answer.error_lines[0] == "ERROR: no route to the package index"
    assert "check the network" in answer.error_lines[-1]
    computer.pip = "true"
    assert computer.run("provision.sh").status == 0
    assert computer.calls.count("-m venv") == 1


def test_a_silent_failure_of_pip_still_ends_with_a_line(computer: Machine) -> None:
    computer.pip = "echo 'error: subprocess-exited-with-error'; exit 1"
    assert "check the network" in computer.run("provision.sh").error_lines[-1]
    computer.pip = "echo 'Killed'; exit 137"
    answer = computer.run("provision.sh")
    assert answer.error_lines[-2] == "Killed"
    assert "check the network" in answer.error_lines[-1]


def test_a_full_disk_is_not_called_a_matter_of_the_network(computer: Machine) -> None:
    computer.pip = (
        "echo 'ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device'; exit 1"
    )
    answer = computer.run("provision.sh")
    assert answer.status == 1
    assert "the disk is full (df -h shows which): make room, then run the same command again" in answer.error_lines[-1]
    assert "network" not in answer.error_lines[-1]


def test_a_disk_too_full_for_the_log_is_seen_all_the_same(computer: Machine) -> None:
    computer.pip, computer.free_mb = "exit 1", 7
    assert (
        f"the disk of {computer.repository}/.venv is full (7 MB free): make room"
        in computer.run("provision.sh").error_lines[-1]
    )
    computer.user_id, computer.apt_status = 0, 100
    full = "the disk of / is full (7 MB free): make room"
    assert f"apt-get update failed twice: {full}" in computer.run("real-packages.sh", "mininet").error_lines[-1]
    # content with fewer lists
    computer.apt_status, computer.not_offered = 0, ("mininet",)
    assert (
        f"apt does not know the package mininet: {full}" in computer.run("real-packages.sh", "mininet").error_lines[-1]
    )


def test_an_environment_of_another_python_is_made_anew(computer: Machine) -> None:
    computer.run("provision.sh")
    computer.python_version = "3.13"
    answer = computer.run("provision.sh")
    assert "making the Python environment anew" in answer.output
    assert computer.calls.count("-m venv") == 2


def test_a_folder_that_is_no_environment_is_left_alone(computer: Machine) -> None:
    precious = computer.folder / "thesis"
    precious.mkdir()
    (precious / "chapter-1").write_text("it took weeks")
    computer.settings["LINKLAB_VENV"] = str(precious)
    answer = computer.run("provision.sh")
    assert answer.status == 1
    assert "is no virtual environment, so it is left alone" in answer.error_lines[0]
    assert (precious / "chapter-1").exists()


def test_the_environment_may_lie_elsewhere(computer: Machine) -> None:
    computer.settings["LINKLAB_VENV"] = str(computer.folder / "home" / "venv")
    assert computer.run("provision.sh").status == 0
    assert (computer.folder / "home" / "venv" / "bin" / "linklab").exists()
    assert not (computer.repository / ".venv").exists()


def test_missing_packages_alone_are_handed_to_sudo(computer: Machine) -> None:
    computer.sudo = True
    computer.missing = ("mininet", "iperf3")
    assert computer.run("provision.sh").status == 0
    assert "packages.sh mininet iperf3\n" in computer.calls


def test_root_needs_no_sudo(computer: Machine) -> None:
    computer.user_id = 0
    computer.missing = ("mininet",)
    assert computer.run("provision.sh").status == 0
    assert "packages.sh mininet\n" in computer.calls


def test_without_root_and_sudo_one_line_has_the_command(computer: Machine) -> None:
    computer.missing = ("mininet", "iperf3")
    answer = computer.run("provision.sh")
    assert answer.status == 1
    assert answer.error_lines == [
        "linklab: only an administrator can install them: "
        "sudo apt-get update && sudo apt-get install --no-install-recommends mininet iperf3"
    ]


def test_the_administrators_command_names_only_what_apt_has(computer: Machine) -> None:
    computer.missing = ("mininet", "openvswitch-testcontroller")
    computer.not_offered = ("openvswitch-testcontroller",)
    answer = computer.run("provision.sh")
    assert answer.error_lines[-1].endswith("--no-install-recommends mininet")


def test_an_optional_package_that_nobody_offers_is_one_line(computer: Machine) -> None:
    computer.missing = computer.not_offered = ("openvswitch-testcontroller",)
    answer = computer.run("provision.sh")
    assert answer.status == 0
    assert "openvswitch-testcontroller is not offered by this distribution: left out" in answer.output
    assert "packages.sh" not in computer.calls


def test_only_the_tests_want_shellcheck(computer: Machine) -> None:
    computer.user_id = 0
    computer.missing = ("shellcheck",)
    assert computer.run("provision.sh", "--no-doctor").status == 0
    assert "packages.sh" not in computer.calls
    assert computer.run("provision.sh", "--tests", "--no-doctor").status == 0
    assert "packages.sh shellcheck\n" in computer.calls


def test_only_the_trial_of_vagrant_wants_its_provider(computer: Machine) -> None:
    computer.user_id = 0
    computer.missing = ("vagrant-libvirt",)
    assert computer.run("provision.sh", "--tests", "--no-doctor").status == 0
    assert "packages.sh" not in computer.calls
    assert computer.run("provision.sh", "--vagrant", "--no-doctor").status == 0
    assert "packages.sh vagrant-libvirt\n" in computer.calls


def test_only_a_trial_with_arm64_wants_its_emulators(computer: Machine) -> None:
    computer.user_id = 0
    computer.missing = ("qemu-system-arm", "qemu-user-static")
    assert computer.run("provision.sh", "--vagrant", "--no-doctor").status == 0
    assert "packages.sh" not in computer.calls
    assert computer.run("provision.sh", "--vagrant-arm64", "--no-doctor").status == 0
    assert "packages.sh qemu-system-arm qemu-user-static\n" in computer.calls


def test_the_hub_and_its_tests_want_its_proxy(computer: Machine) -> None:
    computer.user_id = 0
    computer.missing = ("node-configurable-http-proxy",)
    assert computer.run("provision.sh", "--no-doctor").status == 0
    assert "packages.sh" not in computer.calls
    for words in (["--hub"], ["--tests"]):
        assert computer.run("provision.sh", *words, "--no-doctor").status == 0
    assert computer.calls.count("packages.sh node-configurable-http-proxy?\n") == 2


def test_arm64_asks_for_qemu_and_says_what_works(computer: Machine) -> None:
    computer.machine = "aarch64"
    computer.user_id = 0
    computer.missing = ("qemu-system-x86",)
    answer = computer.run("provision.sh")
    assert answer.status == 0
    assert "this machine is arm64: labs on virtual time run in QEMU" in answer.output
    assert "packages.sh qemu-system-x86\n" in computer.calls


NATIVE = ("ffmpeg", "openvswitch-switch")


@pytest.mark.parametrize("where", ["the environment", "the kit's settings", "the cache"])
def test_where_an_image_is_at_hand_nothing_is_installed_that_builds_one(computer: Machine, where: str) -> None:
    computer.user_id = 0
    computer.missing = (*NATIVE, "bubblewrap")
    computer.run("provision.sh", "--no-doctor")
    assert "packages.sh bubblewrap ffmpeg openvswitch-switch\n" in computer.calls
    if where == "the environment":
        computer.settings["LINKLAB_IMAGE"] = "https://course.example.org/linklab-image.tar.xz#sha256=0"
    elif where == "the kit's settings":
        (computer.repository / "linklab.toml").write_text('hints = 2\nimage = "linklab-image.tar.xz"\n')
    else:
        image = computer.folder / ".cache/linklab/image/0123456789abcdef"
        image.mkdir(parents=True)
        (image / "image.json").write_text("{}")
    computer.run("provision.sh", "--no-doctor")
    computer.run("provision.sh", "--tests", "--no-doctor")
    assert [call for call in computer.calls.splitlines() if call.startswith("packages.sh")][1:] == [
        "packages.sh bubblewrap",
        "packages.sh bubblewrap ffmpeg openvswitch-switch",
    ]


def test_the_doctors_verdict_does_not_undo_the_installation(computer: Machine) -> None:
    computer.doctor_status = 1
    answer = computer.run("provision.sh")
    assert answer.status == 0
    assert "the doctor found something that does not work" in answer.output.splitlines()[-1]


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


def test_arm64_has_no_service_for_an_image(computer: Machine) -> None:
    computer.sudo = True
    computer.machine = "aarch64"
    assert computer.run("provision.sh", "--vm").status == 0
    assert "systemctl --quiet enable linklab\n" in computer.calls


def test_the_service_is_the_ordinary_users(computer: Machine) -> None:
    computer.user_id = 0
    answer = computer.run("provision.sh", "--vm")
    assert answer.status == 1
    assert "JupyterLab runs as the ordinary user" in answer.error_lines[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"system": "Darwin"}, "labs need Linux, and this is Darwin: use the virtual machine"),
        ({"machine": "riscv64"}, "this machine is riscv64: Linklab runs on x86-64 and arm64"),
        ({"machine": "i686"}, "this machine is i686: Linklab runs on x86-64"),
        ({"apt": False}, "apt-get was not found: Linklab installs on Debian 12, Debian 13 and Ubuntu 24.04"),
        ({"python_version": "3.14"}, "is Python 3.14, and Linklab needs 3.11 to 3.13"),
        ({"python_version": "3.10"}, "is Python 3.10, and Linklab needs 3.11 to 3.13"),
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


def test_an_unknown_argument_shows_the_usage(computer: Machine) -> None:
    answer = computer.run("provision.sh", "--vn")
    assert answer.status == 1
    assert len(answer.error_lines) == 1
    assert answer.error_lines[0].startswith("linklab: unknown argument --vn; usage: provision.sh ")


def test_packages_are_for_root(computer: Machine) -> None:
    answer = computer.run("real-packages.sh", "mininet")
    assert answer.status == 1
    assert "runs as root" in answer.error_lines[0]
    assert computer.calls == ""


def test_a_package_that_nobody_offers_names_the_way_out(computer: Machine) -> None:
    computer.user_id = 0
    computer.not_offered = ("mininet",)
    answer = computer.run("real-packages.sh", "mininet")
    assert answer.status == 1
    assert "apt does not know the package mininet: enable the component" in answer.error_lines[-1]
    assert " install " not in computer.calls


def test_package_lists_are_read_twice_before_giving_up(computer: Machine) -> None:
    computer.user_id = 0
    computer.apt_status = 100
    answer = computer.run("real-packages.sh", "mininet")
    assert answer.status == 1
    assert "apt-get update failed twice" in answer.error_lines[-1]
    assert computer.calls.count(" update") == 2


def test_each_package_says_why_it_is_there_or_needs_no_word() -> None:
    sections: dict[str, list[str]] = {}
    for line in (REPOSITORY / "vagrant" / "apt-packages.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if words[:1] == ["=="]:
            sections[words[1]] = []
        elif words:
            assert set(words[1:]) <= {"[amd64]", "[arm64]", "[optional]"}, f"unknown mark in: {line}"
            sections[list(sections)[-1]].append(words[0])
    assert list(sections) == ["run", "native", "tests", "vagrant", "vagrant-arm64", "hub"]
    for section, names in sections.items():
        assert len(names) == len(set(names)), f"a package stands twice in {section}"
    assert {"mininet", "bubblewrap"} <= set(sections["run"])
    assert {"iperf3", "openvswitch-switch"} <= set(sections["native"])
