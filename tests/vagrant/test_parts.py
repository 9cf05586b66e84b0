"""The trial's parts that need no virtual machine; `make test-vagrant` tries the rest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from linklab.record import RESULT_MIME
from tests.vagrant import accelerator, needs
from tests.vagrant.architecture import AMD64, ARM64, Architecture
from tests.vagrant.box import vagrantfile
from tests.vagrant.digits import difference, in_real_time
from tests.vagrant.foreign import merge, own_scripts, python_version
from tests.vagrant.guest_settings import apt_transport, debian_sources, parse_deb822, parse_one_line, pip_settings
from tests.vagrant.needs import TrialError
from tests.vagrant.notebook_api import Server, code_cells
from tests.vagrant.programs import remove_tree
from tests.vagrant.vagrant import address_in

_DEB822 = """Types: deb deb-src
# a mirror of ours
URIs: http://archive.example/debian
Suites: bookworm bookworm-updates bookworm-backports
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://archive.example/debian-security
Suites: bookworm-security
Components: main

Enabled: no
Types: deb
URIs: http://archive.example/off
Suites: bookworm
Components: main
"""


@pytest.fixture
def etc_apt(tmp_path: Path) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list.d" / "debian.sources").write_text(_DEB822)
    (tmp_path / "sources.list.d" / "docker.list").write_text("deb https://vendor.example/linux bookworm stable\n")
    return tmp_path


def test_the_release_is_exchanged_in_debians_archives_alone(etc_apt: Path) -> None:
    sources = parse_deb822(debian_sources(etc_apt, "bookworm", "trixie"))
    assert [source.suites for source in sources] == [("trixie", "trixie-updates"), ("trixie-security",)]
    assert sources[0].uris == "http://archive.example/debian"
    assert sources[0].signed_by == "/usr/share/keyrings/debian-archive-keyring.gpg"


def test_sources_of_one_line_are_read_too(etc_apt: Path) -> None:
    (etc_apt / "sources.list.d" / "debian.sources").unlink()
    (etc_apt / "sources.list").write_text(
        "# deb http://archive.example/off bookworm main\n"
        "deb [arch=amd64 signed-by=/k.gpg] http://archive.example/debian bookworm main contrib # why\n"
    )
    assert parse_one_line("deb-src http://archive.example/debian bookworm main") == []
    text = debian_sources(etc_apt, "bookworm", "trixie")
    assert "Suites: trixie\nComponents: main contrib\nSigned-By: /k.gpg\n" in text


def test_no_archive_of_debian_is_one_line(etc_apt: Path) -> None:
    with pytest.raises(TrialError, match="names no archive of Debian sid"):
        debian_sources(etc_apt, "sid", "trixie")


def test_only_what_reaches_the_archives_is_taken_over() -> None:
    dump = (
        'Acquire::http::Proxy "http://proxy.example:3128";\n'
        'Acquire::https::Proxy "";\n'
        'Acquire::Check-Valid-Until "false";\n'
        'Acquire::http::Proxy-Auto-Detect "/usr/bin/auto-apt-proxy";\n'
        'Dir::Etc "etc/apt";\n'
    )
    assert (
        apt_transport(dump)
        == 'Acquire::http::Proxy "http://proxy.example:3128";\nAcquire::Check-Valid-Until "false";\n'
    )


def test_pip_gets_the_way_to_its_index_and_the_guests_own_certificates() -> None:
    listed = (
        ":env:.cert='/home/me/my.pem'\n:env:.find-links='/opt/wheels'\n"
        ":env:.index-url='https://index.example/simple'\nglobal.index-url='https://other.example/simple'\n"
    )
    text = pip_settings(listed, compiles=True)
    assert text == ("[global]\ncert = /etc/ssl/certs/ca-certificates.crt\nindex-url = https://index.example/simple\n")
    assert pip_settings("", compiles=False).endswith("[install]\ncompile = false\n")


@pytest.mark.skipif(shutil.which("vagrant") is None, reason="needs Vagrant: sudo apt-get install vagrant")
@pytest.mark.parametrize(
    ("chosen", "architecture"),
    [(accelerator.KVM, AMD64), (accelerator.EMULATION, AMD64), (accelerator.ARM64, ARM64)],
)
def test_vagrant_accepts_the_boxs_own_vagrantfile(
    tmp_path: Path, chosen: accelerator.Accelerator, architecture: Architecture
) -> None:
    text = vagrantfile(chosen, architecture)
    assert "@" not in text
    (tmp_path / "Vagrantfile").write_text(text.replace("config.ssh", 'config.vm.box = "example"\n  config.ssh', 1))
    settings = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    words = ["vagrant", "validate", "--ignore-provider"]
    done = subprocess.run(words, cwd=tmp_path, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_kvm_is_not_believed_without_its_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    assert accelerator.choose(tmp_path / "vmlinuz", tmp_path / "initrd.img") is accelerator.EMULATION


def test_what_is_missing_is_a_line_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("shutil.which", lambda name, path: None if name == "mmdebstrap" else f"/usr/bin/{name}")
    monkeypatch.setattr(needs, "FREE_DISK_GB", 10**6)
    lines = list(needs.missing(tmp_path, AMD64))
    assert any("sudo make test-vagrant" in line for line in lines)
    assert any("sudo apt-get install mmdebstrap" in line for line in lines)
    assert any("GB free and 1000000 GB are needed" in line for line in lines)
    assert all("\n" not in line for line in lines)


def test_another_processors_box_needs_its_emulators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name, path: None if "aarch64" in name else f"/usr/bin/{name}")
    monkeypatch.setattr(needs, "FOREIGN_FORMAT", tmp_path / "qemu-aarch64")
    lines = list(needs.missing(tmp_path, ARM64))
    assert any("sudo apt-get install qemu-system-arm qemu-user-static" in line for line in lines)
    assert any("update-binfmts --enable qemu-aarch64" in line for line in lines)
    assert not any("qemu-aarch64" in line or "qemu-system-arm" in line for line in needs.missing(tmp_path, AMD64))


def test_every_program_comes_from_a_package_that_is_listed() -> None:
    listed = (Path(__file__).parents[2] / "vagrant" / "apt-packages.txt").read_text().split()
    assert {*needs.PROGRAMS.values(), *needs.FOREIGN_PROGRAMS.values()} <= set(listed)


def test_a_machine_of_arm64_speaks_on_its_own_console_and_has_no_pcs_parts() -> None:
    text = vagrantfile(accelerator.ARM64, ARM64)
    assert "console=ttyAMA0" in text
    assert 'if "arm64" == "arm64"' in text
    assert "console=ttyS0" in vagrantfile(accelerator.EMULATION, AMD64)


def test_what_pip_unpacked_here_becomes_the_boxs(tmp_path: Path) -> None:
    scripts, site = tmp_path / "bin", tmp_path / "site"
    (scripts / "jupyter").parent.mkdir()
    (scripts / "jupyter").write_text(f"#!{sys.executable}\nprint('{sys.executable}')\n")
    (scripts / "program").write_bytes(b"\x7fELF")
    own_scripts(scripts, "/venv/bin/python")
    assert (scripts / "jupyter").read_text() == f"#!/venv/bin/python\nprint('{sys.executable}')\n"
    (site / "bin").mkdir(parents=True)
    (site / "bin" / "python").write_text("there before")
    merge(scripts, site / "bin")
    assert sorted(path.name for path in (site / "bin").iterdir()) == ["jupyter", "program", "python"]
    assert (site / "bin" / "program").read_bytes() == b"\x7fELF"


def test_the_boxs_python_is_asked_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/python3").symlink_to("python3.13")
    assert python_version(tmp_path) == "3.13"
    (tmp_path / "usr/bin/python3").unlink()
    (tmp_path / "usr/bin/python3").symlink_to("/opt/python")
    with pytest.raises(TrialError, match="does not say which Python it is"):
        python_version(tmp_path)


def test_the_last_address_that_vagrant_prints_is_the_one() -> None:
    said = "default: ready. Open this in a browser:\n    http://127.0.0.1:8889/lab/tree/a.ipynb?token=0a1b2c\n"
    assert address_in(said) == "http://127.0.0.1:8889/lab/tree/a.ipynb?token=0a1b2c"
    server = Server(address_in(said))
    assert (server.origin, server.port, server.token) == ("http://127.0.0.1:8889", 8889, "0a1b2c")
    with pytest.raises(TrialError, match="printed no address"):
        address_in("Machine booted and ready!")


def test_the_code_of_a_notebook_is_its_code_cells(tmp_path: Path) -> None:
    cells = [{"cell_type": "markdown", "source": ["# A"]}, {"cell_type": "code", "source": ["a = 1\n", "a"]}]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
    assert code_cells(tmp_path / "a.ipynb") == ["a = 1\na"]


def test_a_folder_bound_within_one_file_system_is_seen(tmp_path: Path) -> None:
    """In a mount namespace of its own, where the test may make one: `Path.is_mount` says False there."""
    precious, root = tmp_path / "precious", tmp_path / "root"
    for folder in (precious, root / "vagrant"):
        folder.mkdir(parents=True)
    (precious / "notebook").write_text("it took weeks")
    program = (
        "import sys; from pathlib import Path; from tests.vagrant.programs import remove_tree\n"
        "try: remove_tree(Path(sys.argv[1]))\n"
        "except Exception as error: print(error)"
    )
    script = 'mount --bind "$1" "$2/vagrant" && exec "$3" -c "$4" "$2"'
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    words += [str(precious), str(root), sys.executable, program]
    done = subprocess.run(words, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"needs a mount namespace (unshare --user --mount): {done.stderr.strip()}")
    assert "stays, because something is mounted at" in done.stdout
    assert (precious / "notebook").exists()
    remove_tree(root)
    assert not root.exists()


def _executed(folder: Path, *found: str) -> Path:
    checks = [{"description": "RTT", "outcome": "passed", "found": one} for one in found]
    outputs = [{"data": {"text/plain": "x"}}, {"data": {RESULT_MIME: {"checks": checks}}}, {"text": "20.0"}]
    folder.mkdir()
    (folder / "01-x.ipynb").write_text(json.dumps({"cells": [{"source": "1"}, {"outputs": outputs}]}))
    return folder / "01-x.ipynb"


@pytest.mark.parametrize(
    ("there", "said"), [(["20.000 ms"], ""), (["20.001 ms"], "20.001 ms"), ([], "1 checks here and 0 there")]
)
def test_digits_are_compared_to_the_last(there: list[str], said: str, tmp_path: Path) -> None:
    told = difference(_executed(tmp_path / "a", "20.000 ms"), _executed(tmp_path / "b", *there))
    assert said in told
    assert bool(told) == bool(said)


def test_the_port_that_a_kernel_draws_is_no_digit(tmp_path: Path) -> None:
    row = "10.9.0.1:{port}   0.0 - {end}   2 MB   7.67 Mbps"
    here = _executed(tmp_path / "a", row.format(port=42540, end=2.4))
    assert difference(here, _executed(tmp_path / "b", row.format(port=41994, end=2.4))) == ""
    assert difference(here, _executed(tmp_path / "c", row.format(port=42540, end=2.5)))


def test_no_checks_are_no_agreement(tmp_path: Path) -> None:
    assert "0 checks" in difference(_executed(tmp_path / "a"), _executed(tmp_path / "b"))


def _run_in(folder: Path, *outcomes: str, error: str = "") -> Path:
    outputs: list[dict[str, object]] = [{"output_type": "error", "evalue": error}] if error else []
    checks = [{"description": "RTT", "outcome": outcome} for outcome in outcomes]
    outputs.append({"output_type": "display_data", "data": {RESULT_MIME: {"checks": checks}}})
    folder.mkdir()
    (folder / "01-x.ipynb").write_text(json.dumps({"cells": [{"outputs": outputs}]}))
    return folder / "01-x.ipynb"


@pytest.mark.parametrize(
    ("outcomes", "error", "said"),
    [
        (("passed", "failed"), "", ""),
        (("inconclusive", "failed"), "1 of 1 check inconclusive", ""),
        (("failed", "failed"), "", "'outcome': 'failed'"),
        (("passed",), "", "a check is not there"),
        (("passed", "failed"), "h4 has no IPv4 address", "h4 has no IPv4 address"),
    ],
)
def test_real_time_may_know_nothing_and_may_not_be_wrong(
    outcomes: tuple[str, ...], error: str, said: str, tmp_path: Path
) -> None:
    virtual = _run_in(tmp_path / "virtual", "passed", "failed")  # Lab 00 shows a check that fails
    wrong, counts = in_real_time(virtual, _run_in(tmp_path / "real", *outcomes, error=error))
    assert said in wrong
    assert bool(wrong) == bool(said)
    assert counts.total() == len(outcomes)
