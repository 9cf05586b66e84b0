"""The values for Kubernetes and the container's recipe say what docs/jupyterhub.md promises: no privilege anywhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from linklab.runtime.backends import GUEST_MEMORY_MB

pytest.importorskip("jupyterhub", reason="needs JupyterHub: make test installs it")
from linklab.hub.student import IDLE_S

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "jupyterhub.md").read_text("utf-8")
RECIPE = (ROOT / "hub" / "Containerfile").read_text("utf-8")


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "hub" / "values.yaml").read_text("utf-8"))
    return read


def words_of(stage: str) -> list[list[str]]:
    """The instructions of a stage, each as its words."""
    joined = re.sub(r"\\\n", " ", stage)
    return [line.split() for line in joined.splitlines() if line and not line.startswith("#")]


def stages() -> list[list[list[str]]]:
    return [words_of(stage) for stage in re.split(r"^(?=FROM )", RECIPE, flags=re.MULTILINE)[1:]]


def test_a_students_pod_has_no_privilege(values: dict[str, Any]) -> None:
    server, context = values["singleuser"], values["hub"]["config"]["KubeSpawner"]["container_security_context"]
    assert server["uid"] == server["fsGid"] == context["runAsGroup"] == 1000
    assert server["allowPrivilegeEscalation"] is False
    assert context["runAsNonRoot"] is True
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    # the chart's default puts a container with NET_ADMIN before each server
    assert server["cloudMetadata"]["blockWithIptables"] is False
    assert "initContainers" not in server


def test_a_students_pod_reaches_the_hub_and_names_alone(values: dict[str, Any]) -> None:
    policy = values["singleuser"]["networkPolicy"]
    assert policy["enabled"] is True
    allowed = {name for name, wish in policy["egressAllowRules"].items() if wish}
    assert allowed == {"dnsPortsKubeSystemNamespace", "dnsPortsPrivateIPs"}
    assert "egress" not in policy
    # a rule that is not named here has the chart's default, which may allow it
    assert {"cloudMetadataServer", "nonPrivateIPs", "privateIPs"} <= set(policy["egressAllowRules"]) - allowed


def test_a_labs_memory_fits_where_it_lies(values: dict[str, Any]) -> None:
    server = values["singleuser"]
    (volume,) = server["storage"]["extraVolumes"]
    (mount,) = server["storage"]["extraVolumeMounts"]
    assert mount == {"name": volume["name"], "mountPath": "/dev/shm"}
    assert volume["emptyDir"]["medium"] == "Memory"
    room_mb = int(volume["emptyDir"]["sizeLimit"].removesuffix("Mi"))
    limit_mb = 1024 * int(server["memory"]["limit"].removesuffix("G"))
    assert GUEST_MEMORY_MB * 2 < room_mb < limit_mb


def test_the_document_tells_the_same_limits(values: dict[str, Any]) -> None:
    server = values["singleuser"]
    for what in ("guarantee", "limit"):
        assert f"{server['memory'][what].removesuffix('G')} GB" in DOCUMENT
        assert f"{server['cpu'][what]} CPU" in DOCUMENT
    assert f"{GUEST_MEMORY_MB} MB" in DOCUMENT
    assert values["cull"]["timeout"] == IDLE_S == 3600
    assert "an hour" in DOCUMENT


def test_the_pod_runs_what_the_image_would(values: dict[str, Any]) -> None:
    last = stages()[-1]
    assert ["CMD", *(f'"{word}"' for word in values["singleuser"]["cmd"])] == [word.strip("[],") for word in last[-1]]
    assert ["USER", "1000:1000"] in last
    (home,) = [words[1] for words in last if words[0] == "WORKDIR"]
    assert home == values["singleuser"]["storage"]["homeMountPath"]


def test_no_solution_is_in_the_image() -> None:
    *earlier, last = stages()
    # a stage of its own ends with the build: what the image has comes from the last one and what that one builds on
    built_on = {words[3]: stage for stage in earlier for words in stage if words[0] == "FROM" and "AS" in words}
    kept = [*last, *built_on[last[0][1]]]
    copied = [words[1:-1] for words in kept if words[0] == "COPY"]
    places = {place for words in copied if not words[0].startswith("--from=") for place in words}
    assert places == {"requirements.txt", "pyproject.toml", "setup.py", "README.md", "vagrant", "lib"}
    made = {place for words in copied if words[0].startswith("--from=") for place in words[1:]}
    assert made == {f"/var/lib/linklab/{name}" for name in ("image", "labs", "simpleperf.py")}
    assert ["COPY", "solutions", "solutions"] in built_on["made"]
