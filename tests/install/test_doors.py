"""The doors by containers: the recipe holds no solution, and the dev container starts what exists, unprivileged."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from linklab.carried_labs import FOLDER
from linklab.cli import PORT, main
from linklab.runtime.backends import GUEST_MEMORY_MB
from linklab.runtime.container import VARIABLE

ROOT = Path(__file__).parents[2]
STAGES = re.split(r"^FROM ", (ROOT / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)[1:]
SERVER = next(stage for stage in STAGES if " AS server\n" in stage)


@pytest.fixture(scope="module")
def definition() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    return read


def test_no_solution_is_in_what_remains() -> None:
    """The stage `made` is thrown away, and only it copies out of the kit: of the solutions what goes in sealed."""
    copied = {stage.split("\n")[0]: re.findall(r"^COPY (?!--from=made )(.*) \S+$", stage, re.M) for stage in STAGES}
    kit = copied.pop("python AS made")
    assert set(map(len, copied.values())) == {0}
    assert [place for place in " ".join(kit).split() if place.startswith(("solutions", "tests"))] == [
        "solutions/simpleperf.py"
    ]
    assert STAGES[-1].startswith("server\n")


def test_labs_in_it_run_behind_its_walls_by_an_ordinary_user() -> None:
    assert f" {VARIABLE}=container \\\n" in SERVER
    assert "\nUSER ${NB_UID}:${NB_UID}\n" in SERVER
    assert f"\nEXPOSE {PORT}\n" in SERVER


def test_the_dev_container_has_no_privilege_and_room_for_two_labs(definition: dict[str, Any]) -> None:
    words = definition["runArgs"]
    assert {"--cap-drop=ALL", "--security-opt=no-new-privileges"} <= set(words)
    (shm,) = [word for word in words if word.startswith("--tmpfs=/dev/shm:")]
    options = shm.partition(":")[2].split(",")
    assert "exec" in options
    (size,) = [int(option[5:-1]) for option in options if re.fullmatch(r"size=\d+m", option)]
    assert size >= 2 * GUEST_MEMORY_MB


def test_the_dev_container_opens_the_labs_by_a_command_that_exists(
    definition: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program, *words = definition["postAttachCommand"].split()
    assert program == "linklab"
    opened: list[tuple[Path, int, bool]] = []
    monkeypatch.delenv("LINKLAB_PORT", raising=False)

    def up(folder: Path, port: int, *, browser: bool) -> int:
        opened.append((folder, port, browser))
        return 0

    monkeypatch.setattr("linklab.jupyter.up", up)
    monkeypatch.chdir(tmp_path)
    assert main(words) == 0
    assert opened == [(tmp_path, PORT, False)]
    # what it lays into the clone is the student's, and no part of the kit
    assert f"/{FOLDER}/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()
