"""``python -m tools.box make``, ``catalogue`` or ``try``: Linklab's own Vagrant boxes."""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

from linklab.errors import LinklabError
from tools.box import trial
from tools.box.boxes import CATALOGUE, PROVIDERS, make_boxes, write_catalogue
from tools.box.programs import REPOSITORY
from tools.box.system import ARCHITECTURES


def main() -> int:
    """Do what the command line asks; return the exit status."""
    arguments = _parse()
    try:
        match arguments.action:
            case "make":
                providers = [arguments.provider] if arguments.provider else PROVIDERS[arguments.arch]
                for box in make_boxes(ARCHITECTURES[arguments.arch], providers, arguments.folder):
                    print(f"{box}: {box.stat().st_size / 1e6:.0f} MB")
            case "catalogue":
                write_catalogue(arguments.folder, arguments.address, arguments.folder / CATALOGUE)
            case "try":
                return trial.outside(arguments.arch, arguments.box, kvm=arguments.kvm)
            case _:
                return trial.inside(arguments.arch, arguments.folder, kvm=arguments.kvm)
    except LinklabError as error:
        print(f"linklab: {error}", file=sys.stderr)
        return 1
    return 0


def _parse() -> argparse.Namespace:
    own = "arm64" if platform.machine() in ("aarch64", "arm64") else "amd64"
    parser = argparse.ArgumentParser(prog="python -m tools.box", description=__doc__)
    parser.add_argument("action", choices=["make", "catalogue", "try", "inside"])
    parser.add_argument(
        "--arch", choices=sorted(ARCHITECTURES), default=own, help="the box's processor (this machine's)"
    )
    parser.add_argument("--folder", type=Path, default=REPOSITORY / "dist", help="where boxes are (dist)")
    parser.add_argument("--provider", help="make: for this one alone (default: all that a release has)")
    parser.add_argument("--address", default="", help="catalogue: where the release's files will be")
    parser.add_argument("--box", type=Path, help="try: this box for libvirt (default: a new one)")
    parser.add_argument("--kvm", action="store_true", help="try: with KVM (default: every instruction is emulated)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
