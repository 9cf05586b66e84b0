"""What is done with the folder of a program that has ended."""

from __future__ import annotations

import os
from pathlib import Path

from linklab.programs.engine import program


def test_of_a_file_only_a_plain_one_is_read_and_no_more_than_a_byte_too_much(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    found = {name: program.plain_file(tmp_path / name, 3) for name in ("file", "folder", "link", "pipe", "none")}
    assert found == {"file": b"1234", "folder": None, "link": None, "pipe": None, "none": None}


def test_a_folder_is_removed_without_following_links(tmp_path: Path) -> None:
    kept, folder = tmp_path / "kept", tmp_path / "folder"
    (kept / "below").mkdir(parents=True)
    (folder / "a" / "b" / "c").mkdir(parents=True)
    (folder / "moved1").mkdir()
    (folder / "a" / "b" / "link").symlink_to(kept)
    (folder / "a" / "b" / "gone").symlink_to("nowhere")
    program.remove_folder(folder)
    assert not folder.exists()
    assert (kept / "below").is_dir()
