"""The videos that a lab's notebook asks for: encoded by the judge beforehand, and the only ones that it accepts."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Any, Final

from linklab.grading.room import Room
from linklab.measure import Clip, Video, encoded

_CLIPS: Final = {"measure.Clip(duration_s=10)": Clip(duration_s=10)}
"""By how the instructor's cells ask for them."""


def videos_of(book: Any, room: Room) -> Mapping[Clip, Video]:
    """The videos of a notebook, put where the student's side finds them made. Raises LinklabError where one fails."""
    found: dict[Clip, Video] = {}
    for asked, clip in _CLIPS.items():
        if any(asked in cell.source and not cell.metadata.get("nbgrader", {}).get("solution") for cell in book.cells):
            video = encoded(clip)
            found[clip] = video
            shutil.copytree(video.folder, room.given / "cache" / "linklab" / "video" / video.folder.name)
    return found
