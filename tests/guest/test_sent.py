"""What of Linklab is sent into a lab."""

from __future__ import annotations

from linklab.guest import is_sent
from linklab.runtime.image.find import sent_files


def test_of_students_programs_the_engine_alone_is_sent() -> None:
    programs = [file for file, _, _ in sent_files() if file.startswith("programs/")]
    assert "programs/engine/scene.py" in programs
    assert [file for file in programs if not file.startswith("programs/engine/")] == ["programs/__init__.py"]


def test_a_package_is_sent_where_a_module_of_it_is() -> None:
    assert all(map(is_sent, ("", "errors", "network", "network.model", "programs", "programs.engine.relay")))
    assert not any(map(is_sent, ("error", "networks", "programs.simpleperf", "measure")))
