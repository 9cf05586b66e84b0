"""What tells one Linklab from another."""

from __future__ import annotations

from pathlib import Path

import pytest

import linklab
from linklab.digests import linklab_digest


def test_a_changed_file_makes_another_linklab_and_a_compiled_one_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linklab, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "__pycache__").mkdir()
    digests = []
    for compiled, choice in (("a", "a"), ("b", "a"), ("b", "b")):
        (tmp_path / "__pycache__" / "a.pyc").write_text(compiled)
        (tmp_path / "choices.json").write_text(choice)
        digests.append(linklab_digest.__wrapped__())
    assert digests[0] == digests[1] != digests[2]
