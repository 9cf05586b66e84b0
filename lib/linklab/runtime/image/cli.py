"""``linklab image path | clean``."""

from __future__ import annotations

import argparse
import shutil
from typing import TYPE_CHECKING

from linklab.runtime.image.find import cache_folder, changing_images, find_image

if TYPE_CHECKING:
    from argparse import _SubParsersAction


def add_parser(subparsers: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``image`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser("image", help="the image that labs boot")
    actions = parser.add_subparsers(dest="image_action", required=True, metavar="ACTION")
    actions.add_parser("path", help="print the folder of the image that labs boot; unpack it first")
    actions.add_parser("clean", help="remove all images from the cache")


def run(arguments: argparse.Namespace) -> int:
    """Do what the command line asks; return the exit status. Raises `LabError` for the caller to print."""
    if arguments.image_action == "path":
        print(find_image().folder)
        return 0
    with changing_images():
        shutil.rmtree(cache_folder(), ignore_errors=True)
    return 0
