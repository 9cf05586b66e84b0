"""``linklab notebooks build [--check]``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(subparsers: Any) -> None:
    """Add ``notebooks`` to the subparsers of an argparse parser; :func:`run` takes what it parsed."""
    parser = subparsers.add_parser("notebooks", help="make the labs' notebooks from their sources")
    actions = parser.add_subparsers(dest="action", required=True)
    build = actions.add_parser("build", help="make labs/ and solutions/*.ipynb from the sources in solutions/")
    build.add_argument("--check", action="store_true", help="write nothing; exit 1 if something is out of date")
    build.add_argument("--root", type=Path, default=Path(), help="the folder of solutions/ and labs/ (default: here)")


def run(args: argparse.Namespace) -> int:
    """Build or check; print what changed. Returns 1 if a check found something out of date, else 0.

    Raises LinklabError as :func:`linklab.notebooks.build.build_all` does.
    """
    # nbformat takes a while to load, and every command of the command line reads this module.
    from linklab.notebooks.build import build_all

    built = build_all(args.root, check=args.check)
    stale = [file.path for file in built if file.stale]
    for path in stale:
        print(f"{path} is out of date: run `linklab notebooks build`" if args.check else f"made {path}")
    if not stale:
        print(f"{len(built)} files are up to date")
    return 1 if args.check and stale else 0
