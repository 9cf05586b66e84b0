"""Labs that boot from the lab image (LINKLAB_IMAGE), and see nothing of this machine but their folder."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import linklab
from linklab.errors import LabError
from linklab.measure import TcpFlow, TcpResult, run
from linklab.network import COURSE, TWO_HOSTS
from linklab.programs.place import LabPlace
from linklab.programs.simpleperf.session import NETWORK
from linklab.programs.submission import read
from linklab.runtime.image.find import Image, finished_images

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]


@pytest.fixture
def image(monkeypatch: pytest.MonkeyPatch) -> Image:
    """The newest image here, which labs are told to boot."""
    found = finished_images()
    if not found:
        pytest.skip("needs the lab image: python -m tools.image")
    monkeypatch.setenv("LINKLAB_IMAGE", str(found[0].folder))
    return found[0]


def test_the_course_network_on_the_image(image: Image, tmp_path: Path) -> None:
    with linklab.start(COURSE, folder=tmp_path) as lab:
        assert lab.info()["python"].startswith(image.about.python)
        said = lab["h1"].cmd(f"ping -c 5 -i 0.2 {COURSE.address_of('h4')}")
        assert "5 received" in said
        first = run(lab, TcpFlow("h1", "h4", 2))
    with linklab.start(COURSE, folder=tmp_path) as lab:
        assert lab.info()["kind"] == "guest"  # as many requests as before: each has random numbers of its own
        assert lab["h1"].cmd(f"ping -c 5 -i 0.2 {COURSE.address_of('h4')}") == said
        second = run(lab, TcpFlow("h1", "h4", 2))
    assert isinstance(first, TcpResult)
    assert isinstance(second, TcpResult)
    assert first.throughput_mbps == second.throughput_mbps > 10


def test_iperf3_sends_a_number_of_bytes(image: Image, tmp_path: Path) -> None:
    """One whose threads compute while they wait would do so for ever: no virtual time passes meanwhile."""
    with linklab.start(TWO_HOSTS, folder=tmp_path, wall_limit_s=60) as lab:
        server = lab["h2"].popen("iperf3 -s -1")
        lab["h2"].wait_listening(5201)
        assert "receiver" in lab["h1"].cmd(f"iperf3 -c {TWO_HOSTS.address_of('h2')} -n 1M")
        server.wait()


def test_frr_lets_its_shell_in(image: Image, tmp_path: Path) -> None:
    """It asks PAM, of which the image has one module."""
    with linklab.start(TWO_HOSTS, folder=tmp_path) as lab:
        lab.write_file("/etc/frr/r/frr.conf", "ip route 10.9.0.0/16 blackhole\n")
        lab.write_file("/etc/frr/r/daemons", "vtysh_enable=yes\n")
        lab.write_file("/etc/frr/r/vtysh.conf", "service integrated-vtysh-config\n")
        lab["h1"].cmd("install -d -o frr -g frr /var/log/frr/r; chown -R frr:frr /etc/frr/r")
        assert "Started watchfrr" in lab["h1"].cmd("/usr/lib/frr/frrinit.sh start r")
        lab.sleep(5)
        assert "ip route 10.9.0.0/16 blackhole" in lab["h1"].cmd("vtysh -N r -c 'show running-config'")
        assert "blackhole 10.9.0.0/16" in lab["h1"].cmd("ip route")


@pytest.mark.parametrize("switch", ["ovs", "ovs-user"])
def test_open_vswitch_on_the_image(image: Image, tmp_path: Path, switch: str) -> None:
    switched = replace(TWO_HOSTS)
    with linklab.start(switched, switch=switch, folder=tmp_path) as lab:  # type: ignore[arg-type]
        assert "1 received" in lab["h1"].cmd(f"ping -c 1 {TWO_HOSTS.address_of('h2')}")


def test_it_sees_nothing_else_of_this_machine(image: Image, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    (folder / "given").write_text("given")
    with linklab.start(TWO_HOSTS, folder=folder) as lab:
        assert lab["h1"].cmd(f"ls {tmp_path}").split() == ["mine"]
        assert lab["h1"].cmd(f"cat {folder}/given; echo new > {folder}/new") == "given"
        assert lab["h1"].cmd("ls /home /root").split() == ["/home:", "/root:"]
        root = f"/proc/{lab.process.group_pid}/root"
        assert sorted(os.listdir(root)) == sorted({"dev", "proc", "run", folder.parts[1]})
        own = {"image", "library", "linux", "options.json", "packages"}
        left = set(os.listdir(f"{root}/run/linklab")) - own
        assert len(left) == 1, "but for the folder that user-mode Linux makes itself"
    assert (folder / "new").read_text() == "new\n"


def test_a_simpleperf_is_tried_by_the_images_python(image: Image, tmp_path: Path) -> None:
    program = tmp_path / "simpleperf.py"
    program.write_text("import sys, prettytable\nprint(sys.version_info[:2], file=sys.stderr)\nsys.exit(3)\n")
    submission = read(program)
    assert submission.packages is not None
    place = LabPlace(submission, NETWORK)
    try:
        assert place._started().info()["python"].startswith("3.13")
    finally:
        place.close()


def test_an_image_of_another_version_is_refused(image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(image.folder / "image.json", tmp_path)
    for name in ("linux", "vmlinuz-qemu"):
        (tmp_path / name).write_bytes(b"")
    for name in ("usr/bin", "usr/lib/linklab"):
        (tmp_path / "root" / name).mkdir(parents=True)
    (tmp_path / "root" / image.python.lstrip("/")).write_bytes(b"")
    (tmp_path / "root/usr/lib/linklab/init.py").write_text("another\n")
    monkeypatch.setenv("LINKLAB_IMAGE", str(tmp_path))
    with pytest.raises(LabError, match="made for another version of Linklab: make one anew"):
        linklab.start(TWO_HOSTS, folder=tmp_path)
