"""What the tool for boxes writes; `make test-vagrant` tries the boxes themselves."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from xml.etree import ElementTree

from linklab import __version__
from tools.box.boxes import ovf, write_catalogue

_OVF = "{http://schemas.dmtf.org/ovf/envelope/1}"


def test_a_catalogue_has_each_boxs_address_and_checksum(tmp_path: Path) -> None:
    for end in ("libvirt-amd64", "vmware_desktop-arm64"):
        (tmp_path / f"linklab-{__version__}-{end}.box").write_bytes(end.encode())
    write_catalogue(tmp_path, "https://example.org/releases/", tmp_path / "box.json")
    (version,) = json.loads((tmp_path / "box.json").read_text())["versions"]
    assert version["version"] == __version__
    assert [(it["name"], it["architecture"]) for it in version["providers"]] == [
        ("libvirt", "amd64"),
        ("vmware_desktop", "arm64"),
    ]
    for it in version["providers"]:
        box = tmp_path / it["url"].removeprefix("https://example.org/releases/")
        assert it["checksum"] == hashlib.sha256(box.read_bytes()).hexdigest()


def test_virtualboxs_machine_refers_only_to_what_is_there() -> None:
    machine = ElementTree.fromstring(ovf(size=700, capacity=10 * 1024**3))
    values = {name.rpartition("}")[2]: value for it in machine.iter() for name, value in it.attrib.items()}
    assert (values["size"], values["capacity"]) == ("700", str(10 * 1024**3))
    files = {it.get(f"{_OVF}id") for it in machine.iter(f"{_OVF}File")}
    disks = {f"/disk/{it.get(f'{_OVF}diskId')}" for it in machine.iter(f"{_OVF}Disk")}
    networks = {it.get(f"{_OVF}name") for it in machine.iter(f"{_OVF}Network")}
    assert {it.get(f"{_OVF}fileRef") for it in machine.iter(f"{_OVF}Disk")} == files
    items = [{part.tag.rpartition("}")[2]: part.text for part in item} for item in machine.iter(f"{_OVF}Item")]
    assert {it["HostResource"] for it in items if "HostResource" in it} == disks
    assert {it["Connection"] for it in items if "Connection" in it} == networks
    numbers = [it["InstanceID"] for it in items]
    assert len(set(numbers)) == len(numbers)
    assert {it["Parent"] for it in items if "Parent" in it} <= set(numbers)
