"""A box in which Linklab is installed already, as a course would hand out: `vagrant package` after the first `up`.

The installer runs in the root file system at this machine's own speed; a machine without KVM takes several times as
long for it. Everything after that is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.vagrant import foreign
from tests.vagrant.architecture import Architecture
from tests.vagrant.namespaces import NAME_SERVER
from tests.vagrant.programs import mounted_below, output_of, run

VENV = "/home/vagrant/.local/share/linklab/venv"
_RESOLVER = "run/systemd/resolve/stub-resolv.conf"


def install(root: Path, project: Path, log: Path, architecture: Architecture, python: Path | None) -> None:
    """Runs the project's provision.sh in `root`, as the user vagrant and with `project` as /vagrant.

    For another processor `python` has this machine's own build of the box's Python.
    """
    command = f"LINKLAB_VENV={VENV} exec bash /vagrant/vagrant/provision.sh --vm --no-doctor"
    resolver = root / _RESOLVER
    with _mounted(root, project):
        resolver.parent.mkdir(parents=True, exist_ok=True)
        resolver.write_text(f"nameserver {NAME_SERVER}\n")
        try:
            if python is None:
                run(log, "chroot", str(root), "su", "--login", "vagrant", "--command", command)
            else:
                foreign.lay_packages(root, VENV, project / "requirements.txt", architecture, python, log)
                with foreign.with_sudo(root):
                    foreign.as_vagrant(root, log, command)
        finally:
            resolver.unlink()
    output_of("chroot", str(root), "apt-get", "clean")


@contextmanager
def _mounted(root: Path, project: Path) -> Iterator[None]:
    """What a system finds when it runs. Raises `TrialError` if any of it stays: the root is to be removed later."""
    (root / "vagrant").mkdir(exist_ok=True)
    mounts = (
        (("--bind", str(project)), "vagrant"),
        (("-t", "proc", "proc"), "proc"),
        (("-t", "sysfs", "sysfs"), "sys"),
        (("--bind", "/dev"), "dev"),
        (("-t", "devpts", "devpts"), "dev/pts"),
    )
    try:
        for words, place in mounts:
            output_of("mount", *words, str(root / place))
        yield
    finally:
        for place in reversed(mounted_below(root)):
            output_of("umount", place)
