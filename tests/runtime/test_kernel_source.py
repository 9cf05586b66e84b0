"""Finding the kernel's source, with small scripts in the place of apt."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.runtime.kernel import build
from linklab.runtime.kernel.build import Apt, Candidate, Sources
from linklab.runtime.kernel.programs import Programs

# What Debian 12's apt says (apt 2.6.1).
SEARCH = """linux-source-6.1 - Linux kernel source for version 6.1 with Debian patches
linux-source-6.12 - Linux kernel source for version 6.12 with Debian patches
linux-source - Linux kernel source (meta-package)
"""
SHOW = """Package: linux-source-6.12
Source: linux-6.12
Version: 6.12.117-1~deb12u1
Installed-Size: 150000
Depends: binutils, xz-utils
Size: 153476148
Description: Linux kernel source for version 6.12 with Debian patches
 This package provides the source code for the Linux kernel version 6.12.

Package: linux-source-6.1
Version: 6.1.176-1
Size: 139000000
"""
TARGETS = """DEP-11|http://archive.example/debian/|bookworm
Packages|http://archive.example/security/|bookworm-security
Packages|http://archive.example/debian/|bookworm-updates
Packages|http://archive.example/debian/|bookworm
"""


def test_search_gives_versioned_packages_only() -> None:
    assert build.parse_search(SEARCH) == ["linux-source-6.1", "linux-source-6.12"]


def test_show_gives_version_and_size() -> None:
    assert build.parse_show(SHOW, Apt()) == [
        Candidate("linux-source-6.12", "6.12.117-1~deb12u1", 153476148),
        Candidate("linux-source-6.1", "6.1.176-1", 139000000),
    ]


def test_newest_series_first_and_6_12_is_newer_than_6_9() -> None:
    names = ["linux-source-6.9", "linux-source-7.2", "linux-source-6.12", "linux-source-6.8.0"]
    ordered = build.newest_first(Candidate(name, "1", 1) for name in names)
    assert [candidate.package for candidate in ordered] == [
        "linux-source-7.2",
        "linux-source-6.12",
        "linux-source-6.9",
        "linux-source-6.8.0",
    ]


def test_the_same_package_from_two_places_is_tried_once_and_from_the_machine() -> None:
    private = Candidate("linux-source-6.12", "1", 1, Apt(Path("/apt.conf")))
    assert build.newest_first([Candidate("linux-source-6.12", "1", 1), private]) == [
        Candidate("linux-source-6.12", "1", 1)
    ]


def test_archive_is_the_one_of_the_release_itself() -> None:
    assert build.archive_uri(TARGETS, "bookworm") == "http://archive.example/debian/"
    assert build.archive_uri(TARGETS, "trixie") is None


def test_backports_of_this_release_and_the_next() -> None:
    assert build.backports_suites("bookworm") == ["bookworm-backports", "trixie-backports"]
    assert build.backports_suites("noble") == []


def test_os_release(tmp_path: Path) -> None:
    file = tmp_path / "os-release"
    file.write_text('PRETTY_NAME="Ubuntu 24.04 LTS"\nID=ubuntu\nVERSION_CODENAME=noble\nID_LIKE=debian\n')
    assert build.read_os_release(file) == ("ubuntu", "noble")
    assert build.read_os_release(tmp_path / "none") == ("", "")


def test_private_settings_keep_lists_apart_and_clear_the_machines_hooks(tmp_path: Path) -> None:
    text = build.private_settings(tmp_path, "Types: deb\n").read_text()
    assert f'Dir::State::Lists "{tmp_path}/lists";' in text
    assert "#clear APT::Update::Post-Invoke-Success;" in text
    assert f'Dir::Etc::SourceParts "{tmp_path}/sources.d";' in text
    assert (tmp_path / "sources.d/linklab.sources").read_text() == "Types: deb\n"
    assert "SourceParts" not in build.private_settings(tmp_path / "machine", None).read_text()


class Archives:
    """A machine whose apt is a script: ``machine`` and ``backports`` hold what each view offers."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.keyrings = folder / "keyrings"
        self.keyrings.mkdir()
        (self.keyrings / "debian-archive-keyring.gpg").touch()
        self.offers = folder / "offers"
        self.offers.mkdir()
        self.calls = folder / "calls"
        script = f"""#!/bin/sh
            echo "$(basename "$0") $*" >> {self.calls}
            case "$*" in
                *-backports/*) view=backports ;;
                *apt/machine/*) view=fresh ;;
                *) view=machine ;;
            esac
            case "$*" in
                *indextargets*) cat {self.offers}/targets 2>/dev/null || true ;;
                *update*) [ ! -e {self.offers}/offline ] || {{ echo "E: no network"; exit 100; }} ;;
                *search*) cat {self.offers}/$view 2>/dev/null || true ;;
                *show*) while read -r name version; do
                            printf 'Package: %s\\nVersion: %s\\nSize: 5\\n\\n' "$name" "$version"
                        done < {self.offers}/$view ;;
            esac
        """
        for name in ("apt-get", "apt-cache"):
            (self.bin / name).write_text(script)
            (self.bin / name).chmod(0o755)

    def offer(self, view: str, *lines: str) -> None:
        (self.offers / view).write_text("".join(f"{line}\n" for line in lines))

    def called(self) -> str:
        return self.calls.read_text()


@pytest.fixture
def archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archives:
    made = Archives(tmp_path)
    monkeypatch.setenv("PATH", f"{made.bin}:/usr/bin:/bin")
    monkeypatch.setattr(build, "read_os_release", lambda: ("debian", "bookworm"))
    return made


def names(archives: Archives, folder: Path) -> list[str]:
    (folder / "apt").mkdir()
    sources = Sources(Programs(io.StringIO()), folder / "apt", lambda line: None, archives.keyrings)
    return [candidate.package for candidate in sources.candidates()]


def test_backports_are_asked_for_a_kernel_with_seccomp(archives: Archives, tmp_path: Path) -> None:
    archives.offer("machine", "linux-source-6.1 6.1.1", "linux-source-6.12 6.12.1")
    archives.offer("backports", "linux-source-7.3 7.3.1")
    (archives.offers / "targets").write_text(TARGETS)
    assert names(archives, tmp_path) == ["linux-source-7.3", "linux-source-6.12", "linux-source-6.1"]
    stanza = (tmp_path / "apt/trixie-backports/sources.d/linklab.sources").read_text()
    assert "URIs: http://archive.example/debian/\nSuites: trixie-backports\n" in stanza


def test_a_machine_that_offers_seccomp_asks_no_other_archive(archives: Archives, tmp_path: Path) -> None:
    archives.offer("machine", "linux-source-6.16 6.16.1")
    assert names(archives, tmp_path) == ["linux-source-6.16"]
    assert "update" not in archives.called()


def test_without_backports_what_the_machine_offers_will_do(archives: Archives, tmp_path: Path) -> None:
    archives.offer("machine", "linux-source-6.12 6.12.1")
    (archives.offers / "targets").write_text(TARGETS)
    (archives.offers / "offline").touch()
    assert names(archives, tmp_path) == ["linux-source-6.12"]


def test_ubuntu_asks_its_own_archive_only(archives: Archives, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "read_os_release", lambda: ("ubuntu", "noble"))
    archives.offer("machine", "linux-source-6.8.0 6.8.0-31.31")
    assert names(archives, tmp_path) == ["linux-source-6.8.0"]
    assert "backports" not in archives.called()


def test_where_no_lists_were_ever_fetched_they_are_fetched_apart(archives: Archives, tmp_path: Path) -> None:
    archives.offer("fresh", "linux-source-6.12 6.12.1")
    assert names(archives, tmp_path) == ["linux-source-6.12"]


def test_no_network_is_said_in_one_line(archives: Archives, tmp_path: Path) -> None:
    (archives.offers / "offline").touch()
    with pytest.raises(LabError, match=r"no package linux-source-\*.*no network.*check the network") as raised:
        names(archives, tmp_path)
    assert "\n" not in str(raised.value)


def test_no_apt_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        return None

    monkeypatch.setattr(build, "find_program", nothing)
    with pytest.raises(LabError, match="comes from apt"):
        Sources(Programs(io.StringIO()), tmp_path, lambda line: None).candidates()


@pytest.mark.skipif(shutil.which("apt-cache") is None, reason="needs apt")
def test_the_real_apt_reads_the_private_settings(tmp_path: Path) -> None:
    """Private lists are empty before an update, whatever the machine has."""
    apt = Apt(build.private_settings(tmp_path / "machine", None))
    lines: list[str] = []
    Programs(io.StringIO()).run(apt.words("apt-cache", "search", "linux-source"), tmp_path, lines.append)
    assert build.parse_search("\n".join(lines)) == []
