"""The Vagrantfile is valid, and `make` tells what it can do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.install.machine import REPOSITORY


def test_make_alone_lists_every_target() -> None:
    done = subprocess.run(["make"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    listed = re.findall(r"^  make (\S+)", done.stdout, re.MULTILINE)
    assert listed == [
        *("help", "lab", "hub", "test", "test-quick", "test-vagrant", "box", "docs"),
        *("bench", "studies", "networks", "soak", "check", "doctor", "notebooks"),
        *("release-check", "kernels", "widgets", "clean", "install-dev"),
    ]


needs_vagrant = pytest.mark.skipif(
    shutil.which("vagrant") is None, reason="needs Vagrant: sudo apt-get install vagrant"
)


def _validate(folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """`vagrant validate` on a copy, so that the repository gets no .vagrant; no hypervisor is asked."""
    shutil.copy(REPOSITORY / "Vagrantfile", folder)
    return subprocess.run(
        ["vagrant", "validate", "--ignore-provider"],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8", **settings},
        capture_output=True,
        text=True,
        check=False,
    )


@needs_vagrant
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"LINKLAB_BOX": "example/box", "LINKLAB_MEMORY_MB": "2048", "LINKLAB_PORT": "9999"},
    ],
)
def test_vagrant_accepts_the_vagrantfile(tmp_path: Path, settings: dict[str, str]) -> None:
    done = _validate(tmp_path, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "validated successfully" in done.stdout


@needs_vagrant
@pytest.mark.parametrize(("name", "value"), [("LINKLAB_PORT", "80"), ("LINKLAB_MEMORY_MB", "4 GB")])
def test_a_wrong_setting_is_one_line(tmp_path: Path, name: str, value: str) -> None:
    done = _validate(tmp_path, **{name: value})
    assert done.returncode != 0
    assert f"linklab: {name}={value} is not a whole number from" in done.stderr


TRIGGERS = """
module Vagrant
  module Errors
    class VagrantError < StandardError; end
  end
  TRIGGERS = {}
  def self.configure(_version)
    yield(Anything.new)
  end
end
class Anything
  def method_missing(*)
    yield(Anything.new, Anything.new) if block_given?
    self
  end
  def respond_to_missing?(*)
    true
  end
  def before(*)
    yield(Trigger.new)
  end
  def after(*)
    nil
  end
end
class Trigger
  attr_accessor :name
  def ruby(&block)
    Vagrant::TRIGGERS[name] = block
  end
end
class Time
  def self.now
    Time.utc(2027)
  end
end
RbConfig::CONFIG["host_os"] = "linux-gnu"
RbConfig::CONFIG["host_cpu"] = "x86_64"
box, provider = ARGV
load "Vagrantfile"
vm = Struct.new(:box).new(box)
machine = Struct.new(:box, :config, :provider_name).new(nil, Struct.new(:vm).new(vm), provider.to_sym)
begin
  Vagrant::TRIGGERS["Linklab's box"].call(nil, machine)
rescue Vagrant::Errors::VagrantError => error
  puts error.message
end
"""


@pytest.mark.skipif(shutil.which("ruby") is None, reason="needs Ruby: sudo apt-get install ruby")
@pytest.mark.parametrize(
    ("box", "provider", "said"),
    [
        ("debian/trixie64", "libvirt", "sudo make box && LINKLAB_BOX=$(echo dist/*-libvirt-"),
        ("bento/debian-13", "parallels", "one that your course has: LINKLAB_BOX=FILE vagrant up"),
        ("own.box", "libvirt", ""),
    ],
)
def test_without_a_registry_a_line_says_where_a_box_is_had(box: str, provider: str, said: str) -> None:
    """As Vagrant runs it, in 2027: the trigger alone, for a clone without a release."""
    words = ["ruby", "-e", TRIGGERS, box, provider]
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == bool(said)
    assert said in done.stdout
