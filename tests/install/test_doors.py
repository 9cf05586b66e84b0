"""The doors by containers: the recipe, the dev container and Binder name what exists, agree, and hold no solution."""

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
from tests.install import recipe

ROOT = Path(__file__).parents[2]
STAGES = recipe.read(ROOT / "Dockerfile")
IMAGE = "/var/lib/linklab/image"


@pytest.fixture(scope="module")
def definition() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    return read


def environment(stage: recipe.Stage) -> dict[str, str]:
    return dict(pair.split("=", 1) for rest in stage.all("ENV") for pair in rest.split())


def test_no_solution_is_in_what_remains() -> None:
    """Stages that are thrown away may have them: what is built on is what counts."""
    for name in STAGES:
        if name != "made":
            kept = list(recipe.built_on(STAGES, name))
            assert not [place for stage in kept for place in stage.copied()]
            assert "made" not in {stage.name for stage in kept}
    # Linklab's simpleperf goes into the package sealed; the other solutions not even into the stage
    assert [place for place in STAGES["made"].copied() if place.startswith(("solutions", "tests"))] == [
        "solutions/simpleperf.py"
    ]


def test_labs_in_it_boot_its_image_behind_its_walls() -> None:
    server = STAGES["server"]
    told = environment(server)
    assert told[VARIABLE] == "container"
    assert told["LINKLAB_IMAGE"] == IMAGE
    assert f" {IMAGE}" in STAGES["made"].all("RUN")[-1]
    assert told["PATH"].split(":")[0] == "/opt/linklab/bin"
    assert server.last("EXPOSE") == str(PORT)


def test_it_runs_as_an_ordinary_user_whom_binder_may_name() -> None:
    for given, user, number in (({}, "student", "1000"), ({"NB_USER": "jovyan", "NB_UID": "1001"}, "jovyan", "1001")):
        server = recipe.read(ROOT / "Dockerfile", given)["server"]
        assert server.last("USER") == f"{number}:{number}"
        assert f"useradd --uid {number} " in server.all("RUN")[0]
        assert environment(server)["HOME"] == server.last("WORKDIR") == f"/home/{user}"


def test_binder_takes_this_recipe_and_finds_the_labs_in_its_folder() -> None:
    # either folder would hide the recipe from Binder
    assert not (ROOT / "binder").exists()
    assert not (ROOT / ".binder").exists()
    last = list(STAGES.values())[-1]
    assert last.base == "server"
    (laid,) = last.all("RUN")
    assert "prepare_folder()" in laid
    assert last.last("WORKDIR") == f"{STAGES['server'].last('WORKDIR')}/labs"


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
