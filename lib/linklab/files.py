"""Write a file atomically: a reader finds the older file or the new one, each whole."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, content: str | bytes, mode: int | None = None) -> None:
    """Write a file in the place of an older one. Text becomes UTF-8, with its line ends as they are.

    ``mode`` are its permissions, as for any new file without one. The folder must be there. An older file stays as it
    was where the disk is full, the power fails, or the writer is interrupted. Raises OSError.
    """
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".unfinished")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(descriptor)
        os.chmod(draft, _usual_mode() if mode is None else mode)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _usual_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
