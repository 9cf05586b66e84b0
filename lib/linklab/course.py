"""Tell which course network is in force for labs and graders: the plain one, or the student's own variant.

A variant lies in a file next to the notebooks, :data:`FILE`, which ``linklab release --students`` writes. It holds
numbers alone: no secret, and nothing from which another student's could be told. Where there is none, the course
network is the plain one.

**For graders.** The file is the student's to edit, so it proves nothing. Derive the network again
(`linklab.network.variants.variant`), and either write it next to the notebook before it is run (:func:`write_variant`),
or name a file out of the notebook's reach in the environment (:data:`VARIABLE`), which counts before any other. In one
process, :func:`using` does the same. :func:`differs_from` says whether a submission's file was the right one.

A process keeps the first answer for a folder: whoever replaces the file must start the notebook anew.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from linklab.errors import LinklabError
from linklab.files import write_whole
from linklab.network import COURSE, Network, Shape
from linklab.network.variants import RATES_MBPS, variant_of_numbers

FILE: Final = "linklab-variant.json"
"""The file's name."""
VARIABLE: Final = "LINKLAB_VARIANT"
"""The environment variable that names a variant's file; set, but empty, it stands for the plain course network."""
_FORMAT: Final = 1

_used: list[Network] = []
_kept: dict[Path, Network] = {}


def course_network() -> Network:
    """Return the course network of whoever runs this: the variant in the present folder, or else the plain one.

    Raises LinklabError, naming the file, where a variant's file is there but is not what was given out.
    """
    if _used:
        return _used[-1]
    named = os.environ.get(VARIABLE)
    if named == "":
        return COURSE
    path = Path(named if named is not None else FILE).resolve()
    if path not in _kept:
        if named is None and not path.exists():
            return COURSE
        _kept[path] = read_variant(path)
    return _kept[path]


def is_variant() -> bool:
    """Return whether a variant is in force, so that numbers published for the course network are another network's."""
    return course_network() != COURSE


@contextlib.contextmanager
def using(network: Network) -> Iterator[None]:
    """`course_network` is ``network`` within the ``with`` statement, whatever files say. Not for threads."""
    _used.append(network)
    try:
        yield
    finally:
        _used.pop()


def read_variant(path: Path) -> Network:
    """Return the variant in a file. Raises LinklabError where it is not one that `write_variant` could have written."""
    again = "take the file that you were given with the labs"
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        form = data["format"]
        shapes = {name: Shape(**data["links"][name]) for name in RATES_MBPS}
        network = variant_of_numbers(data["name"], shapes, data["subnets"])
    except OSError as error:
        raise LinklabError(f"{path} cannot be read ({error.strerror}): {again}") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, LinklabError) as error:
        raise LinklabError(f"{path} does not describe a course network ({error}): {again}") from None
    if form != _FORMAT:
        raise LinklabError(f"{path} is of format {form}, and this Linklab reads {_FORMAT}: {again}, or update Linklab")
    return network


def variant_text(network: Network) -> str:
    """Return a variant as the text of its file: name, and rate, delay and queue of L1 to L3, and the subnets."""
    links = {
        name: {"rate_mbps": link.rate_mbps, "delay_ms": link.delay_ms, "queue_packets": link.queue_packets}
        for name, link in ((name, network.link(name)) for name in RATES_MBPS)
    }
    data = {
        "format": _FORMAT,
        "name": network.name,
        "links": links,
        "subnets": {subnet.name: subnet.prefix for subnet in network.subnets},
    }
    return json.dumps(data, indent=2) + "\n"


def write_variant(network: Network, folder: Path) -> Path:
    """Write a variant next to the notebooks in ``folder``, in place of one that lies there, and return its path.

    Raises OSError. At one stroke: half a file is never there.
    """
    path = folder / FILE
    write_whole(path, variant_text(network), 0o644)
    return path


def differs_from(network: Network, folder: Path) -> str | None:
    """Say how the variant's file in ``folder`` is not that of ``network``; None if it is.

    For graders: if it differs, the work was made for other numbers. It trusts nothing in the file and follows no link.
    """
    path = folder / FILE
    if path.is_symlink() or not path.is_file():
        return None if network == COURSE else f"{FILE} is missing"
    return file_differs_from(network, path)


def file_differs_from(network: Network, path: Path) -> str | None:
    """Say how a variant's file, whatever it is called, is not that of ``network``; None if it is."""
    try:
        found = read_variant(path)
    except LinklabError:
        return f"{FILE} is not one that was given out"
    return None if found == network else f"{FILE} is that of network {found.name}, not of {network.name}"
