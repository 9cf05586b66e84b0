"""Labs that boot from the lab image (LINKLAB_IMAGE), and see nothing of this machine but their folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import linklab
from linklab.network import TWO_HOSTS
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
