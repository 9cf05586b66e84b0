"""Bringing files along into the lab."""

from __future__ import annotations

import base64
from pathlib import Path

from linklab.errors import LabError
from linklab.runtime.agent import Context


def bring(context: Context, folder: str, files: dict[str, str]) -> None:
    """Writes files (name: base64) into a folder of the lab, made if need be. Raises `LabError`."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (Path(folder) / name).write_bytes(base64.b64decode(data))
    except OSError as error:
        raise LabError(f"{folder} cannot be written in the lab: {error.strerror}") from None
